"""Results counted in pairs: two games from one opening with the seats exchanged.

The advantage that an opening gives to one seat cancels out within a pair, so pairs vary less than
two independent games: the pentanomial model, as used by Fishtest. A pair's score is the mean of its
two games, 0, 1/4, 1/2, 3/4 or 1, from the first agent's view.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Self

from rave_agents.arena.statistics import elo_difference, elo_interval_at, units_interval

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The mean scores that the two games of a pair can have."""


@dataclasses.dataclass(frozen=True)
class PairCounts:
    """Counts of pairs by their score, from the first agent's view.

    Args:
        counts: numbers of pairs with 0, 1/2, 1, 3/2 and 2 points of the first agent.

    Raises:
        ValueError: unless there are five counts of at least 0.
    """

    counts: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)

    def __post_init__(self) -> None:
        if len(self.counts) != len(PAIR_SCORES) or min(self.counts) < 0:
            raise ValueError(f"counts must be five integers of at least 0, got {self.counts!r}.")

    @classmethod
    def of(cls, scores: Mapping[int, Sequence[float]]) -> Self:
        """Count the complete pairs among games.

        Args:
            scores: the scores of each pair's finished games, 0, 1/2 or 1, by pair number.
        """
        counts = [0] * len(PAIR_SCORES)
        for games in scores.values():
            if len(games) == 2:
                counts[round(2 * sum(games))] += 1
        return cls(tuple(counts))  # type: ignore[arg-type]

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return sum(self.counts)

    @property
    def score(self) -> float:
        """Mean score per game, from 0 to 1; NaN without pairs."""
        points = sum(2 * s * n for s, n in zip(PAIR_SCORES, self.counts, strict=True))
        return points / (2 * self.pairs) if self.pairs else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the expected score; [0, 1] without pairs."""
        pairs = zip(PAIR_SCORES, self.counts, strict=True)
        return units_interval((2 * score, 2, count) for score, count in pairs)

    @property
    def elo(self) -> float:
        """Elo points by which the first agent is stronger; infinite at score 0 or 1."""
        return elo_difference(self.score)

    @property
    def elo_interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the Elo difference; its ends may be infinite."""
        return elo_interval_at(self.interval)
