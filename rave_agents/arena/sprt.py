"""Sequential tests: whether the first agent is stronger, with as few games as possible.

The generalized sequential probability ratio test (GSPRT) of Xiaoou Li, Jingchen Liu and Zhiliang
Ying, "Generalized Sequential Probability Ratio Test for Separate Families of Hypotheses",
Sequential Analysis 33 (2014), as Fishtest applies it to chess: the probabilities of the results are
fitted by maximum likelihood under each of the two hypotheses, and the test ends when the logarithm
of the ratio of both likelihoods leaves an interval.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy  # Its submodules load lazily.
from numpy.typing import NDArray

from rave_agents.game.arguments import check_names

MODELS = ("normalized", "logistic")
"""Scales of the bounds, see ``Sprt``."""

ELO_PER_SIGMA = 800.0 / math.log(10.0)
"""Normalized Elo points per standard deviation of a game's score."""

_LEAST = 1e-3
"""Replaces a count of 0, so that an unseen result is not considered impossible.
"""

_ROUNDS, _CLOSE = 100, 1e-9
"""Maximum rounds of the fit to a normalized difference, and the change at which it stops."""

_Array = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Sprt:
    """A test of the hypothesis that the difference is ``elo1`` against ``elo0``.

    Raises:
        ValueError: unless ``elo0 < elo1``, ``alpha`` and ``beta`` lie between 0 and 0.5, and the
            model is known.
    """

    elo0: float
    """The null hypothesis: a difference too small to matter, in Elo points."""
    elo1: float
    """The alternative: a difference that matters."""
    alpha: float = 0.05
    """Probability of accepting ``elo1`` if ``elo0`` is true."""
    beta: float = 0.05
    """Probability of accepting ``elo0`` if ``elo1`` is true."""
    model: str = "normalized"
    """``normalized`` Elo is measured in standard deviations of a game's score, ``800 / ln 10``
    points each, so the length of a test does not depend on the share of draws; ``logistic`` is the
    usual Elo."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.elo0) and math.isfinite(self.elo1) and self.elo0 < self.elo1):
            raise ValueError(
                f"A sequential test needs finite elo0 < elo1, got {self.elo0:g} and {self.elo1:g}."
            )
        for name in ("alpha", "beta"):
            if not 0.0 < (value := vars(self)[name]) < 0.5:
                raise ValueError(f"{name} must be between 0 and 0.5, got {value}.")
        check_names("model", [self.model], MODELS, ValueError)

    @classmethod
    def parse(cls, text: str, **options: Any) -> Self:
        """Parse a test ``elo0,elo1``, such as ``"0,5"``.

        Raises:
            ValueError: for another form, or invalid bounds.
        """
        try:
            elo0, elo1 = map(float, text.split(","))
        except ValueError:
            raise ValueError(f"Not of the form ELO0,ELO1: {text!r}. For example 0,5.") from None
        return cls(elo0, elo1, **options)

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds at which the test accepts ``elo0`` (lower) and ``elo1`` (upper)."""
        return (
            math.log(self.beta / (1 - self.alpha)),
            math.log((1 - self.beta) / self.alpha),
        )

    def llr(self, counts: Sequence[int]) -> float:
        """The log-likelihood ratio of the results, ``elo1`` over ``elo0``.

        Args:
            counts: the frequency of each score, evenly spaced in [0, 1] from lowest to highest:
                losses, draws and wins of games, or the five counts of pairs.
        """
        if not sum(counts):
            return 0.0
        observed = np.maximum(np.asarray(counts, dtype=float), _LEAST)
        total = observed.sum()  # Includes the replaced zeros, as their shares do.
        shares, scores = observed / total, np.linspace(0.0, 1.0, len(counts))
        fitted = [self._fitted(shares, scores, elo) for elo in (self.elo0, self.elo1)]
        return float(total * np.dot(shares, np.log(fitted[1] / fitted[0])))

    def _fitted(self, shares: _Array, scores: _Array, elo: float) -> _Array:
        if self.model == "logistic":
            return _with_mean(shares, scores, 1.0 / (1.0 + 10.0 ** (-elo / 400.0)))
        games = (len(scores) - 1) / 2  # The mean of a pair varies less than one game's score.
        return _with_difference(shares, scores, math.sqrt(games) * elo / ELO_PER_SIGMA)

    def verdict(self, counts: Sequence[int]) -> str | None:
        """The accepted hypothesis, ``"elo0"`` or ``"elo1"``; None if more games are needed."""
        low, high = self.bounds
        llr = self.llr(counts)
        if llr >= high:
            return "elo1"
        return "elo0" if llr <= low else None

    def __str__(self) -> str:
        return f"{self.elo0:g},{self.elo1:g}"


def _with_mean(shares: _Array, values: _Array, mean: float) -> _Array:
    """The most likely probabilities with this mean.

    They are ``p_i / (1 + x (a_i - s))`` with the x at which ``Σ p_i (a_i - s) / (1 + x (a_i - s))``
    is 0 (Lagrange multipliers), for observed shares p, values a and the mean s.
    """
    # x must keep all denominators positive; the sum falls from +inf to -inf in between.
    away = values - mean
    low, high = -1.0 / away.max(), -1.0 / away.min()
    room = 1e-12 * (high - low)
    x = scipy.optimize.brentq(
        lambda x: np.sum(shares * away / (1 + x * away)), low + room, high - room
    )
    fitted: _Array = shares / (1 + x * away)
    return fitted


def _with_difference(shares: _Array, scores: _Array, difference: float) -> _Array:
    """The most likely probabilities whose mean is t standard deviations above 1/2.

    The condition ``μ - 1/2 = t σ`` is linearised around the last round's probabilities, ``Σ p_i
    (a_i - 1/2 - t σ (1 + ((μ - a_i) / σ)²) / 2) = 0``, and fitted again until they converge (Michel
    Van den Bergh, "Normalized Elo", 2020).
    """
    mean = float(np.dot(shares, scores))
    sigma = math.sqrt(float(np.dot(shares, (scores - mean) ** 2)))
    # Start from a mean with the right sign and size; the observed one may have neither.
    fitted = _with_mean(shares, scores, 0.5 + 0.5 * math.tanh(2 * difference * sigma))
    for _ in range(_ROUNDS):
        mean = float(np.dot(fitted, scores))
        sigma = math.sqrt(float(np.dot(fitted, (scores - mean) ** 2)))
        bent = 0.5 * difference * sigma * (1 + ((mean - scores) / sigma) ** 2)
        values = scores - 0.5 - bent
        if values.max() <= 0.0 or values.min() >= 0.0:
            break  # Not attainable with these scores: keep the nearest solution.
        last, fitted = fitted, _with_mean(shares, values, 0.0)
        if np.abs(fitted - last).max() < _CLOSE:
            break
    return fitted
