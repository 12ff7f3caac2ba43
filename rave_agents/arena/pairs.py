"""Results counted in pairs: two games from one opening with the seats exchanged.

What an opening gives to one seat cancels out within a pair, so that pairs vary less than two
independent games: the pentanomial model, as Fishtest counts. A pair's score is the mean of its two
games, 0, 1/4, 1/2, 3/4 or 1, from the first agent's view.
"""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from rave_agents.arena.statistics import elo_difference, score_interval

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The mean scores that the two games of a pair can have."""


@dataclasses.dataclass(frozen=True)
class PairCounts:
    """Counts of pairs by their score, from the first agent's view.

    Args:
        counts: pairs with 0, 1/2, 1, 3/2 and 2 points of the first agent, in this order.

    Raises:
        ValueError: for other than five counts of at least 0.
    """

    counts: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)

    def __post_init__(self) -> None:
        if len(self.counts) != len(PAIR_SCORES) or min(self.counts) < 0:
            raise ValueError(f"counts must be five integers of at least 0, got {self.counts!r}.")

    @classmethod
    def of(cls, scores: Mapping[int, Sequence[float]]) -> Self:
        """Count the whole pairs among games.

        Args:
            scores: for each pair's number the scores of its finished games, 0, 1/2 or 1.
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
        """Mean score a game, from 0 to 1; not a number without pairs."""
        return _mean(self._scores()) if self.pairs else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the expected score; [0, 1] without pairs."""
        return unit_interval(self._scores())

    @property
    def elo(self) -> float:
        """Elo points by which the first agent is stronger; infinite at score 0 or 1."""
        return elo_difference(self.score)

    @property
    def elo_interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the Elo difference; its ends may be infinite."""
        low, high = self.interval
        return elo_difference(low), elo_difference(high)

    def _scores(self) -> list[float]:
        return [s for s, count in zip(PAIR_SCORES, self.counts, strict=True) for _ in range(count)]


def unit_interval(scores: Iterable[float]) -> tuple[float, float]:
    """The 95 % confidence interval of the mean of independent scores in [0, 1].

    A score x of mean μ has the variance ``μ(1-μ) - q`` with ``q = E[x(1-x)]``: 0 where only 0 and 1
    occur, as in Wilson's interval, and d/4 with the draw rate d of single games. So the interval of
    ``score_interval`` holds for pairs with ``4q`` in the draw rate's place. It enters by its own
    lower bound, as there: doubt about it only widens the interval.

    Args:
        scores: of pairs, or of single games; none gives [0, 1].
    """
    values = list(scores)
    if not values:
        return 0.0, 1.0
    spread = min(1.0, _mean([4 * x * (1 - x) for x in values]))
    low_spread, _ = score_interval(spread, len(values))
    return score_interval(_mean(values), len(values), draw_rate=low_spread)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
