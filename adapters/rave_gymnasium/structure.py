"""The structure of a Gymnasium environment: its wrappers, its masks, and the parts of a vector."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
from gymnasium import wrappers

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.masks import KEY, METHODS, is_mask, mask_method, shown_mask
from rave_agents.environments.spaces import EnvAbilities, SpaceAbilities
from rave_agents.environments.wrappers import (
    class_name,
    supersuit_changes_observations_alone,
    without,
)
from rave_agents.errors import UnsupportedGameError

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
"""Wrappers that keep time, record, or check the caller."""

_OBSERVE = frozenset(
    [
        "gymnasium.wrappers.stateful_observation.DelayObservation",
        "gymnasium.wrappers.stateful_observation.FrameStackObservation",
        "gymnasium.wrappers.stateful_observation.NormalizeObservation",
        "gymnasium.wrappers.stateful_observation.TimeAwareObservation",
    ]
)
"""Wrappers whose own step changes only the observation."""


def inner_env(env: Any) -> Any | None:
    """Return the environment inside a wrapper; None for any other environment."""
    return env.env if isinstance(env, gymnasium.Wrapper) else None


def searched_part(env: Any, keep_observations: bool) -> Any:
    """Return an environment without the wrappers that do not affect a search.

    A time limit is left out, since the planning state counts the steps, unless it is inside a
    wrapper that may take more steps than requested.

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
    """True if a wrapper changes only observations and pictures."""
    if class_name(wrapper) in _OBSERVE or supersuit_changes_observations_alone(wrapper):
        return True
    # By its methods: a class that overrides ``step`` may change rewards or actions.
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
    return KEY in (SpaceAbilities(env.observation_space).spaces or {})


MaskOf = Callable[[Any, Any, Any], Any]
"""Called with an environment and the observation and info of its last ``reset`` or ``step``, None
if unknown: returns its current mask, or None if there is none."""


def mask_function(env: Any) -> MaskOf:
    """Return the function for the masks of an environment and of its copies.

    The method of a wrapper, such as sb3-contrib's ``ActionMasker``, comes first; then what an info
    or an observation shows; then the environment's own method.
    """
    size = int(SpaceAbilities(env.action_space).n)
    inner, depth = env, 0
    name = mask_method(inner)
    while name is None and isinstance(inner, gymnasium.Wrapper):
        inner, depth = inner.env, depth + 1
        name = mask_method(inner)
    # By depth rather than by object: the function also serves copies.
    if name is None:
        return lambda given, observation, info: shown_mask(observation, info, size)

    def asked(given: Any) -> Any:
        for _ in range(depth):
            given = given.env
        mask = operator.methodcaller(name)(given)
        return mask if name == METHODS[0] or is_mask(mask, size) else None

    if isinstance(inner, gymnasium.Wrapper):
        return lambda given, observation, info: asked(given)

    def shown_or_asked(given: Any, observation: Any, info: Any) -> Any:
        mask = shown_mask(observation, info, size)
        return asked(given) if mask is None else mask

    return shown_or_asked


def present_mask(env: Any, mask_of: MaskOf) -> Any:
    """Return the mask of an environment in its current state; None if it is unknown.

    Args:
        env: a copy of the environment, which may be changed by calls of ``_get_obs`` and
            ``_get_info``, which many environments have.
        mask_of: the function of ``mask_function``.
    """
    mask = mask_of(env, None, None)
    if mask is not None:
        return mask
    return mask_of(
        env, _call_if_any(env.unwrapped, "_get_obs"), _call_if_any(env.unwrapped, "_get_info")
    )


def _call_if_any(raw: Any, method: str) -> Any:
    try:
        return operator.methodcaller(method)(raw)
    except Exception as error:
        if is_raised_by_handler(error):
            raise
        return None  # It has no such method, or one that needs arguments.


def environments_of(env: Any) -> Sequence[Any] | None:
    """Return the environments of a vectorised environment; None for any other.

    Raises:
        UnsupportedGameError: if they live in other processes, where the search cannot copy them.
    """
    if isinstance(env, gymnasium.Env) or EnvAbilities(env).num_envs is None:
        return None
    inner = env
    while "envs" not in vars(inner):
        # Stable-Baselines3's wrappers have ``venv``, Gymnasium's ``env``.
        wrapped = vars(inner).get("venv") or vars(inner).get("env")
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
