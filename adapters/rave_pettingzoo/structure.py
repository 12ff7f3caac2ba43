"""The structure of a PettingZoo environment: its wrappers, its name, and its masks of actions."""

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import pettingzoo

from rave_agents.environments.facts import metadata_of
from rave_agents.environments.masks import (
    KEY,
    allowed,
    is_mask,
    mask_method,
    shown_mask,
    takes_argument,
)
from rave_agents.environments.spaces import EnvAbilities, SpaceAbilities
from rave_agents.environments.wrappers import chain, class_name

SHIMMY = "OpenSpielCompatibilityV0"


def openspiel() -> ModuleType:
    """The module ``rave_pettingzoo.openspiel``, imported on first use."""
    from rave_pettingzoo import openspiel as module  # noqa: PLC0415  (optional: OpenSpiel)

    return module


def check_env(env: object) -> None:
    """Raise TypeError if the argument is not a PettingZoo environment."""
    if not isinstance(env, pettingzoo.AECEnv | pettingzoo.ParallelEnv):
        raise TypeError(
            f"env must be a PettingZoo environment, AEC or Parallel, got {type(env).__name__}."
        )


def inner_env(env: Any) -> Any | None:
    """The environment inside a wrapper; None for a raw environment."""
    # By ``vars``: wrappers pass on attributes, so that ``env.env`` of a raw one may be anything.
    for name in ("env", "aec_env"):
        inner = vars(env).get(name)
        if isinstance(inner, pettingzoo.AECEnv | pettingzoo.ParallelEnv):
            return inner
    return None


def raw_env(env: Any) -> Any:
    """The innermost environment."""
    return chain(env, inner_env)[-1]


def turn_based_env(env: Any) -> Any | None:
    """The AEC environment inside PettingZoo's Parallel view of one that is turn-based."""
    for each in chain(env, inner_env):
        if type(each).__name__ == "turn_based_aec_to_parallel_wrapper":
            return inner_env(each)
    return None


def is_parallel(env: Any) -> bool:
    """True if its agents may move at the same time, and it takes their actions together."""
    return isinstance(env, pettingzoo.ParallelEnv) and turn_based_env(env) is None


def is_shimmy(raw: Any) -> bool:
    """True for Shimmy's wrapper around one of OpenSpiel's games."""
    return _is_shimmys(type(raw))


def inherits_shimmy(raw: Any) -> bool:
    """True for such a wrapper, and for instances of subclasses."""
    return any(map(_is_shimmys, type(raw).__mro__))


def _is_shimmys(kind: type) -> bool:
    return kind.__name__ == SHIMMY and kind.__module__.partition(".")[0] == "shimmy"


def env_name(env: Any) -> str:
    """An environment's name for messages and tables."""
    raw = raw_env(env)
    if is_shimmy(raw):
        return f"shimmy:{raw.game_name}"
    name = metadata_of(raw).get("name")
    return str(name) if name else class_name(raw)


# Masks of actions.

MaskSource = Callable[[Any, Any], Any]
"""Called with an environment and an agent: returns the agent's mask from a method of the
environment or of an inner one."""


def mask_source(env: Any) -> MaskSource | None:
    """The function that gets masks from an environment's methods; None without any.

    Otherwise from an inner environment's observation, if a wrapper drops the mask from its own.
    """
    every = chain(env, inner_env)
    for depth, inner in enumerate(every):
        name = mask_method(inner, arguments=1)
        if name is not None:
            # By depth, not by object: the function must work for copies of the environment.
            return functools.partial(_ask, depth, name)
    for depth, inner in enumerate(every):
        if depth > 0 and EnvAbilities(inner).observe is not None and _shows_masks(inner):
            return functools.partial(_observed, depth)
    return None


def _inside(env: Any, depth: int) -> Any:
    for _ in range(depth):
        env = inner_env(env)
    return env


def _ask(depth: int, name: str, env: Any, agent: Any) -> Any:
    env = _inside(env, depth)
    method = operator.attrgetter(name)(env)
    # Without an argument, a method gives the mask of the agent to move.
    if takes_argument(method):
        answer = method(agent)
    elif EnvAbilities(env).agent_selection in (agent, None):
        answer = method()
    else:
        return None  # The mask of another agent.
    if isinstance(answer, Mapping):
        answer = answer.get(agent)
    return answer if is_mask(answer, int(env.action_space(agent).n)) else None


def shows_mask(space: Any) -> bool:
    """True if observations of a space have a mask."""
    return KEY in (SpaceAbilities(space).spaces or {})


def _shows_masks(env: Any) -> bool:
    agents = raw_env(env).possible_agents
    return all(shows_mask(env.observation_space(agent)) for agent in agents)


def _observed(depth: int, env: Any, agent: Any) -> Any:
    env = _inside(env, depth)
    size = int(env.action_space(agent).n)
    return shown_mask(env.observe(agent), env.infos.get(agent), size)


def masked_function(env: Any) -> Callable[[Any], Sequence[int]]:
    """The function for the actions that the selected agent's mask allows, counted from 0.

    The mask is in its info, else in its observation, else from a method such as ``action_mask()``
    of the environment or a wrapper. A mask that allows nothing means the first action, as for
    ``Discrete.sample``.
    """
    source = mask_source(env)

    def actions(given: Any) -> Sequence[int]:
        agent = given.agent_selection
        size = int(given.action_space(agent).n)
        mask = shown_mask(None, given.infos.get(agent), size)  # Cheaper than to observe.
        if mask is None:
            mask = shown_mask(given.observe(agent), None, size)
        if mask is None and source is not None:
            mask = source(given, agent)
        return allowed_actions(mask, size, agent)

    return actions


def present_actions(env: Any, agent: Any) -> Sequence[int]:
    """The actions that the mask of an agent allows now, which may be none."""
    size = int(env.action_space(agent).n)
    mask = mask_of(env, agent, env.observe(agent), env.infos.get(agent), size)
    return range(size) if mask is None else allowed(mask, size)


def mask_of(env: Any, agent: Any, observation: Any, info: Any, size: int) -> Any:
    """An agent's mask from its observation and info, else from a method; None if there is none."""
    mask = shown_mask(observation, info, size)
    source = mask_source(env) if mask is None else None
    return mask if source is None else source(env, agent)


def masks_of(env: Any, observations: Mapping[Any, Any], infos: Mapping[Any, Any]) -> dict[Any, Any]:
    """The masks in a Parallel environment's observations and infos, by agent."""
    infos = infos or {}
    return {
        agent: mask_of(
            env, agent, observations.get(agent), infos.get(agent), num_actions(env, agent)
        )
        for agent in env.agents
    }


def num_actions(env: Any, agent: Any) -> int:
    """The number of an agent's actions; 0 if they cannot be counted."""
    return int(SpaceAbilities(env.action_space(agent)).n)


def allowed_actions(mask: Any, size: int, agent: Any) -> Sequence[int]:
    """The actions that an agent's mask allows: all without one, the first if it is empty."""
    return range(size) if mask is None else allowed(mask, size, agent) or [0]
