"""Score statistics of a match: the strength of its two agents, with intervals.

The score counts a win 1, a draw 1/2 and a loss 0, so a game is a draw from a trinomial
distribution of mean μ and variance ``μ(1-μ) - d/4`` with the draw rate d. Wilson (1927) inverts the
score test for a binomial; here the same is done with the trinomial's variance.
"""

import dataclasses
import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import scipy  # Its parts are loaded when they are first used.

CONFIDENCE = 0.95
"""The confidence of every interval."""

_Z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)


@dataclasses.dataclass(frozen=True)
class MatchScore:
    """Wins, draws and losses, and what follows from them; all from the first agent's view.

    The intervals take the games as independent. Where two games share an opening, ``PairCounts``
    has the intervals.

    Raises:
        ValueError: for a negative count.
    """

    wins: int
    """Games that the first agent won."""
    draws: int
    """Games that nobody won."""
    losses: int
    """Games that the second agent won."""

    def __post_init__(self) -> None:
        if min(self.wins, self.draws, self.losses) < 0:
            raise ValueError(f"Wins, draws and losses must be at least 0: {self}.")

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Mean score a game, from 0 to 1; not a number without games."""
        return (self.wins + self.draws / 2) / self.games if self.games else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the expected score; [0, 1] without games.

        The draw rate enters by its own lower bound: doubt about it only widens the interval. With
        no draws it is Wilson's interval.
        """
        if self.games == 0:
            return 0.0, 1.0
        draw_rate, _ = score_interval(self.draws / self.games, self.games)
        return score_interval(self.score, self.games, draw_rate=draw_rate)

    @property
    def elo(self) -> float:
        """Elo points by which the first agent is stronger; infinite at score 0 or 1."""
        return elo_difference(self.score)

    @property
    def elo_interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the Elo difference; its ends may be infinite."""
        low, high = self.interval
        return elo_difference(low), elo_difference(high)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON: what is infinite or unknown is None."""
        return {
            "games": self.games,
            "score": finite(self.score),
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "ci95": list(self.interval),
            "elo": finite(self.elo),
            "elo_ci95": [finite(end) for end in self.elo_interval],
        }

    def __str__(self) -> str:
        return f"{self.wins}-{self.draws}-{self.losses}"


def score_interval(score: float, games: int, *, draw_rate: float = 0.0) -> tuple[float, float]:
    """The means μ that the score x of n games does not refute at 95 % confidence.

    They satisfy ``(x - μ)² <= z² (μ(1-μ) - d/4) / n``, so that, with ``c = z²/n``, the ends are

        ``(2x + c ± sqrt(4cx(1-x) + c² - cd(1+c))) / (2(1+c))``,

    clipped to [0, 1]. At d = 0 this is the interval of E. B. Wilson, "Probable Inference, the Law
    of Succession, and Statistical Inference", JASA 22 (1927), https://doi.org/10.2307/2276774.

    Args:
        score: x, from 0 to 1.
        games: n, at least 1.
        draw_rate: d, from 0 to ``2 min(x, 1-x)``.
    """
    x, c, d = score, _Z * _Z / games, draw_rate
    root = math.sqrt(max(0.0, 4 * c * x * (1 - x) + c * c - c * d * (1 + c)))
    low, high = ((2 * x + c + sign * root) / (2 * (1 + c)) for sign in (-1, 1))
    return (0.0 if x == 0.0 else max(0.0, low)), (1.0 if x == 1.0 else min(1.0, high))


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % confidence interval of the mean, by Student's t; infinite below two values."""
    if len(values) < 2:
        return -math.inf, math.inf
    quantile = scipy.stats.t.ppf(0.5 + CONFIDENCE / 2, len(values) - 1)
    error = float(scipy.stats.sem(values)) * float(quantile)
    mean = math.fsum(values) / len(values)
    return mean - error, mean + error


def elo_difference(score: float) -> float:
    """``-400 log10(1/s - 1)``: the Elo difference at which the expected score is s.

    Elo, "The Rating of Chessplayers" (1978), in the logistic form. Minus infinity at 0, infinity at
    1, and not a number where the score is none.
    """
    if score <= 0.0:
        return -math.inf
    if score >= 1.0:
        return math.inf
    return -400.0 * math.log10(1.0 / score - 1.0)


def finite(value: float) -> float | None:
    """The value as strict JSON has it: None if it is infinite or not a number."""
    return value if math.isfinite(value) else None
