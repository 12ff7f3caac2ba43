"""Boards of hexagons: neighbours, patterns around a cell, and stones that keep bridges in playouts.

Two stones of one colour, or a stone and a side, have a bridge if two empty cells are adjacent to
both. When the opponent's last stone takes one of them, the player takes the other (Arneson, Hayward
& Henderson, "Monte Carlo Tree Search in Hex", 2010).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.games.kit.memory import lowest_bit

SIDES = 6
"""Cells beside a cell."""

NONE = -1
"""No cell."""

BITS = 3
"""Bits for what is on a cell: one for each player's stone, and ``EMPTY``."""

EMPTY = 4
"""The bit of an empty cell."""

WHOLE = BITS * SIDES
"""Bits for all that is beside a cell."""

FIRST_BITS = sum(1 << BITS * step for step in range(SIDES))
"""The first bit of each cell beside another one."""

BOTH = 3
"""The bits of both players."""


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


class HexagonStones:
    """Stones of two players: for a game with ``points``, its cells, and ``owns``.

    Its sensible playouts keep bridges. Its record has the fields of ``answer_fields``, which are no
    part of the position; ``last`` among them is the last stone's cell, or ``NONE``.
    """

    points: Any

    def lay_neighbours(self, beside: NDArray[np.int16], outside: NDArray[np.int64]) -> None:
        """Store the neighbours of each cell, in order around it.

        Args:
            beside: [cells, 6] the neighbours; ``NONE`` where the board ends.
            outside: [cells, 6] whose stone counts where the board ends: the bits of players.
        """
        cells = len(beside)
        # Four more cells, one for each set of owners, stand for what is off the board.
        near = np.where(beside == NONE, cells + outside, beside)
        self.near: NDArray[np.uint16] = near.astype(np.uint16)
        self.answer_fields: dict[str, Any] = {
            "sensible": np.int64,
            "last": np.int64,
            "stands": (np.uint8, cells + EMPTY),
            "place": (np.uint16, cells),
        }

    def owns(self, state: Any, player: int, action: int) -> bool:
        """True if a cell has a player's stone."""
        raise NotImplementedError

    def describe_board(self, state: Any, cells: Any) -> None:
        """0 for a cell that is empty or outside, else one more than the stone's owner."""
        for cell in range(self.near.shape[0]):
            cells[cell] = self.owns(state, 0, cell) + 2 * self.owns(state, 1, cell)

    def make_sensible(self, state: Any) -> None:
        """Playouts keep bridges."""
        state.sensible = 1

    def look_at_board(self, state: Any, empty: Any, count: int) -> None:
        """Store what is on each cell, and the place of each empty one in the list ``empty``."""
        for cell in self.points:
            state.stands[cell] = 1 if self.owns(state, 0, cell) else 2
        for owners in range(EMPTY):
            state.stands[self.near.shape[0] + owners] = owners
        for place in range(count):
            free: Any = np.int64(empty[place])
            state.stands[free] = EMPTY
            state.place[free] = place

    def place_of_answer(self, state: Any, last: Any, player: int) -> Any:
        """The place in the list of the cell that saves a bridge; ``NONE`` if none is attacked.

        It is the empty neighbour of the opponent's last stone that lies, around that stone, between
        two of the player's stones or sides.
        """
        beside = np.int64(0)
        for step in range(SIDES):
            beside |= np.int64(state.stands[self.near[last, step]]) << BITS * step
        # One bit per neighbour, and the six written twice, so that a shift wraps around the stone.
        mine, empty = beside >> player & FIRST_BITS, beside >> BITS - 1 & FIRST_BITS
        mine |= mine << WHOLE
        empty |= empty << WHOLE
        cut = mine & empty >> BITS & mine >> 2 * BITS & FIRST_BITS
        if cut == 0:
            return np.int64(NONE)
        between = (lowest_bit(cut) // BITS + 1) % SIDES
        return np.int64(state.place[self.near[last, between]])

    def take_place(self, state: Any, empty: Any, place: Any, drawn: Any, player: int) -> Any:
        """Swap the drawn cell of the list to the front, where a player's stone comes; returns it.

        ``place`` is the front, ``drawn`` the place of the cell.
        """
        cell: Any = np.int64(empty[drawn])
        other: Any = np.int64(empty[place])
        empty[drawn] = other
        empty[place] = cell
        state.place[other] = drawn
        state.stands[cell] = 1 << player
        return cell
