"""Tables of the solver as files, so that a proof can be continued.

A file consists of a title line, a line of JSON, the compressed entries, and a digest of everything
before it. Nothing in it is executed, and every entry is checked before use. The digest detects
damage, not forgery: a forged file can claim a false proof, which a certificate would expose.
"""

import hashlib
import json
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from rave_agents.files import strict_json, written_whole
from rave_agents.solver.table import (
    BITS,
    FIELD,
    LONG,
    PLAIN_WORDS,
    REFUTED,
    SHIFT_FIELD,
    SHIFT_LONG,
    SHIFT_STATE,
    STATES,
    USED,
)

TITLE = b"rave-agents solver table 3\n"
"""The first line, with the version of the format."""

CHUNK = 2**22
"""Bytes compressed at a time."""

DIGEST = 32
"""Bytes of the digest."""


def save_table(
    path: str | os.PathLike[str], words: Any, values: Any, identity: dict[str, Any]
) -> None:
    """Write a table atomically: at any time the old or the new file is there.

    Args:
        path: the file.
        words: the entries.
        values: the values that entries refer to by index.
        identity: the ``game``, the digest of its ``rules``, the words per ``entry`` and the board's
            ``cells``.

    Raises:
        OSError: if it cannot be written.
    """
    head = {**identity, "words": len(words), "values": [float(each) for each in values]}
    digest, packer = hashlib.blake2b(digest_size=DIGEST), zlib.compressobj(1)
    with written_whole(path) as file:

        def write(part: bytes) -> None:
            digest.update(part)
            file.write(part)

        write(TITLE + json.dumps(head).encode() + b"\n")
        content = memoryview(words).cast("B")
        for begin in range(0, len(content), CHUNK):
            write(packer.compress(content[begin : begin + CHUNK]))
        write(packer.flush())
        file.write(digest.digest())


def load_table(path: str | os.PathLike[str], words: Any, identity: dict[str, Any]) -> list[float]:
    """Read a table into an array of entries of the same size; returns its values.

    Raises:
        OSError: if it cannot be read.
        ValueError: for a damaged file, no table, or a table of another game, rules or size.
    """
    whole = memoryview(Path(path).read_bytes())
    if bytes(whole[: len(TITLE)]) != TITLE:
        raise ValueError(f"{path} is not a table of this version of the solver.")
    content, digest = whole[:-DIGEST], bytes(whole[-DIGEST:])
    if hashlib.blake2b(content, digest_size=DIGEST).digest() != digest:
        raise ValueError(f"{path} is damaged: its digest does not match its content.")
    end = bytes(content[: len(TITLE) + 2**20 * 2]).find(b"\n", len(TITLE))
    try:
        head = strict_json(bytes(content[len(TITLE) : end]))
        values = [float(each) for each in head["values"]]
        size = int(head["words"])
        found = {name: head.get(name) for name in identity}
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        raise ValueError(f"{path} is damaged: its second line cannot be read.") from None
    for name, value in identity.items():
        if found[name] != value and name == "rules":
            raise ValueError(
                f"{path} was made by other rules of {identity['game']}: its modules were edited, "
                "its content changed, or a library has another version. Use another file."
            )
        if found[name] != value:
            raise ValueError(f"{path} is a table for {name} {found[name]!r}, not for {value!r}.")
    if size != len(words):
        raise ValueError(
            f"{path} is a table of {size * 8 / 2**20:g} megabytes, not "
            f"{len(words) * 8 / 2**20:g}: use max_memory_mb={size * 8 / 2**20:g}."
        )
    unpacker, target, at = zlib.decompressobj(), memoryview(words).cast("B"), 0
    try:
        for begin in range(end + 1, len(content), CHUNK):
            part = unpacker.decompress(content[begin : begin + CHUNK], len(target) - at + 1)
            target[at : at + len(part)] = part
            at += len(part)
        if at != len(target) or not unpacker.eof:
            raise ValueError
        _check_entries(words, identity["entry"], identity["cells"], len(values))
    except (zlib.error, ValueError):
        words[:] = 0
        raise ValueError(f"{path} is damaged: its entries cannot be read.") from None
    return values


def _check_entries(words: Any, stride: int, num_cells: int, num_values: int) -> None:
    """Raise ValueError for entries that no search could have written."""
    results = words[1::stride]
    states = (results >> SHIFT_STATE) & STATES
    is_used, is_open = results != 0, states == 0
    fine = (results & USED) != 0
    fine &= states <= REFUTED
    fine &= is_open | ((results & FIELD) <= num_values)
    fine &= ~is_open | (((results & LONG) > 0) & (((results >> SHIFT_LONG) & LONG) > 0))
    if stride > PLAIN_WORDS:
        fine &= is_open | ((results >> SHIFT_FIELD & FIELD) < num_cells)
    for place in range(stride - PLAIN_WORDS):
        room = max(0, num_cells - BITS * place)
        # The bits of this word that lie beyond the last cell must be 0.
        beyond = np.uint64((2**BITS - 1) >> room << room if room < BITS else 0)
        fine &= (words[PLAIN_WORDS + place :: stride] & beyond) == 0
    if not fine[is_used].all():
        raise ValueError
