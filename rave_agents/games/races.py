"""Base of Breakthrough and Knightthrough: pieces go ahead, and the last row wins."""

from typing import Any

import numpy as np

from rave_agents.games.bits import NONE, bit, board_squares, write_owners
from rave_agents.games.kit.rules import NO_ACTION, WinnerRules


class RaceRules(WinnerRules):
    """The common part; a game sets ``homes`` and ``goals``, the sets of both players."""

    exchange = "upside_down"
    turns = ("mirrored",)
    rows: int
    columns: int

    def lay_board(self, least: int) -> int:
        """Lay out the bitboard, bit ``row * columns + column``; returns the number of squares.

        Args:
            least: the fewest rows, and columns.
        """
        squares = board_squares(self.rows, self.columns, least)
        self.board_shape: tuple[int, int] = self.rows, self.columns
        self.fields: dict[str, Any] = {
            "pieces": (np.uint64, 2),
            "to_move": np.int64,
            "winner": np.int64,
        }
        self.homes = np.zeros(2, np.uint64)
        self.goals = np.zeros(2, np.uint64)
        return squares

    def begin(self, state: Any) -> None:
        """Pieces stand on the rows nearest to each player."""
        state.pieces[:] = self.homes
        state.winner = NO_ACTION

    def go(self, state: Any, square: int, target: int) -> None:
        """Move a piece, and take what stands there; the last row or the last piece wins."""
        player, arrived = state.to_move, bit(target)
        own = (state.pieces[player] ^ bit(square)) | arrived
        other = state.pieces[1 - player] & ~arrived
        state.pieces[player], state.pieces[1 - player] = own, other
        state.to_move = 1 - player
        if other == NONE or own & self.goals[player] != NONE:
            state.winner = player

    def describe_board(self, state: Any, cells: Any) -> None:
        """0 for an empty square, else one more than the piece's owner."""
        write_owners(state.pieces, cells)
