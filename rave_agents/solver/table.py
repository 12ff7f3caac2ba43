"""The transposition table of the solver.

An entry has two words: the key's first word XORed with all others, so that an entry half-written by
two threads matches no key (lockless hashing); and the result. With carriers (see ``carriers.py``),
the cells of a settled position's carrier follow, one bit each. A bucket has four entries: without
carriers, one cache line. The key's second word selects the bucket, so positions are distinguished
by 64 bits in addition to the bucket's.

The word of an open position holds its proof and disproof number; that of a settled one its value,
best move and distance to the end. Both hold its *work*, the number of positions expanded below it,
in half powers of two.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.entry import entry
from rave_agents.games.kit.position_hash import mixed_first

OPEN, PROVEN, REFUTED = 0, 1, 2
"""States of a statement about a position."""

MOST = 2**24 - 2
"""The greatest proof and disproof number of an open position."""

INFINITE = 2**24 - 1
"""The number of a position settled the other way; as threshold, never reached."""

MOST_WORK = 63

SLOTS = 4
"""Entries of a bucket."""

PLAIN_WORDS = 2
"""Words of an entry without cells."""

BITS = 64
"""Cells per word of an entry."""

FIELD, LONG = np.uint64(2**16 - 1), np.uint64(2**24 - 1)
SHIFT_FIELD, SHIFT_LONG = np.uint64(16), np.uint64(24)
SHIFT_DISTANCE, SHIFT_WORK, SHIFT_STATE = np.uint64(32), np.uint64(48), np.uint64(56)
SHIFT_HALF = np.uint64(32)
BYTE, STATES = np.uint64(255), np.uint64(3)
USED = np.uint64(1) << np.uint64(63)
NOTHING = np.uint64(0)

NUM_USED, NUM_LOST = 0, 1
"""Indices in ``Table.counts``: entries in use; entries replaced by others."""


class Table(NamedTuple):
    """The entries of all positions."""

    words: NDArray[np.uint64]
    """[buckets * SLOTS * stride] the entries."""
    counts: NDArray[np.int64]
    """See ``NUM_USED``."""
    buckets: int
    """Buckets, fewer than 2**32."""
    stride: int
    """Words of an entry."""
    no_cells: NDArray[np.uint64]
    """[stride - 2, at least 1] zeros: an empty carrier."""


@kernel
def packed_open(proof: int, disproof: int, work: int) -> Any:
    """The word of an open position."""
    # Bits 0-23 proof, 24-47 disproof number, 48-55 work, 56-57 state (0), 63 in use.
    low = np.uint64(proof) | (np.uint64(disproof) << SHIFT_LONG)
    return low | (np.uint64(work) << SHIFT_WORK) | USED


@kernel
def packed_settled(state: int, value: int, move: int, distance: int) -> Any:
    """The word of a settled position, with work 0."""
    # Bits 0-15 value, 16-31 move, 32-47 distance, 48-55 work, 56-57 state, 63 in use.
    low = np.uint64(value) | (np.uint64(move) << SHIFT_FIELD)
    low |= np.uint64(distance) << SHIFT_DISTANCE
    return low | (np.uint64(state) << SHIFT_STATE) | USED


@kernel
def with_work(word: Any, work: int) -> Any:
    """The word of a settled position with its work."""
    return word | (np.uint64(work) << SHIFT_WORK)


@kernel
def with_value(word: Any, value: int) -> Any:
    """The word of a settled position with another value."""
    return (word & ~FIELD) | np.uint64(value)


@kernel
def state_of(word: Any) -> Any:
    """``OPEN``, ``PROVEN`` or ``REFUTED``."""
    return np.int64((word >> SHIFT_STATE) & STATES)


@kernel
def work_of(word: Any) -> Any:
    """The work, from 0 to ``MOST_WORK``."""
    return np.int64((word >> SHIFT_WORK) & BYTE)


@kernel
def proof_of(word: Any) -> Any:
    """The proof number of an open position."""
    return np.int64(word & LONG)


@kernel
def disproof_of(word: Any) -> Any:
    """The disproof number of an open position."""
    return np.int64((word >> SHIFT_LONG) & LONG)


@kernel
def value_of(word: Any) -> Any:
    """The place of a settled position's value among the values."""
    return np.int64(word & FIELD)


@kernel
def move_of(word: Any) -> Any:
    """The place of a settled position's move among its legal actions."""
    return np.int64((word >> SHIFT_FIELD) & FIELD)


@kernel
def distance_of(word: Any) -> Any:
    """A settled position's distance to the end of the game along its proof."""
    return np.int64((word >> SHIFT_DISTANCE) & FIELD)


@kernel
def quantised(count: int) -> int:
    """Work of a number of expanded positions: about twice its binary logarithm, rounded down."""
    work = 0
    # Two units per halving; the last values 0 to 3 count as they are.
    while count > 3:
        count >>= 1
        work += 2
    return min(work + count, MOST_WORK)


@kernel
def bucket_of(table: Table, second: Any) -> Any:
    """The bucket of a key: the upper half of its second word scaled to the number of buckets."""
    return np.int64(((second >> SHIFT_HALF) * np.uint64(table.buckets)) >> SHIFT_HALF)


@kernel
def begin_of(table: Table, second: Any) -> Any:
    """The first word of a key's bucket."""
    return bucket_of(table, second) * SLOTS * table.stride


@kernel
def mixed_cells(table: Table, slot: int) -> Any:
    """The hash of an entry's cells that is mixed into its first word."""
    mixed = NOTHING
    for place in range(slot + PLAIN_WORDS, slot + table.stride):
        mixed = mixed_first(mixed, table.words[place])
    return mixed


@kernel
def look_up(table: Table, first: Any, second: Any) -> Any:
    """The word of a key; 0 if there is none."""
    begin = begin_of(table, second)
    for slot in range(begin, begin + SLOTS * table.stride, table.stride):
        word = table.words[slot + 1]
        # The XOR restores the key only if all words belong to the same entry.
        if word != NOTHING and (table.words[slot] ^ word ^ mixed_cells(table, slot)) == first:
            return word
    return NOTHING


@kernel
def recall(table: Table, first: Any, second: Any, cells: Any, at: int) -> Any:
    """The word of a key, 0 if there is none; copies its cells to ``cells``.

    Args:
        table: the table.
        first: the key's first word.
        second: its second word.
        cells: [any, stride - 2] where the cells are written, as one list.
        at: the row in ``cells``.
    """
    begin, count = begin_of(table, second), table.stride - PLAIN_WORDS
    for slot in range(begin, begin + SLOTS * table.stride, table.stride):
        word = table.words[slot + 1]
        mixed = NOTHING
        for place in range(count):
            cell = table.words[slot + PLAIN_WORDS + place]
            cells[at * count + place] = cell
            mixed = mixed_first(mixed, cell)
        if word != NOTHING and (table.words[slot] ^ word ^ mixed) == first:
            return word
    return NOTHING


@kernel
def chosen_slot(table: Table, first: Any, second: Any, word: Any) -> tuple[int, bool]:
    """The place of an entry for a key, and whether the key is new.

    In a full bucket, the new entry replaces the one with the least work among the first three if
    that has no more work than the new one, else the last one. This keeps both expensive and recent
    entries.
    """
    begin = begin_of(table, second)
    last = begin + (SLOTS - 1) * table.stride
    chosen, least = last, work_of(word)
    for slot in range(begin, last + 1, table.stride):
        old = table.words[slot + 1]
        if old == NOTHING:
            table.counts[NUM_USED] += 1
            return slot, True
        if (table.words[slot] ^ old ^ mixed_cells(table, slot)) == first:
            return slot, False
        # The last slot is always replaced by default, so a new result is never lost.
        if work_of(old) <= least and slot < last:
            chosen, least = slot, work_of(old)
    table.counts[NUM_LOST] += 1
    return chosen, True


@kernel
def store_with_cells(table: Table, first: Any, second: Any, word: Any, cells: Any, at: int) -> bool:
    """Store a word and cells under a key; returns whether the key is new.

    Args:
        table: the table.
        first: the key's first word.
        second: its second word.
        word: the result.
        cells: [any, stride - 2] cells, as one list.
        at: the row in ``cells``.
    """
    slot, is_new = chosen_slot(table, first, second, word)
    count, mixed = table.stride - PLAIN_WORDS, NOTHING
    for place in range(count):
        cell = cells[at * count + place]
        table.words[slot + PLAIN_WORDS + place] = cell
        mixed = mixed_first(mixed, cell)
    table.words[slot] = first ^ word ^ mixed
    table.words[slot + 1] = word
    return is_new


@kernel
def store(table: Table, first: Any, second: Any, word: Any) -> bool:
    """Store a word without cells under a key; returns whether the key is new."""
    return store_with_cells(table, first, second, word, table.no_cells, 0)


class Sweep(NamedTuple):
    """A table, and the histogram of its entries' work."""

    table: Table
    histogram: NDArray[np.int64]


@entry("the solver's garbage collection")
def count_work(sweep: Sweep, buckets: int) -> int:
    """Count the entries by their work."""
    stride = sweep.table.stride
    for place in range(1, buckets * SLOTS * stride, stride):
        word = sweep.table.words[place]
        if word != NOTHING:
            sweep.histogram[work_of(word)] += 1
    return buckets


@entry("the solver's garbage collection")
def drop_below(sweep: Sweep, work: int) -> int:
    """Drop the entries with less work; returns how many."""
    dropped, stride = 0, sweep.table.stride
    for place in range(1, sweep.table.buckets * SLOTS * stride, stride):
        word = sweep.table.words[place]
        if word != NOTHING and work_of(word) < work:
            sweep.table.words[place - 1] = NOTHING
            sweep.table.words[place] = NOTHING
            dropped += 1
    sweep.table.counts[NUM_USED] -= dropped
    return dropped


FULL_SHARE, KEPT_SHARE = 0.85, 0.5
"""The table is collected at the first share in use; at most the second share is kept."""


def make_table(megabytes: float, cell_words: int = 0) -> Table:
    """An empty table of at most so many megabytes (2**20 bytes).

    Args:
        megabytes: its size.
        cell_words: words of an entry's cells.
    """
    stride = PLAIN_WORDS + cell_words
    buckets = max(1, int(megabytes * 2**20) // (8 * SLOTS * stride))
    words = np.zeros(buckets * SLOTS * stride, np.uint64)
    no_cells = np.zeros(max(1, cell_words), np.uint64)
    return Table(words, np.zeros(2, np.int64), buckets, stride, no_cells)


def known_word(table: Table, first: int, second: int) -> Any:
    """``look_up`` for keys given as Python integers."""
    with np.errstate(over="ignore"):
        return look_up(table, np.uint64(first), np.uint64(second))


def num_entries(table: Table) -> int:
    """Capacity of the table in entries."""
    return table.buckets * SLOTS


def is_due(table: Table) -> bool:
    """True if the table is full enough to be collected."""
    return bool(table.counts[NUM_USED] > FULL_SHARE * num_entries(table))


def collect(table: Table) -> None:
    """Drop the entries with the least work until enough of the table is free."""
    sweep = Sweep(table, np.zeros(MOST_WORK + 1, np.int64))
    count_work(sweep, table.buckets)
    # A histogram instead of sorting: work has 64 levels only.
    kept, work = int(sweep.histogram.sum()), 0
    table.counts[NUM_USED] = kept  # Threads racing for one slot may both have counted it.
    while kept > KEPT_SHARE * num_entries(table) and work < MOST_WORK:
        kept -= int(sweep.histogram[work])
        work += 1
    drop_below(sweep, work)
