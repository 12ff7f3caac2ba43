"""Domineering: player 0 lays dominoes upright, player 1 across; who cannot lay one loses.

Square 0 is at the upper left, squares go to the right and then downwards. An action is the upper or
left square of a domino.
"""

from typing import Any

import numpy as np

from rave_agents.games.bits import NONE, bit, board_squares, drawn_bit, list_bits
from rave_agents.games.coordinates import board_of_squares, cell_name
from rave_agents.games.kit.rules import TERMINAL, Rules

UPRIGHT, ACROSS = 0, 1
"""The players, by the way that they lay dominoes."""


class Domineering(Rules):
    """See the module."""

    name = "domineering"
    turns = ("mirrored", "upside_down")
    cell_kinds = 2
    rows: int = 8
    columns: int = 8

    def setup(self) -> None:
        """Lay out the bitboard: bit ``row * columns + column``."""
        squares = board_squares(self.rows, self.columns)
        self.num_distinct_actions: int = squares
        self.max_game_length: int = squares // 2
        self.board_shape: tuple[int, int] = self.rows, self.columns
        self.fields: dict[str, Any] = {"free": np.uint64, "to_move": np.int64}
        self.every: np.uint64 = np.uint64((1 << squares) - 1)
        last = sum(1 << row * self.columns + self.columns - 1 for row in range(self.rows))
        # Where a domino of each player may begin, and how far its second square is.
        below = (1 << squares - self.columns) - 1
        self.starts = np.array([below, ((1 << squares) - 1) & ~last], np.uint64)
        self.steps = np.array([self.columns, 1], np.uint64)

    def begin(self, state: Any) -> None:
        """The board is empty."""
        state.free = self.every

    def places(self, state: Any, player: int) -> Any:
        """The first squares of all dominoes that a player can lay."""
        return state.free & (state.free >> self.steps[player]) & self.starts[player]

    def player(self, state: Any) -> int:
        """Players take turns until the player to move has no room."""
        return state.to_move if self.places(state, state.to_move) != NONE else TERMINAL

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every place with room for a domino."""
        return list_bits(self.places(state, state.to_move), actions, 0, 0)

    def play(self, state: Any, action: int) -> None:
        """Lay a domino."""
        first = bit(action)
        state.free &= ~(first | first << self.steps[state.to_move])
        state.to_move = 1 - state.to_move

    def returns(self, state: Any, returns: Any) -> None:
        """The player to move has no room and loses."""
        self.write_winner(returns, 1 - state.to_move)

    def draw(self, state: Any, stream: Any) -> int:
        """One of the places."""
        return drawn_bit(self.places(state, state.to_move), stream)

    def describe_board(self, state: Any, cells: Any) -> None:
        """1 for a free square, 0 for a covered one."""
        for square in range(cells.shape[0]):
            cells[square] = state.free & bit(square) != NONE

    def describe_position(self, state: Any, cells: Any) -> int:
        """The free squares, and who is to move."""
        self.describe_board(state, cells)
        return self.player(state)

    def action_to_string(self, player: int, action: int) -> str:
        """The two squares of a domino, with a letter for a column and a number from below."""
        step = 1 if player == ACROSS else self.columns
        return self.square_name(action) + self.square_name(action + step)

    def square_name(self, square: int) -> str:
        """The column's letter and the row's number, from below."""
        row, column = divmod(square, self.columns)
        return cell_name(column, self.rows - 1 - row)

    def string_of(self, state: Any) -> str:
        """The board, with its coordinates: # for a covered square."""
        return board_of_squares(self.board_rows(state, "#."))
