"""Worlds of environments by their class: RLCard's poker games, and those registered by users."""

from typing import Any

import pettingzoo

from rave_agents.environments.worlds import WorldFunction
from rave_pettingzoo.chain import raw_env
from rave_pettingzoo.classic_knowledge import kind_of

_registered: dict[type, WorldFunction] = {}


def register_worlds(env_type: type, worlds: WorldFunction) -> None:
    """Register the function that draws worlds for an AEC environment and for its subclasses.

    Agents then need no ``worlds=``, and the command line plays the environment, too.

    Args:
        env_type: a class of raw environments, without wrappers.
        worlds: see ``rave_pettingzoo.worlds.WorldFunction``.

    Raises:
        TypeError: if the arguments are not a class of AEC environments and a function.
    """
    if not isinstance(env_type, type) or not issubclass(env_type, pettingzoo.AECEnv):
        raise TypeError(f"env_type must be a class of AEC environments, got {env_type!r}.")
    if not callable(worlds):
        raise TypeError(f"worlds must be a function of (env, agent, rng), got {worlds!r}.")
    _registered[env_type] = worlds


def known_worlds(env: Any) -> WorldFunction | None:
    """The worlds of an environment by its class; None if none are known."""
    raw = raw_env(env)
    for base in type(raw).__mro__:
        if base in _registered:
            return _registered[base]
    kind = kind_of(raw)
    return None if kind is None else kind.worlds
