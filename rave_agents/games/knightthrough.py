"""Knightthrough: Breakthrough with knights, which only go ahead.

Each player begins with two rows of knights. A knight goes ahead by a knight's move, to an empty
square or onto a piece of the opponent's, which it takes. The player who reaches the last row or
takes the last piece wins. A player always has a move: the foremost knight can only be kept from its
squares by the edge, and in the last row it would have won.

An action is the knight's square, counted from player 0's left corner, and one of eight moves, four
for each player: ``square * 8 + player * 4 + move``.
"""

from typing import Any

import numpy as np

from rave_agents.games.bits import NONE, ONE, bit, count_bits, lowest_bit, nth_bit
from rave_agents.games.coordinates import board_of_squares, cell_name
from rave_agents.games.kit.rules import NO_ACTION
from rave_agents.games.races import RaceRules
from rave_agents.simulate.random_stream import random_below

LEAST = 4
"""The fewest rows, and columns."""

MOVES = ((1, -2), (2, -1), (2, 1), (1, 2))
"""Rows ahead and columns to the right of each move."""


class Knightthrough(RaceRules):
    """See the module."""

    name = "knightthrough"
    rows: int = 8
    columns: int = 8

    def setup(self) -> None:
        """Lay out the bitboard: bit ``row * columns + column``."""
        squares = self.lay_board(LEAST)
        self.num_distinct_actions: int = squares * 8
        self.max_actions: int = 8 * self.columns
        # Every move takes a knight ahead by a row or two.
        self.max_game_length: int = 4 * self.columns * (self.rows - 1) + 1
        home = (1 << 2 * self.columns) - 1
        last = (1 << self.columns) - 1
        self.homes = np.array([home, home << squares - 2 * self.columns], np.uint64)
        self.goals = np.array([last << squares - self.columns, last], np.uint64)
        # For each player and move, the squares from which it stays on the board.
        starts = [
            [self.squares_to_go(up * ahead, right) for ahead, right in MOVES] for up in (1, -1)
        ]
        self.starts = np.array(starts, np.uint64)
        steps = [[up * (a * self.columns) + r for a, r in MOVES] for up in (1, -1)]
        self.steps = np.array(steps, np.int64)
        self.shifts = np.abs(self.steps).astype(np.uint64)

    def squares_to_go(self, up: int, right: int) -> int:
        """The squares from which so many rows and columns lead to another one."""
        return sum(
            1 << row * self.columns + column
            for row in range(self.rows)
            for column in range(self.columns)
            if 0 <= row + up < self.rows and 0 <= column + right < self.columns
        )

    def movable(self, state: Any, move: int) -> Any:
        """The knights that can make a move."""
        player = state.to_move
        own = state.pieces[player]
        shift = self.shifts[player, move]
        free = ~own >> shift if player == 0 else ~own << shift
        return own & self.starts[player, move] & free

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Knight by knight, move by move."""
        player, count = state.to_move, 0
        movable = (
            self.movable(state, 0),
            self.movable(state, 1),
            self.movable(state, 2),
            self.movable(state, 3),
        )
        knights = movable[0] | movable[1] | movable[2] | movable[3]
        while knights != NONE:
            square = lowest_bit(knights)
            knights &= knights - ONE
            for move in range(4):
                if movable[move] & bit(square) != NONE:
                    actions[count] = square * 8 + player * 4 + move
                    count += 1
        return count

    def play(self, state: Any, action: int) -> None:
        """Move a knight, and take what stands there."""
        square = action >> 3
        self.go(state, square, square + self.steps[state.to_move, action & 3])

    def draw(self, state: Any, stream: Any) -> int:
        """A place among the knights of all moves."""
        player, total = state.to_move, 0
        for move in range(4):
            total += count_bits(self.movable(state, move))
        place = random_below(stream, total)
        for move in range(4):
            knights = self.movable(state, move)
            count = count_bits(knights)
            if place < count:
                return nth_bit(knights, place) * 8 + player * 4 + move
            place -= count
        return NO_ACTION

    def action_to_string(self, player: int, action: int) -> str:
        """The squares that a knight leaves and reaches."""
        square, mover = action // 8, action // 4 % 2
        return self.square_name(square) + self.square_name(
            square + int(self.steps[mover, action % 4])
        )

    def square_name(self, square: int) -> str:
        """The column's letter and the row's number, from player 0's side."""
        row, column = divmod(square, self.columns)
        return cell_name(column, row)

    def string_of(self, state: Any) -> str:
        """The board with its coordinates, player 0's knights below."""
        return board_of_squares([*reversed(self.board_rows(state, ".xo"))])
