"""Information sets of a game, and the values of a profile of policies on them.

A framework's game that can enumerate them has ``GameAbilities.information_sets``.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from rave_agents.game.game_state import GameState


class ProfileValues(NamedTuple):
    """Expected returns under a profile, a policy of each player."""

    values: tuple[float, ...]
    """Each player's return if all play the profile."""
    responses: tuple[float, ...]
    """Each player's return by a best response to the others' policies."""

    @property
    def nash_conv(self) -> float:
        """The sum over players of what each gains by a best response; 0 at a Nash equilibrium."""
        return sum(self.responses) - sum(self.values)

    @property
    def exploitability(self) -> float:
        """NashConv per player."""
        return self.nash_conv / len(self.values)


class InformationSets(Protocol):
    """The information sets at which a player of a game has more than one action.

    They can be pickled. A game with simultaneous moves has those of its turn-based form.
    """

    players: Sequence[int]
    """The player who moves, of each set."""
    actions: Sequence[Sequence[int]]
    """The legal actions of each set."""

    def position(self, index: int, *, in_turn: bool) -> GameState:
        """Return a position of a set, the same at each call.

        Args:
            index: the number of the set, from 0.
            in_turn: True for a position of the turn-based form; False for one of the game itself,
                at which players may move at the same time.
        """

    def name(self, index: int) -> str:
        """Return what the player sees at a set."""

    def measure(self, policy: Sequence[Mapping[int, float]]) -> ProfileValues:
        """Return the values of a profile and of the best responses to it.

        Args:
            policy: the probability of each legal action, at each set.
        """
