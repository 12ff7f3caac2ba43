"""Lets Numba resolve each call and each attribute once for all functions of an entry.

A search has some three hundred functions, and Numba resolves each of their six thousand calls anew:
it reads what is registered, compares its flags, and measures how long it holds its locks, once for
each function that is being compiled further up.
"""

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from numba.core import base, event, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.targetconfig import ConfigStack
from numba.np import linalg

_types: Any = types


@contextlib.contextmanager
def resolved_once(typing_context: Any, target_context: Any) -> Iterator[None]:
    """Resolve what is the same only once inside; Numba reports no events of the compilation."""
    if "resolve_function_type" in vars(typing_context):
        yield
        return
    refresh = _Refresh(typing_context, target_context)
    changes: list[tuple[Any, str, Any]] = [
        (event, "broadcast", _do_nothing),
        (typing_context, "resolve_function_type", _calls_once(typing_context)),
        (typing_context, "resolve_getattr", _attributes_once(typing_context)),
        (typing_context, "refresh", refresh.of(typing_context)),
        (target_context, "refresh", refresh.of(target_context)),
    ]
    if hasattr(base, "_has_loc"):  # It reads the signature of a function, for each call of it.
        changes.append((base, "_has_loc", functools.cache(base._has_loc)))
    # No other thread compiles meanwhile, so none misses its events.
    with global_compiler_lock, contextlib.ExitStack() as stack:
        for change in changes:
            stack.enter_context(_changed(*change))
        yield


@contextlib.contextmanager
def _changed(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Give a module or an object another attribute inside."""
    own = vars(owner).get(name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if own is None:
            delattr(owner, name)
        else:
            setattr(owner, name, own)


def _do_nothing(*given: Any) -> None:
    """Take the place of ``numba.core.event.broadcast``, or of a check."""


class _Refresh:
    """Reads what is registered only if there is more of it than before."""

    def __init__(self, typing_context: Any, target_context: Any) -> None:
        self._target_context = target_context
        self._reads = False

    def of(self, context: Any) -> Callable[[], None]:
        """A context's method ``refresh``."""
        read, seen = context.refresh, list[int]()

        def refreshed() -> None:
            # A method that is read asks the target context to read first; a register suffices.
            if self._reads and self._target_context._registries:
                return
            while (sizes := _sizes_of_registers(context)) != seen:
                seen[:] = sizes
                self._reads = True
                try:
                    with _without_linear_algebra():
                        read()
                finally:
                    self._reads = False

        return refreshed


def _without_linear_algebra() -> Any:
    """Numba loads SciPy's linear algebra to see that it is there, which this package requires."""
    if "numba.np.arraymath" in sys.modules:
        return contextlib.nullcontext()
    return _changed(linalg, "ensure_blas", _do_nothing)


def _sizes_of_registers(context: Any) -> list[int]:
    # Modules that Numba imports may bring registers of their own.
    sizes = [len(sys.modules)]
    for registry, loader in context._registries.items():
        sizes += [len(getattr(registry, name)) for name in loader.registry_items]
    return sizes


def _calls_once(context: Any) -> Callable[[Any, Any, Any], Any]:
    resolve, flags_of = context.resolve_function_type, _Flags()
    known: dict[Any, Any] = {}

    def resolved(function: Any, arguments: Any, named: Any) -> Any:
        if named or not all(isinstance(each, _types.Type) for each in arguments):
            return resolve(function, arguments, named)
        # The types in the key live on, and so does what Numba notes of a call in them.
        call = function, tuple(arguments), flags_of.current()
        signature = known.get(call)
        if signature is None:
            signature = known[call] = resolve(function, arguments, named)
        return signature

    return resolved


def _attributes_once(context: Any) -> Callable[[Any, str], Any]:
    resolve = context.resolve_getattr
    known: dict[tuple[Any, str], Any] = {}

    def resolved(kind: Any, name: str) -> Any:
        found = known.get((kind, name))
        if found is None:
            found = known[kind, name] = resolve(kind, name)
        return found

    return resolved


class _Flags:
    """Numbers the flags by which functions are compiled; to compare flags takes Numba long."""

    def __init__(self) -> None:
        self._by_object: dict[int, tuple[Any, int]] = {}
        self._numbers: dict[Any, int] = {}

    def current(self) -> int:
        """The number of the flags by which the present function is compiled."""
        flags = ConfigStack.top_or_none()
        known = self._by_object.get(id(flags))
        if known is None:
            number = self._numbers.setdefault(flags, len(self._numbers))
            known = self._by_object[id(flags)] = flags, number  # Kept, so that its id is its own.
        return known[1]
