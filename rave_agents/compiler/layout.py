"""Records in memory: a NamedTuple of numbers, arrays and records as words of eight bytes.

A number is one word, True and False too; an array is a pointer to its first item.
"""

import ctypes
import functools
import struct
from typing import Any

import numpy as np

Kind = tuple[Any, ...]
"""What a record is made of: its class, and for each field the same of a record, the type of an
array's items, or the type of a number."""

_LETTERS = {bool: "q", int: "q", float: "d"}
"""How numbers are packed."""


def kind_of(record: Any) -> Kind:
    """What a record is made of.

    Raises:
        TypeError: for a field that is neither a number, True or False, an array nor a record.
    """
    fields: list[Any] = [type(record)]
    for value in record:
        kind = type(value)
        if kind in _LETTERS:
            fields.append(kind)
        elif kind is np.ndarray:
            fields.append(value.dtype)
        elif isinstance(value, tuple):
            fields.append(kind_of(value))
        else:
            owner = type(record).__name__
            raise TypeError(
                "A part of a search holds numbers, True or False, arrays and other parts; "
                f"{owner} has {value!r}."
            )
    return tuple(fields)


def kind_as_text(kind: Any) -> str:
    """What a record is made of, as text that is the same in every process."""
    if isinstance(kind, tuple):
        owner, *fields = kind
        return f"{owner.__module__}.{owner.__qualname__}({','.join(map(kind_as_text, fields))})"
    return kind.str if isinstance(kind, np.dtype) else str(kind.__name__)


@functools.lru_cache(maxsize=256)
def _packing(kind: Kind) -> struct.Struct:
    """How the numbers and addresses of a record of this kind are written as bytes."""
    return struct.Struct("=" + _letters(kind))


def _letters(kind: Kind) -> str:
    return "".join(
        _letters(field) if isinstance(field, tuple) else _LETTERS.get(field, "q")
        for field in kind[1:]
    )


def laid_out(record: Any, kind: Kind) -> Any:
    """A copy of a record in memory. It points to the record's arrays, which have to outlive it."""
    words: list[Any] = []
    _add_words(record, words)
    packing = _packing(kind)
    placed = (ctypes.c_int64 * (packing.size // 8 + 1))()  # Aligned to whole words.
    packing.pack_into(placed, 0, *words)
    return placed


def _add_words(record: Any, words: list[Any]) -> None:
    for value in record:
        if isinstance(value, tuple):
            _add_words(value, words)
        elif isinstance(value, np.ndarray):
            words.append(_address(value))
        else:
            words.append(value)


def _address(array: Any) -> int:
    """Where an array begins: a fifth of the time that its ``ctypes.data`` takes."""
    if len(array) == 0:
        return 0
    return ctypes.addressof(ctypes.c_char.from_buffer(array))
