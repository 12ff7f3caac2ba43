"""``evaluate``: plays policies against each other and reports which is better."""

import contextlib
import dataclasses
import functools
import math
import statistics
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pettingzoo
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rave_agents.agents.policies import policy_name
from rave_agents.arena.match import checked_count, checked_match_seed
from rave_agents.arena.statistics import MatchScore
from rave_agents.cli.terminal import stderr
from rave_agents.game.arguments import unknown_name
from rave_agents.results.tables import aligned, html_table
from rave_pettingzoo.episode import play, play_together
from rave_pettingzoo.policies import make_policy
from rave_pettingzoo.support import env_name, is_parallel, turn_based_env
from rave_pettingzoo.worlds import WorldFunction


@dataclasses.dataclass(frozen=True)
class Episode:
    """One finished episode, with an entry for each policy in the order given."""

    number: int
    """Its number, from 0."""
    seed: int
    """The seed of the environment's reset."""
    seats: tuple[str, ...]
    """The agent that each policy played."""
    returns: tuple[float, ...]
    """The sum of each policy's rewards."""
    illegal_moves: tuple[int, ...]
    """The number of each policy's actions that the mask forbids."""
    steps: int
    """The number of moves of all agents."""


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
            "episodes": len(self.episodes),
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
        }

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


def evaluate(
    env_fn: Callable[[], Any],
    policies: Mapping[str, Any],
    *,
    episodes: int = 100,
    seed: int = 0,
    exchange_seats: bool = True,
    translate: bool = True,
    worlds: WorldFunction | None = None,
    progress: bool = True,
) -> Evaluation:
    """Play episodes between policies and return the results.

    An action that the mask forbids is counted and passed to the environment, whose rule then
    decides; PettingZoo's classic environments end the episode with a loss. Ctrl-C ends the
    evaluation early. Exceptions of a policy or the environment pass through unchanged.

    Args:
        env_fn: makes an AEC or a Parallel environment; it is called once, and the environment is
            closed at the end.
        policies: for each agent of the environment, the policy that starts in its seat: a spec such
            as ``"rave(simulations=200)"``, a function of observation and mask, or an object with
            ``act`` or ``predict``; see ``make_policy``.
        episodes: the number of episodes, at least 1.
        seed: an integer of at least 0 that seeds every random choice except those of your own
            policies. Environments are reset with seeds derived from it.
        exchange_seats: whether the policies move on by one seat after each episode. The episodes of
            one round of seats share the environment's seed.
        translate: whether searches may run in OpenSpiel's states where the games are the same.
        worlds: in environments with hidden information, the source of worlds for agents made from
            specs, see ``SearchAgent``; ``"rave(hidden=see)"`` searches the true state, which is
            cheating.
        progress: whether to show a progress bar if standard error is a terminal.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for a value that is not allowed, or if the policies do not match the
            environment's agents.
        UnsupportedGameError: if an agent made from a spec cannot play the environment.
    """
    checked_count("episodes", episodes, 1)
    seed = checked_match_seed(seed)
    if not callable(env_fn):
        raise TypeError(f"env_fn must be a function that makes an environment, got {env_fn!r}.")
    if not isinstance(policies, Mapping):
        raise TypeError(f"policies must be a dictionary by agent, got {policies!r}.")
    names = tuple(policy_name(policy) for policy in policies.values())
    agents = tuple(policies)
    made = env_fn()
    _check_agents(made, agents)
    env = turn_based_env(made) or made
    together = is_parallel(env)
    finished: list[Episode] = []
    with (
        contextlib.closing(made),
        contextlib.suppress(KeyboardInterrupt),
        _bar(episodes, progress) as advance,
    ):
        for number in range(episodes):
            turn = number % len(agents) if exchange_seats else 0
            seats = agents[turn:] + agents[:turn]
            group = number // len(agents) if exchange_seats else number
            env_seed = _draw(seed, 0, group) % 2**31  # OpenSpiel takes no more, as in Hanabi.
            told = env.reset(seed=env_seed)
            players = {
                seat: make_policy(
                    policy,
                    env,
                    player=seat if together else None,
                    seed=_draw(seed, 1, number, index),
                    translate=translate,
                    worlds=worlds,
                )
                for index, (seat, policy) in enumerate(zip(seats, policies.values(), strict=True))
            }
            for player in players.values():
                player.reset()
            played = play_together(env, players, *told) if together else play(env, players)
            finished.append(
                Episode(
                    number=number,
                    seed=env_seed,
                    seats=seats,
                    returns=tuple(played.returns[seat] for seat in seats),
                    illegal_moves=tuple(played.illegal_moves[seat] for seat in seats),
                    steps=played.steps,
                )
            )
            advance()
    return Evaluation(env_name(env), seed, names, agents, tuple(finished))


def _check_agents(env: Any, agents: tuple[str, ...]) -> None:
    possible = list(getattr(env, "possible_agents", ()))
    if not possible or not isinstance(env, pettingzoo.AECEnv | pettingzoo.ParallelEnv):
        raise TypeError(
            f"env_fn must make an environment of PettingZoo; it made a {type(env).__name__}."
        )
    for agent in agents:
        if agent not in possible:
            raise ValueError(unknown_name("agent", agent, possible))
    missing = [agent for agent in possible if agent not in agents]
    if missing:
        raise ValueError(f"policies must have one for each agent; {missing} have none.")


def _draw(*path: int) -> int:
    return int(np.random.SeedSequence(path).generate_state(1)[0])


@contextlib.contextmanager
def _bar(episodes: int, wanted: bool) -> Iterator[Callable[[], None]]:
    if not isinstance(wanted, bool):
        raise TypeError(f"progress must be True or False, got {wanted!r}.")
    console = stderr()
    columns = [TextColumn("episodes"), BarColumn(24), MofNCompleteColumn(), TimeRemainingColumn()]
    shown = wanted and console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=not shown) as progress:
        task = progress.add_task("", total=episodes)
        yield lambda: progress.advance(task)
