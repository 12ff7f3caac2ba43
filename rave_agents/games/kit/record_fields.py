"""Fields of records: the types allowed, and the words that tell positions apart."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORD = 8
"""Bytes of a word."""


def whole_words(record: np.dtype[Any]) -> np.dtype[Any]:
    """The same record, filled up to whole words."""
    fields: Any = record.fields or {}
    layout: Any = {
        "names": list(fields),
        "formats": [told[0] for told in fields.values()],
        "offsets": [told[1] for told in fields.values()],
        "itemsize": max(1, -(-record.itemsize // WORD)) * WORD,
    }
    return np.dtype(layout, align=True)


def told_by(
    record: np.dtype[Any], aside: Sequence[str], unordered: Mapping[str, str]
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int64]]:
    """The words of a record that tell its position, the bits of them that do, and its lists.

    Args:
        record: the type of the record.
        aside: fields that do not tell positions apart.
        unordered: fields with lists, and the fields with their lengths.

    Returns:
        The places of the words, a mask for each, and for each list the place of its first word and
        that of its length.

    Raises:
        ValueError: for a name that is no field, or a list or length that is not of 64-bit numbers.
    """
    fields: Any = record.fields or {}
    for name in (*aside, *unordered, *unordered.values()):
        if name not in fields:
            raise ValueError(f"aside and unordered name fields of the record, got {name!r}.")
    lists = [(_place(fields, name), _place(fields, length)) for name, length in unordered.items()]
    told = np.zeros(record.itemsize, np.uint8)
    for name, (kind, offset, *_) in fields.items():
        if name not in aside and name not in unordered:
            told[offset : offset + kind.itemsize] = 0xFF
    masks = told.view(np.uint64)
    words = np.flatnonzero(masks).astype(np.int64)
    return words, masks[words].copy(), np.array(lists, np.int64).reshape(len(lists), 2)


def _place(fields: Any, name: str) -> int:
    """The place of the first word of a field of 64-bit numbers."""
    kind, offset = fields[name][:2]
    if kind.base.itemsize != WORD or kind.base.kind not in "iu":
        raise ValueError(f"unordered takes fields of 64-bit numbers, which {name!r} is not.")
    return int(offset) // WORD


def check_field(name: str, told: Any) -> None:
    """Refuse a field that a record of numbers cannot have."""
    if hasattr(np.record, name):
        raise ValueError(f"A field cannot be called {name!r}: NumPy's records use that name.")
    try:
        fits = np.dtype(as_tuple(told)[0]).kind in "biuf"
    except TypeError:
        fits = False
    if not fits:
        raise TypeError(
            f"The field {name!r} must have a NumPy type of numbers, such as np.int64, or such a "
            f"type and a shape: got {told!r}."
        )


def as_tuple(kind: Any) -> tuple[Any, ...]:
    """The type, and the shape if there is one."""
    return kind if isinstance(kind, tuple) else (kind,)
