"""An environment and its policies as a table of the arena, which plays numbered episodes."""

import contextlib
import dataclasses
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pettingzoo

from rave_agents.environments.worlds import WorldFunction
from rave_pettingzoo.adapter import make_played_env
from rave_pettingzoo.cloning import clone_env
from rave_pettingzoo.episode import ActionOutsideError, Episode, Outside, play, play_together
from rave_pettingzoo.policies import make_policy
from rave_pettingzoo.structure import is_parallel, turn_based_env


@dataclasses.dataclass(frozen=True, kw_only=True)
class EnvTable:
    """Policies that play together; ``evaluate`` describes the other fields."""

    name: str
    """The environment's name."""
    env_fn: Callable[[], Any]
    seats: tuple[str, ...]
    """The environment's agents."""
    agents: tuple[Any, ...]
    """The policies, in their seats of the first episode."""
    seed: int
    exchange_seats: bool
    translate: bool
    worlds: WorldFunction | None
    outside: Outside
    env: Any = None
    """The environment for all episodes in this process, not sent to others; None to make a new one
    for each episode."""
    copies: bool = False
    """True if each episode gets a copy of a policy that is an object."""

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"env": None}

    def play(self, number: int) -> Episode:
        """Play the episode of this number."""
        if self.env is not None:
            return self._play(self.env, number)
        with contextlib.closing(self.env_fn()) as made:
            return self._play(turn_based_env(made) or made, number)

    def _play(self, env: Any, number: int) -> Episode:
        """Reset the environment, and let the policies play it to its end."""
        # Policies move on by one seat each episode. A round shares its seed: each policy then faces
        # the same luck in each seat, which cancels from their difference.
        turn = number % len(self.seats) if self.exchange_seats else 0
        seats = self.seats[turn:] + self.seats[:turn]
        group = number // len(seats) if self.exchange_seats else number
        env_seed = _draw(self.seed, 0, group) % 2**31  # OpenSpiel takes no more, as in Hanabi.
        start = env.reset(seed=env_seed)
        players = {
            seat: make_policy(
                policy,
                env,
                player=seat,
                seed=_draw(self.seed, 1, number, index),
                translate=self.translate,
                worlds=self.worlds,
                copies=self.copies,
            )
            for index, (seat, policy) in enumerate(zip(seats, self.agents, strict=True))
        }
        for player in players.values():
            player.reset()
        counts = self.outside == "illegal"
        try:
            if is_parallel(env):
                played = play_together(env, players, *start, outside_counts=counts)
            else:
                played = play(env, players, outside_counts=counts)
        except ActionOutsideError as error:
            policy = self.agents[seats.index(error.agent)]
            raise error.named(str(policy), number) from None
        return Episode(
            number=number,
            seed=env_seed,
            seats=seats,
            returns=tuple(played.returns[seat] for seat in seats),
            illegal_moves=tuple(played.illegal_moves[seat] for seat in seats),
            steps=played.steps,
        )

    def warm_up(self) -> None:
        """Do nothing: the first episode compiles what it needs."""

    def describe_failure(self, number: int, error: Exception) -> tuple[str, Exception]:
        """Name the episode that failed; see ``AnyTable``."""
        return f"Episode {number}", error

    def read(self, line: Mapping[str, Any]) -> Episode:
        """Return the episode of a file's line; see ``AnyTable``."""
        episode = Episode.from_dict(line)
        parts = (episode.seats, episode.returns, episode.illegal_moves)
        if any(len(part) != len(self.seats) for part in parts):
            raise ValueError("not so many agents")
        return episode


def _draw(*path: int) -> int:
    """A seed for each path, independent of all others."""
    return int(np.random.SeedSequence(path).generate_state(1)[0])


class _Maker:
    """Makes the environment of an id; it can be sent to other processes."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self) -> Any:
        return make_played_env(self._name)


class _Copier:
    """Copies an environment; it can be sent to other processes if the environment can."""

    def __init__(self, env: Any) -> None:
        self._env = env

    def __call__(self) -> Any:
        return clone_env(self._env)


def env_maker(env_fn: Any) -> Callable[[], Any]:
    """Return a function that makes an environment.

    Args:
        env_fn: such a function; an environment's id, or ``module:name`` of such a function; an
            environment, which is copied for each episode; or a module with environments.

    Raises:
        TypeError: if it is none of these.
    """
    if isinstance(env_fn, str):
        return _Maker(env_fn)
    if isinstance(env_fn, pettingzoo.AECEnv | pettingzoo.ParallelEnv):
        return _Copier(env_fn)
    if isinstance(env_fn, types.ModuleType):
        env_fn = vars(env_fn).get("parallel_env") or vars(env_fn).get("env")
    if not callable(env_fn):
        raise TypeError(
            "env_fn must be a function that makes an environment, an environment or its id, got "
            f"{env_fn!r}."
        )
    made: Callable[[], Any] = env_fn
    return made
