"""Supersuit's vectorised environments: a row for each agent of Parallel environments."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import gymnasium
import pettingzoo

from rave_agents.errors import UnsupportedGameError


class Row(NamedTuple):
    """One row of a vectorised environment."""

    env: Any
    """The Parallel environment."""
    agent: Any
    """Its agent whose observations and actions the row has."""


def rows_of(env: Any) -> Sequence[Row] | None:
    """Return the rows of a vectorised environment; None for any other.

    Raises:
        UnsupportedGameError: if its environments live in other processes, where the search cannot
            copy them, or are none of PettingZoo's.
    """
    if isinstance(env, gymnasium.Env | pettingzoo.AECEnv | pettingzoo.ParallelEnv):
        return None
    if not hasattr(env, "num_envs"):
        return None
    inside = getattr(env, "par_env", None)
    if isinstance(inside, pettingzoo.ParallelEnv):
        return [Row(inside, agent) for agent in inside.possible_agents]
    parts = getattr(env, "vec_envs", None)
    if parts is None:
        wrapped = getattr(env, "venv", None)
        parts = None if wrapped is None else [wrapped]
    rows = [rows_of(part) for part in parts or ()]
    if not rows or None in rows:
        raise UnsupportedGameError(
            f"{type(env).__name__} keeps its environments out of reach, in other processes, or "
            "they are none of PettingZoo's, so the search cannot copy them. Use "
            "supersuit.pettingzoo_env_to_vec_env_v1, and concat_vec_envs_v1 with num_cpus=1; "
            "rave_gymnasium's agents are for vectorised environments of Gymnasium's."
        )
    return [row for found in rows if found is not None for row in found]
