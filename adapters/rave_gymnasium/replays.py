"""Replays in place of copies: the same seed and actions, for environments that cannot be copied."""

from typing import Any

import gymnasium
import numpy as np

from rave_agents.environments.copying import equal
from rave_agents.errors import CloneError


class Replayable(gymnasium.Wrapper):  # type: ignore[misc]
    """Remembers the seed and the actions of an episode, so that a search can replay it.

    A simulation begins in a second environment from ``gymnasium.make`` that is reset with the same
    seed and plays the same actions, which takes time: it suits short episodes. A check finds out
    whether replays are exact. Chance to come is drawn anew by each simulation if it comes from the
    environment's ``np_random``.

    ::

        env = Replayable(gymnasium.make("LunarLander-v3"))
        agent = RaveAgent(env, simulations=50, horizon=30)

    Args:
        env: an environment that ``gymnasium.make`` has made, with discrete actions.

    Raises:
        CloneError: if it was made otherwise, and so cannot be made again.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        spec = env.unwrapped.spec
        if spec is None:
            raise CloneError(
                f"{env} cannot be replayed: gymnasium.make did not make it, so it cannot be made "
                "again. Register it."
            )
        self._random = np.random.default_rng()
        self._episode: tuple[int, list[Any]] | None = None
        self._last: Any = None
        self._stage: _Stage | None = None
        self.is_checked = False
        """Whether copies of a replay have been checked."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; without a seed, with one that is drawn."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        drawn = int(self._random.integers(2**31)) if seed is None else seed
        self._last, info = self.env.reset(seed=drawn, options=options)
        self._episode = drawn, []
        self._options = options
        return self._last, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step, and remember the action."""
        answer: tuple[Any, Any, bool, bool, dict[str, Any]] = self.env.step(action)
        if self._episode is not None:
            self._episode[1].append(action)
        self._last = answer[0]
        return answer

    def replay(self) -> "ReplayedEnv":
        """Return an environment in the same state, which is replayed when it is stepped.

        Raises:
            ValueError: before ``reset``.
            CloneError: if a replay shows something else than the environment did.
        """
        if self._episode is None:
            raise ValueError(f"{self} has not been reset: call env.reset() first.")
        if self._stage is None:
            self._stage = _Stage(self.env.unwrapped.spec)
        seed, actions = self._episode
        new = ReplayedEnv(self._stage, seed, tuple(actions), self._options, self.env.unwrapped)
        if not equal(np.asarray(new.replay()), np.asarray(self._last)):
            raise CloneError(
                f"{self} cannot be replayed: the same seed and actions show something else. The "
                "search cannot plan in it."
            )
        return new


class _Stage:
    """The second environment, on which one replay at a time plays."""

    def __init__(self, spec: Any) -> None:
        silent = {"render_mode": None} if "render_mode" in spec.kwargs else {}
        self.env: Any = gymnasium.make(spec, disable_env_checker=True, **silent).unwrapped
        self.player: Any = None


class ReplayedEnv(gymnasium.Env):  # type: ignore[misc]
    """An environment that stands for an episode's seed and actions; see ``Replayable``."""

    def __init__(
        self, stage: _Stage, seed: int, actions: tuple[Any, ...], options: Any, like: Any
    ) -> None:
        self._stage = stage
        self._seed = seed
        self._past = actions
        self._options = options
        self._since: list[Any] = []
        self._token = object()
        self.action_space: Any = like.action_space
        self.observation_space: Any = like.observation_space
        self._np_random = np.random.default_rng(seed)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode of its own."""
        if seed is not None:
            self._seed = seed
            self._np_random = np.random.default_rng(seed)
        self._past, self._since, self._options = (), [], options
        self._token = object()
        self._stage.player = self._token
        answer: tuple[Any, dict[str, Any]] = self._stage.env.reset(seed=self._seed, options=options)
        self._stage.env._np_random = self._np_random
        return answer

    def replay(self) -> Any:
        """Play the episode so far, and return the last observation."""
        env = self._stage.env
        seen, _ = env.reset(seed=self._seed, options=self._options)
        for action in self._past:
            seen = env.step(action)[0]
        env._np_random = self._np_random
        for action in self._since:
            seen = env.step(action)[0]
        self._token = self._stage.player = object()
        return seen

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step, after a replay if another one has played since."""
        if self._stage.player is not self._token:
            self.replay()
        self._since.append(action)
        answer: tuple[Any, Any, bool, bool, dict[str, Any]] = self._stage.env.step(action)
        return answer


def replayable(env: Any) -> Replayable | None:
    """Return the wrapper that remembers an episode's actions, if there is one."""
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, Replayable):
            return env
        env = env.env
    return None


STAGES: tuple[type, ...] = (_Stage,)
"""What replays share."""
