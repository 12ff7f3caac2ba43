"""The contents of a code object that matter to Numba: no docstrings, line numbers or file."""

import dis
import functools
import inspect
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

_HAS_DOCSTRING = 0x4000000
"""The flag of functions that have a docstring, from Python 3.14 on."""


@functools.lru_cache(maxsize=4096)
def bytecode_of(code: types.CodeType) -> tuple[str, ...]:
    """The bytecode and the names of code, without its constants, lines and file."""
    return (
        code.co_code.hex(),
        code.co_exceptiontable.hex(),
        repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)),
        repr((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)),
    )


@functools.lru_cache(maxsize=4096)
def constants_of(code: types.CodeType) -> tuple[Any, ...]:
    """The constants of code, with None for docstrings and for the lines of classes."""
    constants = list(code.co_consts)
    if code.co_flags & inspect.CO_OPTIMIZED:  # A function.
        if sys.version_info >= (3, 14):
            described = bool(code.co_flags & _HAS_DOCSTRING)
        else:
            described = not code.co_name.startswith("<")
        if described and constants and isinstance(constants[0], str):
            constants[0] = None
        return tuple(constants)
    is_class = code.co_name != "<module>"
    if "__doc__" in code.co_names:  # A class has its name before its docstring.
        constants[
            [place for place, one in enumerate(constants) if isinstance(one, str)][is_class]
        ] = None
    if is_class and "__firstlineno__" in code.co_names:
        constants = [None if one == code.co_firstlineno else one for one in constants]
    return tuple(constants)


def _inner_codes(code: types.CodeType) -> Iterable[types.CodeType]:
    return (one for one in code.co_consts if isinstance(one, types.CodeType))


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """Code and the code of all functions and classes inside it."""
    yield code
    for inner in _inner_codes(code):
        yield from codes_in(inner)


@functools.lru_cache(maxsize=4096)
def names_of(code: types.CodeType) -> tuple[str, ...]:
    """All names of code, those in inner functions included, in order."""
    names = dict.fromkeys(code.co_names)
    for inner in _inner_codes(code):
        names |= dict.fromkeys(names_of(inner))
    return tuple(names)


@functools.lru_cache(maxsize=4096)
def globals_of(code: types.CodeType) -> tuple[str, ...]:
    """The names of code that are looked up in its module, or built in."""
    loads = ("LOAD_GLOBAL", "LOAD_NAME")
    names = {one.argval for one in dis.get_instructions(code) if one.opname in loads}
    return tuple(sorted(names.union(*map(globals_of, _inner_codes(code)))))


@functools.lru_cache(maxsize=4096)
def attributes_of(code: types.CodeType) -> frozenset[str]:
    """Names that code may look up in modules, classes or objects; a superset."""
    # ``getattr`` with a literal name is compiled, and so is an item of an enum.
    texts = (one for one in constants_of(code) if isinstance(one, str))
    return frozenset(code.co_names).union(texts, *map(attributes_of, _inner_codes(code)))
