"""Gymnasium's wrappers that a search leaves out."""

from typing import Any

import gymnasium
from gymnasium import wrappers

from rave_agents.environments.masks import KEY, mask_method
from rave_agents.environments.wrappers import (
    class_name,
    supersuit_changes_observations_alone,
    without,
)

_KEEP_TIME = frozenset(
    [
        "gymnasium.wrappers.common.Autoreset",
        "gymnasium.wrappers.common.OrderEnforcing",
        "gymnasium.wrappers.common.PassiveEnvChecker",
        "gymnasium.wrappers.common.RecordEpisodeStatistics",
        "gymnasium.wrappers.rendering.HumanRendering",
        "gymnasium.wrappers.rendering.RecordVideo",
        "gymnasium.wrappers.rendering.RenderCollection",
        "stable_baselines3.common.monitor.Monitor",
    ]
)
"""Wrappers that keep time, record, or watch over the caller."""

_OBSERVE = frozenset(
    [
        "gymnasium.wrappers.stateful_observation.DelayObservation",
        "gymnasium.wrappers.stateful_observation.FrameStackObservation",
        "gymnasium.wrappers.stateful_observation.NormalizeObservation",
        "gymnasium.wrappers.stateful_observation.TimeAwareObservation",
    ]
)
"""Wrappers with a step of their own that changes nothing but the observation."""


def inner_env(env: Any) -> Any | None:
    """Return the environment inside a wrapper; None for any other environment."""
    return env.env if isinstance(env, gymnasium.Wrapper) else None


def searched_part(env: Any, keep_observations: bool) -> Any:
    """Return an environment without the wrappers that mean nothing to a search.

    A time limit is left out, since the planning state counts the steps, unless it is inside of a
    wrapper that may take more steps than it is asked for.

    Args:
        env: the environment; it is not changed.
        keep_observations: whether wrappers that change observations are kept.
    """

    def leaves_out(wrapper: Any, one_is_kept: bool) -> bool:
        if isinstance(wrapper, wrappers.TimeLimit):
            return not one_is_kept
        if class_name(wrapper) in _KEEP_TIME:
            return True
        return not keep_observations and only_observes(wrapper)

    return without(env, inner_env, leaves_out)


def only_observes(wrapper: Any) -> bool:
    """True if a wrapper changes nothing but observations and pictures."""
    if class_name(wrapper) in _OBSERVE or supersuit_changes_observations_alone(wrapper):
        return True
    kind = type(wrapper)
    plain: Any = gymnasium.Wrapper
    if isinstance(wrapper, gymnasium.ObservationWrapper):
        plain = gymnasium.ObservationWrapper
    return (
        kind.step is plain.step
        and kind.reset is plain.reset
        and wrapper.action_space == wrapper.env.action_space
        and mask_method(wrapper) is None
        and not (_shows_mask(wrapper) and not _shows_mask(wrapper.env))
    )


def _shows_mask(env: Any) -> bool:
    return KEY in (getattr(env.observation_space, "spaces", None) or {})
