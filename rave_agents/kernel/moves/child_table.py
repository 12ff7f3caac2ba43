"""Hash table of children reached by joint actions or observations.

``Tree.edge_child`` suffices where an action alone determines the next position. With simultaneous
moves the child depends on all players' actions, with hidden information on what the player to move
knows. This table maps a key of two numbers, an edge (or a player) and a 64-bit number ``beside``
it, to an entry: a child and its visits.

Open addressing with linear probing finds the entries; whole keys are compared, so two keys are
never confused.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from rave_agents.compiler.arrays import CHILD, INT, Array, Axis, Kept, Rows, one
from rave_agents.compiler.dispatch import kernel
from rave_agents.kernel.tree import UNEXPANDED

NO_ENTRY = -1
"""Sentinel: a key without an entry; a free place of the hash table."""

_WORD = 0xFFFFFFFF


class Children(NamedTuple):
    """The table."""

    size: Annotated[Array, one(INT, kept=Kept.ALWAYS)]
    """[1] places of the hash table, a power of two."""
    places: Annotated[Array, Rows(Axis.PLACE, np.int32, fill=NO_ENTRY, kept=Kept.ALWAYS)]
    """The hash table: an entry, or ``NO_ENTRY`` in a free place."""
    edge: Annotated[Array, Rows(Axis.CHILD, np.int32)]
    """First half of the key: the edge taken, or the player to move."""
    beside: Annotated[Array, Rows(Axis.CHILD, INT)]
    """Second half of the key."""
    child: Annotated[Array, Rows(Axis.CHILD, np.int32, points_to=Axis.NODE)]
    """Row of the child node, or ``UNEXPANDED``."""
    visits: Annotated[Array, Rows(Axis.CHILD, np.int32)]
    """Simulations that came through the entry."""


@kernel
def scrambled(start: int, number: int) -> int:
    """32 well-mixed bits of a 32-bit word and a 64-bit number; both may be arrays.

    Mixes words by multiplying and shifting. As in ``random_stream``, nothing overflows signed
    64-bit integers.
    """
    # 32-bit words times 31-bit odd constants: every product fits into 63 bits.
    mixed = start & _WORD
    for word in (number & _WORD, (number >> 32) & _WORD):
        mixed = ((mixed ^ (mixed >> 16)) * 0x7FEB352D) & _WORD
        mixed = ((mixed ^ (mixed >> 15)) * 0x31848BAB) & _WORD
        mixed = mixed ^ (mixed >> 16) ^ word
    mixed = (mixed * 0x7FEB352D) & _WORD
    return mixed ^ (mixed >> 15)


@kernel
def first_place(edge: int, beside: int, places: int) -> int:
    """The place at which probing for a key begins; ``places`` is a power of two."""
    # `& (places - 1)` is modulo a power of two.
    return scrambled(edge, beside) & (places - 1)


@kernel
def joined(first: int, second: int) -> int:
    """A 63-bit hash of two 64-bit numbers, in this order."""
    low = scrambled(scrambled(0, first), second)
    high = scrambled(scrambled(1, first), second)
    return ((high & 0x7FFFFFFF) << 32) | low


@kernel
def find_entry(children: Children, edge: int, beside: int) -> int:
    """The entry of a key, or ``NO_ENTRY``."""
    places = children.size[0]
    place = first_place(edge, beside, places)
    while True:
        entry = int(children.places[place])
        # Probing ends, since the table always has free places and entries are never deleted singly.
        if entry == NO_ENTRY:
            return entry
        if children.edge[entry] == edge and children.beside[entry] == beside:
            return entry
        place = (place + 1) & (places - 1)


@kernel
def add_entry(search: Any, children: Children, edge: int, beside: int) -> int:
    """Add an entry without visits and child for a new key. The table must have room."""
    places = children.size[0]
    place = first_place(edge, beside, places)
    # Linear probing: at most half of the places are taken.
    while children.places[place] != NO_ENTRY:
        place = (place + 1) & (places - 1)
    entry = search.tree.used[CHILD]
    search.tree.used[CHILD] += 1
    children.places[place] = entry
    children.edge[entry] = edge
    children.beside[entry] = beside
    children.child[entry] = UNEXPANDED
    return int(entry)
