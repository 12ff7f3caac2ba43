"""Base class of the states of AEC and of Parallel environments."""

from collections.abc import Hashable, Sequence
from typing import Any

from rave_agents.environments.dice import Dice
from rave_agents.environments.environment_state import EnvironmentState
from rave_pettingzoo.checks import say_what_is_assumed
from rave_pettingzoo.env_facts import EnvFacts


class ZooState(EnvironmentState):
    """A position of an AEC or of a Parallel environment."""

    __slots__ = ()

    _shared: EnvFacts

    def _begun(self, entropy: Sequence[int]) -> tuple[Any, Dice]:
        facts = self._shared
        if not facts.is_open and facts.worlds is None and facts.what_is_hidden is None:
            say_what_is_assumed(self.env)
        return super()._begun(entropy)

    def view(self, player: int) -> Hashable:
        """Return what the agent of a seat sees: its observation, and its mask if it is to move.

        If only chance is unknown, it sees everything: all agents' observations, their returns and
        the last action; or the last action alone, if no outcome repeats.
        """
        if self.hides_information() or not self._shared.draws:
            return self._seen_by(player)
        if not self.chance.alike:
            return self._last
        return self._last, tuple(self._account.returns), self._seen_by_all()

    def _seen_by(self, player: int) -> Hashable:
        raise NotImplementedError

    def _seen_by_all(self) -> Hashable:
        raise NotImplementedError
