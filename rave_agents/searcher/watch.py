"""Early stopping and time extension of a search."""

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

OFTEN = 0.1
"""A move's value counts in UNST from this share of the most visited move's visits: the mean of few
simulations means nothing."""


class RootStatistics(NamedTuple):
    """Visits and values of the root's moves during a search, in a fixed order."""

    visits: Sequence[float]
    """Visits of each move."""
    values: Sequence[float]
    """Mean value of each move for the player to move, from 0 (lost) to 1 (won); 0 without
    visits."""

    @property
    def lead(self) -> float:
        """Visits by which the most visited move leads; infinite if there is no other."""
        if len(self.visits) < 2:
            return math.inf
        second, first = sorted(self.visits)[-2:]
        return first - second

    @property
    def chosen(self) -> int:
        """The index of the most visited move; among equals the one with the best value."""
        return max(range(len(self.visits)), key=lambda i: (self.visits[i], self.values[i]))

    @property
    def unstable(self) -> bool:
        """True if a frequently visited move has a better value than the most visited one."""
        if not self.visits:
            return False
        often = OFTEN * max(self.visits)
        pairs = zip(self.values, self.visits, strict=True)
        return self.values[self.chosen] < max(value for value, n in pairs if n >= often)


class Watch(Protocol):
    """Decides during a search whether it continues."""

    def should_stop(
        self, statistics: RootStatistics, seconds: float, simulations_left: float
    ) -> bool:
        """Return whether to stop now.

        Args:
            statistics: the root's moves.
            seconds: seconds since the search began.
            simulations_left: simulations until its limit at the present speed.
        """

    def extension_seconds(self, statistics: RootStatistics) -> float:
        """Return seconds to continue once the time is over; 0 to stop."""


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
