"""Views of episodes: the scores of an evaluation, the ratings of a tournament."""

import dataclasses
import functools
import itertools
import math
import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from rave_agents.arena.ratings import Outcome, Ratings
from rave_agents.arena.result import View
from rave_agents.arena.standings import Ranking, Standing
from rave_agents.arena.statistics import MatchScore
from rave_agents.game.arguments import unknown_name
from rave_agents.results.numbers import fixed, interval_text, played
from rave_agents.results.result import by_column
from rave_agents.results.rows import Field, Interval, exact_columns, plain_row, table_columns
from rave_agents.results.tables import Table
from rave_pettingzoo.episode import Episode


@dataclasses.dataclass(frozen=True)
class PolicyResult:
    """The results of one policy over all of its episodes."""

    name: str
    """The policy as given, or its name in a tournament."""
    seat: str
    """The agent's name under which the policy was given; empty in a tournament."""
    score: MatchScore
    """Episodes with the greatest return alone (wins), shared (draws), or not (losses); in a
    tournament, comparisons of returns with each other policy of an episode."""
    num_episodes: int
    """The number of its episodes."""
    returns: tuple[float, ...]
    """Its return in each episode, and in each seat that it had."""
    illegal_moves: int
    """The number of its actions that the mask forbids."""
    elo: float = math.nan
    """Its rating in a tournament, see ``rave_agents.arena.Ratings``."""
    interval: tuple[float, float] = (math.nan, math.nan)
    """The rating's 95 % confidence interval."""

    @property
    def win_rate(self) -> float:
        """Share of episodes won, from 0 to 1; NaN without episodes."""
        return self.score.wins / self.score.games if self.score.games else math.nan

    @property
    def mean_return(self) -> float:
        """Mean return; NaN without episodes."""
        return statistics.fmean(self.returns) if self.returns else math.nan


_RETURNS = (
    Field("mean_return", "mean_return", "mean return", fixed),
    Field("illegal_moves", "illegal_moves", "illegal moves", rank=1),
)

EVALUATED = (
    Field("name", "name", "policy", is_text=True),
    Field("agent", "seat"),
    Field("games", "score.games"),
    Field("wins", "score.wins", "wins"),
    Field("draws", "score.draws", "draws"),
    Field("losses", "score.losses", "losses"),
    Field("win_rate", "win_rate", "win rate", fixed, rank=2),
    Field("score", "score.score", "score", fixed),
    Interval("", "score.interval", "95 % interval", interval_text),
    Field("elo", "score.elo"),
    Interval("elo_", "score.elo_interval"),
    *_RETURNS,
)
"""The values of a policy in an evaluation."""

RANKED = (
    Field("policy", "name", json_name="name"),
    Field("elo", "elo"),
    Interval("elo_", "interval"),
    Field("episodes", "num_episodes", "episodes", rank=2, json_name="num_episodes"),
    Field("score", "score.score", "score", fixed),
    *_RETURNS,
)
"""The values of a policy in a tournament."""


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

    def _result(
        self,
        name: str,
        seat: str,
        score: MatchScore,
        of: Sequence[tuple[Episode, int]],
        standing: Standing | None = None,
    ) -> PolicyResult:
        """The results of a policy in these episodes, each with its index there."""
        return PolicyResult(
            name=name,
            seat=seat,
            score=score,
            # By identity: a policy with several seats has the same episode several times.
            num_episodes=len({id(episode) for episode, _ in of}),
            returns=tuple(episode.returns[index] for episode, index in of),
            illegal_moves=sum(episode.illegal_moves[index] for episode, index in of),
            elo=math.nan if standing is None else standing.elo,
            interval=(math.nan, math.nan) if standing is None else standing.interval,
        )

    def summary(self) -> str:
        """The environment, and the number of finished episodes."""
        episodes = played(self.run.finished, self.run.all_planned or 0, "episode")
        return f"{self.env}, {episodes}, seed {self.run.seed}"

    def _to_dict(self, policies: list[Any], episodes: list[Any]) -> dict[str, Any]:
        about = {"env": self.env, "seed": self.run.seed, "num_episodes": self.run.finished}
        return {**about, "policies": policies, "episodes": episodes}


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
        found = []
        for index, (name, seat) in enumerate(zip(self.names, self.agents, strict=True)):
            wins = draws = 0
            for episode in self.episodes:
                others = (r for i, r in enumerate(episode.returns) if i != index)
                best = max(others, default=-math.inf)  # Alone, it always wins.
                wins += episode.returns[index] > best
                draws += episode.returns[index] == best
            score = MatchScore(wins, draws, len(self.episodes) - wins - draws)
            found.append(self._result(name, seat, score, [(each, index) for each in self.episodes]))
        return tuple(found)

    def __getitem__(self, agent: str) -> PolicyResult:
        """Return the results of the policy given under this agent's name, in all seats."""
        if agent not in self.agents:
            raise KeyError(unknown_name("agent", agent, self.agents))
        return self.policies[self.agents.index(agent)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON; unknown ones are None."""
        policies = [plain_row(EVALUATED, row) for row in self.policies]
        return self._to_dict(policies, [episode.to_dict() for episode in self.episodes])

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
        return [Table(table_columns(EVALUATED, self.policies))]

    def estimates(self) -> dict[str, Any]:
        """The scores with their intervals."""
        estimates = [(row.name, row.score.score, row.score.interval) for row in self.policies]
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
                # A round of seats is one cluster, since it shares a seed.
                (lineup, episode.number // len(lineup)),
            )
            for lineup, episode in self.played()
            for one, two in itertools.combinations(range(len(lineup)), 2)
            if lineup[one] != lineup[two]  # A policy may have several seats of a lineup.
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
    def standings(self) -> tuple[PolicyResult, ...]:
        """The results of each policy, the best first."""
        seats: dict[str, list[tuple[Episode, int]]] = {name: [] for name in self.names}
        for lineup, episode in self.played():
            for index, name in enumerate(lineup):
                seats[name].append((episode, index))
        return tuple(
            self._result(row.agent, "", row.score, seats[row.agent], row)
            for row in self.ranking.standings
        )

    def cross_table(self) -> list[list[float]]:
        """Mean scores, row against column, in the order of ``standings``; NaN if there are none."""
        return self.ranking.cross_table()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON; unknown ones are None."""
        policies = [plain_row(RANKED, row) for row in self.standings]
        episodes = [{"policies": list(lineup), **each.to_dict()} for lineup, each in self.played()]
        return self._to_dict(policies, episodes)

    def columns(self) -> dict[str, list[Any]]:
        """A row for each policy, the best first."""
        return exact_columns(RANKED, self.standings)

    def tables(self) -> list[Table]:
        """Ratings and the cross table, a row for each policy."""
        columns = table_columns(RANKED, self.standings)
        return self.ranking.tables("policy", columns, "")

    def estimates(self) -> dict[str, Any]:
        """The ratings with their intervals."""
        estimates = [(row.name, row.elo, row.interval) for row in self.standings]
        return {"estimates": estimates, "label": "Elo, with 95 % intervals", "title": self.env}


def _sign(number: float) -> float:
    return float((number > 0) - (number < 0))
