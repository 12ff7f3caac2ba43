"""Result of a tournament: scores, ratings, cross tables."""

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.ratings import Outcome, Ratings, rate
from rave_agents.arena.record import GameRecord
from rave_agents.arena.statistics import MatchScore, finite
from rave_agents.arena.worker import UnfinishedError
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import adapters
from rave_agents.game.plain_text import printable
from rave_agents.results.tables import aligned


class Standing(NamedTuple):
    """One agent's row in the table."""

    agent: str
    """The name."""
    elo: float
    """The rating; infinite or not a number where there is none, see ``Ratings``."""
    interval: tuple[float, float]
    """Its 95 % confidence interval."""
    score: MatchScore
    """Wins, draws and losses against all."""
    faults: int
    """Games lost by failing or breaking the rules."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class TournamentResult:
    """The finished games of a tournament; ``str()`` gives the tables."""

    games: tuple[str, ...]
    """The games as they were asked for."""
    agents: tuple[str, ...]
    """The agents' names."""
    specs: tuple[str, ...]
    """Their specs with limits; for agents of one's own their names."""
    seed: int
    """The seed of everything random."""
    planned: int
    """Games planned for each pairing on each game."""
    matches: tuple[MatchResult, ...]
    """Finished games of each game and pairing; ``MatchResult.agents`` are names."""
    anchor: str | None = None
    """The agent whose rating is 0; None for ratings that are 0 on average."""
    latest: tuple[int, GameRecord] | None = None
    """The game that ended last, with the index of its match."""
    interrupted: bool = False
    """True if it was ended before its time."""

    @property
    def finished(self) -> int:
        """Number of finished games."""
        return sum(len(match.records) for match in self.matches)

    @property
    def complete(self) -> bool:
        """True if all planned games are finished."""
        return all(match.complete for match in self.matches)

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

    def _between(self, agent: str, other: str, game: str | None) -> list[MatchResult]:
        matches = self._by_pair.get(frozenset((agent, other)), [])
        return [match for match in matches if game in (None, match.game)]

    @functools.cached_property
    def _by_pair(self) -> dict[frozenset[str], list[MatchResult]]:
        found: dict[frozenset[str], list[MatchResult]] = {}
        for match in self.matches:
            found.setdefault(frozenset(match.agents), []).append(match)
        return found

    def outcomes(self, game: str | None = None) -> list[Outcome]:
        """Results of all games, or of those of one game, as ``rate`` takes them."""
        return [
            Outcome(*match.agents, record.score, (match.game, match.agents, record.pair))
            for match in self._of(game)
            for record in match.records
        ]

    def ratings(self, game: str | None = None) -> Ratings:
        """The agents' ratings over all games, or in one."""
        return self._ratings[game]

    @functools.cached_property
    def _ratings(self) -> dict[str | None, Ratings]:
        keys: Sequence[str | None] = (None, *self.games)
        return {game: rate(self.outcomes(game), self.agents, anchor=self.anchor) for game in keys}

    def score(self, agent: str, other: str | None = None, game: str | None = None) -> MatchScore:
        """Wins, draws and losses of an agent, against all others or one."""
        wins = draws = losses = 0
        for match in (
            self._with(agent, game) if other is None else self._between(agent, other, game)
        ):
            score = match.score
            first = match.agents[0] == agent
            wins += score.wins if first else score.losses
            losses += score.losses if first else score.wins
            draws += score.draws
        return MatchScore(wins, draws, losses)

    def standings(self, game: str | None = None) -> list[Standing]:
        """The agents, the best first: over all games, or in one."""
        ratings = self.ratings(game)
        return [
            Standing(
                agent, ratings[agent], ratings.interval(agent), self.score(agent, game=game),
                self._faults(agent, game),
            )
            for agent in ratings.order
        ]  # fmt: skip

    def _faults(self, agent: str, game: str | None) -> int:
        return sum(match.faults[match.agents.index(agent)] for match in self._with(agent, game))

    def cross_table(self, game: str | None = None) -> list[list[float]]:
        """Mean scores, row against column, in the order of ``standings``; not a number if none."""
        order = self.ratings(game).order
        return [
            [math.nan if a == b else self.score(a, b, game).score for b in order] for a in order
        ]

    def is_transitive(self, game: str | None = None) -> bool:
        """True if no agents beat each other in a circle by their mean scores."""
        order = self.ratings(game).order
        ahead = {
            a: {b for b in order if a != b and self.score(a, b, game).score > 0.5} for a in order
        }
        left = list(order)
        while left:
            last = [a for a in left if not ahead[a] & set(left)]
            if not last:
                return False
            left = [a for a in left if a not in last]
        return True

    def alpha_rank(self, game: str | None = None) -> dict[str, float]:
        """The agents' shares of the stationary distribution of alpha-rank, the greatest first.

        Shayegan Omidshafiei et al., "α-Rank: Multi-Agent Evaluation by Evolution", Scientific
        Reports 9 (2019), in OpenSpiel's implementation with infinite ranking intensity: it ranks
        agents who beat each other in a circle, which ratings cannot. Pairings that were not played
        count as even.

        Raises:
            UnsupportedGameError: if OpenSpiel is not installed.
        """
        for adapter in adapters().values():
            compute = getattr(adapter, "alpha_rank", None)
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

    def table(self, game: str | None = None) -> list[list[str]]:
        """The header and a row for each agent, as text: ratings and the cross table."""
        standings = self.standings(game)
        cross = self.cross_table(game)
        numbers = [str(place) for place in range(1, len(standings) + 1)]
        faults = any(standing.faults for standing in standings)
        header = ["", "agent", "Elo", "95 % interval", "games", "score"]
        rows = [[*header, *(["faults"] if faults else []), *numbers]]
        for place, (standing, scores) in enumerate(zip(standings, cross, strict=True), 1):
            low, high = map(elo_text, standing.interval)
            row = [str(place), standing.agent, elo_text(standing.elo), f"{low} to {high}"]
            row += [str(standing.score.games), _share(standing.score.score)]
            row += [str(standing.faults)] if faults else []
            rows.append([*row, *map(_share, scores)])
        return rows

    def __str__(self) -> str:
        parts = [f"{self._title}\n{aligned(self.table())}"]
        if len(self.games) > 1:
            parts += [f"{printable(game)}\n{aligned(self.table(game))}" for game in self.games]
        return "\n\n".join(parts)

    @property
    def _title(self) -> str:
        planned = self.planned * len(self.matches)
        games = f"{self.finished} of {planned}" if self.finished < planned else str(planned)
        where = printable(self.games[0]) if len(self.games) == 1 else f"{len(self.games)} games"
        return f"{where}, {games} played, seed {self.seed}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON: what is infinite or unknown is None."""
        return {
            "games": list(self.games),
            "agents": dict(zip(self.agents, self.specs, strict=True)),
            "seed": self.seed,
            "finished": self.finished,
            "planned": self.planned * len(self.matches),
            "standings": self._standings_to_dict(None),
            "by_game": {game: self._standings_to_dict(game) for game in self.games},
            "matches": [
                {
                    "game": match.game,
                    "agents": list(match.agents),
                    **match.score.to_dict(),
                    "ci95": list(match.interval),
                    "elo_ci95": [finite(end) for end in match.elo_interval],
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


def elo_text(rating: float) -> str:
    """A rating for people; - where there is none."""
    return "-" if math.isnan(rating) else f"{rating:+z.0f}"


def _share(score: float) -> str:
    return "-" if math.isnan(score) else f"{score:.3f}"
