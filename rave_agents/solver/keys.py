"""128-bit keys of positions, the same in every process."""

import enum
import hashlib
import struct
from typing import Any

import numpy as np

from rave_agents.game.abilities import StateAbilities
from rave_agents.games.kit.base_rules import BaseRules

Key = tuple[int, int]
"""A key as two 64-bit words."""


def hashed(content: bytes) -> Key:
    """A 128-bit hash of some bytes."""
    first, second = struct.unpack("<QQ", hashlib.blake2b(content, digest_size=16).digest())
    return first, second


def bytes_of(value: Any) -> bytes | None:  # noqa: PLR0911  (a case for each type)
    """A value as bytes; unequal values have different bytes.

    None for unsupported types: it takes bytes, text, numbers, None, enumerations, arrays, rules of
    games, and tuples and frozen sets of these.
    """
    if isinstance(value, bytes):
        # Lengths in front keep concatenated parts unambiguous.
        return b"b%d:%b" % (len(value), value)
    if isinstance(value, str):
        encoded = value.encode("utf-8", "surrogatepass")
        return b"s%d:%b" % (len(encoded), encoded)
    if value is None:
        return b"n"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, enum.Enum):
        return bytes_of((type(value).__qualname__, value.name))
    if isinstance(value, bool | int):
        return b"i%d;" % value
    if isinstance(value, float):
        # 1 and 1.0 are equal, so they need the same bytes.
        return b"i%d;" % int(value) if value.is_integer() else b"f" + struct.pack("<d", value)
    if isinstance(value, np.ndarray):
        return bytes_of((str(value.dtype), value.shape, value.tobytes()))
    if isinstance(value, BaseRules):
        kind = type(value)
        return bytes_of((kind.__module__, kind.__qualname__, str(value)))
    if isinstance(value, tuple | frozenset):
        encoded_items = [bytes_of(each) for each in value]
        parts = [part for part in encoded_items if part is not None]
        if len(parts) < len(encoded_items):
            return None
        if isinstance(value, frozenset):
            parts.sort()
        mark = b"t" if isinstance(value, tuple) else b"z"
        return b"%b%d:%b" % (mark, len(parts), b"".join(parts))
    return None


def key_of(position_key: Any) -> Key | None:
    """The key of a ``position_key``; None if it is None or of an unsupported type."""
    content = None if position_key is None else bytes_of(position_key)
    return None if content is None else hashed(content)


def key_after(key: Key, action: int) -> Key:
    """The key after one more move, for positions identified by their history."""
    return hashed(struct.pack("<QQq", *key, action))


def key_of_state(state: Any) -> Key | None:
    """The key of a state; None without a usable ``position_key``."""
    position_key = StateAbilities(state).position_key
    return None if position_key is None else key_of(position_key())
