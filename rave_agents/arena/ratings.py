"""Ratings of many agents from the games between them, on Elo's scale.

An agent's rating r is in Elo points: against another it expects the score

    ``E = 1 / (1 + 10 ** (-(r - r') / 400))``

a game, where a draw counts 1/2. The ratings make all agents' expected points equal their actual
points: maximum likelihood in the model of Bradley and Terry (1952), with a draw as half a win and
half a loss. Between two agents this is the Elo difference of a match, for any share of draws.
``arena.rating_likelihood`` has the intervals.
"""

import dataclasses
import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.arena.rating_likelihood import RatingLikelihood
from rave_agents.game.arguments import unknown_name
from rave_agents.results.numbers import elo_interval_text, elo_text, finite
from rave_agents.results.result import Result, by_column
from rave_agents.results.tables import Column, Table


class Outcome(NamedTuple):
    """Result of one game between two agents."""

    first: str
    """An agent's name."""
    second: str
    """The other's."""
    score: float
    """The first agent's score: 1, 1/2 or 0."""
    unit: Hashable
    """Identity of the opening: games with the same opening are not independent."""


@dataclasses.dataclass(frozen=True, repr=False)
class Ratings(Result):
    """Ratings in Elo points with their intervals.

    Not every set of games has finite ratings. An agent that won all its games has an infinite
    rating and a one-sided interval. Agents that are not connected by games, even through other
    agents, cannot be compared: their ratings are NaN.
    """

    names: tuple[str, ...]
    """The agents."""
    values: tuple[float, ...]
    """Their ratings; the finite ones average 0, or the anchor's is 0."""
    _likelihood: RatingLikelihood = dataclasses.field(repr=False, compare=False)
    _reference: NDArray[np.float64] = dataclasses.field(repr=False, compare=False)
    """Weights of the agents in the reference mean of ratings."""

    def __getitem__(self, name: str) -> float:
        """An agent's rating."""
        return self.values[self._index(name)]

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise KeyError(unknown_name("agent", name, self.names))
        return self.names.index(name)

    def interval(self, name: str) -> tuple[float, float]:
        """The 95 % confidence interval of a rating; (-inf, inf) if nothing is known."""
        return self._likelihood.interval(self._contrast(name) - self._reference)

    def difference(self, first: str, second: str) -> tuple[float, tuple[float, float]]:
        """The difference of two agents' ratings, and its 95 % interval.

        It is infinite, with a one-sided interval, if only one has scored against the other,
        directly or through other agents; NaN if neither has.
        """
        contrast = self._contrast(first) - self._contrast(second)
        return self._likelihood.value(contrast), self._likelihood.interval(contrast)

    def _contrast(self, name: str) -> NDArray[np.float64]:
        weights = np.zeros(len(self.names))
        weights[self._index(name)] = 1.0
        return weights

    @property
    def order(self) -> tuple[str, ...]:
        """The agents by decreasing rating; those that cannot be compared come last.

        Among infinite ratings, an agent that won all its games against another comes first.
        """
        beaten = self._likelihood.numbers_beaten
        known = [place for place, value in enumerate(self.values) if not math.isnan(value)]
        # Infinite ratings are equal: who has beaten more agents comes first.
        known.sort(key=lambda place: (-self.values[place], -beaten[place]))
        rated = [self.names[place] for place in known]
        return (*rated, *(name for name in self.names if name not in rated))

    def summary(self) -> str:
        """The agents with their ratings, best first."""
        return ", ".join(f"{name} {elo_text(self[name])}" for name in self.order)

    def tables(self) -> list[Table]:
        """A row per agent, best first."""
        intervals = [elo_interval_text(self.interval(name)) for name in self.order]
        return [
            Table(
                [
                    Column("agent", self.order, text=True),
                    Column("Elo", [elo_text(self[name]) for name in self.order]),
                    Column("95 % interval", intervals),
                ]
            )
        ]

    def columns(self) -> dict[str, list[Any]]:
        """A row per agent, best first."""
        rows = [(name, self[name], *self.interval(name)) for name in self.order]
        return by_column(("agent", "elo", "elo_low", "elo_high"), rows)

    def _estimates(self) -> dict[str, Any]:
        estimates = [(name, self[name], self.interval(name)) for name in self.order]
        return {"estimates": estimates, "label": "Elo, with 95 % intervals"}

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
) -> Ratings:
    """Rate agents by the games between them.

    Args:
        outcomes: the results of the games.
        names: the agents; None for all that occur, in order.
        anchor: an agent whose rating is 0; None for ratings that average 0.

    Raises:
        ValueError: for an unknown agent, a game of an agent against itself, or an invalid score.
    """
    played = list(outcomes)
    seen = dict.fromkeys(name for outcome in played for name in outcome[:2])
    names = tuple(seen) if names is None else tuple(names)
    for name in [*seen, *([anchor] if anchor is not None else [])]:
        if name not in names:
            raise ValueError(unknown_name("agent", name, names))
    index = {name: number for number, name in enumerate(names)}
    units: dict[tuple[int, int], dict[Hashable, list[float]]] = {}
    for outcome in played:
        if outcome.first == outcome.second or outcome.score not in (0.0, 0.5, 1.0):
            raise ValueError(f"Not the outcome of a game between two agents: {outcome}.")
        one, two, score = index[outcome.first], index[outcome.second], outcome.score
        if one > two:  # The likelihood takes each pairing once, the lower number first.
            one, two, score = two, one, 1 - score
        units.setdefault((one, two), {}).setdefault(outcome.unit, []).append(score)
    likelihood = RatingLikelihood(
        len(names), {pairing: list(games.values()) for pairing, games in units.items()}
    )
    if anchor is None:
        # Only agents of one connected group have a common mean.
        reference = likelihood.main_group.astype(float)
        reference /= max(1.0, reference.sum())
    else:
        reference = np.zeros(len(names))
        reference[index[anchor]] = 1.0
    values = tuple(likelihood.value(one - reference) for one in np.eye(len(names)))
    return Ratings(names, values, likelihood, reference)
