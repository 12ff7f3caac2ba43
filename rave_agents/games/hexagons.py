"""Boards of hexagons: what is beside a cell, patterns of stones around it, who owns the cells."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

CLOCKWISE = (0, 1, 4, 6, 5, 2)
"""The bits of a pattern around a cell: two of the row before, three of its own, two of the next."""

SIDES = 6
"""Cells beside a cell."""

NONE = -1
"""No cell."""

WHOLE, SELF = 127, 8
"""The pattern of a stone with all neighbours, and the bit of the stone itself."""


def cells_at(on_board: NDArray[np.bool_], steps: Sequence[tuple[int, int]]) -> NDArray[np.int16]:
    """The cells that lie steps of at most two rows and columns from each; ``NONE`` for no cell.

    Args:
        on_board: whether each cell is one of the board's, by row and column.
        steps: rows and columns.
    """
    rows, columns = on_board.shape
    numbers = np.full((rows + 4, columns + 4), NONE, np.int16)
    numbers[2:-2, 2:-2] = np.where(on_board, np.arange(on_board.size).reshape(rows, columns), NONE)
    found = [
        numbers[2 + down : 2 + down + rows, 2 + right : 2 + right + columns].ravel()
        for down, right in steps
    ]
    return np.stack(found, axis=1)


def neighbours(on_board: NDArray[np.bool_]) -> NDArray[np.int16]:
    """The cells beside each cell of such a hexagon, see ``cells_at``, one after the other."""
    return cells_at(on_board, ((0, 1), (1, 1), (1, 0), (0, -1), (-1, -1), (-1, 0)))


def corners_and_edges(size: int) -> NDArray[np.int16]:
    """The corner or edge of a hexagon that each cell is part of: a bit for each, corners first.

    The hexagon has so many cells on a side, and lies in a square of rows and columns.
    """
    last = 2 * size - 2
    rows, columns = divmod(np.arange((last + 1) ** 2), last + 1)
    # A cell is part of an edge if it is on one border of the hexagon, in a corner if on two.
    slope = columns - rows
    first_half = [rows == 0, slope == size - 1, columns == last]
    borders = np.array([*first_half, rows == last, slope == 1 - size, columns == 0])
    corners = borders & np.roll(borders, 1, axis=0) & (borders.sum(0) == 2)
    sides = np.concatenate([corners, borders & (borders.sum(0) == 1)])
    bits: NDArray[np.int16] = (sides << np.arange(12)[:, None]).sum(0).astype(np.int16)
    return bits


def patterns(width: int) -> tuple[Any, Any, Any, Any]:
    """Table of each pattern: the number and the beginnings of its arcs, and the middles of threes.

    An arc is stones that are beside one another. A place is what is to be added to the number of
    the cell, where a row has ``width`` of them.
    """
    places = (-width - 1, -width, -1, 0, 1, width, width + 1)
    num_arcs, num_middles = np.zeros((2, WHOLE + 1), np.int8)
    arcs, middles = np.zeros((WHOLE + 1, 4), np.int16), np.zeros((WHOLE + 1, 8), np.int16)
    for pattern in range(WHOLE + 1):
        around = [pattern >> place & 1 for place in CLOCKWISE]
        for turn, place in enumerate(CLOCKWISE):
            before, after = around[turn - 1], around[(turn + 1) % 6]
            if around[turn] and not before:
                arcs[pattern, num_arcs[pattern]] = places[place]
                num_arcs[pattern] += 1
            elif around[turn] and after:
                middles[pattern, num_middles[pattern]] = places[place]
                num_middles[pattern] += 1
    return num_arcs, arcs, num_middles, middles


def owners(lines: Any, columns: int) -> Any:
    """Owners of the cells, rows × columns: 0 for empty, else one more than the player."""
    bits = lines[:, :, None] >> np.arange(columns) & 1
    return bits[0] + 2 * bits[1]
