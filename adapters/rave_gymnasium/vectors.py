"""Vectorised environments of Stable-Baselines3 and Gymnasium, seen from their environments."""

from collections.abc import Sequence
from typing import Any

import gymnasium

from rave_agents.errors import UnsupportedGameError


def environments_of(env: Any) -> Sequence[Any] | None:
    """Return the environments of a vectorised environment; None for any other.

    Raises:
        UnsupportedGameError: if they live in other processes, where the search cannot copy them.
    """
    if isinstance(env, gymnasium.Env) or not hasattr(env, "num_envs"):
        return None
    inner = env
    while not hasattr(inner, "envs"):
        wrapped = getattr(inner, "venv", None) or getattr(inner, "env", None)
        if wrapped is None and type(inner).__module__.startswith("supersuit."):
            raise UnsupportedGameError(
                f"{type(inner).__name__} has a row for each agent of PettingZoo's environments: "
                "rave_pettingzoo's agents plan in it."
            )
        if wrapped is None:
            raise UnsupportedGameError(
                f"{type(inner).__name__} keeps its environments out of reach, in other processes "
                "or in one array of all, so the search cannot copy them. Use one whose "
                "environments live in this process: DummyVecEnv of Stable-Baselines3, or "
                "gymnasium.vector.SyncVectorEnv."
            )
        inner = wrapped
    return list(inner.envs)
