"""Hashable copies of Python objects, equal if and only if the objects' contents are."""

import types
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
import pyspiel
from numpy.typing import NDArray

from rave_agents.games.kit.rules_state import RulesState
from rave_openspiel.same_game import game_key

_PLAIN = frozenset({bool, int, str, bytes, type(None), type(Ellipsis)})
"""Types whose values are their own content."""

_NAMED = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)
"""Types whose instances are compared by identity: a copy shares them with its original."""

_DEFAULT = (object.__reduce_ex__, object.__reduce__, object.__getstate__)
"""The methods by which pickle takes an object apart, where its class has none of its own."""

_Seen = dict[int, tuple[int, Any]]


class NotComparableError(Exception):
    """An object's content cannot be compared."""


def frozen(value: Any, seen: _Seen | None = None) -> Hashable:
    """Return a hashable copy of an object's content, types included.

    Objects are taken apart as pickle does it, and by their attributes, since a class may leave some
    out of its pickles. One object that occurs twice differs from two equal objects.

    Args:
        value: the object.
        seen: the objects visited so far, numbered; None for none.

    Raises:
        NotComparableError: for an object that cannot be taken apart, such as a lock.
    """
    kind = type(value)
    if kind in _PLAIN or isinstance(value, _NAMED):
        return kind, value
    if kind is float or kind is complex:
        return kind, repr(value)  # Equal for two NaN, and not for 0.0 and -0.0.
    seen = {} if seen is None else seen
    # Cycles end here. A tuple's identity says nothing: copying may share or rebuild it.
    if kind is not tuple:
        if id(value) in seen:
            return "again", seen[id(value)][0]
        seen[id(value)] = len(seen), value  # The value must live: its id is its key.
    return kind, _CONTENTS.get(kind, _parts_of)(value, seen)


def _of_items(items: Iterable[Any], seen: _Seen) -> Hashable:
    return tuple(frozen(item, seen) for item in items)


def _of_array(array: NDArray[Any], seen: _Seen) -> Hashable:
    # The bytes of an object array are addresses.
    content = frozen(array.tolist(), seen) if array.dtype.hasobject else array.tobytes()
    return array.dtype, array.shape, content


def _parts_of(value: Any, seen: _Seen) -> Hashable:
    """The content of an object of a class of its own."""
    # pyspiel pickles a game as the text that made it, which differs between equal games.
    if isinstance(value, pyspiel.Game):
        return game_key(value)
    if isinstance(value, RulesState):
        return value.position_key()
    kind = type(value)
    methods: Any = kind.__reduce_ex__, kind.__reduce__, kind.__getstate__
    attributes: Hashable = ()
    if methods != _DEFAULT and hasattr(value, "__dict__"):
        attributes = frozen(dict(vars(value)), seen)
    try:
        reduced = value.__reduce_ex__(4)
    except Exception as error:
        raise NotComparableError(f"{kind.__name__} cannot be taken apart.") from error
    if isinstance(reduced, str):
        return attributes, reduced
    # ``__reduce_ex__`` returns two to five values, see ``object.__reduce__``.
    made_by, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
    parts = (made_by, arguments, state, *(items or ()), None, *(pairs or ()))
    return attributes, _of_items(parts, seen)


_CONTENTS: dict[type, Callable[[Any, _Seen], Hashable]] = {
    list: _of_items,
    tuple: _of_items,
    # In order: a state that iterates over its dict behaves differently in another order.
    dict: lambda value, seen: _of_items(value.items(), seen),
    set: lambda value, seen: frozenset(frozen(item, seen) for item in value),
    frozenset: lambda value, seen: frozenset(frozen(item, seen) for item in value),
    np.ndarray: _of_array,
}
"""Readers of the contents of objects of some types."""
