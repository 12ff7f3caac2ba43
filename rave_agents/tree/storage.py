"""The arrays of a search: allocated, grown, kept, cleared and counted by their declarations.

Parts declare their arrays by annotations, see ``compiler/arrays.py``. This module does not know
their meaning, except for the table of children, whose hash table it rebuilds after changes.
"""

import functools
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.arrays import (
    CHILD,
    EDGE,
    GROWING,
    LANES,
    Array,
    Axis,
    Kept,
    Rows,
)
from rave_agents.compiler.dispatch import records_of
from rave_agents.compiler.layout import address_of
from rave_agents.compiler.runtime import RUNS_AS, record_of
from rave_agents.kernel.moves.child_table import NO_ENTRY, Children, first_place
from rave_agents.kernel.tree import Tree
from rave_agents.tree import row_moves

Sizes = dict[Axis, int]
"""The number of rows of each axis."""

PLACES_FOR_EACH = 2
"""Minimum places of the hash table per entry; never more than twice as many."""


_versions = itertools.count(1)
_NO_OWNERS = np.zeros(0, np.int32)


class NewRows(NamedTuple):
    """The new row of each row of before, or ``row_moves.DROPPED``."""

    nodes: NDArray[np.int32]
    edges: NDArray[np.int32]
    tables: NDArray[np.int32]
    entries: NDArray[np.int32]


class _Field(NamedTuple):
    """Declaration of a part's field: an array, or a nested part and the record it runs as."""

    name: str
    kind: Any
    rows: Rows | None
    runs_as: Mapping[type, type]


@functools.cache
def _fields(kind: type) -> tuple[_Field, ...]:
    hints = get_type_hints(kind, include_extras=True)
    fields = []
    for name in kind._fields:  # type: ignore[attr-defined]
        hint = hints[name]
        notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        rows = next((note for note in notes if isinstance(note, Rows)), None)
        if rows is not None and rows.points_to is not None and rows.dtype is not np.int32:
            raise TypeError(
                f"{kind.__name__}.{name} points to rows, so its items must be np.int32: "
                f"got {rows.dtype}."
            )
        runs_as = next((note for note in notes if isinstance(note, dict)), {})
        fields.append(_Field(name, hint, rows, runs_as))
    return tuple(fields)


def _items(rows: Rows, sizes: Sizes) -> int:
    """The number of an array's items per row of its axis."""
    return math.prod((sizes[axis] for axis in rows.inner), start=rows.length)


def _allocated(rows: Rows, sizes: Sizes) -> Array:
    return np.full(sizes[rows.axis] * _items(rows, sizes), rows.fill, rows.dtype)


def assembled(part: Any, sizes: Sizes, kind: type | None = None) -> Any:
    """A running part: the part itself, or a record of the part and its arrays.

    Args:
        part: a part of a search.
        sizes: rows of all axes.
        kind: the class of the record; None for the one registered by ``runs_as``, if any.
    """
    kind = record_of(type(part)) if kind is None else kind
    return part if kind is None else allocated(kind, sizes, part)


def allocated(kind: type, sizes: Sizes, part: Any = None) -> Any:
    """A record of the class ``kind`` with its arrays, for a part."""
    values = {}
    for field in _fields(kind):
        if field.rows is not None:
            values[field.name] = _allocated(field.rows, sizes)
        elif field.name == "options":
            values[field.name] = part
        elif field.name == "own":
            kind_of_own = RUNS_AS.get(type(part))
            values["own"] = part if kind_of_own is None else allocated(kind_of_own, sizes, part)
        elif hasattr(part, field.name):
            inner = getattr(part, field.name)
            values[field.name] = assembled(inner, sizes, field.runs_as.get(type(inner)))
        else:
            values[field.name] = allocated(field.kind, sizes)
    return kind(**values)


def declared_arrays(record: Any) -> Iterator[tuple[Array, Rows]]:
    """All arrays of a record and of nested records, with their declarations."""
    kind: Any = type(record)
    for field in _fields(kind):
        value = getattr(record, field.name)
        if field.rows is not None:
            yield value, field.rows
        elif hasattr(value, "_fields"):
            yield from declared_arrays(value)


class Storage:
    """The arrays of all records of one tree.

    Args:
        tree: the tree; the first of the records.
        records: the others.
        sizes: rows of all axes, as allocated.
    """

    def __init__(self, tree: Tree, records: tuple[Any, ...], sizes: Sizes) -> None:
        self.tree = tree
        self.sizes: dict[Axis, int] = dict(sizes)
        self._arrays = [pair for record in (tree, *records) for pair in declared_arrays(record)]
        self._find_groups()
        owners = (a for a, r in self._arrays if (r.axis, r.points_to) == (Axis.TABLE, Axis.NODE))
        self.owners: Array = next(owners, np.zeros(0, np.int32))
        """The node of each AMAF table; empty without tables."""
        self.bytes: int = 0
        """Bytes of the arrays that grow with the tree, including free rows."""
        # Rebuilt here, not moved: the place of an entry depends on the size of the hash table.
        inner = (found for record in records for found in records_of(record))
        self._children = [found for found in inner if isinstance(found, Children)]
        self.whole: bool = True
        """True if all arrays have their sizes; False after an interrupted resize."""
        self.torn: bool = False
        """True while rows change in several steps: after an exception then, they are useless."""
        self._described = 0
        self.version: int = next(_versions)
        """Another number after each call that may have reallocated arrays."""
        self._note_capacity()
        self._count_bytes()
        for table in self._children:
            _fill_places(table, 0)

    def _find_groups(self) -> None:
        """Group the arrays by axis and by lifetime, for the changes between searches."""
        self._items = [_items(rows, self.sizes) for _, rows in self._arrays]
        self._kept = {
            kept: [
                (array, rows.fill)
                for array, rows in self._arrays
                if rows.kept is kept and not (kept is Kept.GAME and rows.axis in GROWING)
            ]
            for kept in Kept
        }

    @functools.cached_property
    def row_bytes(self) -> NDArray[np.float64]:
        """[4] maximum bytes per row of each growing axis, over all arrays."""
        costs = np.zeros(len(GROWING))
        for _, rows in self._arrays:
            size = np.dtype(rows.dtype).itemsize * _items(rows, self.sizes)
            if rows.axis in GROWING:
                costs[rows.axis] += size
            elif rows.axis is Axis.PLACE:
                # A power of two may be nearly twice the places needed.
                costs[CHILD] += 2 * PLACES_FOR_EACH * size
        return costs

    @property
    def has_actions(self) -> bool:
        """True if an array has rows for actions."""
        return any(Axis.ACTION in (rows.axis, *rows.inner) for _, rows in self._arrays)

    @property
    def action_bytes(self) -> float:
        """The bytes per action, not counting arrays that grow with the tree."""
        return sum(
            array.nbytes / self.sizes[Axis.ACTION]
            for array, rows in self._arrays
            if Axis.ACTION in (rows.axis, *rows.inner) and rows.axis not in GROWING
        )

    def values(self) -> list[Array]:
        """All arrays, in the order of their declarations."""
        return [array for array, _ in self._arrays]

    def resize(self, sizes: Sizes) -> None:
        """Make room for more rows of some axes, in place.

        The arrays are reallocated one by one, so there are never two trees in memory; slices taken
        before become invalid. An exception in between, such as one of Ctrl-C or for lack of memory,
        loses no rows: resize again before the loop continues.
        """
        old, new = self.sizes, {**self.sizes, **sizes}
        new[Axis.PLACE] = places_for(new[Axis.CHILD])
        # ``Tree.capacity``, which the loop reads, must not exceed the room of any array meanwhile.
        self.sizes = {axis: min(old[axis], new[axis]) for axis in new}
        self.whole, self.version = False, next(_versions)
        self._note_capacity()
        for array, rows in self._arrays:
            items = _items(rows, new)
            if len(array) != new[rows.axis] * items:
                array.resize(new[rows.axis] * items, refcheck=False)
            if rows.fill != 0:  # Also fills rows that an interrupted resize had left unfilled.
                array[old[rows.axis] * items :] = rows.fill
        self.index_entries()
        self.sizes = new
        self._note_capacity()
        self._count_bytes()
        self.whole = True

    def widen(self, actions: int) -> None:
        """Make room for more actions, in place, keeping the existing rows."""
        old, self.sizes[Axis.ACTION] = self.sizes[Axis.ACTION], actions
        self.torn, self.version = True, next(_versions)
        for array, rows in self._arrays:
            if Axis.ACTION in (rows.axis, *rows.inner):
                values = array.reshape(-1, old).copy()
                array.resize(self.sizes[rows.axis] * _items(rows, self.sizes), refcheck=False)
                array[:] = rows.fill
                array.reshape(-1, actions)[:, :old] = values
        self._find_groups()
        vars(self).pop("row_bytes", None)
        self._count_bytes()
        self.torn = False

    def fill(self, kept: Kept) -> None:
        """Reset the arrays whose values last for ``kept`` only to their ``fill``."""
        for array, value in self._kept[kept]:
            array.fill(value)

    def clear(self) -> None:
        """Drop all rows but keep the memory, since allocation takes longer."""
        used = sum(self.tree.used.tolist())
        if used > 0:
            self._drop_rows(row_moves.MARKED, np.zeros(used, np.int32))
        for table in self._children:
            table.places[:] = NO_ENTRY

    def keep_below(self, root: int) -> None:
        """Keep the subtree of a node, which becomes the root, in a tree without entries."""
        self._drop_rows(root, np.zeros(sum(self.tree.used.tolist()), np.int32))

    def keep(self, stays: NDArray[np.bool_], entry_owners: NDArray[Any]) -> NewRows:
        """Keep some nodes with their edges, tables and entries, in place.

        Call ``index_entries`` once the keys of the entries have been renamed.

        Args:
            stays: [nodes] True for a node that stays.
            entry_owners: [entries] the node to which each entry of the table of children belongs.
        """
        ends = list(itertools.accumulate(self.tree.used.tolist()))
        rows = np.zeros(ends[-1], np.int32)
        rows[: ends[0]] = stays
        self._drop_rows(row_moves.MARKED, rows, np.ascontiguousarray(entry_owners, np.int32))
        return NewRows(*(rows[first:end] for first, end in itertools.pairwise([0, *ends])))

    def _drop_rows(self, root: int, rows: Array, entry_owners: Array = _NO_OWNERS) -> None:
        if self._described != self.version:
            self._describe()
        words = self._columns.words
        words[row_moves.ROWS] = address_of(rows)
        words[row_moves.ENTRY_OWNERS] = address_of(entry_owners) if len(entry_owners) > 0 else 0
        self._run(root)

    def index_entries(self) -> None:
        """Fill the hash table of children anew, after entries or their keys have changed."""
        for table in self._children:
            _fill_places(table, int(self.tree.used[CHILD]))

    def _describe(self) -> None:
        """Describe the arrays with growing axes to ``drop_rows``, at their present addresses."""
        tree, columns = self.tree, list[int]()
        self._fills = []
        for (array, rows), items in zip(self._arrays, self._items, strict=True):
            if rows.axis in GROWING and len(array) > 0:
                fill = np.full(items, rows.fill, rows.dtype)
                self._fills.append(fill)
                target = row_moves.NO_AXIS if rows.points_to is None else rows.points_to
                columns += address_of(array), fill.nbytes, rows.axis, target, address_of(fill)
        head = [0] * row_moves.HEAD
        head[row_moves.NUM_COLUMNS] = len(self._fills)
        for place, array in (
            (row_moves.FIRST_EDGES, tree.node_first_edge),
            (row_moves.EDGE_COUNTS, tree.node_edge_count),
            (row_moves.EDGE_CHILDREN, tree.edge_child),
            (row_moves.TABLE_OWNERS, self.owners),
        ):
            head[place] = address_of(array) if len(array) > 0 else 0
        self._columns = row_moves.Columns(tree.used, np.array([*head, *columns], np.int64))
        self._run = row_moves.drop_rows.bound(self._columns)
        self._described = self.version

    def swap_nodes(self, one: int, other: int) -> None:
        """Exchange the rows of two nodes, in place."""
        for (array, rows), items in zip(self._arrays, self._items, strict=True):
            if rows.axis is Axis.NODE and items > 0:
                values = array.reshape(-1, items)
                values[[one, other]] = values[[other, one]]
            if rows.points_to is Axis.NODE:
                used = array[: int(self.tree.used[rows.axis]) * items]
                # Both masks before the first write, or the second would undo the first.
                to_one, to_other = used == one, used == other
                used[to_one], used[to_other] = other, one

    def _note_capacity(self) -> None:
        self.tree.capacity[:] = [self.sizes[axis] for axis in GROWING]
        # Spare edges at the end: SIMD scoring reads up to LANES - 1 rows behind a node's last edge.
        self.tree.capacity[EDGE] = max(0, self.sizes[Axis.EDGE] - LANES)

    def _count_bytes(self) -> None:
        growing = (*GROWING, Axis.PLACE)
        self.bytes = sum(
            np.dtype(rows.dtype).itemsize * items * self.sizes[rows.axis]
            for (_, rows), items in zip(self._arrays, self._items, strict=True)
            if rows.axis in growing
        )


def places_for(entries: int) -> int:
    """Places of a hash table for a number of entries: a power of two."""
    places = PLACES_FOR_EACH
    while places < PLACES_FOR_EACH * entries:
        places *= 2
    return places


def _fill_places(children: Children, used: int) -> None:
    """Fill the hash table with the entries in use; all entries probe in parallel."""
    places = len(children.places)
    children.size[0] = places
    children.places[:] = NO_ENTRY
    entries = np.arange(used, dtype=np.int32)
    place: Any = first_place(
        children.edge[:used].astype(np.int64),  # type: ignore[arg-type]
        children.beside[:used],  # type: ignore[arg-type]
        places,
    )
    while len(entries) > 0:
        free = children.places[place] == NO_ENTRY
        children.places[place[free]] = entries[free]
        # Of several entries writing one free place, the last wins; the others probe on.
        waiting = children.places[place] != entries
        entries, place = entries[waiting], (place[waiting] + 1) & (places - 1)
