"""The results of ``evaluate``: episodes between policies, and which is better."""

import dataclasses
import functools
import math
import statistics
from typing import Any

from rave_agents.arena.statistics import MatchScore
from rave_agents.game.arguments import unknown_name
from rave_agents.results.numbers import fixed, interval_text, played
from rave_agents.results.result import GrowingResult, by_column
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
        """Share of episodes won, from 0 to 1; not a number without episodes."""
        return self.score.wins / self.score.games if self.score.games else math.nan

    @property
    def mean_return(self) -> float:
        """Mean return; not a number without episodes."""
        return statistics.fmean(self.returns) if self.returns else math.nan


@dataclasses.dataclass(frozen=True, repr=False)
class Evaluation(GrowingResult):
    """The finished episodes of policies.

    The rows of ``to_csv`` and ``to_frame`` are policies in episodes.
    """

    env: str
    """The environment's name."""
    seed: int
    """The seed of every random choice."""
    names: tuple[str, ...]
    """The policies, in the order given."""
    agents: tuple[str, ...]
    """The agents' names under which the policies were given."""
    episodes: tuple[Episode, ...]
    """The finished episodes; after Ctrl-C fewer than requested."""
    planned: int = 0
    """Episodes that were requested; 0 for those that are finished."""

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

    def plus(self, episode: Episode) -> "Evaluation":
        """Return the result with one more finished episode."""
        episodes = (*self.episodes, episode)
        if self.episodes and episode.number < self.episodes[-1].number:
            episodes = tuple(sorted(episodes, key=lambda each: each.number))
        return dataclasses.replace(self, episodes=episodes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON: what is unknown is None."""
        return {
            "env": self.env,
            "seed": self.seed,
            "num_episodes": len(self.episodes),
            "policies": [
                {
                    "name": result.name,
                    "agent": result.seat,
                    **result.score.to_dict(),
                    "win_rate": result.win_rate if self.episodes else None,
                    "mean_return": result.mean_return if self.episodes else None,
                    "illegal_moves": result.illegal_moves,
                }
                for result in self.policies
            ],
            "episodes": [episode.to_dict() for episode in self.episodes],
        }

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
        scores = [result.score for result in self.policies]
        return [
            Table(
                [
                    Column("policy", self.names, text=True),
                    Column("wins", [str(score.wins) for score in scores]),
                    Column("draws", [str(score.draws) for score in scores]),
                    Column("losses", [str(score.losses) for score in scores]),
                    Column("win rate", [fixed(each.win_rate) for each in self.policies], rank=2),
                    Column("score", [fixed(score.score) for score in scores]),
                    Column("95 % interval", [interval_text(score.interval) for score in scores]),
                    Column("mean return", [fixed(each.mean_return) for each in self.policies]),
                    Column(
                        "illegal moves", [str(each.illegal_moves) for each in self.policies], rank=1
                    ),
                ]
            )
        ]

    def summary(self) -> str:
        """The environment, and how many episodes were played."""
        episodes = played(self.finished, self.planned, "episode")
        return f"{self.env}, {episodes}, seed {self.seed}"

    @property
    def finished(self) -> int:
        """Number of finished episodes."""
        return len(self.episodes)

    @property
    def all_planned(self) -> int:
        """Number of planned episodes."""
        return max(self.planned, self.finished)

    def _estimates(self) -> dict[str, Any]:
        scores = ((result.name, result.score) for result in self.policies)
        estimates = [(name, score.score, score.interval) for name, score in scores]
        label = "score, with 95 % intervals"
        return {"estimates": estimates, "label": label, "level": 0.5, "title": self.env}
