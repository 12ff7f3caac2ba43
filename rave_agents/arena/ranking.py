"""Ranking of agents by their games: ratings, scores and a cross table."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import NamedTuple

from rave_agents.arena.ratings import Outcome, Ratings, rate
from rave_agents.arena.statistics import MatchScore
from rave_agents.results.numbers import elo_interval_text, elo_text, fixed
from rave_agents.results.tables import Column, Table


class Standing(NamedTuple):
    """One agent's row in the table."""

    agent: str
    """The name."""
    elo: float
    """The rating; infinite or NaN if it does not exist, see ``Ratings``."""
    interval: tuple[float, float]
    """Its 95 % confidence interval."""
    score: MatchScore
    """Wins, draws and losses against all."""
    faults: int = 0
    """Games lost by failures or illegal play."""


@dataclasses.dataclass(frozen=True)
class Ranking:
    """Agents ranked by the outcomes of their games."""

    agents: tuple[str, ...]
    """The agents' names."""
    outcomes: Sequence[Outcome]
    """The games, each between two of them."""
    anchor: str | None = None
    """The agent with rating 0; None for ratings that average 0."""

    @functools.cached_property
    def ratings(self) -> Ratings:
        """The agents' ratings."""
        return rate(self.outcomes, self.agents, anchor=self.anchor)

    @functools.cached_property
    def _scores(self) -> dict[str, dict[str, MatchScore]]:
        """The score of each agent against each other agent it has met."""
        found: dict[str, dict[str, list[int]]] = {agent: {} for agent in self.agents}
        for first, second, score, _ in self.outcomes:
            losses = round(2 - 2 * score)
            found[first].setdefault(second, [0, 0, 0])[losses] += 1
            found[second].setdefault(first, [0, 0, 0])[2 - losses] += 1
        return {
            agent: {other: MatchScore(*counts) for other, counts in others.items()}
            for agent, others in found.items()
        }

    def score(self, agent: str, other: str | None = None) -> MatchScore:
        """Wins, draws and losses of an agent against all others, or against one."""
        met = self._scores[agent]
        scores = met.values() if other is None else [met[other]] if other in met else []
        return MatchScore(
            sum(score.wins for score in scores),
            sum(score.draws for score in scores),
            sum(score.losses for score in scores),
        )

    @functools.cached_property
    def standings(self) -> tuple[Standing, ...]:
        """The agents, best first."""
        ratings = self.ratings
        return tuple(
            Standing(agent, ratings[agent], ratings.interval(agent), self.score(agent))
            for agent in ratings.order
        )

    def cross_table(self) -> list[list[float]]:
        """Mean scores, row against column, in the order of ``standings``; NaN without games."""
        order = self.ratings.order
        return [[self.score(agent, other).score for other in order] for agent in order]

    def is_transitive(self) -> bool:
        """True if the mean scores contain no cycle of agents beating each other."""
        left = set(self.agents)
        while left:
            last = {
                agent
                for agent in left
                if not any(self.score(agent, other).score > 0.5 for other in left)
            }
            if not last:
                return False
            left -= last
        return True

    def tables(self, kind: str, columns: Sequence[Column], title: str) -> list[Table]:
        """Ratings and the cross table, a row per agent.

        Args:
            kind: the header of the agents' names.
            columns: further columns, in the order of ``standings``.
            title: the title of the ratings.
        """
        places = [str(place) for place in range(1, len(self.agents) + 1)]
        named = [
            Column("", places),
            Column(kind, [row.agent for row in self.standings], text=True),
        ]
        rated = [
            Column("Elo", [elo_text(row.elo) for row in self.standings]),
            Column("95 % interval", [elo_interval_text(row.interval) for row in self.standings]),
        ]
        scores = zip(places, zip(*self.cross_table(), strict=True), strict=True)
        cross = [Column(place, [*map(fixed, column)]) for place, column in scores]
        return [
            Table([*named, *rated, *columns], title=title),
            Table([*named, *cross], title="against", keys=2),
        ]
