"""The likelihood of games under the Bradley-Terry model: estimates and intervals of differences.

Agents i and j with strengths s, in units of ``400 / ln 10`` Elo points, expect the scores
``E = 1 / (1 + exp(s_j - s_i))`` and ``1 - E``, and i has made w points of n games:

    ``ℓ(s) = Σ w ln E + (n - w) ln(1 - E)``, summed over the pairings that met.

**Estimates** maximize it (R. A. Bradley and M. E. Terry, Biometrika 39, 1952). They are finite if
and only if, for every division of the agents into two parts, each part has scored points against
the other (L. R. Ford, "Solution of a Ranking Problem from Binary Comparisons", 1957): within the
strongly connected groups of the graph in which an edge leads from each agent to those of whom it
took points.

**Intervals** invert the score test (C. R. Rao, 1948) on the profile likelihood: for a difference
δ, ``ℓ_p(δ)`` is the maximum of ℓ over all strengths that have it, and the interval holds each δ
with

    ``ℓ_p'(δ)² / (φ · -ℓ_p''(δ)) <= z²``.

Between two agents this is E. B. Wilson's interval of the score (1927). It needs no finite maximum,
so agents who won all their games get a lower bound. ``statistics.dispersion`` has φ, which takes
draws and the openings that games share into account; each pairing has its own, so that ``-ℓ_p''``
becomes the variance that they give the slope ``ℓ_p'`` (H. White, 1982).
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np
import scipy  # Its submodules load lazily.
from numpy.typing import NDArray

from rave_agents.arena.statistics import Z, dispersion

_Array = NDArray[np.float64]
_Flags = NDArray[np.bool_]

_POINTS = 400.0 / math.log(10.0)
"""Elo points per unit of strength."""

_ABOVE_NORMAL = 1.3
"""Where the search for an end starts, in units of the normal approximation's distance."""
_FARTHEST = 256.0
"""Maximum distance at which an end is searched, some 44,000 Elo points."""
_NEWTON_STEPS = 200
"""Maximum Newton steps; few are needed."""
_CLOSE = 1e-6
"""Newton's method stops at this change of the strengths."""


class RatingLikelihood:
    """Estimates and intervals of differences between agents, who are numbers from 0.

    A *contrast* is a vector of weights and denotes the weighted sum of the agents' ratings. Its
    weights sum to 0: one agent's is positive and the others are negative, or the reverse, and those
    others belong to one strongly connected group.

    Args:
        agents: the number of agents.
        games: for each pairing (i, j) with i < j that met, the scores of i in units of games that
            are not independent.
    """

    def __init__(
        self, agents: int, games: Mapping[tuple[int, int], Sequence[Sequence[float]]]
    ) -> None:
        pairings = np.array(list(games), dtype=int).reshape(-1, 2)
        won = np.array([math.fsum(map(math.fsum, units)) for units in games.values()])
        count = np.array([float(sum(map(len, units))) for units in games.values()])
        self._games = _Games(agents, pairings, won, count - won, np.ones(len(games)))
        self._beaten = self._closure()
        self._strengths = self._estimates()
        self._games = self._games._replace(dispersions=self._dispersions(list(games.values())))

    def _closure(self) -> _Flags:
        """True where an agent has scored against another, directly or through others, or is it."""
        agents, pairings, won, lost, _ = self._games
        beaten = np.eye(agents, dtype=bool)
        # An edge (i, j) if i took points off j; in a drawn pairing both did.
        beaten[tuple(pairings[won > 0].T)] = True
        beaten[tuple(pairings[lost > 0, ::-1].T)] = True
        # Warshall's algorithm: paths through the first ``middle`` agents are known before the next.
        for middle in range(len(beaten)):
            beaten |= np.outer(beaten[:, middle], beaten[middle])
        return beaten

    @property
    def _groups(self) -> _Flags:
        return self._beaten & self._beaten.T

    @property
    def numbers_beaten(self) -> NDArray[np.int_]:
        """Number of agents that each agent has scored against, directly or through others."""
        numbers: NDArray[np.int_] = self._beaten.sum(axis=1)
        return numbers

    @property
    def main_group(self) -> _Flags:
        """The largest strongly connected group; among equals the one with the first agent."""
        groups = self._groups
        return groups[groups.sum(axis=1).argmax()] if len(groups) else np.zeros(0, dtype=bool)

    def _estimates(self) -> _Array:
        """Strengths of maximum likelihood, 0 on average in each strongly connected group."""
        strengths = np.zeros(len(self._beaten))
        for group in dict.fromkeys(map(tuple, self._groups)):
            members = np.array(group)
            # Adding a constant to all strengths changes nothing: keep their sum at 0.
            free = scipy.linalg.null_space(np.ones((1, members.sum())))
            strengths[members] = self._games.within(members).most_likely(
                np.zeros(members.sum()), free
            )
        return strengths

    def _dispersions(self, units: Sequence[Sequence[Sequence[float]]]) -> _Array:
        """φ of each pairing; its prior expectation comes from the other pairings."""
        counts = self._games.won + self._games.lost
        expected = self._games.won / counts  # 0 or 1, unless both are in one group
        known = self._groups[*self._games.pairings.T]
        expected[known] = scipy.special.expit(self._games.differences(self._strengths))[known]
        variances = counts * expected * (1.0 - expected)
        spreads = np.array(
            [
                math.fsum((math.fsum(unit) - len(unit) * share) ** 2 for unit in pairing)
                for pairing, share in zip(units, expected, strict=True)
            ]
        )
        spreads *= self._lost_freedom(sum(map(len, itertools.compress(units, known))))
        found = np.ones(len(units))
        for row in range(len(units)):
            others = np.arange(len(units)) != row  # A prior must not know the pairing's own games.
            prior = dispersion(spreads[others].sum(), variances[others].sum(), counts[others].sum())
            if not known[row]:
                prior = max(1.0, prior)  # Agents without draws need not draw as often as others.
            found[row] = dispersion(spreads[row], variances[row], counts[row], prior)
        return found

    def _lost_freedom(self, units: int) -> float:
        """The factor by which fitting reduces the spread around the expected scores.

        n units about the fit of p parameters leave n - p + 1 of n (White's correction, MacKinnon
        and White 1985); the first is left out, so that two agents have Wilson's interval.
        """
        groups = set(map(tuple, self._groups))
        further = sum(max(0, sum(group) - 2) for group in groups)
        return units / max(1, units - further) if units else 1.0

    def value(self, contrast: _Array) -> float:
        """The contrast's estimate in Elo points; infinite or NaN if it does not exist."""
        above, below = np.flatnonzero(contrast > 0), np.flatnonzero(contrast < 0)
        if not len(above):
            return 0.0
        won, lost = self._beaten[above[0], below[0]], self._beaten[below[0], above[0]]
        if won and lost:  # In one strongly connected group: the estimate is finite.
            return _POINTS * float(contrast @ self._strengths)
        return math.inf if won else -math.inf if lost else math.nan

    def interval(self, contrast: _Array) -> tuple[float, float]:
        """The contrast's 95 % confidence interval in Elo points; its ends may be infinite."""
        if not contrast.any():
            return 0.0, 0.0
        estimate = self.value(contrast)
        if math.isnan(estimate):
            return -math.inf, math.inf
        if estimate == -math.inf:  # Mirrored, so that only +inf needs its own search.
            low, high = self.interval(-contrast)
            return -high, -low
        held = contrast != 0
        # The other agents won, or lost, all games against these for every value of the contrast.
        group = self._beaten[held].any(axis=0) & self._beaten[:, held].any(axis=1)
        profile = _Profile(self._games.within(group), contrast[group], self._strengths[group])
        if estimate == math.inf:
            # A negative excess: 0 lies in the interval, so its lower end is below 0.
            side = -1.0 if profile.excess(0.0) < 0 else 1.0
            return _POINTS * _root(profile.excess, 0.0, side), math.inf
        middle = estimate / _POINTS
        step = _ABOVE_NORMAL * Z * profile.deviation(middle)
        low, high = (_root(profile.excess, middle, side * step) for side in (-1.0, 1.0))
        return _POINTS * low, _POINTS * high


class _Profile:
    """The likelihood as a function of a contrast δ, with the most likely strengths for it.

    Args:
        games: the games of agents whose strengths are finite for each δ.
        weights: the agents' weights in the contrast.
        strengths: the initial strengths.
    """

    def __init__(self, games: "_Games", weights: _Array, strengths: _Array) -> None:
        self._games, self._weights = games, weights
        # A step along ``_along`` changes δ by 1; steps in ``_free`` change neither δ nor the sum.
        self._along = weights / (weights @ weights)
        self._free = scipy.linalg.null_space(np.array([np.ones(len(weights)), weights]))
        self._basis = np.column_stack([self._along, self._free])
        self._last, self._course = strengths, self._along
        """The strengths at the last δ, and their derivative by δ."""
        self._reach = 0.0
        """-1 / ℓ_p'' at the last δ."""

    def _response(self, delta: float) -> _Array:
        """Change of the most likely strengths per unit of slope; it changes δ by ``-1 / ℓ_p''``."""
        # Predict by the last derivative: Newton's method then needs one or two steps.
        start = self._last + (delta - self._weights @ self._last) * self._course
        self._last = self._games.most_likely(start, self._free)
        curvature = self._basis.T @ self._games.information(self._last) @ self._basis
        response: _Array = self._basis @ _solved(curvature, np.eye(len(curvature))[0])
        self._reach = float(self._weights @ response)
        self._course = response / self._reach
        return response

    def deviation(self, delta: float) -> float:
        """Standard deviation of the estimate of δ if ``delta`` is true."""
        change = self._games.differences(self._response(delta))
        return math.sqrt(change**2 @ (self._games.dispersions * self._games.variances(self._last)))

    def excess(self, delta: float) -> float:
        """The square root of the score test's statistic, divided by z, minus 1."""
        deviation = self.deviation(delta)
        slope = float(self._games.gradient(self._last) @ self._along)  # ℓ_p'
        return abs(slope) * self._reach / (Z * deviation) - 1.0 if deviation else math.inf


class _Games(NamedTuple):
    """Points of the pairings of some agents; all functions take the agents' strengths."""

    agents: int
    """Number of agents."""
    pairings: NDArray[np.int_]
    """The two agents of each pairing."""
    won: _Array
    """Points of the first agent."""
    lost: _Array
    """Points of the second agent."""
    dispersions: _Array
    """φ."""

    def within(self, group: _Flags) -> Self:
        """The pairings within a group, whose agents are renumbered from 0."""
        inside = group[self.pairings].all(axis=1)
        # The number of members up to an agent is its new number, plus 1.
        pairings = (np.cumsum(group) - 1)[self.pairings[inside]]
        return type(self)(int(group.sum()), pairings, *(part[inside] for part in self[2:]))

    def differences(self, strengths: _Array) -> _Array:
        found: _Array = strengths[self.pairings[:, 0]] - strengths[self.pairings[:, 1]]
        return found

    def loss(self, strengths: _Array) -> float:
        d = self.differences(strengths)
        # ln E = -ln(1 + exp(-d)), without overflow for large differences.
        return float(self.won @ np.logaddexp(0.0, -d) + self.lost @ np.logaddexp(0.0, d))

    def gradient(self, strengths: _Array) -> _Array:
        d = self.differences(strengths)
        slopes = self.won * scipy.special.expit(-d) - self.lost * scipy.special.expit(d)
        one, two = self.pairings.T
        gradient: _Array = np.bincount(one, slopes, self.agents).astype(float)
        gradient -= np.bincount(two, slopes, self.agents)
        return gradient

    def variances(self, strengths: _Array) -> _Array:
        """Variance of each pairing's points for independent games without draws."""
        d = self.differences(strengths)
        spread: _Array = scipy.special.expit(d) * scipy.special.expit(-d)
        return (self.won + self.lost) * spread

    def information(self, strengths: _Array) -> _Array:
        """The negative Hessian of the logarithm of the likelihood."""
        between = np.zeros((self.agents, self.agents))
        between[tuple(self.pairings.T)] = self.variances(strengths)
        between += between.T
        return np.diag(between.sum(axis=0)) - between  # The Laplacian of the weighted graph.

    def most_likely(self, start: _Array, free: _Array) -> _Array:
        """The most likely strengths in ``start`` plus the span of the columns of ``free``."""
        at, loss = start, self.loss(start)
        for _ in range(_NEWTON_STEPS if free.shape[1] else 0):
            step = free @ _solved(free.T @ self.information(at) @ free, free.T @ self.gradient(at))
            size = np.abs(step).max()
            if size <= _CLOSE:  # Newton converges quadratically: the remaining error is its square.
                return at + step
            # Far from the maximum a full step may overshoot: halve it until it is an improvement.
            while self.loss(at + step) > loss and size > _CLOSE:
                step, size = step / 2, size / 2
            at, loss = at + step, self.loss(at + step)
        return at


def _solved(matrix: _Array, right: _Array) -> _Array:
    """The solution of the linear system; the shortest one if it is singular."""
    try:
        return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, right)[0], dtype=np.float64)


def _root(function: Callable[[float], float], start: float, step: float) -> float:
    """The nearest root on one side of ``start``, or a very distant point before it."""
    sign, last = function(start) > 0, start
    while abs(step) < _FARTHEST:
        last, start, step = start, start + step, 2 * step  # Doubling steps bracket the root.
        if (function(start) > 0) != sign:
            return float(scipy.optimize.brentq(function, last, start, xtol=1e-7))
    return start
