"""Functions of the search, which Numba compiles for the parts that a search is composed of.

A *part* is a NamedTuple of constants and arrays. Its behaviour lies in open functions, which choose
a body by the part's class: there is a default, and a body for each class that registers one with
``implements``. Numba sees the classes of a search's parts as types, so it compiles a search for
exactly its parts: absent parts cost nothing, and nothing is decided at run time.

Nothing here imports Numba: a search that is described but not run needs no compiler. Interpreted
(``NUMBA_DISABLE_JIT=1``), the same functions are plain Python, and a dictionary chooses the body.
"""

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any, Generic, ParamSpec, TypeVar, cast

from rave_agents.compiler.mistakes import explain_arguments
from rave_agents.compiler.settings import jit_is_disabled

JIT_DISABLED = jit_is_disabled()
"""True if ``NUMBA_DISABLE_JIT=1`` is set: the kernel then runs in the interpreter."""

_P = ParamSpec("_P")
_R = TypeVar("_R")
_F = TypeVar("_F", bound=Callable[..., Any])


def _of_its_function(name: str) -> Any:
    """An attribute that reads and writes the wrapped function's."""
    return property(
        lambda self: getattr(self.py_func, name),
        lambda self, value: setattr(self.py_func, name, value),
    )


class KernelFunction(Generic[_P, _R]):
    """A function that is compiled into the functions of the kernel that call it.

    Called from Python, it runs in the interpreter. IPython's ``autoreload`` edits it as it edits
    functions of Python: it sets what they are made of, and their ``__dict__``.
    """

    __slots__ = ("__dict__", "__weakref__", "py_func", "sums_in_any_order")

    __code__ = _of_its_function("__code__")
    __defaults__ = _of_its_function("__defaults__")
    __kwdefaults__ = _of_its_function("__kwdefaults__")
    __closure__ = _of_its_function("__closure__")

    def __init__(self, function: Callable[_P, _R], sums_in_any_order: bool = False) -> None:
        functools.update_wrapper(self, function)
        self.py_func: Callable[_P, _R] = function
        self.sums_in_any_order: bool = sums_in_any_order

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Run it in the interpreter."""
        return self.py_func(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...] | str:
        """Pickle by name where a module has it; with its function where a script has defined it."""
        if self.py_func.__module__ == "__main__":
            return KernelFunction, (self.py_func, self.sums_in_any_order)
        return self.py_func.__qualname__

    @property
    def _numba_type_(self) -> Any:
        """The type that Numba gives this object: that of a compiled function."""
        from rave_agents.compiler.linking import function_type  # noqa: PLC0415  (slow: Numba)

        return function_type(self.py_func, self.sums_in_any_order)


def _update(old: KernelFunction[..., Any], new: KernelFunction[..., Any]) -> None:
    for name in ("__code__", "__defaults__", "__kwdefaults__"):
        setattr(old, name, getattr(new, name))
    old.sums_in_any_order = new.sums_in_any_order


_RELOADED = (
    lambda old, new: isinstance(old, KernelFunction) and isinstance(new, KernelFunction),
    _update,
)


def _open_to_autoreload() -> None:
    """Tell IPython's ``autoreload``, which may be reloading a module now, how to edit these."""
    rules = getattr(sys.modules.get("IPython.extensions.autoreload"), "UPDATE_RULES", None)
    if rules is not None and _RELOADED not in rules:
        rules.append(_RELOADED)


def kernel(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Mark a function that the kernel's own functions call."""
    _open_to_autoreload()
    return function if JIT_DISABLED else KernelFunction(function)


def summing_kernel(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Mark such a function whose sums may be taken in the order that is quickest for a processor.

    Their last digits then differ from one kind of processor to another.
    """
    return function if JIT_DISABLED else KernelFunction(function, sums_in_any_order=True)


def not_inlined(function: _F) -> _F:
    """Mark a function that is compiled once and called, where all others are inlined.

    It pays for a long function that several others call, and that a simulation runs seldom: five
    copies of the solver's update were a quarter of a search's compilation. In a loop that each
    simulation runs, a call costs more than it saves, because LLVM no longer sees what both share.
    """
    function.__dict__[NOT_INLINED] = True
    return function


NOT_INLINED = "is_not_inlined"
"""The attribute of functions that are marked so."""


class OpenFunction(Generic[_P, _R]):
    """One name, and a body for each class of its first argument.

    ``implementations`` maps classes of parts to bodies; all others have the ``default``.
    """

    __name__: str
    everyone: list["OpenFunction[Any, Any]"] = []  # noqa: RUF012  (one register for all)
    """All open functions."""
    generation = 0
    """Counts changes of bodies and of names that they look up; older compiled code is not used."""

    def __init__(self, default: Callable[_P, _R], compiled: bool = True) -> None:
        functools.update_wrapper(self, default)
        self.default = default
        self.compiled = compiled
        """False if Python alone calls it."""
        self.implementations: dict[type, Callable[..., Any]] = {}
        OpenFunction.everyone.append(self)

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Run the body for the first argument's class in the interpreter."""
        return cast(_R, self.body_for(type(args[0]))(*args, **kwargs))

    def __reduce__(self) -> str:
        """Pickle by name: there is one of it in a process."""
        return self.default.__qualname__

    def body_for(self, part: type) -> Callable[..., Any]:
        """The body for a class of parts."""
        return self.implementations.get(part, self.default)


def open_function(default: Callable[_P, _R]) -> OpenFunction[_P, _R]:
    """Open a function; its own body serves all parts that do not implement it."""
    return OpenFunction(default)


def python_function(default: Callable[_P, _R]) -> OpenFunction[_P, _R]:
    """Open a function that Python calls, and compiled code never: a body is plain Python."""
    return OpenFunction(default, compiled=False)


def implements(opened: OpenFunction[Any, Any], *parts: type) -> Callable[[_F], _F]:
    """Register the decorated function as the body of an open function for classes of parts.

    The decorated function has the parameters of the open one. A body registered again, as a cell of
    a notebook is run again, takes the place of the one before in every search that begins then.

    Raises:
        TypeError: if ``opened`` is no open function, a part is no NamedTuple, or the decorated
            function takes another number of arguments.
    """
    if not isinstance(opened, OpenFunction):
        raise TypeError(f"implements takes an open function such as beta, got {opened!r}.")
    for part in parts:
        if not (isinstance(part, type) and issubclass(part, tuple) and hasattr(part, "_fields")):
            raise TypeError(f"A part of a search is a NamedTuple, which {part!r} is not.")

    def register(function: _F) -> _F:
        if mismatch := explain_arguments(opened.default, function):
            raise TypeError(mismatch)
        for part in parts:
            # The first body of a class may come after searches that had the default.
            own = str(getattr(function, "__module__", "")).startswith("rave_agents.")
            if part in opened.implementations or not own:
                OpenFunction.generation += 1
            opened.implementations[part] = function
        return function

    return register


def records_of(record: object) -> Iterator[tuple[Any, ...]]:
    """A record and all records inside it, from left to right."""
    if isinstance(record, tuple):
        yield record
        for field in record:
            yield from records_of(field)


def classes_of(record: object) -> Iterator[type]:
    """The classes of a record and of all records inside it, from left to right."""
    return map(type, records_of(record))
