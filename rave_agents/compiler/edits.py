"""Edits of the user's own functions in a running process: a cell that is run again, a reload.

Each search begins with a look at whether the user's functions that compiled code consists of, and
the values that they look up, are as they were. The package's own do not change.
"""

import threading
from collections.abc import Callable, Hashable
from typing import Any

from rave_agents.compiler.cache_key import CacheKey
from rave_agents.compiler.dispatch import OpenFunction

WATCHED: dict[Hashable, tuple[CacheKey, Callable[[], CacheKey]]] = {}
"""Keys of the user's functions when they were compiled, and how to make them anew. The
package's own are not among them."""
_lock = threading.Lock()


def watch(owner: Hashable, make_key: Callable[[], CacheKey]) -> None:
    """Watch functions of the user's own that are in use from now on."""
    with _lock:
        WATCHED[owner] = make_key(), make_key


def watch_functions(functions: list[Any]) -> None:
    """Watch these functions of the user's own, and what they look up."""

    def make_key() -> CacheKey:
        key = CacheKey(only_users=True)
        for function in functions:
            key.add(function)
        return key

    if functions:
        watch(tuple(map(id, functions)), make_key)


def code_generation() -> int:
    """``OpenFunction.generation``, counted up if code has changed that is in use."""
    if WATCHED:
        with _lock:
            known = list(WATCHED.values())
            if any(key.identity() != make_key().identity() for key, make_key in known):
                forget()
    return OpenFunction.generation


def forget() -> None:
    """Begin a new generation: whoever goes on has a look at all functions again."""
    WATCHED.clear()
    OpenFunction.generation += 1
