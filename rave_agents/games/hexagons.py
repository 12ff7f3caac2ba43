"""Boards of hexagons: patterns of stones around a cell, and who owns the cells."""

from typing import Any

import numpy as np

CLOCKWISE = (0, 1, 4, 6, 5, 2)
"""The bits of a pattern around a cell: two of the row before, three of its own, two of the next."""

WHOLE, SELF = 127, 8
"""The pattern of a stone with all neighbours, and the bit of the stone itself."""


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
