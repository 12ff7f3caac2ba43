"""Notices edits of a user's functions in a running process: a cell that runs again, a reload.

Each search begins with a check that the user's functions inside compiled code, and the values that
they look up, are unchanged. The package's own functions are not checked.
"""

import threading
from collections.abc import Callable, Hashable
from typing import Any

from rave_agents.compiler.cache_key import CacheKey
from rave_agents.compiler.dispatch import OpenFunction

WATCHED: dict[Hashable, tuple[CacheKey, Callable[[], CacheKey]]] = {}
"""Keys of the user's functions when they were compiled, and functions that make the keys anew."""
_lock = threading.Lock()


def watch(owner: Hashable, make_key: Callable[[], CacheKey]) -> None:
    """Watch a user's code from now on."""
    with _lock:
        WATCHED[owner] = make_key(), make_key


def watch_functions(functions: list[Any]) -> None:
    """Watch these functions of the user, and the values that they look up."""

    def make_key() -> CacheKey:
        key = CacheKey(only_users=True)
        for function in functions:
            key.add(function)
        return key

    if functions:
        watch(tuple(map(id, functions)), make_key)


def code_generation() -> int:
    """``OpenFunction.generation``, increased first if code in use has changed."""
    if WATCHED:
        with _lock:
            known = list(WATCHED.values())
            if any(key.identity() != make_key().identity() for key, make_key in known):
                forget()
    return OpenFunction.generation


def forget() -> None:
    """Begin a new generation, so that every search looks its functions up again."""
    WATCHED.clear()
    OpenFunction.generation += 1
