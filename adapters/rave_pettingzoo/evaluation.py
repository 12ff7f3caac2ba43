"""``evaluate``: plays policies against each other and reports which is better."""

import contextlib
import dataclasses
import functools
import math
import statistics
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rave_agents.arena.match import checked_count, checked_match_seed
from rave_agents.arena.statistics import MatchScore
from rave_agents.cli.terminal import stderr
from rave_agents.game.arguments import unknown_name
from rave_agents.results.tables import aligned, html_table
from rave_pettingzoo.episode import Episode, check_agents, play_episode
from rave_pettingzoo.policies import policy_name
from rave_pettingzoo.support import env_name, turn_based_env
from rave_pettingzoo.worlds import WorldFunction


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
    check_agents(made, agents)
    env = turn_based_env(made) or made
    finished: list[Episode] = []
    with (
        contextlib.closing(made),
        contextlib.suppress(KeyboardInterrupt),
        bar(episodes, progress) as advance,
    ):
        for number in range(episodes):
            finished.append(
                play_episode(
                    env,
                    agents,
                    tuple(policies.values()),
                    number,
                    seed=seed,
                    exchange_seats=exchange_seats,
                    translate=translate,
                    worlds=worlds,
                )
            )
            advance()
    return Evaluation(env_name(env), seed, names, agents, tuple(finished))


@contextlib.contextmanager
def bar(episodes: int, wanted: bool) -> Iterator[Callable[[], None]]:
    """Show a bar where standard error is a terminal; gives the function that moves it by one."""
    if not isinstance(wanted, bool):
        raise TypeError(f"progress must be True or False, got {wanted!r}.")
    console = stderr()
    columns = [TextColumn("episodes"), BarColumn(24), MofNCompleteColumn(), TimeRemainingColumn()]
    shown = wanted and console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=not shown) as progress:
        task = progress.add_task("", total=episodes)
        yield lambda: progress.advance(task)
