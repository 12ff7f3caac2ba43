"""The pawns of Quoridor: their steps, and their jumps over each other.

A move is a code of four bits, ``5 + 3 * down + right``, and all moves of a pawn are one word.
"""

from typing import Any

import numpy as np

from rave_agents.games.quoridor_walls import WallRules

RIGHT, DOWN = np.array([1, 0, -1, 0]), np.array([0, 1, 0, -1])
"""Columns and rows of a step in each direction."""

CODE_BITS, CODE = 4, 15
"""Bits of a code, and all of them set."""


class PawnRules(WallRules):
    """The pawns, between the walls."""

    diameter: int
    """The length of a row of the grid of squares and walls."""

    def pawn_moves(self, state: Any) -> Any:
        """A word of all moves of the pawn of the player to move."""
        player = state.to_move
        row, column = state.rows[player], state.columns[player]
        other_row, other_column = state.rows[1 - player], state.columns[1 - player]
        moves = np.int64(0)
        for ahead in range(4):
            if self.is_free(state, row, column, ahead):
                right, down = RIGHT[ahead], DOWN[ahead]
                if row + down == other_row and column + right == other_column:
                    moves = self.add_jumps(state, other_row, other_column, ahead, moves)
                else:
                    moves = moves << CODE_BITS | 5 + 3 * down + right
        return moves

    def add_jumps(self, state: Any, row: int, column: int, ahead: int, moves: Any) -> Any:
        """Add the moves over a pawn: straight ahead, or aside if there is a wall."""
        right, down = RIGHT[ahead], DOWN[ahead]
        if self.is_free(state, row, column, ahead):
            return moves << CODE_BITS | 5 + 3 * down + right
        for turn in (1, 3):
            aside = ahead + turn & 3
            if self.is_free(state, row, column, aside):
                code = 5 + 3 * (down + DOWN[aside]) + right + RIGHT[aside]
                moves = moves << CODE_BITS | code
        return moves

    def action_of(self, code: int) -> int:
        """The action of a pawn's move."""
        return (code - 1) // 3 * 2 * self.diameter + (code - 1) % 3 * 2

    def target(self, state: Any, down: int, right: int) -> Any:
        """The row and column that a pawn gets to: twice as far where the other pawn stands."""
        player = state.to_move
        row, column = state.rows[player] + down, state.columns[player] + right
        if row == state.rows[1 - player] and column == state.columns[1 - player]:
            return row + down, column + right
        return row, column
