"""``tournament``: which of many policies is the best in an environment."""

import contextlib
import dataclasses
import functools
import itertools
import math
import os
import statistics
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple, Self

from rave_agents.agents.named_agents import as_agent
from rave_agents.arena.journal import make_header
from rave_agents.arena.match import Jobs, checked_run_options
from rave_agents.arena.plan import Plan, Shard
from rave_agents.arena.ranking import Ranking, Standing
from rave_agents.arena.ratings import Outcome, Ratings
from rave_agents.arena.run import ResultCollector, carry_out
from rave_agents.arena.statistics import finite
from rave_agents.arena.worker import UnfinishedError
from rave_agents.environments.worlds import WorldFunction
from rave_agents.game.arguments import unknown_name
from rave_agents.game.validation import Count, Natural, validated
from rave_agents.results.numbers import fixed, played
from rave_agents.results.progress import Progress, shown
from rave_agents.results.result import GrowingResult, by_column
from rave_agents.results.tables import Column, Table
from rave_pettingzoo.env_table import EnvTable, env_maker
from rave_pettingzoo.episode import Episode, Outside, check_agents
from rave_pettingzoo.structure import env_name, turn_based_env


class PolicyStanding(NamedTuple):
    """One policy's row in the table."""

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
    """Its mean return; not a number without episodes."""
    illegal_moves: int
    """Actions chosen that the mask forbids."""


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class EnvTournament(GrowingResult):
    """The finished episodes of a tournament, and the policies' ratings.

    The rows of ``to_csv`` and ``to_frame`` are policies.
    """

    env: str
    """The environment's name."""
    seed: int
    """The seed of everything random."""
    names: tuple[str, ...]
    """The policies."""
    lineups: tuple[tuple[str, ...], ...]
    """Agents that play together, as many as the environment has."""
    planned: int
    """Episodes planned for each lineup."""
    episodes: tuple[tuple[Episode, ...], ...]
    """The finished episodes of each lineup; their entries are in its order."""
    anchor: str | None = None
    """The policy whose rating is 0; None for ratings that are 0 on average."""
    interrupted: bool = False
    """True if it was ended before its time."""

    @property
    def finished(self) -> int:
        """Number of finished episodes."""
        return sum(map(len, self.episodes))

    def name_of(self, index: int) -> str:
        """The name of the lineup with this index, for messages."""
        return ", ".join(self.lineups[index])

    def plus(self, index: int, *episodes: Episode) -> Self:
        """Return the result with more finished episodes of the lineup with this index."""
        ordered = sorted((*self.episodes[index], *episodes), key=lambda episode: episode.number)
        every = (*self.episodes[:index], tuple(ordered), *self.episodes[index + 1 :])
        return dataclasses.replace(self, episodes=every)

    def _played(self) -> Iterator[tuple[tuple[str, ...], Episode]]:
        """Yield the finished episodes, each with its lineup."""
        for lineup, episodes in zip(self.lineups, self.episodes, strict=True):
            for episode in episodes:
                yield lineup, episode

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
            for lineup, episode in self._played()
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
        mine = [(lineup, each) for lineup, each in self._played() if row.agent in lineup]
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
        """Mean scores, row against column, in the order of ``standings``; not a number if none."""
        return self.ranking.cross_table()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON."""
        return {
            "env": self.env,
            "seed": self.seed,
            "num_episodes": self.finished,
            "policies": [
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
            ],
            "episodes": [
                {"policies": list(lineup), **episode.to_dict()}
                for lineup, episode in self._played()
            ],
        }

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

    def summary(self) -> str:
        """The environment, and how many episodes were played."""
        return f"{self.env}, {played(self.finished, self.all_planned, 'episode')}, seed {self.seed}"

    @property
    def all_planned(self) -> int:
        """Number of planned episodes."""
        return self.planned * len(self.lineups)

    def _estimates(self) -> dict[str, Any]:
        estimates = [(row.name, row.elo, row.interval) for row in self.standings]
        return {"estimates": estimates, "label": "Elo, with 95 % intervals", "title": self.env}


class EnvTournamentError(UnfinishedError[EnvTournament]):
    """A policy or the environment raised the cause of this error."""


@validated
def tournament(
    env_fn: Any,
    policies: Mapping[str, Any],
    *,
    episodes: Count = 20,
    seed: Natural = 0,
    anchor: str | None = None,
    translate: bool = True,
    worlds: WorldFunction | None = None,
    outside: Outside = "raise",
    jobs: Jobs = 1,
    executor: Executor | None = None,
    output: str | os.PathLike[str] | None = None,
    shard: Shard | str | None = None,
    progress: Progress[EnvTournament] = None,
) -> EnvTournament:
    """Let policies play against each other, and rate them.

    In an environment for two agents every two policies meet; in one for n, every n of them, and
    where there are fewer, all lineups of these. Within a lineup the policies move on by one seat
    after each episode, and each round of them has one seed for the environment. Ctrl-C ends the
    tournament early.

    Args:
        env_fn: makes an AEC or a Parallel environment; what it makes is closed after an episode.
            Or an environment or its id, as for ``evaluate``.
        policies: at least two, by name; each whatever ``evaluate`` takes. Every episode gets a copy
            of an object, where it can be copied; one that has a method ``seed`` is told the
            episode's.
        episodes: how many each lineup plays, at least 1.
        seed: an integer of at least 0 that decides everything random but what policies of your own
            draw.
        anchor: the policy whose rating is 0; None for ratings that are 0 on average.
        translate: whether searches may play in OpenSpiel's states where these are the same.
        worlds: where something is hidden, the worlds that agents made from specs search.
        outside: the effect of an action outside its space, as for ``evaluate``.
        jobs: processes of this machine that play at the same time.
        executor: any ``concurrent.futures.Executor`` that plays in their place.
        output: a file that gets every episode as it ends; those that it has are not played again.
        shard: such as ``"3/40"``: play only this part of the episodes.
        progress: None for a display in a terminal or notebook, False for none, True for one
            anywhere; or a function, which is called before the first and after every episode with
            the result so far.

    Raises:
        TypeError: if something is not of the type that it must be.
        ValueError: for a value that is not allowed.
        UnsupportedGameError: if something cannot be sent to other processes.
        EnvTournamentError: if a policy or the environment raises; it keeps the finished episodes.
    """
    options = checked_run_options(jobs, executor, output, shard)
    env_fn = env_maker(env_fn)
    names = tuple(map(str, policies))
    players = {str(name): as_agent(policy) for name, policy in policies.items()}
    if anchor is not None and anchor not in names:
        raise ValueError(unknown_name("anchor", anchor, names))
    with contextlib.closing(env_fn()) as made:
        name, agents = env_name(turn_based_env(made) or made), _agents_of(made)
    lineups = _lineups(names, len(agents))
    tables = [
        EnvTable(
            name=name,
            env_fn=env_fn,
            agents=agents,
            policies=tuple(players[n] for n in lineup),
            seed=seed,
            exchange_seats=True,
            translate=translate,
            worlds=worlds,
            outside=outside,
            copies=True,
        )
        for lineup in lineups
    ]
    empty = EnvTournament(
        env=name,
        seed=seed,
        names=names,
        lineups=tuple(lineups),
        planned=episodes,
        episodes=((),) * len(lineups),
        anchor=anchor,
    )
    settings = {
        "env": name,
        "policies": {n: str(player) for n, player in players.items()},
        "episodes": episodes,
        "seed": seed,
        "anchor": anchor,
        "translate": translate,
        "outside": outside,
    }
    plan = Plan(
        header=make_header("PettingZoo tournament", settings),
        tables=tables,
        labels=[{"policies": list(lineup)} for lineup in lineups],
        games=episodes,
        group=len(agents),
    )
    with shown(progress) as tell:
        collector = ResultCollector(empty, tell, EnvTournamentError)
        finished = carry_out(plan, options, collector)
    return dataclasses.replace(collector.result, interrupted=not finished)


def _agents_of(env: Any) -> tuple[str, ...]:
    agents = tuple(getattr(env, "possible_agents", ()))
    check_agents(env, agents)
    if len(agents) < 2:
        raise ValueError(f"A tournament needs an environment for two agents or more: {agents}.")
    return agents


def _lineups(names: Sequence[str], seats: int) -> list[tuple[str, ...]]:
    if len(names) < 2:
        raise ValueError(f"A tournament needs at least two policies, got {len(names)}.")
    if len(names) >= seats:
        return list(itertools.combinations(names, seats))
    repeated = itertools.combinations_with_replacement(names, seats)
    return [lineup for lineup in repeated if len(set(lineup)) > 1]


def _sign(number: float) -> float:
    return float((number > 0) - (number < 0))
