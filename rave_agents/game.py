"""What a game is to the search: the common interface that adapters implement.

The methods are the subset of ``pyspiel.State`` that a search needs, with OpenSpiel's names,
player numbers and meaning, plus the bounds of the utilities, which OpenSpiel keeps on the game.
Nothing undoes a move: a search clones the state and plays on in the clone.
"""

import enum
from collections.abc import Sequence
from typing import Any, Protocol, Self, runtime_checkable


class PlayerId(enum.IntEnum):
    """Who moves at a state that no player decides; OpenSpiel's numbers."""

    CHANCE = -1
    SIMULTANEOUS = -2
    INVALID = -3
    TERMINAL = -4
    MEAN_FIELD = -5


@runtime_checkable
class GameState(Protocol):
    """A position of a sequential game with perfect information.

    An adapter may also offer:

    * ``simulator(frame, evaluator) -> Simulator``: a faster provider of simulations than the
      generic one, see ``rave_agents.search.simulator``;
    * ``position_key() -> Hashable``: equal for two states exactly when they are the same position
      of the same game; it lets a search notice that a kept tree belongs to another position;
    * ``observation(player) -> array``: what a player sees, as numbers, for those who learn;
    * ``action_to_string(player, action) -> str``: how people write the action;
    * ``history() -> Sequence[int]``: the actions and chance outcomes since the game's start, which
      agents that ask other programs need.
    """

    def clone(self) -> Self:
        """A copy that shares nothing that can change with this state."""

    def current_player(self) -> int:
        """The player to move, from 0, or a ``PlayerId`` where no player decides."""

    def is_terminal(self) -> bool:
        """Whether the game is over."""

    def is_chance_node(self) -> bool:
        """Whether chance moves next."""

    def legal_actions(self) -> Sequence[int]:
        """The actions of the player to move, each from 0 to ``num_distinct_actions() - 1``."""

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        """At a chance node: every outcome and its probability; the probabilities sum to 1."""

    def apply_action(self, action: int) -> Any:
        """Play an action of the player to move, or a chance outcome, on this state."""

    def returns(self) -> Sequence[float]:
        """For each player what he has won, the sum of his rewards from the game's start on."""

    def num_players(self) -> int:
        """How many players the game has."""

    def num_distinct_actions(self) -> int:
        """One more than the largest action of any player."""

    def min_utility(self) -> float:
        """The least that a player can win in a game, ``-inf`` where nobody knows."""

    def max_utility(self) -> float:
        """The most that a player can win in a game, ``inf`` where nobody knows."""
