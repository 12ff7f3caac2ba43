"""``evaluate``: plays policies against each other and reports which is better."""

import contextlib
import dataclasses
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pickle import PicklingError
from typing import Any

import numpy as np
import pettingzoo
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rave_agents.agents.policies import policy_name
from rave_agents.arena.match import MOST_JOBS, checked_count, checked_match_seed
from rave_agents.arena.runner import prepare_worker
from rave_agents.cli.terminal import stderr
from rave_agents.config.shipped_parts import ShippedParts, shipped_parts
from rave_agents.errors import UnsupportedGameError
from rave_agents.game.arguments import unknown_name
from rave_pettingzoo.adapter import make_played_env
from rave_pettingzoo.episode import OUTSIDE, ActionOutsideError, play, play_together
from rave_pettingzoo.evaluation import Episode, Evaluation
from rave_pettingzoo.policies import make_policy
from rave_pettingzoo.support import env_name, is_parallel, turn_based_env
from rave_pettingzoo.worlds import WorldFunction


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Setup:
    """What decides each episode, beside its number."""

    env_fn: Callable[[], Any]
    policies: Mapping[str, Any]
    seed: int
    exchange_seats: bool
    translate: bool
    worlds: WorldFunction | None
    outside: str


def evaluate(
    env_fn: str | Callable[[], Any],
    policies: Mapping[str, Any],
    *,
    episodes: int = 100,
    seed: int = 0,
    exchange_seats: bool = True,
    translate: bool = True,
    worlds: WorldFunction | None = None,
    outside: str = "raise",
    jobs: int = 1,
    progress: bool = True,
) -> Evaluation:
    """Play episodes between policies and return the results.

    An action that the mask forbids is counted and passed to the environment, whose rule then
    decides; PettingZoo's classic environments end the episode with a loss. Ctrl-C ends the
    evaluation early. Exceptions of a policy or the environment pass through unchanged.

    Args:
        env_fn: makes an AEC or a Parallel environment; it is called once in each process, and the
            environment is closed at the end. Or an environment's id, ``"classic/connect_four-v3"``,
            or a module with environments, ``"mpe2.simple_tag_v3"``.
        policies: for each agent of the environment, the policy that starts in its seat: a spec such
            as ``"rave(simulations=200)"``, a function such as ``policy(observation, agent)``, or an
            object with ``act``, ``predict`` or the like; see ``rave_agents.agents.policies``.
        episodes: the number of episodes, at least 1.
        seed: an integer of at least 0 that seeds every random choice except those of your own
            policies. Environments are reset with seeds derived from it.
        exchange_seats: whether the policies move on by one seat after each episode. The episodes of
            one round of seats share the environment's seed.
        translate: whether searches may run in OpenSpiel's states where the games are the same.
        worlds: in environments with hidden information, the source of worlds for agents made from
            specs, see ``SearchAgent``; ``"rave(hidden=see)"`` searches the true state, which is
            cheating.
        outside: the effect of an action outside its space: ``"raise"`` raises ActionOutsideError;
            ``"illegal"`` counts it as illegal, and plays an action in its place that the mask
            forbids, so that the environment's rule decides; the first one, if all are allowed.
        jobs: processes that play at the same time. Policies and ``env_fn`` are sent to them, and
            what a policy learns or counts there is lost. Results do not depend on their number.
        progress: whether to show a progress bar if standard error is a terminal.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for a value that is not allowed, or if the policies do not match the
            environment's agents.
        ActionOutsideError: (a ValueError) for an action outside its space; it names the policy, the
            episode and the action.
        UnsupportedGameError: if an agent made from a spec cannot play the environment, or something
            cannot be sent to other processes.
    """
    checked_count("episodes", episodes, 1)
    checked_count("jobs", jobs, 1, MOST_JOBS)
    seed = checked_match_seed(seed)
    if isinstance(env_fn, str):
        env_fn = _Maker(env_fn)
    if not callable(env_fn):
        raise TypeError(
            "env_fn must be a function that makes an environment, or an environment's id, got "
            f"{env_fn!r}."
        )
    if not isinstance(policies, Mapping):
        raise TypeError(f"policies must be a dictionary by agent, got {policies!r}.")
    if outside not in OUTSIDE:
        raise ValueError(unknown_name("outside", outside, OUTSIDE))
    setup = _Setup(
        env_fn=env_fn,
        policies=dict(policies),
        seed=seed,
        exchange_seats=exchange_seats,
        translate=translate,
        worlds=worlds,
        outside=outside,
    )
    finished: list[Episode] = []
    with (
        _made(setup) as env,
        contextlib.suppress(KeyboardInterrupt),
        _bar(episodes, progress) as bar,
    ):
        name = env_name(env)
        played = (
            (_play(setup, env, number) for number in range(episodes))
            if jobs == 1
            else _played_by_workers(setup, episodes, jobs)
        )
        for episode in played:
            finished.append(episode)
            bar()
    finished.sort(key=lambda episode: episode.number)
    names = tuple(policy_name(policy) for policy in policies.values())
    return Evaluation(name, seed, names, tuple(policies), tuple(finished))


class _Maker:
    """Makes the environment of an id; it can be sent to other processes."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self) -> Any:
        return make_played_env(self._name)


@contextlib.contextmanager
def _made(setup: _Setup) -> Iterator[Any]:
    """The environment to play in, closed at the end."""
    made = setup.env_fn()
    check_agents(made, tuple(setup.policies))
    with contextlib.closing(made):
        yield turn_based_env(made) or made


def _play(setup: _Setup, env: Any, number: int) -> Episode:
    """Play the episode of this number."""
    agents = tuple(setup.policies)
    together = is_parallel(env)
    turn = number % len(agents) if setup.exchange_seats else 0
    seats = agents[turn:] + agents[:turn]
    group = number // len(agents) if setup.exchange_seats else number
    env_seed = _draw(setup.seed, 0, group) % 2**31  # OpenSpiel takes no more, as in Hanabi.
    told = env.reset(seed=env_seed)
    policies = dict(zip(seats, setup.policies.values(), strict=True))
    players = {
        seat: make_policy(
            policy,
            env,
            player=seat if together else None,
            seed=_draw(setup.seed, 1, number, index),
            translate=setup.translate,
            worlds=setup.worlds,
        )
        for index, (seat, policy) in enumerate(policies.items())
    }
    for player in players.values():
        player.reset()
    counts = setup.outside == "illegal"
    try:
        played = (
            play_together(env, players, *told, outside_counts=counts)
            if together
            else play(env, players, outside_counts=counts)
        )
    except ActionOutsideError as error:
        raise error.named(policy_name(policies[error.agent]), number) from error.__cause__
    return Episode(
        number=number,
        seed=env_seed,
        seats=seats,
        returns=tuple(played.returns[seat] for seat in seats),
        illegal_moves=tuple(played.illegal_moves[seat] for seat in seats),
        steps=played.steps,
    )


def _played_by_workers(setup: _Setup, episodes: int, jobs: int) -> Iterator[Episode]:
    from joblib import Parallel, delayed  # noqa: PLC0415  (slow to import)
    from joblib.externals.loky.process_executor import TerminatedWorkerError  # noqa: PLC0415

    jobs = min(jobs, episodes)
    size = max(1, min(16, episodes // (4 * jobs)))
    parts = [range(i, min(i + size, episodes)) for i in range(0, episodes, size)]
    parallel = Parallel(n_jobs=jobs, backend="loky", return_as="generator_unordered")
    shipped = shipped_parts()
    played = parallel(delayed(_play_in_worker)(shipped, setup, part) for part in parts)
    try:
        for part in played:
            yield from part
    except (PicklingError, TerminatedWorkerError) as error:
        raise UnsupportedGameError(
            f"env_fn or a policy cannot be sent to other processes, which jobs={jobs} needs: "
            f"{error} Evaluate with jobs=1, or define it in a module of its own."
        ) from error
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that episodes are not finished
            played.close()


def _play_in_worker(shipped: ShippedParts, setup: _Setup, part: Sequence[int]) -> list[Episode]:
    prepare_worker(shipped)
    with _made(setup) as env:
        return [_play(setup, env, number) for number in part]


def check_agents(env: Any, agents: tuple[str, ...]) -> None:
    """Raise ValueError or TypeError unless there is one policy for each agent."""
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
