"""Standings: ratings, scores and cross tables of the agents of a run."""

import contextlib
import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.ratings import Outcome, Ratings, rate
from rave_agents.arena.result import AgentsView
from rave_agents.arena.statistics import MatchScore
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import AdapterAbilities, adapters
from rave_agents.records.record import GameRecord
from rave_agents.results.numbers import elo_interval_text, elo_text, fixed
from rave_agents.results.rows import Field, Interval, exact_columns, plain_row, table_columns
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


FIELDS = (
    Field("agent", "agent"),
    Field("elo", "elo"),
    Interval("elo_", "interval"),
    Field("games", "score.games", "games", rank=1),
    Field("score", "score.score", "score", fixed),
    Field("wins", "score.wins"),
    Field("draws", "score.draws"),
    Field("losses", "score.losses"),
    Field("faults", "faults", "faults"),
)
"""The values of a standing; ``Ranking.tables`` has the first ones."""


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
        found: dict[str, dict[str, list[int]]] = {agent: {} for agent in self.agents}
        for first, second, score, _ in self.outcomes:
            losses = round(2 - 2 * score)  # The index of the outcome: win, draw, loss.
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
            # Peel off those that beat nobody who is left; agents in a cycle always beat somebody.
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


@dataclasses.dataclass(frozen=True, eq=False)
class Standings(AgentsView):
    """Ratings and cross tables of the agents, over all games of a run or in one of them.

    The rows of ``to_csv`` and ``to_frame`` are agents.
    """

    anchor: str | None = None
    """The agent with rating 0; None for ratings that average 0."""

    def _of(self, game: str | None) -> list[MatchResult]:
        self.check_game(game)
        return [match for match in self.matches if game in (None, match.game)]

    def outcomes(self, game: str | None = None) -> list[Outcome]:
        """The results of all games, or of one game, for ``rate``."""
        return [
            Outcome(*match.agents, record.score, (match.game, match.agents, record.pair))
            for match in self._of(game)
            for record in match.records
        ]

    def ranking(self, game: str | None = None) -> Ranking:
        """The ranking of the agents over all games, or in one game."""
        if game not in self._rankings:
            # Rating many agents takes a while: once per game, and only if somebody asks.
            self._rankings[game] = Ranking(self.agents, self.outcomes(game), self.anchor)
        return self._rankings[game]

    @functools.cached_property
    def _rankings(self) -> dict[str | None, Ranking]:
        return {}

    def ratings(self, game: str | None = None) -> Ratings:
        """The agents' ratings over all games, or in one game."""
        return self.ranking(game).ratings

    def score(self, agent: str, other: str | None = None, game: str | None = None) -> MatchScore:
        """Wins, draws and losses of an agent against all others, or against one."""
        return self.ranking(game).score(agent, other)

    def standings(self, game: str | None = None) -> list[Standing]:
        """The agents, best first, over all games or in one game."""
        return [
            row._replace(faults=self._faults(row.agent, game))
            for row in self.ranking(game).standings
        ]

    def _faults(self, agent: str, game: str | None) -> int:
        mine = [match for match in self._of(game) if agent in match.agents]
        return sum(match.faults[match.agents.index(agent)] for match in mine)

    def cross_table(self, game: str | None = None) -> list[list[float]]:
        """Mean scores, row against column, in the order of ``standings``; NaN without games."""
        return self.ranking(game).cross_table()

    def is_transitive(self, game: str | None = None) -> bool:
        """True if the mean scores contain no cycle of agents beating each other."""
        return self.ranking(game).is_transitive()

    def alpha_rank(self, game: str | None = None) -> dict[str, float]:
        """The agents' shares of the stationary distribution of alpha-rank, the greatest first.

        Shayegan Omidshafiei et al., "α-Rank: Multi-Agent Evaluation by Evolution", Scientific
        Reports 9 (2019), in OpenSpiel's implementation with infinite ranking intensity: it can rank
        agents that beat each other in a cycle, which ratings cannot. Pairings without games count
        as even.

        Raises:
            UnsupportedGameError: if OpenSpiel is not installed.
        """
        for adapter in adapters().values():
            compute = AdapterAbilities(adapter).alpha_rank
            if compute is not None:
                break
        else:
            raise UnsupportedGameError("alpha-rank needs OpenSpiel: pip install open_spiel")
        order = self.ratings(game).order
        # Alpha-rank takes the payoffs of a symmetric zero-sum game.
        payoffs = [
            [0.0 if math.isnan(score) else score - 0.5 for score in row]
            for row in self.cross_table(game)
        ]
        shares = dict(zip(order, compute(payoffs), strict=True))
        return dict(sorted(shares.items(), key=lambda item: -item[1]))

    def line_of(self, table: int, record: GameRecord) -> str:
        """One line on a game of the table with this index, with the game's name."""
        return f"{self.matches[table].game}: {super().line_of(table, record)}"

    def summary(self) -> str:
        """The games, the number of finished ones, and the highest rating with its interval."""
        planned = self.run.all_planned
        of = "" if self.run.complete or planned is None else f" of {planned:,}"
        line = f"{self._where(None)}, {self.run.finished:,}{of} played, seed {self.run.seed}"
        first, *others = self.standings()
        if not others or not first.elo > others[0].elo:
            return line
        interval = elo_interval_text(first.interval)
        return f"{line}: {first.agent} is rated highest, Elo {elo_text(first.elo)} ({interval})"

    def _where(self, game: str | None) -> str:
        if game is None and len(self.games) > 1:
            return f"{len(self.games)} games"
        return game or self.games[0]

    def tables(self) -> list[Table]:
        """Ratings and cross tables, over all games and in each of several."""
        parts = (None, *(self.games if len(self.games) > 1 else ()))
        return [table for game in parts for table in self.game_tables(game)]

    def game_tables(self, game: str | None = None) -> list[Table]:
        """Ratings and the cross table, over all games or in one."""
        standings = self.standings(game)
        hidden = () if any(row.faults for row in standings) else ("faults",)
        columns = table_columns([f for f in FIELDS if f.name not in hidden], standings)
        ratings, cross = self.ranking(game).tables("agent", columns, self._where(game))
        return [dataclasses.replace(ratings, notes=self._circle(game)), cross]

    def _circle(self, game: str | None) -> list[str]:
        """A line on agents that beat each other in a cycle, if there are any."""
        if self.is_transitive(game):
            return []
        line = "agents beat each other in a circle"
        with contextlib.suppress(UnsupportedGameError):
            shares = (f"{name} {share:.3f}" for name, share in self.alpha_rank(game).items())
            line += f"; alpha-rank: {', '.join(shares)}"
        return [line]

    def columns(self) -> dict[str, list[Any]]:
        """A row per agent, over all games (``all``) and in each."""
        parts = [(game, row) for game in (None, *self.games) for row in self.standings(game)]
        games = [game or "all" for game, _ in parts]
        return {"game": games, **exact_columns(FIELDS, [row for _, row in parts])}

    def estimates(self) -> dict[str, Any]:
        """The ratings with their intervals."""
        estimates = [(row.agent, row.elo, row.interval) for row in self.standings()]
        label = "Elo, with 95 % intervals"
        return {"estimates": estimates, "label": label, "title": self._where(None)}

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON; infinite and unknown ones are None."""
        return {
            "games": list(self.games),
            "agents": self.by_name,
            "seed": self.run.seed,
            "finished": self.run.finished,
            "planned": self.run.all_planned,
            "standings": self._standings_to_dict(None),
            "by_game": {game: self._standings_to_dict(game) for game in self.games},
            "matches": [
                {
                    "game": match.game,
                    "agents": list(match.agents),
                    **match.score_to_dict(),
                    "pairs": list(match.pairs.counts),
                }
                for match in self.matches
            ],
        }

    def _standings_to_dict(self, game: str | None) -> list[dict[str, Any]]:
        return [plain_row(FIELDS, row) for row in self.standings(game)]
