"""Square boards of any size up to ten on which pieces move like queens of chess.

Each line of the board, of the four directions, is a number with a bit for each square that is
taken, and one for each place beyond its end: a table tells how far it is free around a place.
"""

from typing import Any

import numpy as np

from rave_agents.games.ordered import insert
from rave_agents.games.winner import WinnerRules
from rave_agents.simulate.random_stream import random_below

DIRECTIONS = 4
"""Directions of lines: along rows, columns and the two diagonals."""


class QueenRules(WinnerRules):
    """Rules of such a game; its record has the field ``lines``."""

    def lay_out(self, size: int) -> dict[str, Any]:
        """Number the lines of a board; returns the field that they need."""
        rows, columns = np.divmod(np.arange(size * size), size)
        numbers = rows, columns, rows - columns + size - 1, rows + columns
        firsts = 0, size, 2 * size, 4 * size - 1
        # The line of each direction through a square, its place there, and the step to the next.
        self.line = np.array([one + first for one, first in zip(numbers, firsts, strict=True)])
        self.place = np.array([columns, rows, rows, rows])
        self.steps = np.array([1, size, size + 1, size - 1])
        self.free = np.array([_free_places(size, taken) for taken in range(1 << size)], np.uint8)
        self.empty = np.full(6 * size - 2, (1 << size) - 1, np.int16)
        for line, place in zip(self.line.ravel(), self.place.ravel(), strict=True):
            self.empty[line] ^= 1 << place
        return {"lines": (np.int16, len(self.empty))}

    def toggle(self, state: Any, square: int) -> None:
        """Take a square that is free, or free one that is taken."""
        for direction in range(DIRECTIONS):
            state.lines[self.line[direction, square]] ^= 1 << self.place[direction, square]

    def is_taken(self, state: Any, square: int) -> bool:
        """True if anything stands on a square."""
        return state.lines[self.line[0, square]] >> self.place[0, square] & 1 == 1

    def around(self, state: Any, direction: int, square: int) -> Any:
        """The free squares on a line: 16 for each after a square, 1 for each before."""
        taken = state.lines[self.line[direction, square]]
        around: Any = np.int64(self.free[taken, self.place[direction, square]])
        return around

    def can_leave(self, state: Any, square: int) -> bool:
        """True if a square next to one is free."""
        around = 0
        for direction in range(DIRECTIONS):
            around |= self.around(state, direction, square)
        return around > 0

    def list_reached(self, state: Any, square: int, actions: Any) -> int:
        """List the squares that a queen reaches, in ascending order; returns how many."""
        count = 0
        for direction in range(DIRECTIONS):
            around, step = self.around(state, direction, square), self.steps[direction]
            for distance in range(1, (around & 15) + 1):
                count = insert(actions, 0, count, square - distance * step)
            for distance in range(1, (around >> 4) + 1):
                count = insert(actions, 0, count, square + distance * step)
        return count

    def draw_reached(self, state: Any, square: int, stream: Any) -> int:
        """One of the squares that a queen reaches, each equally probable."""
        count = 0
        for direction in range(DIRECTIONS):
            around = self.around(state, direction, square)
            count += (around & 15) + (around >> 4)
        place, direction = random_below(stream, count), 0
        while True:
            around, step = self.around(state, direction, square), self.steps[direction]
            before, after = around & 15, around >> 4
            if place < before:
                return square - (place + 1) * step
            if place < before + after:
                return square + (place - before + 1) * step
            place -= before + after
            direction += 1


def _free_places(size: int, taken: int) -> list[int]:
    """The numbers of ``QueenRules.around`` for each place of a line."""
    signs = "".join("01"[taken >> place & 1] for place in range(size))
    sides = [(signs[:place][::-1], signs[place + 1 :]) for place in range(size)]
    free = [[len(side) - len(side.lstrip("0")) for side in both] for both in sides]
    return [before + 16 * after for before, after in free]
