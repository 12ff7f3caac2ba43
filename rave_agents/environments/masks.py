"""Masks of actions: where environments show them, and the actions that they allow."""

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.game.arrays import ArrayAbilities
from rave_agents.game.signatures import parameters_of

KEY = "action_mask"
"""The key of a mask in an info or an observation, by Gymnasium's and PettingZoo's convention."""

OTHER_KEYS = ("action_masks", "valid_action_mask", "legal_actions_mask")
"""Keys that others use. An entry counts if it is as long as a mask has to be."""

METHODS = ("action_masks", "action_mask", "valid_action_mask", "get_action_mask")
"""Methods of environments and wrappers that return a mask; sb3-contrib calls the first."""

LOOKED_FOR = (
    'A mask of the allowed actions is looked for in info["action_mask"], in '
    'observation["action_mask"], and in a method action_masks() of the environment or of a wrapper'
)
"""Places of masks, for messages."""


def shown_mask(observation: Any, info: Any, size: int) -> Any:
    """Return the mask in an info, else in an observation; None if there is none.

    Args:
        observation: an observation of any kind.
        info: the info that came with it; None if there is none.
        size: the number of actions.
    """
    if type(info) is not dict or info:
        mask = _mask_in(info, size)
        if mask is not None:
            return mask
    return None if type(observation) in _PLAIN else _mask_in(observation, size)


def without_mask(observation: Any) -> Any:
    """Return an observation without its mask."""
    if isinstance(observation, Mapping) and "observation" in observation:
        return observation["observation"]
    return observation


_PLAIN = frozenset([np.ndarray, np.int64, int, float, tuple, type(None)])
"""Types of most observations, which show no mask."""


def _mask_in(place: Any, size: int) -> Any:
    if not isinstance(place, Mapping):
        return None
    mask = place.get(KEY)
    if mask is not None:
        return mask
    # "mask" is Tianshou's key, next to "obs"; elsewhere it may mean anything.
    for key in ("mask", *OTHER_KEYS) if "obs" in place else OTHER_KEYS:
        mask = place.get(key)
        if mask is not None and is_mask(mask, size):
            return mask
    return None


def is_mask(value: Any, size: int) -> bool:
    """True if a value has an entry for each action, each of them true or false."""
    try:
        flat = np.ravel(np.asarray(value))
    except Exception as error:
        if is_raised_by_handler(error):
            raise
        return False
    return flat.dtype.kind in "biuf" and len(flat) == size and bool(np.isin(flat, (0, 1)).all())


def mask_method(thing: Any, arguments: int = 0) -> str | None:
    """Return the name of an object's method for masks; None if it has none.

    Args:
        thing: an environment or a wrapper, without those inside of it.
        arguments: the largest number of arguments that the caller can give.
    """
    for name in METHODS:
        method = getattr(thing, name, None)
        if callable(method) and _needs(method) <= arguments:
            return name
    return None


def takes_argument(function: Any) -> bool:
    """True if a function can be called with an argument."""
    return bool(_parameters(function))


def _needs(function: Any) -> int:
    """The number of arguments without defaults."""
    return sum(each.default is each.empty for each in _parameters(function))


def _parameters(function: Any) -> list[inspect.Parameter]:
    parameters = parameters_of(function) or {}
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [each for each in parameters.values() if each.kind in positional]


def allowed(mask: Any, size: int, agent: Any = None) -> list[int]:
    """Return the actions that a mask allows, which may be none.

    Args:
        mask: an entry for each action, in an array of any library or a list.
        size: the number of actions.
        agent: whose mask it is, for messages; None for the only one.

    Raises:
        ValueError: for anything else.
    """
    try:
        flat = np.ravel(np.asarray(mask))
    except Exception as error:  # A tensor on another device.
        if is_raised_by_handler(error):
            raise
        tolist = ArrayAbilities(mask).tolist
        flat = np.ravel(np.asarray(None if tolist is None else tolist()))
    if flat.dtype.kind not in "biuf":
        raise ValueError(
            f"action_mask{_of(agent)} must hold True or False, or 1 or 0, got {mask!r:.80}."
        )
    if len(flat) != size:
        raise ValueError(
            f"action_mask{_of(agent)} must have {size} entries, one for each action, got "
            f"{len(flat)}."
        )
    return flat.nonzero()[0].tolist()


def _of(agent: Any) -> str:
    return "" if agent is None else f" of {agent!r}"


def some_allowed(mask: Any, size: int) -> list[int]:
    """Return the actions that the mask of a position allows where a move is to be chosen.

    Raises:
        ValueError: if there is none, or if it is not a mask.
    """
    actions = allowed(mask, size)
    if not actions:
        raise ValueError(
            f"action_mask must allow at least one action, but it allows none of {size}."
        )
    return actions
