"""Records in memory: a NamedTuple of numbers, arrays and records as words of eight bytes.

A number is one word, True and False too; an array is a pointer to its first item. Behind its fields
each record has its own address, see ``references.in_memory``. A C function is called at its address
with that of a record.
"""

import ctypes
import functools
import operator
import struct
from typing import Any

import numpy as np

Kind = tuple[Any, ...]
"""The layout of a record: its class, and for each field the layout of a record, the type of an
array's items, or the type of a number."""

_LETTERS = {bool: "q", int: "q", float: "d"}
"""Codes by which ``struct`` packs numbers."""

_UNKNOWN = 0
"""A record's address, until it lies in memory."""


def laid_out(record: Any) -> tuple[Kind, Any]:
    """The layout of a record, and a copy of it in memory, which points to the record's arrays.

    The copy keeps the record, so that the arrays live as long as the pointers to them; they must
    not be reallocated meanwhile.

    Raises:
        TypeError: for a field that is neither a number, True or False, an array nor a record.
    """
    parts: list[tuple[Any, Any, list[Any]]] = []
    for value in record:
        own: list[Any] = []
        parts.append((value, _add_value(value, record, own), own))
    kind = type(record), *(part[1] for part in parts)
    words = [word for part in parts for word in part[2]]
    packing = _packing(kind)
    size = packing.size // 8
    # Words are aligned; the two behind the record are for what a function returns and raises.
    placed: Any = (ctypes.c_int64 * (size + 2))()
    packing.pack_into(placed, 0, *words, _UNKNOWN)
    address = ctypes.addressof(placed)
    placed.arguments = address + 8 * size, address + 8 * (size + 1), address
    for last, first in _ends(kind):
        placed[last] = address + 8 * first
    placed.of, placed.kind, placed.parts = record, kind, parts
    return kind, placed


def rewritten(record: Any, placed: Any) -> bool:
    """Write a record over the copy of an earlier one, if its layout is the same; else False.

    Only the fields that are other objects are written: the arrays of the rest must not have been
    reallocated.
    """
    if type(record) is not type(placed.of):
        return False
    parts, changed, place = [], [], 0
    for value, (before, kind, words) in zip(record, placed.parts, strict=True):
        own: list[Any] = []
        if value is not before:
            if _add_value(value, record, own) != kind:
                return False
            changed.append((place, kind, own))
        parts.append((value, kind, own or words))
        place += len(words)
    address = ctypes.addressof(placed)
    for first, kind, words in changed:
        if not isinstance(kind, tuple):
            placed[first] = words[0]
            continue
        _packing(kind).pack_into(placed, 8 * first, *words)
        for last, begin in _ends(kind, first):
            placed[last] = address + 8 * begin
    placed.of, placed.parts = record, parts
    return True


def kind_of(record: Any) -> Kind:
    """The layout of a record; raises the errors of ``laid_out``."""
    return _add_words(record, [])


def _add_words(record: Any, words: list[Any]) -> Kind:
    """Add a record's words in memory; returns its layout."""
    fields: list[Any] = [type(record)]
    for value in record:
        fields.append(_add_value(value, record, words))
    words.append(_UNKNOWN)
    return tuple(fields)


def _add_value(value: Any, record: Any, words: list[Any]) -> Any:
    """Add the words of one field of a record; returns the field's layout."""
    kind = type(value)
    if kind in _LETTERS:
        words.append(value)
        return kind
    if kind is np.ndarray:
        words.append(address_of(value) if len(value) > 0 else 0)
        return value.dtype
    if isinstance(value, tuple):
        return _add_words(value, words)
    raise TypeError(
        "A part of a search holds numbers, True or False, arrays and other parts; "
        f"{type(record).__name__} has {value!r}."
    )


def address_of(array: Any) -> int:
    """The address of an array's first item; the array must not be empty."""
    # ``array.ctypes.data`` takes five times as long.
    return ctypes.addressof(ctypes.c_char.from_buffer(array))


def kind_as_text(kind: Any) -> str:
    """The layout of a record, as text that is the same in every process."""
    if isinstance(kind, tuple):
        owner, *fields = kind
        return f"{owner.__module__}.{owner.__qualname__}({','.join(map(kind_as_text, fields))})"
    return dtype_as_text(kind) if isinstance(kind, np.dtype) else str(kind.__name__)


def dtype_as_text(dtype: Any) -> str:
    """A type of NumPy, exactly: where the fields of a record lie, too."""
    return f"{dtype!r} {dtype.itemsize} {dtype.isalignedstruct}"


@functools.lru_cache(maxsize=256)
def _packing(kind: Kind) -> struct.Struct:
    return struct.Struct("=" + _letters(kind))


def _letters(kind: Kind) -> str:
    fields = (
        _letters(field) if isinstance(field, tuple) else _LETTERS.get(field, "q")
        for field in kind[1:]
    )
    return "".join(fields) + "q"


@functools.lru_cache(maxsize=256)
def _ends(kind: Kind, first: int = 0) -> list[tuple[int, int]]:
    """For a record that begins at a word, and each one in it: its last word, and its first."""
    ends, place = [], first
    for field in kind[1:]:
        if isinstance(field, tuple):
            inner = _ends(field, place)
            ends += inner
            place = inner[-1][0]
        place += 1
    return [*ends, (place, first)]


@functools.lru_cache(maxsize=8)
def _function_at(address: int) -> Any:
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(address)


def call_address(address: int, argument: int) -> int:
    """Call the C function ``int32_t f(int64_t)`` at an address."""
    # Arrays give NumPy's integers, which ctypes does not take.
    return int(_function_at(operator.index(address))(operator.index(argument)))


def int32s_at(address: int) -> Any:
    """The array of C's ``int32_t`` at an address."""
    return ctypes.cast(int(address), ctypes.POINTER(ctypes.c_int32))


def count_bits(bits: int) -> int:
    """Number of bits set in a number that is not negative."""
    return int(bits).bit_count()


def move_memory(target: int, source: int, size: int) -> None:
    """Copy ``size`` bytes from one address to another, as C's ``memmove``."""
    ctypes.memmove(int(target), int(source), int(size))
