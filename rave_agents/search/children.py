"""Children that an edge alone does not tell: a table that grows with what is visited.

An edge leads to its child by ``Tree.edge_child`` where its action alone decides what comes next. It
does not where players move at the same time: the child follows from all their actions. So this
table leads from an edge and a 64-bit number *beside* it to an entry: a child, and how often it was
visited. Where players move at the same time, the number says what the others before have taken;
where something is hidden, it could say what the player sees after his action.

Entries lie in the order in which they came. A hash table with open addressing finds them; it
compares whole keys, so that there are no collisions to fear.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.search.compiler import interpreted, kernel
from rave_agents.search.tree import UNEXPANDED

NO_ENTRY = -1
"""The entry of a key that has none; a free place of the hash table."""

_WORD = 0xFFFFFFFF
_PLACES = 2
"""Places of the hash table for each entry, at least; never more than twice as many."""


class Children(NamedTuple):
    """A table with room for K entries in S >= 2 K places, S a power of two."""

    used: NDArray[np.int64]
    """[1] entries in use."""
    places: NDArray[np.int32]
    """[S] the hash table: entries, and ``NO_ENTRY`` where a place is free."""
    edge: NDArray[np.int32]
    """[K] the edge that was taken."""
    beside: NDArray[np.int64]
    """[K] the number beside it."""
    child: NDArray[np.int32]
    """[K] row of the child node, or ``UNEXPANDED``."""
    visits: NDArray[np.int32]
    """[K] simulations that came through the entry."""
    value_sum: NDArray[np.float64]
    """[K, V] sums of the values of V players in those simulations, scaled to [0, 1]; V may be 0."""


def allocate_children(values: int = 0) -> Children:
    """No entries, and no room for any yet; each is to keep the value sums of so many players."""
    return Children(
        used=np.zeros(1, np.int64),
        places=np.full(1, NO_ENTRY, np.int32),
        edge=np.empty(0, np.int32),
        beside=np.empty(0, np.int64),
        child=np.empty(0, np.int32),
        visits=np.empty(0, np.int32),
        value_sum=np.empty((0, values), np.float64),
    )


def entry_bytes(values: int) -> int:
    """Bytes that an entry takes at most, its places included."""
    return 4 + 8 + 4 + 4 + 8 * values + 2 * _PLACES * 4


@kernel
def first_place(edge: int, beside: int, places: int) -> int:
    """The place at which the search for a key begins, one of so many, a power of two.

    The words of the key are multiplied and shifted into each other, as in ``random_stream`` without
    overflow in signed 64-bit integers. Edge and number may be arrays.
    """
    mixed = edge & _WORD
    for word in (beside & _WORD, (beside >> 32) & _WORD):
        mixed = ((mixed ^ (mixed >> 16)) * 0x7FEB352D) & _WORD
        mixed = ((mixed ^ (mixed >> 15)) * 0x31848BAB) & _WORD
        mixed = mixed ^ (mixed >> 16) ^ word
    mixed = (mixed * 0x7FEB352D) & _WORD
    return (mixed ^ (mixed >> 15)) & (places - 1)


@kernel
def find_entry(children: Children, edge: int, beside: int) -> int:
    """The entry of a key, or ``NO_ENTRY``."""
    places = children.places.shape[0]
    place = first_place(edge, beside, places)
    while True:
        entry = int(children.places[place])
        if entry == NO_ENTRY:
            return entry
        if children.edge[entry] == edge and children.beside[entry] == beside:
            return entry
        place = (place + 1) & (places - 1)


@kernel
def add_entry(children: Children, edge: int, beside: int) -> int:
    """A new entry for a key that has none, without visits and child; there must be room."""
    places = children.places.shape[0]
    place = first_place(edge, beside, places)
    while children.places[place] != NO_ENTRY:
        place = (place + 1) & (places - 1)
    entry = children.used[0]
    children.used[0] += 1
    children.places[place] = entry
    children.edge[entry] = edge
    children.beside[entry] = beside
    children.child[entry] = UNEXPANDED
    children.visits[entry] = 0
    for player in range(children.value_sum.shape[1]):
        children.value_sum[entry, player] = 0.0
    return entry


@kernel
def has_room_for_children(children: Children, count: int) -> bool:
    """Whether so many more entries fit."""
    return children.used[0] + count <= children.edge.shape[0]


def lookup(children: Children, edge: int, beside: int) -> int:
    """``find_entry`` for who looks at a table from outside the kernel."""
    found = np.flatnonzero(
        (children.edge[: children.used[0]] == edge)
        & (children.beside[: children.used[0]] == beside)
    )
    return int(found[0]) if len(found) > 0 else NO_ENTRY


def grow_children(children: Children, count: int) -> None:
    """Make room for so many entries, in place.

    The loop asks ``edge`` for the room there is: it is never longer than the others, even if this
    is interrupted.
    """
    places = _PLACES
    while places < _PLACES * count:
        places *= 2
    filled = _filled_places(children, places)
    if count < len(children.edge):
        children.edge.resize(count, refcheck=False)
    for array in (children.beside, children.child, children.visits):
        array.resize(count, refcheck=False)
    children.value_sum.resize((count, children.value_sum.shape[1]), refcheck=False)
    children.places.resize(places, refcheck=False)
    children.places[:] = filled
    children.edge.resize(count, refcheck=False)


def keep_children(
    children: Children,
    kept: NDArray[np.bool_],
    edge: NDArray[np.int64],
    beside: NDArray[np.int64],
    child: NDArray[np.int64],
) -> None:
    """Drop entries, in place, and note the new rows of what the others speak of.

    Args:
        children: the table; it changes.
        kept: for each entry whether it stays; they keep their order.
        edge: [entries in use] the new keys, those of dropped entries included.
        beside: likewise.
        child: the new children, likewise.
    """
    count = np.count_nonzero(kept)
    for array, values in (
        (children.edge, edge),
        (children.beside, beside),
        (children.child, child),
        (children.visits, children.visits[: len(kept)]),
        (children.value_sum, children.value_sum[: len(kept)]),
    ):
        array[:count] = values[kept]
    children.used[0] = count
    children.places[:] = _filled_places(children, len(children.places))


def clear_children(children: Children) -> None:
    """Drop all entries, and keep the memory."""
    children.used[0] = 0
    children.places[:] = NO_ENTRY


def _filled_places(children: Children, places: int) -> NDArray[np.int32]:
    """The hash table of the entries in use: all look for their places at the same time."""
    filled = np.full(places, NO_ENTRY, np.int32)
    entries = np.arange(children.used[0], dtype=np.int32)
    edge = children.edge[: len(entries)].astype(np.int64)
    find: Any = interpreted(first_place)
    place = find(edge, children.beside[: len(entries)], places)
    while len(entries) > 0:
        free = filled[place] == NO_ENTRY
        filled[place[free]] = entries[free]
        waiting = filled[place] != entries
        entries, place = entries[waiting], (place[waiting] + 1) & (places - 1)
    return filled
