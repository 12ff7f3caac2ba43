"""Base of games in which a row of stones wins: tic-tac-toe, m,n,k-games, gomoku.

Players put stones on empty cells of a grid of any dimensions in turn. The first row of a given
length, straight or diagonal, wins; a full grid is a draw. On a grid that wraps, each line is a
ring: a whole ring wins, however long a row must be.

Each line through the grid is a word of bits for each player. A stone sets one bit of each line
through its cell, and a word has a row if it overlaps itself shifted along.
"""

import math
from typing import Any

import numpy as np

from rave_agents.games.coordinates import lines_of
from rave_agents.games.kit.rules import DRAWN, NO_ACTION, WinnerRules
from rave_agents.simulate.random_stream import random_below

MOST_CELLS = 4096
"""The most cells of a grid."""

LONGEST, LONGEST_RING = 62, 31
"""The most cells of a line; of a ring, whose word is doubled."""

WORDS = ((7, np.int8), (15, np.int16), (31, np.int32), (LONGEST, np.int64))
"""Types of words that have room for so many bits."""


class AlignmentRules(WinnerRules):
    """The common part; a game calls ``lay_out`` in ``setup``."""

    placement = True
    turns = ("mirrored", "upside_down", "transposed")
    planes = 0, 2, 1  # Empty cells, player 1's stones, player 0's.

    def lay_out(self, sides: tuple[int, ...], row: int, *, wrap: bool = False) -> None:
        """Lay out the lines of a grid with these sides, where ``row`` stones in a row win."""
        longest, cells = (LONGEST_RING if wrap else LONGEST), math.prod(sides)
        if min(sides) < 1 or max(sides) > longest or cells > MOST_CELLS or row < 1:
            raise ValueError(
                f"A grid must have sides of 1 to {longest} and at most {MOST_CELLS} cells, and a "
                f"row at least one stone, got {self.parameters}."
            )
        self.num_distinct_actions = self.max_game_length = self.num_cells = cells
        self.board_shape: tuple[int, int] = cells // sides[-1], sides[-1]
        self.ring: int = max(sides) if wrap else 0
        # Doubling finds a row in log2(row) shifts: after a shift by s each bit means s more stones.
        shifts, reached, needed = [], 1, min(row, max(sides))
        while reached < needed:
            shifts.append(min(reached, needed - reached))
            reached += shifts[-1]
        self.shifts, self.num_shifts = np.array([*shifts, 0]), len(shifts)
        lines = [line for line in lines_of(sides, wrap) if wrap or len(line[1]) >= row]
        self.num_directions = (3 ** len(sides) - 1) // 2
        # A line that is too short for a row has no bit.
        self.line_at = np.zeros((cells, self.num_directions), np.int32)
        self.bit_at = np.zeros((cells, self.num_directions), np.int64)
        for number, (direction, members) in enumerate(lines):
            self.line_at[members, direction] = number
            self.bit_at[members, direction] = np.int64(1) << np.arange(len(members))
        word = next(kind for bits, kind in WORDS if bits >= max(sides))
        self.fields: dict[str, Any] = {
            "lines": (word, (2, max(1, len(lines)))),
            "cells": (np.int8, cells),
            **dict.fromkeys(("to_move", "moves", "winner"), np.int64),
        }

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty cell."""
        count = 0
        for cell in range(self.num_cells):
            if state.cells[cell] == 0:
                actions[count] = cell
                count += 1
        return count

    def play(self, state: Any, action: int) -> None:
        """Put a stone, and look for a row in each line through its cell."""
        player = state.to_move
        rows: Any = np.int64(0)
        for direction in range(self.num_directions):
            line = self.line_at[action, direction]
            stones = state.lines[player, line] | self.bit_at[action, direction]
            state.lines[player, line] = stones
            if self.ring > 0:  # Write the ring twice, so that a row may cross its seam.
                stones |= stones << self.ring
            for step in range(self.num_shifts):
                stones &= stones >> self.shifts[step]
            rows |= stones
        state.cells[action] = player + 1
        state.moves += 1
        state.to_move = 1 - player
        if rows != 0:
            state.winner = player
        elif state.moves == self.num_cells:
            state.winner = DRAWN

    def playout(self, state: Any, players: Any, actions: Any, end: int, stream: Any) -> int:
        """Draw stones from the list of empty cells, stored where the moves go."""
        if end + self.num_cells - state.moves > players.shape[0]:
            return -1
        count = self.legal_actions(state, actions[end:])
        while count > 0 and state.winner == NO_ACTION:
            drawn = end + random_below(stream, count)
            action: Any = np.int64(actions[drawn])
            actions[drawn] = actions[end]
            actions[end] = action
            players[end] = state.to_move
            self.play(state, action)
            end += 1
            count -= 1
        return end

    def describe_board(self, state: Any, cells: Any) -> None:
        """0 for an empty cell, else one more than the stone's owner."""
        for cell in range(self.num_cells):
            cells[cell] = state.cells[cell]

    def action_to_string(self, player: int, action: int) -> str:
        """The player's sign, the row and the column."""
        row, column = divmod(action, self.board_shape[1])
        return f"{'xo'[player]}({row},{column})"

    def string_of(self, state: Any) -> str:
        """The board."""
        return "\n".join(self.board_rows(state, ".xo"))
