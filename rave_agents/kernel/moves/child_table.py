"""Hash table of children reached by joint actions or observations.

An edge leads to its child by ``Tree.edge_child`` where its action alone decides what comes next. It
does not where players move at the same time: the child follows from all their actions; nor where
something is hidden: it follows from what the player sees. So this table leads from two numbers, an
edge (or a node) and a 64-bit number *beside* it, to an entry: a child, and how often it was
visited.

A hash table with open addressing finds the entries; it compares whole keys, so two keys are never
confused.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from rave_agents.compiler.arrays import CHILD, INT, Array, Axis, Kept, Rows, one
from rave_agents.compiler.dispatch import kernel
from rave_agents.kernel.tree import UNEXPANDED

NO_ENTRY = -1
"""The entry of a key that has none; a free place of the hash table."""

_WORD = 0xFFFFFFFF


class Children(NamedTuple):
    """The table."""

    size: Annotated[Array, one(INT, kept=Kept.ALWAYS)]
    """[1] places of the hash table, a power of two."""
    places: Annotated[Array, Rows(Axis.PLACE, np.int32, fill=NO_ENTRY, kept=Kept.ALWAYS)]
    """The hash table: entries, and ``NO_ENTRY`` where a place is free."""
    edge: Annotated[Array, Rows(Axis.CHILD, np.int32)]
    """The edge that was taken, or the node."""
    beside: Annotated[Array, Rows(Axis.CHILD, INT)]
    """The number beside it."""
    child: Annotated[Array, Rows(Axis.CHILD, np.int32, points_to=Axis.NODE)]
    """Row of the child node, or ``UNEXPANDED``."""
    visits: Annotated[Array, Rows(Axis.CHILD, np.int32)]
    """Simulations that came through the entry."""


@kernel
def first_place(edge: int, beside: int, places: int) -> int:
    """The place of ``places``, a power of two, at which the search for a key begins.

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
    places = children.size[0]
    place = first_place(edge, beside, places)
    while True:
        entry = int(children.places[place])
        if entry == NO_ENTRY:
            return entry
        if children.edge[entry] == edge and children.beside[entry] == beside:
            return entry
        place = (place + 1) & (places - 1)


@kernel
def add_entry(search: Any, children: Children, edge: int, beside: int) -> int:
    """A new entry, without visits and child, for a key that has none. The table must have room."""
    places = children.size[0]
    place = first_place(edge, beside, places)
    while children.places[place] != NO_ENTRY:
        place = (place + 1) & (places - 1)
    entry = search.tree.used[CHILD]
    search.tree.used[CHILD] += 1
    children.places[place] = entry
    children.edge[entry] = edge
    children.beside[entry] = beside
    children.child[entry] = UNEXPANDED
    return int(entry)
