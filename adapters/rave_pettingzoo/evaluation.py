"""The results of ``evaluate``: episodes between policies, and which is better."""

import dataclasses
import functools
import math
import os
import statistics
from typing import Any

from rave_agents.arena.statistics import MatchScore
from rave_agents.files import written_whole
from rave_agents.game.arguments import unknown_name
from rave_agents.results.tables import aligned, csv_text, html_table
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


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """The finished episodes; ``str()`` gives a table, and a notebook shows one."""

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
        """Return plain values for JSON."""
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

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return a row for each episode and policy, as CSV; with a path, write it there too.

        The columns are the episode's number and seed, the policy, the agent's name under which it
        was given, the one that it played (seat), its return and illegal moves, and the episode's
        steps.

        Raises:
            OSError: if the file cannot be written.
        """
        header = ["episode", "seed", "policy", "agent", "seat", "return", "illegal_moves", "steps"]
        rows: list[list[Any]] = [header]
        for episode in self.episodes:
            for index, (name, agent) in enumerate(zip(self.names, self.agents, strict=True)):
                seat, won = episode.seats[index], episode.returns[index]
                illegal = episode.illegal_moves[index]
                label = [episode.number, episode.seed, name, agent]
                rows.append([*label, seat, won, illegal, episode.steps])
        text = csv_text(rows)
        if path is not None:
            with written_whole(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        return text

    def table(self) -> list[list[str]]:
        """The header and a row for each policy, as text."""
        header = ["policy", "wins", "draws", "losses", "win rate", "score", "95 % interval"]
        rows = [[*header, "mean return", "illegal moves"]]
        for result in self.policies:
            score = result.score
            low, high = score.interval
            rows.append(
                [
                    result.name,
                    *map(str, (score.wins, score.draws, score.losses)),
                    f"{result.win_rate:.3f}",
                    f"{score.score:.3f}",
                    f"{low:.3f} to {high:.3f}",
                    f"{result.mean_return:.3f}",
                    str(result.illegal_moves),
                ]
            )
        return rows

    def __str__(self) -> str:
        return f"{self._title}\n{aligned(self.table())}"

    def _repr_html_(self) -> str:
        return html_table(self._title, self.table())

    @property
    def _title(self) -> str:
        return f"{self.env}, {len(self.episodes)} episodes, seed {self.seed}"
