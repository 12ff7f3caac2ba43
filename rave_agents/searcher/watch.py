"""Early stopping and time extension: ends a search before its limit, or gives it more time."""

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

OFTEN = 0.1
"""The part of the most visited move's visits that a move must have for its value to count in UNST:
the mean of a few simulations says nothing."""


class RootStatistics(NamedTuple):
    """Visits and values of the root's moves while a search runs; moves in one order throughout."""

    visits: Sequence[float]
    """Visits of each move."""
    values: Sequence[float]
    """Mean value of each move for who chooses, from 0, lost, to 1, won; 0 without visits."""

    @property
    def lead(self) -> float:
        """Visits by which the most visited move leads; infinite if there is no other."""
        if len(self.visits) < 2:
            return math.inf
        second, first = sorted(self.visits)[-2:]
        return first - second

    @property
    def chosen(self) -> int:
        """The index of the most visited move; of equals the best valued."""
        return max(range(len(self.visits)), key=lambda i: (self.visits[i], self.values[i]))

    @property
    def unstable(self) -> bool:
        """True if the most visited move is not the best valued of those often visited."""
        if not self.visits:
            return False
        often = OFTEN * max(self.visits)
        pairs = zip(self.values, self.visits, strict=True)
        return self.values[self.chosen] < max(value for value, n in pairs if n >= often)


class Watch(Protocol):
    """Decides, while a search runs, whether it goes on."""

    def should_stop(
        self, statistics: RootStatistics, seconds: float, simulations_left: float
    ) -> bool:
        """Return whether to end now.

        Args:
            statistics: of the root's moves.
            seconds: since the search began.
            simulations_left: until its limit, at the present speed.
        """

    def extension_seconds(self, statistics: RootStatistics) -> float:
        """Return seconds to go on for, once the time is over; 0 to end."""


class EarlyStop:
    """Ends a search when the runner-up cannot catch up."""

    def should_stop(
        self, statistics: RootStatistics, seconds: float, simulations_left: float
    ) -> bool:
        """See ``Watch``."""
        return statistics.lead > simulations_left

    def extension_seconds(self, statistics: RootStatistics) -> float:
        """Never: 0."""
        return 0.0
