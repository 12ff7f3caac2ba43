"""A name for all sources that go into an entry's machine code, so that old code is never run."""

import functools
import hashlib
import pathlib
import platform
import sys
import types
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import OpenFunction
from rave_agents.compiler.machine_code import processor

_COMPILED = ("compiler/*.py", "simulate/*.py", "kernel/*.py", "evaluators/*.py")
"""Where code lies that is compiled, or that says how."""


def sources_name(classes: Iterable[type]) -> str:
    """A name for the sources of the kernel and of what others implement for these classes."""
    digest = hashlib.sha256(own_sources().encode())
    for text in _others_sources(dict.fromkeys(classes)):
        digest.update(text.encode())
    return digest.hexdigest()[:16]


@functools.cache
def own_sources() -> str:
    """The kernel's own, what compiles it and what it is compiled for."""
    import importlib.metadata  # noqa: PLC0415  (slow to import)

    numba, python = importlib.metadata.version("numba"), platform.python_version()
    digest = hashlib.sha256(f"{numba} {python} {processor()}".encode())
    package = pathlib.Path(__file__).parent.parent
    for pattern in _COMPILED:
        for path in sorted(package.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _others_sources(classes: Collection[type]) -> list[str]:
    """Text of the implementations for these classes that are not the kernel's own."""
    texts = []
    for opened in OpenFunction.everyone:
        for part in classes:
            body = opened.implementations.get(part)
            if body is not None and not body.__module__.startswith("rave_agents."):
                text = f"{opened.default.__name__} {part.__qualname__} {code_as_text(body)}"
                texts.append(text)
    return sorted(texts)


def code_as_text(function: Any) -> str:
    """What a function does, and all that it calls, as text: equal for equal code."""
    return " ".join(_lines_of(function, set()))


def _lines_of(function: Any, seen: set[Any]) -> Iterator[str]:
    """What a function does, wherever it was written: its code, and all that it calls.

    A file's date or text would not do: there is none for a cell of a notebook, and a helper may
    lie in another file.
    """
    function = getattr(function, "py_func", function)
    code = getattr(function, "__code__", None)
    if code is None or function in seen:
        yield constant_as_text(function)
        return
    seen.add(function)
    yield from _lines_of_code(code)
    cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
    known = {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}
    yield from _lines_of_names(frozenset(_names_in(code)), known, seen)


def _lines_of_names(
    names: frozenset[str], known: Mapping[str, Any], seen: set[Any]
) -> Iterator[str]:
    """What stands under the names that code looks up; in a module of the user's, likewise."""
    for name in sorted(names & known.keys()):
        value = known[name]
        yield name
        if not isinstance(value, types.ModuleType):
            yield from _lines_of(value, seen)
        elif not _is_librarys(value) and (value, names) not in seen:
            seen.add((value, names))
            yield from _lines_of_names(names, vars(value), seen)


def constant_as_text(value: Any) -> str:
    """What compiled code has of a value that is a constant in it, as text; empty for others."""
    if isinstance(value, int | float | complex | str | bytes | np.generic):
        return repr(value)
    if isinstance(value, np.ndarray):
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"{value.dtype} {value.shape} {content}"
    if isinstance(value, tuple | list):
        return f"({', '.join(map(constant_as_text, value))})"
    return ""


def _is_librarys(module: types.ModuleType) -> bool:
    """Whether a module is of Python's or NumPy's own, which nobody edits."""
    return module.__name__.partition(".")[0] in {"numpy", "numba", *sys.stdlib_module_names}


def _names_in(code: Any) -> set[str]:
    """The names that a function's code looks up, and those of functions inside it."""
    inner = [constant for constant in code.co_consts if hasattr(constant, "co_code")]
    return {*code.co_names, *code.co_freevars}.union(*map(_names_in, inner))


def _lines_of_code(code: Any) -> Iterator[str]:
    yield from (code.co_code.hex(), repr(code.co_names), repr(code.co_varnames))
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            yield from _lines_of_code(constant)
        else:
            yield repr(constant)
