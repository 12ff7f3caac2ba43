"""The transposition table of bounds for expected values, compiled."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import kernel

SLOTS = 4
"""Entries of a bucket of the table."""

USED = 7
"""Index in the search's ``control``: the number of entries in use."""

SECOND_HALF = np.uint64(32)
NONE = -1


class BoundsTable(NamedTuple):
    """The bounds of positions."""

    keys: NDArray[np.uint64]
    """[entries] the first word of the key; the second word selects the bucket."""
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    work: NDArray[np.int64]
    """[entries] positions expanded below it; 0 marks an empty entry."""
    sweep: NDArray[np.int64]
    """[entries] the last sweep that left it unanswered."""
    buckets: int


@kernel
def bucket_of(table: BoundsTable, second: Any) -> Any:
    """The first entry of a key's bucket."""
    # Multiply and shift: 32 bits of the key scaled to the number of buckets, without a division.
    return SLOTS * np.int64(((second >> SECOND_HALF) * np.uint64(table.buckets)) >> SECOND_HALF)


@kernel
def look_up(table: BoundsTable, first: Any, second: Any) -> int:
    """The entry of a key, or ``NONE``."""
    begin = bucket_of(table, second)
    for place in range(begin, begin + SLOTS):
        if table.keys[place] == first and table.work[place] > 0:
            return place
    return NONE


@kernel
def store(search: Any, first: Any, second: Any, work: int, sweep: int) -> None:
    """Store ``Search.bounds``, replacing the bucket's entry with the least work if it is full."""
    table, bounds = search.table, search.bounds
    begin = bucket_of(table, second)
    chosen = begin
    for place in range(begin, begin + SLOTS):
        if table.keys[place] == first and table.work[place] > 0:
            # Bounds always hold, so the intersection of old and new ones does too.
            table.low[place] = max(table.low[place], bounds[0])
            table.high[place] = min(table.high[place], bounds[1])
            table.work[place] += work
            table.sweep[place] = sweep
            return
        if table.work[place] < table.work[chosen]:
            chosen = place
    if table.work[chosen] == 0:
        search.control[USED] += 1
    table.keys[chosen], table.work[chosen], table.sweep[chosen] = first, max(1, work), sweep
    table.low[chosen], table.high[chosen] = bounds[0], bounds[1]
