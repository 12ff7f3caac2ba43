"""The table of positions: what the solver remembers of those it has left.

An entry is two words: the key's first word, combined with the second one so that an entry that two
threads have written half each is seen to be none; and what is known. A bucket is four entries, one
line of a processor's cache. The key's second word chooses the bucket, so that a position is told
apart from others by 64 bits beside those of the bucket.

The word of a position that is not settled holds its proof and disproof number; of a settled one the
value, the best move and the distance to the end. Both hold its *work*, how many positions were
expanded below it, in half powers of two.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.entry import entry

OPEN, PROVEN, REFUTED = 0, 1, 2
"""States of a statement about a position."""

MOST = 2**24 - 2
"""The greatest proof and disproof number of a position that is not settled."""

INFINITE = 2**24 - 1
"""The number of a position that is settled the other way; a threshold that nothing reaches."""

MOST_WORK = 63

SLOTS = 4
"""Entries of a bucket."""

BUCKET_WORDS = 2 * SLOTS

FIELD, LONG = np.uint64(2**16 - 1), np.uint64(2**24 - 1)
SHIFT_FIELD, SHIFT_LONG = np.uint64(16), np.uint64(24)
SHIFT_DISTANCE, SHIFT_WORK, SHIFT_STATE = np.uint64(32), np.uint64(48), np.uint64(56)
SHIFT_HALF = np.uint64(32)
BYTE, STATES = np.uint64(255), np.uint64(3)
USED = np.uint64(1) << np.uint64(63)
NOTHING = np.uint64(0)

NUM_USED, NUM_LOST = 0, 1
"""Places in ``Table.counts``: entries in use; entries that made room for others."""


class Table(NamedTuple):
    """The entries of all positions."""

    words: NDArray[np.uint64]
    """[buckets * 8] the entries."""
    counts: NDArray[np.int64]
    """See ``NUM_USED``."""
    buckets: int
    """Buckets, fewer than 2**32."""


@kernel
def packed_open(proof: int, disproof: int, work: int) -> Any:
    """The word of a position that is not settled."""
    low = np.uint64(proof) | (np.uint64(disproof) << SHIFT_LONG)
    return low | (np.uint64(work) << SHIFT_WORK) | USED


@kernel
def packed_settled(state: int, value: int, move: int, distance: int) -> Any:
    """The word of a settled position, without its work."""
    low = np.uint64(value) | (np.uint64(move) << SHIFT_FIELD)
    low |= np.uint64(distance) << SHIFT_DISTANCE
    return low | (np.uint64(state) << SHIFT_STATE) | USED


@kernel
def with_work(word: Any, work: int) -> Any:
    """The word of a settled position with its work."""
    return word | (np.uint64(work) << SHIFT_WORK)


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
    """A settled position's distance to the end of the game, as far as it was proven."""
    return np.int64((word >> SHIFT_DISTANCE) & FIELD)


@kernel
def quantised(count: int) -> int:
    """A number of expanded positions as work: its logarithm in halves, rounded down."""
    work = 0
    while count > 3:
        count >>= 1
        work += 2
    return min(work + count, MOST_WORK)


@kernel
def bucket_of(table: Table, second: Any) -> Any:
    """The bucket of a key: its upper half as a share of all."""
    return np.int64(((second >> SHIFT_HALF) * np.uint64(table.buckets)) >> SHIFT_HALF)


@kernel
def look_up(table: Table, first: Any, second: Any) -> Any:
    """The word of a key; 0 if there is none."""
    begin = bucket_of(table, second) * BUCKET_WORDS
    for slot in range(begin, begin + BUCKET_WORDS, 2):
        word = table.words[slot + 1]
        if (table.words[slot] ^ word) == first and word != NOTHING:
            return word
    return NOTHING


@kernel
def store(table: Table, first: Any, second: Any, word: Any) -> bool:
    """Keep a word under a key; returns whether the key is new.

    In a full bucket the entry of the least work among the first three makes room if it has no more
    work than the new one, else the last one does: so much work is kept, and so is the latest.
    """
    begin = bucket_of(table, second) * BUCKET_WORDS
    chosen, least = begin + BUCKET_WORDS - 2, work_of(word)
    for slot in range(begin, begin + BUCKET_WORDS, 2):
        old = table.words[slot + 1]
        if old == NOTHING or (table.words[slot] ^ old) == first:
            table.words[slot] = first ^ word
            table.words[slot + 1] = word
            if old == NOTHING:
                table.counts[NUM_USED] += 1
            return bool(old == NOTHING)
        if work_of(old) <= least and slot < begin + BUCKET_WORDS - 2:
            chosen, least = slot, work_of(old)
    table.counts[NUM_LOST] += 1
    table.words[chosen] = first ^ word
    table.words[chosen + 1] = word
    return True


class Sweep(NamedTuple):
    """A table, and how many of its entries have each work."""

    table: Table
    histogram: NDArray[np.int64]


@entry("the solver's garbage collection")
def count_work(sweep: Sweep, buckets: int) -> int:
    """Count the entries by their work."""
    for place in range(1, buckets * BUCKET_WORDS, 2):
        word = sweep.table.words[place]
        if word != NOTHING:
            sweep.histogram[work_of(word)] += 1
    return buckets


@entry("the solver's garbage collection")
def drop_below(sweep: Sweep, work: int) -> int:
    """Drop the entries of less work; returns how many were dropped."""
    dropped = 0
    for place in range(1, sweep.table.buckets * BUCKET_WORDS, 2):
        word = sweep.table.words[place]
        if word != NOTHING and work_of(word) < work:
            sweep.table.words[place - 1] = NOTHING
            sweep.table.words[place] = NOTHING
            dropped += 1
    sweep.table.counts[NUM_USED] -= dropped
    return dropped


FULL_SHARE, KEPT_SHARE = 0.85, 0.5
"""Shares of the table in use at which it is collected, and that are then kept at most."""


def make_table(megabytes: float) -> Table:
    """An empty table of at most so many megabytes (2**20 bytes)."""
    buckets = max(1, int(megabytes * 2**20) // (8 * BUCKET_WORDS))
    return Table(np.zeros(buckets * BUCKET_WORDS, np.uint64), np.zeros(2, np.int64), buckets)


def num_entries(table: Table) -> int:
    """Entries that the table has room for."""
    return table.buckets * SLOTS


def is_due(table: Table) -> bool:
    """True if the table is so full that it is to be collected."""
    return bool(table.counts[NUM_USED] > FULL_SHARE * num_entries(table))


def collect(table: Table) -> None:
    """Drop the entries of the least work, until enough of the table is free."""
    sweep = Sweep(table, np.zeros(MOST_WORK + 1, np.int64))
    count_work(sweep, table.buckets)
    kept, work = int(sweep.histogram.sum()), 0
    table.counts[NUM_USED] = kept  # Threads that write one place at a time may have counted two.
    while kept > KEPT_SHARE * num_entries(table) and work < MOST_WORK:
        kept -= int(sweep.histogram[work])
        work += 1
    drop_below(sweep, work)
