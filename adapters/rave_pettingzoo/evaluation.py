"""What the episodes of ``evaluate`` and ``tournament`` say of the policies."""

import dataclasses
import functools
import itertools
import math
import statistics
from collections.abc import Iterator
from typing import Any, NamedTuple

from rave_agents.arena.ratings import Outcome, Ratings
from rave_agents.arena.result import View
from rave_agents.arena.standings import Ranking, Standing
from rave_agents.arena.statistics import MatchScore, finite
from rave_agents.game.arguments import unknown_name
from rave_agents.results.numbers import fixed, interval_text, played
from rave_agents.results.result import by_column
from rave_agents.results.tables import Column, Table
from rave_pettingzoo.episode import Episode


@dataclasses.dataclass(frozen=True)
class PolicyResult:
    """The results of one policy over all episodes."""

    name: str
    """The policy as given."""
    seat: str
    """The agent's name under which the policy was given."""
    score: MatchScore
    """Episodes with the greatest return alone (wins), shared (draws), or not (losses)."""
    returns: tuple[float, ...]
    """Its return in each episode."""
    illegal_moves: int
    """The number of its actions that the mask forbids."""

    @property
    def win_rate(self) -> float:
        """Share of episodes won, from 0 to 1; NaN without episodes."""
        return self.score.wins / self.score.games if self.score.games else math.nan

    @property
    def mean_return(self) -> float:
        """Mean return; NaN without episodes."""
        return statistics.fmean(self.returns) if self.returns else math.nan


class PolicyStanding(NamedTuple):
    """One policy's row in the table of a tournament."""

    name: str
    """The policy."""
    elo: float
    """Its rating, see ``rave_agents.arena.Ratings``."""
    interval: tuple[float, float]
    """The rating's 95 % confidence interval."""
    num_episodes: int
    """The number of episodes that it took part in."""
    score: float
    """Share of the others whose returns it exceeded; those with its own return count half."""
    mean_return: float
    """Its mean return; NaN without episodes."""
    illegal_moves: int
    """Actions chosen that the mask forbids."""


@dataclasses.dataclass(frozen=True, eq=False)
class EpisodesView(View):
    """A view of a run whose games are episodes."""

    @property
    def env(self) -> str:
        """The environment's name."""
        return self.run.pairings[0].game

    @property
    def lineups(self) -> tuple[tuple[str, ...], ...]:
        """Policies that play together, as many as the environment has agents."""
        return tuple(pairing.agents for pairing in self.run.pairings)

    def played(self) -> Iterator[tuple[tuple[str, ...], Episode]]:
        """Yield the finished episodes, each with its lineup."""
        for lineup, episodes in zip(self.lineups, self.run.records, strict=True):
            for episode in episodes:
                yield lineup, episode

    def summary(self) -> str:
        """The environment, and the number of finished episodes."""
        episodes = played(self.run.finished, self.run.all_planned or 0, "episode")
        return f"{self.env}, {episodes}, seed {self.run.seed}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON; unknown ones are None."""
        return {"env": self.env, "seed": self.run.seed, "num_episodes": self.run.finished}


@dataclasses.dataclass(frozen=True, eq=False)
class Evaluation(EpisodesView):
    """The policies of one lineup.

    The rows of ``to_csv`` and ``to_frame`` are policies in episodes.
    """

    agents: tuple[str, ...]
    """The agents' names under which the policies were given."""

    @property
    def names(self) -> tuple[str, ...]:
        """The policies, in the order given."""
        return self.lineups[0]

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """The finished episodes; after Ctrl-C fewer than requested."""
        return self.run.records[0]

    @functools.cached_property
    def policies(self) -> tuple[PolicyResult, ...]:
        """The results of each policy, in the order given."""
        return tuple(self._result(index) for index in range(len(self.names)))

    def __getitem__(self, agent: str) -> PolicyResult:
        """Return the results of the policy given under this agent's name, in all seats."""
        if agent not in self.agents:
            raise KeyError(unknown_name("agent", agent, self.agents))
        return self.policies[self.agents.index(agent)]

    def _result(self, index: int) -> PolicyResult:
        wins = draws = 0
        for episode in self.episodes:
            mine = episode.returns[index]
            best = max((r for i, r in enumerate(episode.returns) if i != index), default=-math.inf)
            wins += mine > best
            draws += mine == best
        return PolicyResult(
            name=self.names[index],
            seat=self.agents[index],
            score=MatchScore(wins, draws, len(self.episodes) - wins - draws),
            returns=tuple(episode.returns[index] for episode in self.episodes),
            illegal_moves=sum(episode.illegal_moves[index] for episode in self.episodes),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON; unknown ones are None."""
        policies = [
            {
                "name": result.name,
                "agent": result.seat,
                **result.score.to_dict(),
                "win_rate": finite(result.win_rate),
                "mean_return": finite(result.mean_return),
                "illegal_moves": result.illegal_moves,
            }
            for result in self.policies
        ]
        episodes = [episode.to_dict() for episode in self.episodes]
        return {**super().to_dict(), "policies": policies, "episodes": episodes}

    def columns(self) -> dict[str, list[Any]]:
        """A row for each episode and policy.

        They have the episode's number and seed, the policy, the agent's name under which it was
        given, the one that it played (seat), its return and illegal moves, and the episode's steps.
        """
        return by_column(
            ("episode", "seed", "policy", "agent", "seat", "return", "illegal_moves", "steps"),
            [
                (
                    *(episode.number, episode.seed, name, agent, episode.seats[index]),
                    *(episode.returns[index], episode.illegal_moves[index], episode.steps),
                )
                for episode in self.episodes
                for index, (name, agent) in enumerate(zip(self.names, self.agents, strict=True))
            ],
        )

    def tables(self) -> list[Table]:
        """A row for each policy."""
        rows = self.policies
        scores = [row.score for row in rows]
        return [
            Table(
                [
                    Column("policy", self.names, text=True),
                    Column("wins", [str(score.wins) for score in scores]),
                    Column("draws", [str(score.draws) for score in scores]),
                    Column("losses", [str(score.losses) for score in scores]),
                    Column("win rate", [fixed(row.win_rate) for row in rows], rank=2),
                    Column("score", [fixed(score.score) for score in scores]),
                    Column("95 % interval", [interval_text(score.interval) for score in scores]),
                    Column("mean return", [fixed(row.mean_return) for row in rows]),
                    Column("illegal moves", [str(row.illegal_moves) for row in rows], rank=1),
                ]
            )
        ]

    def estimates(self) -> dict[str, Any]:
        """The scores with their intervals."""
        scores = ((result.name, result.score) for result in self.policies)
        estimates = [(name, score.score, score.interval) for name, score in scores]
        label = "score, with 95 % intervals"
        return {"estimates": estimates, "label": label, "level": 0.5, "title": self.env}


@dataclasses.dataclass(frozen=True, eq=False)
class EnvTournament(EpisodesView):
    """The policies' ratings.

    The rows of ``to_csv`` and ``to_frame`` are policies.
    """

    names: tuple[str, ...]
    """The policies."""
    anchor: str | None = None
    """The policy whose rating is 0; None for ratings that average 0."""

    @property
    def episodes(self) -> tuple[tuple[Episode, ...], ...]:
        """The finished episodes of each lineup; their entries are in its order."""
        return self.run.records

    @functools.cached_property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Comparisons of every two policies of an episode by their returns."""
        return tuple(
            Outcome(
                lineup[one],
                lineup[two],
                0.5 + 0.5 * _sign(episode.returns[one] - episode.returns[two]),
                (lineup, episode.number // len(lineup)),
            )
            for lineup, episode in self.played()
            for one, two in itertools.combinations(range(len(lineup)), 2)
            if lineup[one] != lineup[two]
        )

    @functools.cached_property
    def ranking(self) -> Ranking:
        """The policies ranked by these comparisons."""
        return Ranking(self.names, self.outcomes, self.anchor)

    @property
    def ratings(self) -> Ratings:
        """The policies' ratings."""
        return self.ranking.ratings

    @functools.cached_property
    def standings(self) -> tuple[PolicyStanding, ...]:
        """The policies, the best first."""
        return tuple(map(self._standing, self.ranking.standings))

    def _standing(self, row: Standing) -> PolicyStanding:
        mine = [(lineup, each) for lineup, each in self.played() if row.agent in lineup]
        seats = [
            (each.returns[seat], each.illegal_moves[seat])
            for lineup, each in mine
            for seat, name in enumerate(lineup)
            if name == row.agent
        ]
        return PolicyStanding(
            name=row.agent,
            elo=row.elo,
            interval=row.interval,
            num_episodes=len(mine),
            score=row.score.score,
            mean_return=statistics.fmean(returned for returned, _ in seats) if seats else math.nan,
            illegal_moves=sum(illegal for _, illegal in seats),
        )

    def cross_table(self) -> list[list[float]]:
        """Mean scores, row against column, in the order of ``standings``; NaN if there are none."""
        return self.ranking.cross_table()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON; unknown ones are None."""
        policies = [
            {
                "name": row.name,
                "elo": finite(row.elo),
                "elo_ci95": [finite(end) for end in row.interval],
                "num_episodes": row.num_episodes,
                "score": finite(row.score),
                "mean_return": finite(row.mean_return),
                "illegal_moves": row.illegal_moves,
            }
            for row in self.standings
        ]
        episodes = [{"policies": list(lineup), **each.to_dict()} for lineup, each in self.played()]
        return {**super().to_dict(), "policies": policies, "episodes": episodes}

    def columns(self) -> dict[str, list[Any]]:
        """A row for each policy, the best first."""
        names = ("policy", "elo", "elo_low", "elo_high", "episodes", "score", "mean_return")
        return by_column(
            (*names, "illegal_moves"),
            [
                (
                    *(row.name, row.elo, *row.interval, row.num_episodes),
                    *(row.score, row.mean_return, row.illegal_moves),
                )
                for row in self.standings
            ],
        )

    def tables(self) -> list[Table]:
        """Ratings and the cross table, a row for each policy."""
        rows = self.standings
        columns = [
            Column("episodes", [str(row.num_episodes) for row in rows], rank=2),
            Column("score", [fixed(row.score) for row in rows]),
            Column("mean return", [fixed(row.mean_return) for row in rows]),
            Column("illegal moves", [str(row.illegal_moves) for row in rows], rank=1),
        ]
        return self.ranking.tables("policy", columns, "")

    def estimates(self) -> dict[str, Any]:
        """The ratings with their intervals."""
        estimates = [(row.name, row.elo, row.interval) for row in self.standings]
        return {"estimates": estimates, "label": "Elo, with 95 % intervals", "title": self.env}


def _sign(number: float) -> float:
    return float((number > 0) - (number < 0))
