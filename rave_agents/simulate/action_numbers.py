"""Small numbers for the actions of games whose ids are large.

The search's tables have a row for each action. If ids are so large that most never occur, a
provider in Python numbers those that do; results map the numbers back to ids.
"""

from collections.abc import Iterable, Sequence
from typing import Any

MOST_DENSE = 2**18
"""Rows of a table, players times distinct actions, up to which a provider in Python reports ids."""

MOST_ROWS = 2**22
"""Rows of a table up to which compiled providers, and evaluators of batches, report ids."""

FIRST_CAPACITY = 1024
"""Rows for each player in the tables of a new search."""

UNNUMBERED = 0
"""Shared number of the actions met only in playouts once there are too many."""

NUMBER_BYTES = 160
"""Approximate memory of each number in Python."""


def has_tables_of_ids(state: Any) -> bool:
    """True if a state has few enough actions for tables indexed by their ids."""
    return bool(state.num_players() * state.num_distinct_actions() <= MOST_ROWS)


class ActionNumbers:
    """Numbers from 1 for actions and outcomes of chance, in the order in which they occur.

    Args:
        num_players: how many players the game has.
    """

    def __init__(self, num_players: int) -> None:
        self.capacity: int = FIRST_CAPACITY
        """Rows per player in the search's tables, that is, one more than the largest number."""
        self.most_of_playouts: int = MOST_DENSE // num_players
        """Limit up to which actions met only in playouts get a number."""
        self.clear()

    def clear(self) -> None:
        """Forget all numbers."""
        self._ids: list[int] = [-1]  # Number 0 is ``UNNUMBERED``.
        self._numbers: dict[int, int] = {}
        self._most_now = self.most_of_playouts
        self.closed: bool = False
        """True if no action gets a number any more."""

    def __len__(self) -> int:
        """One more than the largest number."""
        return len(self._ids)

    @property
    def overflows(self) -> bool:
        """True if the search's tables lack room for some numbers."""
        return len(self._ids) > self.capacity

    @property
    def counts_playouts(self) -> bool:
        """True if actions met only in playouts may get numbers."""
        return self._most_now > 0

    def close(self, *, to_playouts: bool = False) -> None:
        """Take back the numbers that do not fit; give no new ones, or only none to playouts."""
        # The newest numbers go: no table row exists for them yet, so no statistics are lost.
        for action in self._ids[self.capacity :]:
            del self._numbers[action]
        del self._ids[self.capacity :]
        self._most_now = 0
        self.closed = not to_playouts

    def of_position(self, actions: Iterable[int]) -> list[int]:
        """The numbers of a node's legal actions; new actions get the next ones."""
        # Numbers begin at 1, so ``or`` finds actions that have none yet.
        return [self._numbers.get(action) or self._new(action) for action in actions]

    def of_playout(self, actions: Sequence[int]) -> list[int]:
        """The numbers of a playout's actions; new ones get numbers while there are few."""
        if len(self._ids) + len(actions) <= self._most_now:
            return self.of_position(actions)
        return self.known(actions)

    def known(self, actions: Iterable[int]) -> list[int]:
        """The numbers of actions, ``UNNUMBERED`` for those that have none."""
        return [self._numbers.get(action, UNNUMBERED) for action in actions]

    def ids(self, numbers: Iterable[int]) -> list[int]:
        """The actions of numbers."""
        return [self._ids[number] for number in numbers]

    def _new(self, action: int) -> int:
        if self.closed:
            return UNNUMBERED
        number = self._numbers[action] = len(self._ids)
        self._ids.append(int(action))
        return number
