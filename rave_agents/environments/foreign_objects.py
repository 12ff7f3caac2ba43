"""Objects of compiled libraries in an environment, which cannot be inspected.

Such an object may have a random generator of its own; a copy then draws the same numbers.
"""

import contextlib
import sys
from typing import Any

from rave_agents.environments.generators import MOST_OBJECTS, attributes_of, generator_types
from rave_agents.environments.wrappers import class_name

HEAP_TYPE = 1 << 9
"""The flag of types that are made at run time, such as those of Python's classes."""

HARMLESS = frozenset(
    ["numpy", "pygame", "pyspiel", "torch", "jax", "jaxlib", "pandas", "scipy", "PIL", "matplotlib"]
)
"""Packages of compiled types that do not draw, or whose generators are found."""

FOREIGN_MEMORY = "_ctypes"
"""The module of the standard library whose objects may belong to another library."""

MEMBERS = 2
"""Pointers that an instance of a Python class may have besides its slots."""


def foreign_type(thing: Any, shared: tuple[type, ...] = ()) -> str | None:
    """The name of the type of an object that cannot be inspected; None if there is none.

    Args:
        thing: an environment; its attributes and containers are searched recursively.
        shared: types of objects that copies share, which are not searched.
    """
    known: dict[type, bool] = {}
    kept = (*shared, *generator_types(), type)
    seen: dict[int, Any] = {}
    stack = [thing]
    while stack and len(seen) < MOST_OBJECTS:
        item = stack.pop()
        if id(item) in seen or isinstance(item, kept):
            continue
        seen[id(item)] = item
        kind = type(item)
        if kind not in known:
            known[kind] = _is_foreign(kind)
        if known[kind]:
            return class_name(item)
        with contextlib.suppress(Exception):
            if isinstance(item, dict):
                stack += [*item.keys(), *item.values()]
            elif isinstance(item, list | tuple | set | frozenset):
                stack += item
            stack += [value for _, value in attributes_of(item)]
    return None


def _is_foreign(kind: type) -> bool:
    """True if instances hold memory of a compiled library."""
    for base in kind.__mro__[:-1]:
        root = base.__module__.partition(".")[0]
        if root in HARMLESS:
            continue
        if root == FOREIGN_MEMORY:  # Its types are made at run time since Python 3.13.
            return True
        if not base.__flags__ & HEAP_TYPE:
            if root not in sys.stdlib_module_names:
                return True
            continue
        # An instance of a Python class has its base's memory, its slots, and a dictionary and a
        # list of weak references. A larger one holds a library's own data.
        inner = base.__base__
        slots = base.__dict__.get("__slots__", ())
        members = MEMBERS + (1 if isinstance(slots, str) else len(slots))
        grown = base.__basicsize__ - (0 if inner is None else inner.__basicsize__)
        if grown > members * 8 and root not in sys.stdlib_module_names:
            return True
    return False
