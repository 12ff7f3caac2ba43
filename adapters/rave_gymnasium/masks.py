"""The mask of actions in an environment and in copies of it."""

from collections.abc import Callable
from typing import Any

import gymnasium

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.masks import METHODS, is_mask, mask_method, shown_mask

MaskOf = Callable[[Any, Any, Any], Any]
"""The mask of an environment in its present state: called with the environment, and with the
observation and the info that its last ``reset`` or ``step`` returned, as far as they are known;
None if there is no mask."""


def mask_function(env: Any) -> MaskOf:
    """Return the function for the masks of an environment and of its copies.

    The method of a wrapper, such as sb3-contrib's ``ActionMasker``, comes first; then what an info
    or an observation shows; then the environment's own method.
    """
    size = int(getattr(env.action_space, "n", 0))
    inner, depth = env, 0
    name = mask_method(inner)
    while name is None and isinstance(inner, gymnasium.Wrapper):
        inner, depth = inner.env, depth + 1
        name = mask_method(inner)
    if name is None:
        return lambda given, observation, info: shown_mask(observation, info, size)

    def asked(given: Any) -> Any:
        for _ in range(depth):
            given = given.env
        mask = getattr(given, name)()
        return mask if name == METHODS[0] or is_mask(mask, size) else None

    if isinstance(inner, gymnasium.Wrapper):
        return lambda given, observation, info: asked(given)

    def shown_or_asked(given: Any, observation: Any, info: Any) -> Any:
        mask = shown_mask(observation, info, size)
        return asked(given) if mask is None else mask

    return shown_or_asked


def present_mask(env: Any, mask_of: MaskOf) -> Any:
    """Return the mask of an environment in its present state; None if it is not known.

    Args:
        env: a copy of the environment, which may be changed: it is asked by ``_get_obs`` and
            ``_get_info`` too, which many environments have.
        mask_of: the function of ``mask_function``.
    """
    mask = mask_of(env, None, None)
    if mask is not None:
        return mask
    return mask_of(env, _told(env.unwrapped, "_get_obs"), _told(env.unwrapped, "_get_info"))


def _told(raw: Any, method: str) -> Any:
    try:
        return getattr(raw, method)()
    except Exception as error:
        if is_raised_by_handler(error):
            raise
        return None  # It has no such method, or one that needs to be told more.
