"""The names that a function's bytecode looks up, without Python's slow ``dis``."""

import functools
import opcode
import types
from collections.abc import Iterator
from typing import NamedTuple

_EXTENDED = opcode.opmap["EXTENDED_ARG"]
_GLOBAL = opcode.opmap["LOAD_GLOBAL"]
_CONSTANTS = frozenset(opcode.hasconst)


class LookedUp(NamedTuple):
    """Names and constants that code looks up, those of functions inside it included."""

    globals: frozenset[str]
    """Names of its module, or built in."""
    attributes: frozenset[str]
    """Names that may be looked up in a module, a class or an object: a few too many."""
    constants: tuple[object, ...]
    """Constants that the code loads, in order; its docstring is none of these."""


@functools.lru_cache(maxsize=4096)
def looked_up(code: types.CodeType) -> LookedUp:
    """The names and constants that code looks up."""
    names, own = set(), set()
    for operation, argument in _instructions(code.co_code):
        if operation == _GLOBAL:
            names.add(code.co_names[argument >> 1])  # The lowest bit is about calls.
        elif operation in _CONSTANTS:
            own.add(argument)
    constants = tuple(code.co_consts[place] for place in sorted(own))
    # ``getattr`` with a literal name is compiled, and so is an item of an enum.
    attributes = {*code.co_names, *(one for one in constants if isinstance(one, str))}
    for inner in constants:
        if isinstance(inner, types.CodeType):
            told = looked_up(inner)
            names |= told.globals
            attributes |= told.attributes
    return LookedUp(frozenset(names), frozenset(attributes), constants)


def _instructions(code: bytes) -> Iterator[tuple[int, int]]:
    extended = 0
    for operation, argument in zip(code[::2], code[1::2], strict=True):
        if operation == _EXTENDED:
            extended = (extended | argument) << 8
        else:
            yield operation, extended | argument
            extended = 0
