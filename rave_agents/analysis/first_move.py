"""The first move of a process, in a game that needs no framework; ``doctor`` measures its time."""

from collections.abc import Sequence
from typing import Self

from rave_agents.config.limit import Limit
from rave_agents.config.search_config import SearchConfig
from rave_agents.game.game_state import PlayerId
from rave_agents.searcher.searcher import Searcher


class Nim:
    """One heap of 10; take 1 to 3; the last one wins: a game that needs no framework."""

    def __init__(self, heap: int = 10, player: int = 0) -> None:
        self.heap: int = heap
        self.player: int = player

    def clone(self) -> Self:
        """A copy."""
        return type(self)(self.heap, self.player)

    def current_player(self) -> int:
        """The player to move."""
        return PlayerId.TERMINAL if self.heap == 0 else self.player

    def is_terminal(self) -> bool:
        """True once the heap is empty."""
        return self.heap == 0

    def is_chance_node(self) -> bool:
        """Never."""
        return False

    def legal_actions(self) -> Sequence[int]:
        """The action a takes a + 1."""
        return range(min(3, self.heap))

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        """None."""
        return []

    def apply_action(self, action: int) -> None:
        """Take from the heap."""
        self.heap -= action + 1
        self.player = 1 - self.player

    def returns(self) -> Sequence[float]:
        """The player who took the last one wins."""
        if self.heap > 0:
            return [0.0, 0.0]
        return [-1.0, 1.0] if self.player == 0 else [1.0, -1.0]

    def num_players(self) -> int:
        """Two."""
        return 2

    def num_distinct_actions(self) -> int:
        """Three."""
        return 3

    def min_utility(self) -> float:
        """A loss."""
        return -1.0

    def max_utility(self) -> float:
        """A win."""
        return 1.0


def search(preset: str) -> int:
    """Search a tiny game once, as a process does for its first move."""
    searcher = Searcher(SearchConfig.preset(preset), seed=0)
    return searcher.search(Nim(), Limit(simulations=100)).action
