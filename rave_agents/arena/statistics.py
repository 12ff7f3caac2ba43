"""Score statistics of a match: the strength of its two agents, with intervals.

The score counts a win 1, a draw 1/2 and a loss 0. Without draws a game of mean μ has the variance
``μ(1-μ)``; draws reduce it, and so does playing each opening with both seatings. The *dispersion* φ
is the variance in units of ``μ(1-μ)``; n games are as informative as n/φ independent games without
draws. Intervals are Wilson's (1927) for that number of games.

Two games from one opening with the seats exchanged are a pair. The advantage that an opening gives
to one seat cancels out within a pair, so pairs vary less than two independent games: the
pentanomial model, as used by Fishtest. A pair's score is the mean of its two games, 0, 1/4, 1/2,
3/4 or 1, from the first agent's view.
"""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist
from typing import Any, Self

import scipy  # Its submodules load lazily.

from rave_agents.results.numbers import finite

CONFIDENCE = 0.95
"""The confidence level of all intervals."""

Z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
"""The normal quantile of that confidence, 1.96."""

_PRIOR_GAMES = 4.0
"""Virtual games added to the observed ones when estimating their dispersion."""


@dataclasses.dataclass(frozen=True)
class MatchScore:
    """Wins, draws and losses from the first agent's view, with score, Elo and intervals.

    The intervals assume independent games. If two games share an opening, use ``PairCounts``.

    Raises:
        ValueError: for a negative count.
    """

    wins: int
    """Games that the first agent won."""
    draws: int
    """Drawn games."""
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
        """Mean score per game, from 0 to 1; NaN without games."""
        return (self.wins + self.draws / 2) / self.games if self.games else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the expected score; [0, 1] without games.

        Without draws it is Wilson's interval.
        """
        scores = {1.0: self.wins, 0.5: self.draws, 0.0: self.losses}
        return units_interval([(score, 1, count) for score, count in scores.items()])

    @property
    def elo(self) -> float:
        """Elo points by which the first agent is stronger; infinite at score 0 or 1."""
        return elo_difference(self.score)

    @property
    def elo_interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the Elo difference; its ends may be infinite."""
        return elo_interval_at(self.interval)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON; infinite and unknown ones are None."""
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
                counts[round(2 * sum(games))] += 1  # Points come in halves.
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


def score_interval(score: float, games: float) -> tuple[float, float]:
    """Wilson's interval: the means μ not refuted by the score x of n games at 95 % confidence.

    They satisfy ``(x - μ)² <= z² μ(1-μ) / n``, so that, with ``c = z²/n``, the ends are

        ``(2x + c ± sqrt(4cx(1-x) + c²)) / (2(1+c))``:

    E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22
    (1927), https://doi.org/10.2307/2276774.

    Args:
        score: x, from 0 to 1.
        games: n, which need not be a whole number.
    """
    x, c = score, Z * Z / games
    root = math.sqrt(4 * c * x * (1 - x) + c * c)
    low, high = ((2 * x + c + sign * root) / (2 * (1 + c)) for sign in (-1, 1))
    # At x = 0 or 1 rounding must not leave the end a little inside of [0, 1].
    return (0.0 if x == 0.0 else low), (1.0 if x == 1.0 else high)


def units_interval(units: Iterable[tuple[float, int, int]]) -> tuple[float, float]:
    """The 95 % confidence interval of the expected score of games in independent units.

    It is Wilson's interval for n/φ games, or for n games if one agent has won all of them and φ is
    unknown.

    Args:
        units: the points of a unit, its games, and the number of such units; without units the
            interval is [0, 1].
    """
    units = list(units)
    games = sum(count * size for _, size, count in units)
    if not games:
        return 0.0, 1.0
    # Independent units, dependent games in each: the spread is of units, the variance of games.
    score = math.fsum(count * points for points, _, count in units) / games
    spread = math.fsum(count * (points - size * score) ** 2 for points, size, count in units)
    return score_interval(score, games / dispersion(spread, games * score * (1 - score), games))


def dispersion(spread: float, variance: float, games: float, prior: float = 1.0) -> float:
    """φ, the variance of scores over that of independent games without draws.

    With the sum S of squared differences between units' actual and expected points, ``V = Σ
    μ(1-μ)`` of the n games, and k further games of the same kind for which φ is expected to be φ₀,

        ``φ = (S + φ₀ k V/n) / (V + k V/n)``,   φ₀ if V is 0.

    Without the k games, a few units with equal points would make it 0. McCullagh and Nelder,
    "Generalized Linear Models" (1989), section 4.5.
    """
    if variance <= 0.0:
        return prior
    added = _PRIOR_GAMES * variance / games
    return (spread + prior * added) / (variance + added)


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
    1, NaN for NaN.
    """
    if score <= 0.0:
        return -math.inf
    if score >= 1.0:
        return math.inf
    return -400.0 * math.log10(1.0 / score - 1.0) + 0.0  # 0 for 1/2, not -0


def elo_interval_at(scores: tuple[float, float]) -> tuple[float, float]:
    """The interval of the Elo difference at an interval of expected scores."""
    low, high = scores
    return elo_difference(low), elo_difference(high)
