"""What the states of AEC and of Parallel environments have in common."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Self

from gymnasium import spaces

from rave_agents.environments.chance import (
    Chance,
    ChanceReport,
    Knowledge,
    checked_chance,
    say_it_sees_chance,
    search_position,
)
from rave_agents.environments.generators import Dice, Generators
from rave_agents.errors import UnsupportedGameError
from rave_agents.game.game_state import PlayerId
from rave_pettingzoo.classic import keeps_generators
from rave_pettingzoo.cloning import search_cloner, simulation_cloner
from rave_pettingzoo.support import (
    DRAWN_BEFORE,
    cannot_be_fair,
    declares_openness,
    hidden_information,
    say_what_is_assumed,
)
from rave_pettingzoo.worlds import WorldFunction

TERMINAL = int(PlayerId.TERMINAL)


@dataclasses.dataclass(frozen=True)
class Secrets:
    """What players of an environment cannot know, and how a search is to heed it."""

    hidden: str | None
    """What is known to be hidden from agents; None for nothing."""
    worlds: WorldFunction | None
    """The source of worlds of the user's own, if any."""
    chance: Chance
    """Whether simulations draw chance, or see what will come."""
    knowledge: Knowledge
    """What is known of chance in the environment."""
    open: bool = False
    """Whether to search the true state whatever is hidden."""

    @classmethod
    def of(cls, env: Any, knowledge: Knowledge, worlds: WorldFunction | None, chance: Any) -> Self:
        """What is known of an environment.

        Raises:
            ValueError: for another ``chance`` than there is.
        """
        return cls(hidden_information(env), worlds, checked_chance(chance), knowledge)

    @property
    def hides(self) -> bool:
        """Whether a search needs worlds that differ in what is hidden."""
        return not self.open and (self.worlds is not None or self.what_is_hidden is not None)

    @property
    def what_is_hidden(self) -> str | None:
        """What is hidden from agents, as far as it is known."""
        if self.hidden is None and self.chance is Chance.DRAW:
            return DRAWN_BEFORE if self.knowledge.report.drawn_before else None
        return self.hidden

    @property
    def draws(self) -> bool:
        """Whether each simulation has outcomes of its own."""
        return self.chance is Chance.DRAW and self.knowledge.report.found

    def opened(self) -> "Secrets":
        """The same for those who look at what is hidden."""
        return dataclasses.replace(self, open=True, worlds=None)

    def begin(
        self, env: Any, copy: Any, entropy: Sequence[int]
    ) -> tuple[Any, Dice, Callable[[Any], Any]]:
        """What a search begins from.

        Args:
            env: the position's environment.
            copy: a copy of it, of the search's own.
            entropy: numbers that decide all draws.

        Returns:
            The copy, the search's random numbers, and a function that copies for simulations.

        Raises:
            UnsupportedGameError: if its chance cannot be drawn anew.
        """
        report = self.knowledge.report
        sees = self.chance is Chance.SEE
        if report.fixed and not sees:
            raise UnsupportedGameError(cannot_be_fair(env, report.fixed))
        if sees:
            say_it_sees_chance()
        if not self.open and self.worlds is None and self.what_is_hidden is None:
            say_what_is_assumed(env)
        if self.knowledge.certain and not keeps_generators(copy):
            return copy, Dice(Generators((), ()), entropy), simulation_cloner(copy, 0)
        shared = (spaces.Space,) if self.knowledge.certain else ()
        position = search_position(copy, report, entropy, sees=sees, shared=shared)
        if sees:
            return position.env, position.dice, search_cloner(position.env)
        return position.env, position.dice, simulation_cloner(position.env, sum(entropy))

    def met(self) -> Callable[[Sequence[str]], None] | None:
        """What is told of generators that a search without chance has drawn from."""
        known = self.knowledge.certain or self.knowledge.report.found
        watches = self.chance is Chance.DRAW and not known
        return self.knowledge.add if watches else None


def secrets_of(
    env: Any, worlds: WorldFunction | None, chance: Any, knowledge: Callable[[], Knowledge]
) -> Secrets:
    """What players cannot know, of an environment in which chance was looked for.

    Raises:
        ValueError: for another ``chance`` than there is.
    """
    checked_chance(chance)
    found = knowledge()
    if found.report.drawn_before and declares_openness(env):
        found.report = dataclasses.replace(found.report, drawn_before=False)
    return Secrets.of(env, found, worlds, chance)


class EnvironmentState:
    """A position that holds an environment of its own, and who moves there."""

    __slots__ = ()

    env: Any
    _player: int

    def clone(self) -> Self:
        """A copy that shares nothing that can change with this state."""
        raise NotImplementedError

    def __deepcopy__(self, memo: Any) -> Self:
        return self.clone()

    def __reduce__(self) -> Any:
        raise TypeError(f"A state of {self.env} cannot be pickled: it would lose the position.")

    @property
    def _secrets(self) -> Secrets:
        raise NotImplementedError

    @property
    def chance(self) -> ChanceReport:
        """What was found of chance in the environment's steps."""
        return self._secrets.knowledge.report

    def current_player(self) -> int:
        """The seat to move, or a ``PlayerId``."""
        return self._player

    def is_terminal(self) -> bool:
        """Whether no agent is left that can do anything."""
        return self._player == TERMINAL

    def is_chance_node(self) -> bool:
        """Never: an environment plays its chance itself."""
        return False

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        """None."""
        return []
