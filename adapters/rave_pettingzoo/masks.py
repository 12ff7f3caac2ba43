"""Masks of actions in PettingZoo's environments, and the legal actions that they leave."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rave_agents.environments.masks import (
    KEY,
    allowed,
    is_mask,
    mask_method,
    shown_mask,
    takes_argument,
)
from rave_agents.environments.wrappers import chain
from rave_pettingzoo.chain import inner_env, raw_env
from rave_pettingzoo.classic_knowledge import kind_of

Asked = Callable[[Any, Any], Any]
"""Returns the mask of an agent from a method of an environment, or of one inside of it; called with
the environment and the agent."""


def legal_actions(env: Any) -> Sequence[int]:
    """Return the legal actions of the selected agent in the fastest known way."""
    return legal_function(env)(env)


def legal_function(env: Any) -> Callable[[Any], Sequence[int]]:
    """Return the function for the legal actions in environments of this type."""
    kind = kind_of(env)
    return masked_function(env) if kind is None else kind.legal


def masked_actions(env: Any) -> Sequence[int]:
    """Return the actions that the selected agent's mask allows, counted from 0."""
    return masked_function(env)(env)


def masked_function(env: Any) -> Callable[[Any], Sequence[int]]:
    """Return the function for the actions that the selected agent's mask allows.

    The mask is in its info, else in its observation, else what ``action_mask()`` or the like of the
    environment or a wrapper returns. A mask that allows nothing stands for the first action, as it
    does for ``Discrete.sample``.
    """
    asked = asked_function(env)

    def actions(given: Any) -> Sequence[int]:
        agent = given.agent_selection
        size = int(given.action_space(agent).n)
        mask = shown_mask(None, given.infos.get(agent), size)
        if mask is None:
            mask = shown_mask(given.observe(agent), None, size)
        if mask is None and asked is not None:
            mask = asked(given, agent)
        return allowed_actions(mask, size, agent)

    return actions


def present_actions(env: Any, agent: Any) -> Sequence[int]:
    """Return the actions that the mask of an agent allows now, which may be none."""
    size = int(env.action_space(agent).n)
    mask = mask_of(env, agent, env.observe(agent), env.infos.get(agent), size)
    return range(size) if mask is None else allowed(mask, size)


def mask_of(env: Any, agent: Any, observation: Any, info: Any, size: int) -> Any:
    """Return an agent's mask from what it was told, else from a method; None if there is none."""
    mask = shown_mask(observation, info, size)
    asked = asked_function(env) if mask is None else None
    return mask if asked is None else asked(env, agent)


def allowed_actions(mask: Any, size: int, agent: Any) -> Sequence[int]:
    """Return the actions that an agent's mask allows: all without one, the first if it is empty."""
    return range(size) if mask is None else allowed(mask, size, agent) or [0]


def asked_function(env: Any) -> Asked | None:
    """Return the function that asks an environment's own methods for masks; None without any.

    Besides methods, it asks for the observation of an environment inside where a wrapper leaves the
    mask out of it.
    """
    for depth, inner in enumerate(chain(env, inner_env)):
        name = mask_method(inner, arguments=1)
        if name is not None:
            return functools.partial(_ask, depth, name)
    for depth, inner in enumerate(chain(env, inner_env)):
        if depth > 0 and hasattr(inner, "observe") and _shows_masks(inner):
            return functools.partial(_observed, depth)
    return None


def _inside(env: Any, depth: int) -> Any:
    for _ in range(depth):
        env = inner_env(env)
    return env


def _ask(depth: int, name: str, env: Any, agent: Any) -> Any:
    env = _inside(env, depth)
    method = getattr(env, name)
    if takes_argument(method):
        answer = method(agent)
    elif agent == getattr(env, "agent_selection", agent):
        answer = method()
    else:
        return None  # The mask of another agent.
    if isinstance(answer, Mapping):
        answer = answer.get(agent)
    return answer if is_mask(answer, int(env.action_space(agent).n)) else None


def _shows_masks(env: Any) -> bool:
    return all(
        KEY in (getattr(env.observation_space(agent), "spaces", None) or {})
        for agent in raw_env(env).possible_agents
    )


def _observed(depth: int, env: Any, agent: Any) -> Any:
    env = _inside(env, depth)
    size = int(env.action_space(agent).n)
    return shown_mask(env.observe(agent), env.infos.get(agent), size)
