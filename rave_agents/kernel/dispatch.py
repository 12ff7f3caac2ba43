"""Functions of the search, which Numba compiles for the parts that a search is composed of.

A *part* is a NamedTuple: its constants and arrays. What it does stands in functions that are chosen
by its class: an open function has one name, a body by default, and a body for each class of parts
that registers one with ``implements``. Numba sees the classes of a search's parts as types. So a
search is compiled for just its parts: what a search lacks is not there, and nothing is asked at run
time.

Nothing here imports Numba: a search that is described but not run needs no compiler. Interpreted
(``NUMBA_DISABLE_JIT=1``), the same functions are plain Python, and a dictionary chooses the body.
"""

import functools
import os
from collections.abc import Callable, Iterator
from typing import Any, Generic, ParamSpec, TypeVar, cast

JIT_DISABLED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}
"""Whether ``NUMBA_DISABLE_JIT=1`` is set: the kernel then runs in the interpreter."""

_P = ParamSpec("_P")
_R = TypeVar("_R")
_F = TypeVar("_F", bound=Callable[..., Any])


class KernelFunction(Generic[_P, _R]):
    """A function that is compiled into the functions of the kernel that call it.

    Called from Python, it runs in the interpreter.
    """

    def __init__(self, function: Callable[_P, _R]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Run it in the interpreter."""
        return self.py_func(*args, **kwargs)

    @functools.cached_property
    def _numba_type_(self) -> Any:
        """What Numba takes this object for: a compiled function."""
        from rave_agents.kernel.lowering import function_type  # noqa: PLC0415

        return function_type(self.py_func)


def kernel(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Mark a function that the kernel's own functions call."""
    return function if JIT_DISABLED else KernelFunction(function)


class OpenFunction(Generic[_P, _R]):
    """One name, and a body for each class of its first argument.

    ``implementations`` maps classes of parts to bodies; all others have the ``default``.
    """

    __name__: str
    everyone: list["OpenFunction[Any, Any]"] = []  # noqa: RUF012  (one register for all)
    """Every open function that there is."""

    def __init__(self, default: Callable[_P, _R]) -> None:
        functools.update_wrapper(self, default)
        self.default = default
        self.implementations: dict[type, Callable[..., Any]] = {}
        OpenFunction.everyone.append(self)

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Run the body for the first argument's class in the interpreter."""
        return cast(_R, self.body_for(type(args[0]))(*args, **kwargs))

    def body_for(self, part: type) -> Callable[..., Any]:
        """The body for a class of parts."""
        return self.implementations.get(part, self.default)


def open_function(default: Callable[_P, _R]) -> OpenFunction[_P, _R]:
    """Open a function: its body is that of all parts which do not implement it."""
    return OpenFunction(default)


def implements(opened: OpenFunction[Any, Any], *parts: type) -> Callable[[_F], _F]:
    """Register the decorated function as the body of an open function for classes of parts.

    The decorated function has the parameters of the open one. Register before the first search of
    such a part: what has been compiled stays as it is.

    Raises:
        TypeError: if ``opened`` is no open function, or a part is no NamedTuple.
    """
    if not isinstance(opened, OpenFunction):
        raise TypeError(f"implements takes an open function such as beta, got {opened!r}.")
    for part in parts:
        if not (isinstance(part, type) and issubclass(part, tuple) and hasattr(part, "_fields")):
            raise TypeError(f"A part of a search is a NamedTuple, which {part!r} is not.")

    def register(function: _F) -> _F:
        for part in parts:
            opened.implementations[part] = function
        return function

    return register


RENAMED: set[type] = set()
"""Classes of scripts, which the cache needs to know by another name than ``__main__``'s."""


def classes_of(record: object) -> Iterator[type]:
    """The classes of a record and of all records inside it, from left to right."""
    if isinstance(record, tuple):
        yield type(record)
        for field in record:
            yield from classes_of(field)


class Entry(Generic[_P, _R]):
    """A function of the kernel that Python calls with a record, compiled for each set of parts."""

    def __init__(self, function: Callable[_P, _R]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self._compiled: dict[tuple[type, ...], Callable[..., Any]] = {}

    def compiled_for(self, record: object) -> Callable[..., Any]:
        """The function for a record of these classes: compiled, or loaded, at its first call."""
        if JIT_DISABLED:
            return self.function
        classes = tuple(classes_of(record))
        if classes not in self._compiled:
            from rave_agents.kernel.lowering import compiled_entry  # noqa: PLC0415

            self._compiled[classes] = compiled_entry(self.function, classes)
        return self._compiled[classes]

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Run it, compiled for the record."""
        return cast(_R, self.compiled_for(args[0])(*args, **kwargs))


def entry(function: Callable[_P, _R]) -> Entry[_P, _R]:
    """Mark a function of the kernel that Python calls; its first argument is a record."""
    return Entry(function)
