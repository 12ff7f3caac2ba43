"""Amazons, as OpenSpiel has it: ``amazons(board_size=10)``, on boards of 6, 8 or 10.

A turn has three moves: a player chooses an own amazon that can move, moves it like a queen of
chess, and shoots an arrow like a queen from there; the square it hits stays blocked. Nothing passes
over an occupied square. A player without an amazon that can move loses (OpenSpiel, ``amazons.cc``).

Every action is a square, numbered from the upper left to the right and then downwards.

Each line of the board (rows, columns, both diagonals) is a word with a bit for each occupied square
and for each place beyond its end. A table gives the number of free squares around a place.
"""

from typing import Any

import numpy as np

from rave_agents.games.kit.rules import NO_ACTION, WinnerRules, insert
from rave_agents.simulate.random_stream import random_below

DIRECTIONS = 4
"""Directions of lines: along rows, columns and the two diagonals."""
STARTS = {6: (24, 29, 31, 34), 8: (40, 47, 58, 61), 10: (60, 69, 93, 96)}
"""The squares of player 0's amazons by the board's size; player 1's are opposite."""

AMAZONS = 4
"""Amazons of a player."""

CHOOSE, MOVE, SHOOT = 0, 1, 2
"""The moves of a turn."""

ARROW = 3
"""The content of a cell where an arrow is."""


class Amazons(WinnerRules):
    """See the module."""

    name = "amazons"
    cell_kinds = 4
    planes = 0, 2, 1, ARROW  # Empty squares, player 1's amazons, player 0's, arrows.
    board_size: int = 10

    def setup(self) -> None:
        """Lay out the board."""
        size = self.board_size
        if size not in STARTS:
            raise ValueError(f"board_size must be 6, 8 or 10, got {size}.")
        cells = self.num_distinct_actions = size * size
        self.max_actions: int = 4 * size
        self.max_game_length: int = 3 * (cells - 2 * AMAZONS)
        self.board_shape: tuple[int, int] = size, size
        first = np.array(STARTS[size], np.int16)
        self.start = np.array([first, cells - 1 - first])
        self.fields: dict[str, Any] = {
            **self.lay_out(size),
            "amazons": (np.int16, (2, AMAZONS)),
            "can_move": (np.int8, AMAZONS),
            **dict.fromkeys(("to_move", "phase", "chosen", "winner"), np.int64),
        }

    def begin(self, state: Any) -> None:
        """Amazons stand near the edges."""
        state.lines[:] = self.empty
        state.amazons[:] = self.start
        for player in range(2):
            for amazon in range(AMAZONS):
                self.toggle(state, self.start[player, amazon])
        state.winner = NO_ACTION
        self.find_movable(state, 0)

    def lay_out(self, size: int) -> dict[str, Any]:
        """Number the lines of a board; returns the field that they need."""
        rows, columns = np.divmod(np.arange(size * size), size)
        numbers = rows, columns, rows - columns + size - 1, rows + columns
        firsts = 0, size, 2 * size, 4 * size - 1
        # [direction, square] the line through the square and the square's place on it; for each
        # direction the step from one square of a line to the next.
        self.line = np.array([one + first for one, first in zip(numbers, firsts, strict=True)])
        self.place = np.array([columns, rows, rows, rows])
        self.steps = np.array([1, size, size + 1, size - 1])
        self.free = np.array([_free_places(size, taken) for taken in range(1 << size)], np.uint8)
        self.empty = np.full(6 * size - 2, (1 << size) - 1, np.int16)
        for line, place in zip(self.line.ravel(), self.place.ravel(), strict=True):
            self.empty[line] ^= 1 << place
        return {"lines": (np.int16, len(self.empty))}

    def toggle(self, state: Any, square: int) -> None:
        """Occupy a free square, or free an occupied one."""
        for direction in range(DIRECTIONS):
            state.lines[self.line[direction, square]] ^= 1 << self.place[direction, square]

    def is_taken(self, state: Any, square: int) -> bool:
        """True if a square is occupied."""
        return state.lines[self.line[0, square]] >> self.place[0, square] & 1 == 1

    def around(self, state: Any, direction: int, square: int) -> Any:
        """The number of free squares next to a square on a line: before it + 16 * after it."""
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

    def find_movable(self, state: Any, player: int) -> bool:
        """Store which amazons of a player can move; returns whether any can."""
        found = 0
        for amazon in range(AMAZONS):
            movable = 1 if self.can_leave(state, state.amazons[player, amazon]) else 0
            state.can_move[amazon] = movable
            found |= movable
        return found == 1

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every amazon that can move, or every square that the chosen one reaches."""
        amazons = state.amazons[state.to_move]
        if state.phase != CHOOSE:
            return self.list_reached(state, amazons[state.chosen], actions)
        count = 0
        for amazon in range(AMAZONS):
            if state.can_move[amazon] == 1:
                count = insert(actions, 0, count, amazons[amazon])
        return count

    def play(self, state: Any, action: int) -> None:
        """Choose, move or shoot; after that see whether the other player can move."""
        player = state.to_move
        self.toggle(state, action)
        if state.phase == CHOOSE:
            for amazon in range(AMAZONS):
                if state.amazons[player, amazon] == action:
                    state.chosen = amazon
            state.phase = MOVE
        elif state.phase == MOVE:
            state.amazons[player, state.chosen] = action
            state.phase = SHOOT
        else:
            state.phase = CHOOSE
            state.to_move = 1 - player
            if not self.find_movable(state, 1 - player):
                state.winner = player

    def draw(self, state: Any, stream: Any) -> int:
        """A place among the amazons, or among the squares that are reached."""
        amazons = state.amazons[state.to_move]
        if state.phase != CHOOSE:
            square: Any = np.int64(amazons[state.chosen])
            return self.draw_reached(state, square, stream)
        count = 0
        for amazon in range(AMAZONS):
            count += state.can_move[amazon]
        # Step over the amazons that cannot move, which count 0.
        place, amazon = random_below(stream, count), -1
        while place >= 0:
            amazon += 1
            place -= state.can_move[amazon]
        chosen: Any = np.int64(amazons[amazon])
        return chosen

    def action_to_string_at(self, state: Any, player: int, action: int) -> str:
        """The player's sign, what the move does, and the row and column from 1 on."""
        row, column = divmod(action, self.board_size)
        return f"{'XO'[player]} {('From', 'To', 'Shoot:')[state.phase]} ({row + 1}, {column + 1})"

    def string_of(self, state: Any) -> str:
        """The board, from above."""
        return "\n".join(self.board_rows(state, ".XO#"))

    def describe_board(self, state: Any, cells: Any) -> None:
        """0 for an empty square, one more than the amazon's owner, or 3 for an arrow."""
        for square in range(cells.shape[0]):
            cells[square] = ARROW if self.is_taken(state, square) else 0
        for player in range(2):
            for amazon in range(AMAZONS):
                square = state.amazons[player, amazon]
                if cells[square] == ARROW:  # Else it has left its square and not moved yet.
                    cells[square] = 1 + player


def _free_places(size: int, taken: int) -> list[int]:
    """The numbers that ``Amazons.around`` looks up, for each place of a line."""
    signs = "".join("01"[taken >> place & 1] for place in range(size))
    sides = [(signs[:place][::-1], signs[place + 1 :]) for place in range(size)]
    free = [[len(side) - len(side.lstrip("0")) for side in both] for both in sides]
    return [before + 16 * after for before, after in free]
