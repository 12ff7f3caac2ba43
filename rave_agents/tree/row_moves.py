"""Dropping rows of a tree's arrays in compiled code: rows that stay move down, in place.

It knows the arrays by their addresses and the widths of their rows, not by their meaning, so that
one function serves the trees of all searches, and is compiled once.
"""

from typing import Any, NamedTuple

from rave_agents.compiler.arrays import CHILD, EDGE, GROWING, NODE, TABLE, Array
from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.entry import entry
from rave_agents.compiler.layout import int32s_at, move_memory

DROPPED = -1
"""The new row of a dropped one."""

NO_AXIS = -1
"""In place of the axis to which a column's items point: they are no rows."""

MARKED = -1
"""In place of a node whose subtree stays: the caller has marked the nodes that stay."""

ROWS, FIRST_EDGES, EDGE_COUNTS, EDGE_CHILDREN, TABLE_OWNERS, ENTRY_OWNERS = range(6)
"""Places of addresses in ``Columns.words``."""

NUM_COLUMNS, KEPT, HEAD = 6, 7, 11
"""The places of the number of columns, of the number of rows that stay on each of four axes, and of
the first column."""

COLUMN_WORDS = 5
"""Words of a column: its address, the bytes of a row, its axis, the axis to which its items point,
and the address of a row of fill."""


AT_ONCE = 4096
"""Rows filled at once: as many as a processor keeps near."""


class Columns(NamedTuple):
    """The arrays of a tree."""

    used: Array
    """[4] ``Tree.used``."""
    words: Array
    """[HEAD + columns * COLUMN_WORDS] addresses, and the columns."""


@entry("the search tree")
def drop_rows(columns: Columns, root: int) -> int:
    """Keep the subtree of ``root``, or with ``MARKED`` the nodes marked by 1, and drop the others.

    The array at ``ROWS`` has an item for each used node, edge, table and entry, one kind after the
    other, which is 0 but for marked nodes. Afterwards it holds their new rows. Returns the number
    of nodes that stay.
    """
    words, used = columns.words, columns.used
    nodes, firsts = rows_of(columns, NODE), int32s_at(words[FIRST_EDGES])
    counts = int32s_at(words[EDGE_COUNTS])
    if root != MARKED:
        mark_below(nodes, used[NODE], root, firsts, counts, int32s_at(words[EDGE_CHILDREN]))
    edges = rows_of(columns, EDGE)
    for node in range(used[NODE]):
        if nodes[node] != 0:
            # Edges that belong to no node, since information sets move them, are dropped.
            for edge in range(firsts[node], firsts[node] + counts[node]):
                edges[edge] = 1
    mark_owned(rows_of(columns, TABLE), used[TABLE], words[TABLE_OWNERS], nodes)
    mark_owned(rows_of(columns, CHILD), used[CHILD], words[ENTRY_OWNERS], nodes)
    for axis in range(len(GROWING)):
        words[KEPT + axis] = number(rows_of(columns, axis), used[axis])
    before = 0
    for node in range(used[NODE]):
        if nodes[node] != DROPPED:
            firsts[node] = edges[firsts[node]] if counts[node] > 0 else before
            before += counts[node]
    for column in range(words[NUM_COLUMNS]):
        move_column(columns, HEAD + column * COLUMN_WORDS)
    for axis in range(len(GROWING)):
        used[axis] = words[KEPT + axis]
    return int(used[NODE])


@kernel
def rows_of(columns: Columns, axis: int) -> Any:
    """The items of the array at ``ROWS`` for an axis."""
    address = columns.words[ROWS]
    for earlier in range(axis):
        address += 4 * columns.used[earlier]
    return int32s_at(address)


@kernel
def move_column(columns: Columns, place: int) -> None:
    """Move the rows of the column at a place of ``words``, rename its items, and fill the rest."""
    words, used = columns.words, columns.used
    address, width, axis, target = (
        words[place],
        words[place + 1],
        words[place + 2],
        words[place + 3],
    )
    kept = words[KEPT + axis]
    move_rows(address, width, rows_of(columns, axis), used[axis], kept)
    if target != NO_AXIS and used[target] > 0:
        rename(int32s_at(address), kept * width // 4, rows_of(columns, target))
    fill_rows(address + kept * width, width, used[axis] - kept, words[place + 4])


@kernel
def mark_below(marks: Any, nodes: int, root: int, firsts: Any, counts: Any, children: Any) -> None:
    """Mark a node and all nodes below it, which have larger rows."""
    marks[root] = 1
    for node in range(root, nodes):
        if marks[node] != 0:
            for edge in range(firsts[node], firsts[node] + counts[node]):
                if children[edge] >= 0:
                    marks[children[edge]] = 1


@kernel
def mark_owned(marks: Any, count: int, address: int, nodes: Any) -> None:
    """Mark the tables or entries whose owners, at an address, are marked; none without owners."""
    if address != 0:
        owners = int32s_at(address)
        for row in range(count):
            if owners[row] >= 0:
                marks[row] = nodes[owners[row]]


@kernel
def number(rows: Any, count: int) -> int:
    """Turn marks into new rows; returns how many rows stay."""
    kept = 0
    for row in range(count):
        if rows[row] != 0:
            rows[row] = kept
            kept += 1
        else:
            rows[row] = DROPPED
    return kept


@kernel
def move_rows(address: int, width: int, rows: Any, count: int, kept: int) -> None:
    """Move the rows that stay; consecutive ones together. None is overwritten before it moves."""
    row, moved = 0, 0
    while moved < kept:
        while rows[row] == DROPPED:
            row += 1
        first = row
        while row < count and rows[row] != DROPPED:
            row += 1
        if moved != first:
            move_memory(address + moved * width, address + first * width, (row - first) * width)
        moved += row - first


@kernel
def rename(items: Any, count: int, rows: Any) -> None:
    """Replace old rows by new ones; negative items are sentinels and stay."""
    for place in range(count):
        if items[place] >= 0:
            items[place] = rows[items[place]]


@kernel
def fill_rows(address: int, width: int, count: int, fill: int) -> None:
    """Fill rows with a row of fill; from then on with as many as are filled, up to ``AT_ONCE``."""
    filled = min(1, count)
    move_memory(address, fill, filled * width)
    while filled < count:
        more = min(filled, AT_ONCE, count - filled)
        move_memory(address + filled * width, address, more * width)
        filled += more
