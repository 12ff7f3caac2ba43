"""Base class of the states of AEC and of Parallel environments."""

import dataclasses
import inspect
import math
from collections.abc import Callable, Hashable, Sequence
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
from rave_agents.environments.dice import Dice
from rave_agents.environments.generators import Generators
from rave_agents.environments.plan import Plan, ValueFunction, checked_plan
from rave_agents.environments.worlds import WorldFunction
from rave_agents.errors import GameError, UnsupportedGameError
from rave_agents.game.game_state import PlayerId
from rave_pettingzoo.classic import keeps_generators
from rave_pettingzoo.cloning import search_cloner, simulation_cloner
from rave_pettingzoo.support import (
    DRAWN_BEFORE,
    always_ends,
    cannot_be_fair,
    declares_openness,
    hidden_information,
    say_what_is_assumed,
)

TERMINAL = int(PlayerId.TERMINAL)

_SHOWN = frozenset({"render_mode", "screen_height", "screen_width", "screen_scaling"})
"""Arguments of environments that change what is shown, and nothing else."""


@dataclasses.dataclass(frozen=True)
class Secrets:
    """What players of an environment cannot know: hidden information and chance."""

    hidden: str | None
    """The information known to be hidden from agents; None if there is none."""
    worlds: WorldFunction | None
    """The user's source of worlds (determinizations), if any."""
    chance: Chance
    """Whether simulations draw the outcomes of chance, or foresee them."""
    knowledge: Knowledge
    """What is known of the chance in the environment."""
    open: bool = False
    """Whether the search sees hidden information, which is cheating."""

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
        """The information known to be hidden from agents."""
        if self.hidden is None and self.chance is Chance.DRAW:
            return DRAWN_BEFORE if self.knowledge.report.drawn_before else None
        return self.hidden

    @property
    def draws(self) -> bool:
        """Whether each simulation has outcomes of its own."""
        return self.chance is Chance.DRAW and self.knowledge.report.found

    def opened(self) -> "Secrets":
        """Return these secrets for a search that sees hidden information."""
        return dataclasses.replace(self, open=True, worlds=None)

    def begin(
        self, env: Any, copy: Any, entropy: Sequence[int]
    ) -> tuple[Any, Dice, Callable[[Any], Any]]:
        """Return the root of a search.

        Args:
            env: the position's environment.
            copy: the search's own copy of it.
            entropy: numbers that seed all draws.

        Returns:
            The copy, the search's random numbers, and a function that copies for simulations.

        Raises:
            UnsupportedGameError: if its generators cannot be reseeded.
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
        """Return the function that records generators which a search unexpectedly used."""
        known = self.knowledge.certain or self.knowledge.report.found
        watches = self.chance is Chance.DRAW and not known
        return self.knowledge.add if watches else None


def secrets_of(
    env: Any, worlds: WorldFunction | None, chance: Any, knowledge: Callable[[], Knowledge]
) -> Secrets:
    """Return what players of an environment cannot know, after the detection of chance.

    Raises:
        ValueError: for an unknown ``chance``.
    """
    checked_chance(chance)
    found = knowledge()
    if found.report.drawn_before and declares_openness(env):
        found.report = dataclasses.replace(found.report, drawn_before=False)
    return Secrets.of(env, found, worlds, chance)


class Seats(dict[Any, int]):
    """The seats of an environment's agents.

    Args:
        name: the environment's name, for messages.
        agents: the possible agents.
    """

    def __init__(self, name: str, agents: Sequence[Any]) -> None:
        super().__init__({agent: seat for seat, agent in enumerate(agents)})
        self._name = name

    def __missing__(self, agent: Any) -> int:
        raise GameError(
            f"{self._name} names the agent {agent!r}, who is not in its possible_agents, "
            f"{list(self)}."
        )


DEFAULT_HORIZON = 1000
"""Steps that simulations look ahead by default in environments that may never end."""


def plan_for(
    env: Any, horizon: int | str | None, discount: float, value: ValueFunction | None
) -> Plan:
    """Return how far simulations in an environment look ahead.

    Args:
        env: the environment.
        horizon: ``"auto"`` is the end in the classic environments and in Shimmy's, which always
            end, else ``DEFAULT_HORIZON``.
        discount: as for ``AECState``.
        value: likewise.

    Raises:
        TypeError, ValueError: for a value that is not allowed.
    """
    default = math.inf if always_ends(env) else DEFAULT_HORIZON
    return checked_plan(horizon, discount, value, default=default)


def _made_with(raw: Any) -> str:
    """The arguments that an environment was made with, where it keeps them for its pickles."""
    values = getattr(raw, "_ezpickle_args", ()), getattr(raw, "_ezpickle_kwargs", {})
    try:
        given = inspect.signature(type(raw)).bind(*values[0], **values[1])
    except TypeError:
        return repr(values)
    given.apply_defaults()
    return repr({name: told for name, told in given.arguments.items() if name not in _SHOWN})


class EnvironmentState:
    """A position with its own environment and the player to move."""

    __slots__ = ()

    env: Any
    _player: int

    def clone(self) -> Self:
        """Return a copy that shares no mutable object with this state."""
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
        """The report on chance in the environment's steps."""
        return self._secrets.knowledge.report

    def game_key(self) -> Hashable:
        """Return the environment's class, its name and how it was made, as far as it tells."""
        raw = self.env.unwrapped
        return type(raw), str(self.env), _made_with(raw)

    def current_player(self) -> int:
        """The seat to move, or a ``PlayerId``."""
        return self._player

    def is_terminal(self) -> bool:
        """Whether no agent can act any more."""
        return self._player == TERMINAL

    def is_chance_node(self) -> bool:
        """Return False: an environment plays chance moves itself."""
        return False

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        """None."""
        return []
