"""Ratings of many agents from the games between them, by maximum likelihood.

The model is that of Bradley and Terry with draws, by R. R. Davidson, "On Extending the
Bradley-Terry Model to Accommodate Ties in Paired Comparison Experiments", JASA 65 (1970): with the
difference d of two strengths and one ν for all,

    ``P(win) : P(draw) : P(loss) = exp(d/2) : ν : exp(-d/2)``.

Ratings are strengths on Elo's scale, so that the expected score near equality changes with them as
in the logistic form of a match: ``(400 / ln 10) · 2 / (2 + ν)`` points each.
"""

import dataclasses
import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy  # Its parts are loaded when they are first used.
from numpy.typing import NDArray

from rave_agents.arena.statistics import CONFIDENCE, finite
from rave_agents.game.arguments import unknown_name

_Array = NDArray[np.float64]

_Z = 1.959963984540054
_POINTS = 400.0 / math.log(10.0)
_PSEUDO_UNITS = 2.0
"""Games by the model that are added to each pairing's observed variation: a few pairs that all came
out alike do not make it 0."""

_FARTHEST = 5000.0
"""Elo points beyond which no bound is looked for."""


class Outcome(NamedTuple):
    """Result of one game between two agents."""

    first: str
    """An agent's name."""
    second: str
    """The other's."""
    score: float
    """The first one's: 1, 1/2 or 0."""
    unit: Hashable
    """Identity of the opening: games that start from the same one are not independent."""


@dataclasses.dataclass(frozen=True)
class Ratings:
    """Ratings in Elo points with their covariance.

    Not every set of games has finite ratings. How much better an agent is that won all its games
    is unknown: its rating is infinite, and its interval one-sided. Agents that no games connect,
    not even through other agents, cannot be compared: their ratings are not a number.
    """

    names: tuple[str, ...]
    """The agents."""
    values: tuple[float, ...]
    """Their ratings: 0 on average over those that are finite, or as the anchor has it."""
    covariance: _Array
    """Covariance of the ratings, agents × agents, in squared Elo points; not a number where there
    is none."""
    bounds: dict[str, tuple[float, float]]
    """95 % intervals of those whose rating is infinite, one-sided."""
    draw_parameter: float
    """The model's ν: 0 without draws, 2 where equals draw every second game."""

    def __getitem__(self, name: str) -> float:
        """An agent's rating."""
        return self.values[self._index(name)]

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise KeyError(unknown_name("agent", name, self.names))
        return self.names.index(name)

    def interval(self, name: str) -> tuple[float, float]:
        """The 95 % confidence interval of a rating; (-inf, inf) where nothing is known."""
        index = self._index(name)
        if name in self.bounds:
            return self.bounds[name]
        return _around(self.values[index], self.covariance[index, index])

    def difference(self, first: str, second: str) -> tuple[float, tuple[float, float]]:
        """Rating of the first agent less the second's, and its 95 % interval."""
        one, two = self._index(first), self._index(second)
        if one == two:
            return 0.0, (0.0, 0.0)
        both = self.values[one], self.values[two]
        value = both[0] - both[1]
        if not all(map(math.isfinite, both)):
            return value, (-math.inf, math.inf)
        c = self.covariance
        return value, _around(value, c[one, one] + c[two, two] - 2 * c[one, two])

    @property
    def order(self) -> tuple[str, ...]:
        """The agents, the highest rating first; those that cannot be compared last."""
        pairs = zip(self.names, self.values, strict=True)
        known = {name: value for name, value in pairs if not math.isnan(value)}
        rated = sorted(known, key=lambda name: (-known[name], self.names.index(name)))
        return (*rated, *(name for name in self.names if name not in known))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON, the best first."""
        return {
            name: {
                "elo": finite(self[name]),
                "elo_ci95": [finite(end) for end in self.interval(name)],
            }
            for name in self.order
        }


def rate(
    outcomes: Iterable[Outcome],
    names: Sequence[str] | None = None,
    *,
    anchor: str | None = None,
    anchor_rating: float = 0.0,
) -> Ratings:
    """Rate agents by the games between them.

    The covariance is White's sandwich over units (H. White, "Maximum Likelihood Estimation of
    Misspecified Models", Econometrica 50, 1982): games from one opening need not be independent,
    and draws need not be as frequent in all pairings.

    Args:
        outcomes: what came of the games.
        names: the agents; None for all that occur, as they come.
        anchor: an agent whose rating is given; None for ratings that are 0 on average.
        anchor_rating: what it is.

    Raises:
        ValueError: for an agent who is not among the names, one that plays itself, or a score that
            is none.
    """
    played = list(outcomes)
    seen = dict.fromkeys(name for outcome in played for name in outcome[:2])
    names = tuple(seen) if names is None else tuple(names)
    for name in [*seen, *([anchor] if anchor is not None else [])]:
        if name not in names:
            raise ValueError(unknown_name("agent", name, names))
    for outcome in played:
        if outcome.first == outcome.second or outcome.score not in (0.0, 0.5, 1.0):
            raise ValueError(f"Not the outcome of a game between two agents: {outcome}.")
    index = {name: number for number, name in enumerate(names)}
    points = np.zeros((len(names), len(names)))
    for outcome in played:
        one, two = index[outcome.first], index[outcome.second]
        points[one, two] += outcome.score
        points[two, one] += 1 - outcome.score
    main = _main_group(points, None if anchor is None else index[anchor])
    members = [number for number in range(len(names)) if main[number]]
    inside = [o for o in played if main[index[o.first]] and main[index[o.second]]]
    fit = _fit(inside, [names[number] for number in members])
    values = np.full(len(names), math.nan)
    covariance = np.full((len(names), len(names)), math.nan)
    if anchor is not None:
        fit = fit.shifted(members.index(index[anchor]), anchor_rating)
    values[members] = fit.values
    covariance[np.ix_(members, members)] = fit.covariance
    bounds = {}
    for number in range(len(names)):
        if not main[number]:
            values[number] = _beyond(points, main, number)
            bounds[names[number]] = _bound(points[number], points[:, number], values, fit, number)
    return Ratings(names, tuple(map(float, values)), covariance, bounds, fit.draw_parameter)


class _Fit(NamedTuple):
    values: _Array
    covariance: _Array
    draw_parameter: float

    def shifted(self, anchor: int, rating: float) -> "_Fit":
        """The same with the anchor's rating as given; its variance goes to the others."""
        change = np.eye(len(self.values))
        change[:, anchor] -= 1.0
        with np.errstate(invalid="ignore"):
            moved = change @ self.covariance @ change.T
        return _Fit(self.values - self.values[anchor] + rating, moved, self.draw_parameter)


def _main_group(points: _Array, anchor: int | None) -> NDArray[np.bool_]:
    """The largest group of agents whose ratings are finite beside each other, or the anchor's.

    Ratings are finite if and only if, however the agents are divided in two, either part has taken
    something of the other (L. R. Ford, 1957): if all are strongly connected.
    """
    if not len(points):
        return np.zeros(0, dtype=bool)
    components = scipy.sparse.csgraph.connected_components
    _, labels = components(points > 0, directed=True, connection="strong")
    label = labels[anchor] if anchor is not None else np.bincount(labels).argmax()
    main: NDArray[np.bool_] = labels == label
    return main


def _beyond(points: _Array, main: NDArray[np.bool_], number: int) -> float:
    """The rating of one outside: infinite to the side where they are, not a number if unknown."""
    reached = scipy.sparse.csgraph.breadth_first_order
    above = main[reached(points > 0, number, return_predecessors=False)].any()
    below = main[reached(points.T > 0, number, return_predecessors=False)].any()
    if above == below:
        return math.nan
    return math.inf if above else -math.inf


def _bound(
    gained: _Array, given: _Array, values: _Array, fit: _Fit, number: int
) -> tuple[float, float]:
    """The 95 % interval of one who won or lost all games against rated agents.

    Its finite end is the rating at which so one-sided a result has the probability 5 %, with the
    others' ratings as they are.
    """
    rated = [other for other in range(len(values)) if math.isfinite(values[other])]
    games = {other: (gained + given)[other] for other in rated if (gained + given)[other]}
    if not games or math.isnan(values[number]):
        return -math.inf, math.inf
    sign = 1.0 if values[number] > 0 else -1.0
    scale = _POINTS * 2 / (2 + fit.draw_parameter)

    def surprise(rating: float) -> float:
        total = 0.0
        for other, count in games.items():
            d = sign * (rating - values[other]) / scale
            total += count * (d / 2 - _log_total(d, fit.draw_parameter))
        return total - math.log(1 - CONFIDENCE)

    middle = float(np.mean([values[other] for other in games]))
    ends = middle - _FARTHEST, middle + _FARTHEST
    if surprise(ends[0]) * surprise(ends[1]) > 0:
        return -math.inf, math.inf
    end = float(scipy.optimize.brentq(surprise, *ends))
    return (end, math.inf) if sign > 0 else (-math.inf, end)


def _log_total(d: float, draw_parameter: float) -> float:
    """``ln(exp(d/2) + exp(-d/2) + ν)``."""
    return abs(d) / 2 + math.log1p(math.exp(-abs(d)) + draw_parameter * math.exp(-abs(d) / 2))


def _fit(outcomes: Sequence[Outcome], names: Sequence[str]) -> _Fit:
    """Ratings of agents who are strongly connected."""
    count = len(names)
    draws = sum(outcome.score == 0.5 for outcome in outcomes)
    if count < 2 or draws == len(outcomes):
        doubt = np.zeros((1, 1)) if count == 1 else np.full((count, count), math.nan)
        return _Fit(np.zeros(count), doubt, 0.0)
    index = {name: number for number, name in enumerate(names)}
    free = scipy.linalg.null_space(np.ones((1, count)))  # strengths that sum to 0
    pairings = _Pairings(outcomes, index, free, with_draws=draws > 0)
    start = np.zeros(pairings.size)
    found = scipy.optimize.minimize(
        pairings.loss, start, jac=pairings.slope, hess=pairings.curvature, method="trust-exact",
        options={"gtol": 1e-9 * max(1, len(outcomes)), "maxiter": 500},
    ).x  # fmt: skip
    bread = np.linalg.inv(pairings.curvature(found))
    covariance = bread @ pairings.variation(found) @ bread
    nu = math.exp(found[-1]) if draws else 0.0
    scale = _POINTS * 2 / (2 + nu)
    values = scale * (free @ found[: count - 1])
    change = scale * free
    if draws:
        change = np.column_stack([change, -values * nu / (2 + nu)])
    return _Fit(values, change @ covariance @ change.T, nu)


class _Pairings:
    """The likelihood of the outcomes; its parameters are free strengths and, with draws, ln ν."""

    def __init__(
        self, outcomes: Sequence[Outcome], index: dict[str, int], free: _Array, *, with_draws: bool
    ) -> None:
        self.with_draws = with_draws
        self.size = free.shape[1] + with_draws
        counts: dict[tuple[int, int], dict[Hashable, _Array]] = {}
        for outcome in outcomes:
            one, two = index[outcome.first], index[outcome.second]
            score = outcome.score
            if one > two:
                one, two, score = two, one, 1 - score
            units = counts.setdefault((one, two), {})
            units.setdefault(outcome.unit, np.zeros(3))[round(2 * score)] += 1
        self.away = np.array([free[one] - free[two] for one, two in counts])
        self.units = [np.array(list(units.values())) for units in counts.values()]
        self.results = np.array([units.sum(axis=0) for units in self.units])

    def _chances(self, x: _Array) -> _Array:
        """Probabilities of loss, draw and win in each pairing."""
        d = self.away @ x[: self.away.shape[1]]
        weights = np.column_stack([-d / 2, np.full(len(d), -np.inf), d / 2])
        if self.with_draws:
            weights[:, 1] = x[-1]
        weights = np.exp(weights - weights.max(axis=1, keepdims=True))
        chances: _Array = weights / weights.sum(axis=1, keepdims=True)
        return chances

    def _directions(self, pairing: int) -> _Array:
        """Gradient of each result's log weight in the parameters: results × parameters."""
        rows = np.zeros((3, self.size))
        width = self.away.shape[1]
        rows[0, :width], rows[2, :width] = -self.away[pairing] / 2, self.away[pairing] / 2
        if self.with_draws:
            rows[1, -1] = 1.0
        return rows

    def loss(self, x: _Array) -> float:
        """The negative logarithm of the likelihood."""
        chances = self._chances(x)
        here = self.results > 0
        return -float(np.sum(self.results[here] * np.log(np.maximum(chances[here], 1e-300))))

    def slope(self, x: _Array) -> _Array:
        """Its gradient."""
        total = np.zeros(self.size)
        for pairing, (results, chances) in enumerate(
            zip(self.results, self._chances(x), strict=True)
        ):
            total -= (results - results.sum() * chances) @ self._directions(pairing)
        return total

    def curvature(self, x: _Array) -> _Array:
        """Its Hessian."""
        total = np.zeros((self.size, self.size))
        for pairing, (results, chances) in enumerate(
            zip(self.results, self._chances(x), strict=True)
        ):
            total += results.sum() * self._information(pairing, chances)
        return total

    def _information(self, pairing: int, chances: _Array) -> _Array:
        """Fisher information of one game about the parameters."""
        rows = self._directions(pairing)
        about = np.diag(chances) - np.outer(chances, chances)
        told: _Array = rows.T @ about @ rows
        return told

    def variation(self, x: _Array) -> _Array:
        """The outer products of the units' gradients, summed; and a few games by the model."""
        total = np.zeros((self.size, self.size))
        for pairing, chances in enumerate(self._chances(x)):
            units = self.units[pairing]
            rows = self._directions(pairing)
            slopes = (units - units.sum(axis=1, keepdims=True) * chances) @ rows
            total += slopes.T @ slopes + _PSEUDO_UNITS * self._information(pairing, chances)
        return total


def _around(value: float, variance: float) -> tuple[float, float]:
    if not (math.isfinite(value) and math.isfinite(variance)):
        return -math.inf, math.inf
    half = _Z * math.sqrt(max(0.0, variance))
    return value - half, value + half
