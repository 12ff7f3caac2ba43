"""Result of a tournament: scores, ratings, cross tables."""

import contextlib
import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any, Self

from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.matches_result import MatchesResult
from rave_agents.arena.ranking import Ranking, Standing
from rave_agents.arena.ratings import Outcome, Ratings
from rave_agents.arena.statistics import MatchScore, finite
from rave_agents.arena.worker import UnfinishedError
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import AdapterAbilities, adapters
from rave_agents.records.record import GameRecord
from rave_agents.results.numbers import elo_interval_text, elo_text, fixed
from rave_agents.results.result import by_column
from rave_agents.results.tables import Column, Table


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class TournamentResult(MatchesResult):
    """The finished games of a tournament, and the agents' ratings.

    The rows of ``to_csv`` and ``to_frame`` are agents.
    """

    games: tuple[str, ...]
    """The games, as given."""
    agents: tuple[str, ...]
    """The agents' names."""
    specs: tuple[str, ...]
    """Their specs with limits; for custom agents their names."""
    seed: int
    """The seed of everything random."""
    planned: int
    """Planned games for each pairing on each game; for a race the maximum."""
    matches: tuple[MatchResult, ...]
    """The finished games of each game and pairing; ``MatchResult.agents`` are names."""
    anchor: str | None = None
    """The agent with rating 0; None for ratings that average 0."""

    @property
    def all_matches(self) -> Sequence[MatchResult]:
        """The matches, in the order of their indices."""
        return self.matches

    @property
    def all_planned(self) -> int:
        """Number of planned games over all matches."""
        return sum(match.planned for match in self.matches)

    @property
    def complete(self) -> bool:
        """True if all planned games are finished."""
        return all(match.complete for match in self.matches)

    def name_of(self, index: int) -> str:
        """The name of the match with this index, for messages."""
        match = self.matches[index]
        return f"{match.game}, {match.agents[0]} against {match.agents[1]}"

    def plus(self, index: int, *records: GameRecord) -> Self:
        """The result with more finished games of the match with this index."""
        matches = list(self.matches)
        matches[index] = matches[index].plus(*records)
        latest = (index, records[-1]) if records else self.latest
        return dataclasses.replace(self, matches=tuple(matches), latest=latest)

    def _of(self, game: str | None) -> list[MatchResult]:
        if game is not None and game not in self.games:
            raise KeyError(f"No games of {game!r} were planned: {', '.join(self.games)}.")
        return [match for match in self.matches if game in (None, match.game)]

    def _with(self, agent: str, game: str | None) -> list[MatchResult]:
        return [match for match in self._of(game) if agent in match.agents]

    def outcomes(self, game: str | None = None) -> list[Outcome]:
        """The results of all games, or of one game, for ``rate``."""
        return [
            Outcome(*match.agents, record.score, (match.game, match.agents, record.pair))
            for match in self._of(game)
            for record in match.records
        ]

    def ranking(self, game: str | None = None) -> Ranking:
        """The ranking of the agents over all games, or in one game."""
        self._of(game)
        return self._rankings[game]

    @functools.cached_property
    def _rankings(self) -> dict[str | None, Ranking]:
        keys: Sequence[str | None] = (None, *self.games)
        return {game: Ranking(self.agents, self.outcomes(game), self.anchor) for game in keys}

    def ratings(self, game: str | None = None) -> Ratings:
        """The agents' ratings over all games, or in one game."""
        return self.ranking(game).ratings

    def score(self, agent: str, other: str | None = None, game: str | None = None) -> MatchScore:
        """Wins, draws and losses of an agent against all others, or against one."""
        return self.ranking(game).score(agent, other)

    def standings(self, game: str | None = None) -> list[Standing]:
        """The agents, best first, over all games or in one game."""
        standings = self.ranking(game).standings
        return [row._replace(faults=self._faults(row.agent, game)) for row in standings]

    def _faults(self, agent: str, game: str | None) -> int:
        return sum(match.faults[match.agents.index(agent)] for match in self._with(agent, game))

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
        payoffs = [
            [0.0 if math.isnan(score) else score - 0.5 for score in row]
            for row in self.cross_table(game)
        ]
        shares = dict(zip(order, compute(payoffs), strict=True))
        return dict(sorted(shares.items(), key=lambda item: -item[1]))

    def line_of(self, index: int, record: GameRecord) -> str:
        """One line on a game of the match with this index, with the game's name."""
        return f"{self.matches[index].game}: {super().line_of(index, record)}"

    def summary(self) -> str:
        """The games, the number of finished ones, and the highest rating with its interval."""
        of = "" if self.complete else f" of {self.all_planned:,}"
        line = f"{self._where(None)}, {self.finished:,}{of} played, seed {self.seed}"
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
        return [table for game in self._parts() for table in self.game_tables(game)]

    def _parts(self) -> tuple[str | None, ...]:
        return (None, *(self.games if len(self.games) > 1 else ()))

    def game_tables(self, game: str | None = None) -> list[Table]:
        """Ratings and the cross table, over all games or in one."""
        standings = self.standings(game)
        columns = [
            Column("games", [str(row.score.games) for row in standings], rank=1),
            Column("score", [fixed(row.score.score) for row in standings]),
        ]
        if any(row.faults for row in standings):
            columns.append(Column("faults", [str(row.faults) for row in standings]))
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
        names = ("game", "agent", "elo", "elo_low", "elo_high", "games", "score")
        return by_column(
            (*names, "wins", "draws", "losses", "faults"),
            [
                (
                    *(game or "all", row.agent, row.elo, *row.interval),
                    *(row.score.games, row.score.score),
                    *(row.score.wins, row.score.draws, row.score.losses, row.faults),
                )
                for game in (None, *self.games)
                for row in self.standings(game)
            ],
        )

    def _estimates(self) -> dict[str, Any]:
        estimates = [(row.agent, row.elo, row.interval) for row in self.standings()]
        label = "Elo, with 95 % intervals"
        return {"estimates": estimates, "label": label, "title": self._where(None)}

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON; infinite and unknown ones are None."""
        return {
            "games": list(self.games),
            "agents": dict(zip(self.agents, self.specs, strict=True)),
            "seed": self.seed,
            "finished": self.finished,
            "planned": self.all_planned,
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
        return [
            {
                "agent": row.agent,
                "elo": finite(row.elo),
                "elo_ci95": [finite(end) for end in row.interval],
                "games": row.score.games,
                "score": finite(row.score.score),
                "wins": row.score.wins,
                "draws": row.score.draws,
                "losses": row.score.losses,
                "faults": row.faults,
            }
            for row in self.standings(game)
        ]


class TournamentError(UnfinishedError[TournamentResult]):
    """A game of a tournament failed; the message names game, seat and agent."""
