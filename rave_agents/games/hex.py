"""Hex, as OpenSpiel has it: ``hex(num_cols=11,num_rows=11,swap=False)``.

Players put stones on empty cells; player 0 connects the first row with the last, player 1 the first
column with the last, and nobody draws (OpenSpiel, ``hex.h``). With ``swap``, the second player may
take the first stone over: it becomes theirs, mirrored on the long diagonal. Action ``row * num_cols
+ column`` is a cell.

A player's stones are *lines* of bits across the direction of play: rows for player 0, columns for
player 1. So the game is the same for both: the neighbours of bit b are b - 1 and b + 1 in its line,
b and b - 1 in the next line, and b and b + 1 in the one before.
"""

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from rave_agents.compiler.dispatch import not_inlined
from rave_agents.games.bridges import BridgeRules
from rave_agents.games.coordinates import cell_name
from rave_agents.games.kit.rules import NO_ACTION

LARGEST = 62
"""The most rows and columns: a line must fit into a word."""

Side = Annotated[int, Ge(2), Le(LARGEST)]
"""A number of rows or columns."""

# The cells of three rows and columns:
#
#   0 1 2         player 0 joins the top and the bottom,
#    3 4 5        player 1 the left and the right;
#     6 7 8       cell 4 touches 1, 2, 3, 5, 6 and 7


class Hex(BridgeRules):
    """See the module."""

    name = "hex"
    uncovered = "rows or columns above 62"
    implied = ("board_size",)
    num_cols: Side = 11
    num_rows: Side = 11
    swap: bool = False
    turns = ("half_turn",)

    def setup(self) -> None:
        """Lay out the lines."""
        sides = self.num_rows, self.num_cols
        if self.swap and self.num_rows != self.num_cols:
            raise ValueError("swap needs as many rows as columns.")
        self.cells: int = self.num_rows * self.num_cols
        self.num_distinct_actions: int = self.cells + self.swap
        self.max_game_length: int = self.cells + self.swap
        self.sides = self.board_shape = sides
        self.placement = self.more_stones_never_hurt = not self.swap
        self.exchange: str = "transposed" if sides[0] == sides[1] and not self.swap else ""
        self.plays_itself: bool = not self.swap  # The swap is a move that fills no cell.
        self.points = np.arange(self.cells)
        rows, columns = np.indices(sides)
        ends = [rows == 0, rows == sides[0] - 1, columns == 0, columns == sides[1] - 1]
        self.lay_bridges(np.ones(sides, np.bool_), np.array(ends), (0b0011, 0b1100))
        self.fields: dict[str, Any] = {
            **self.board_fields(max(sides)),
            **self.answer_fields,
            "reached": (np.int64, max(sides)),
        }
        self.aside = (*self.aside, *self.answer_fields, "reached")

    def is_empty(self, state: Any, action: int) -> bool:
        """True if a cell has no stone."""
        row, column = action // self.num_cols, action % self.num_cols
        return (state.lines[0, row] >> column | state.lines[1, column] >> row) & 1 == 0

    def owns(self, state: Any, player: int, action: int) -> bool:
        """True if a cell has a player's stone."""
        row, column = action // self.num_cols, action % self.num_cols
        line, bit = (row, column) if player == 0 else (column, row)
        return bool(state.lines[player, line] >> bit & 1 == 1)

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty cell; at the second move also the swap."""
        count = self.list_empty(state, actions)
        if self.swap and state.moves == 1:
            actions[count] = self.cells
            count += 1
        return count

    def toggle(self, state: Any, player: int, action: int) -> None:
        """Put a player's stone on a cell, or remove it."""
        row, column = action // self.num_cols, action % self.num_cols
        if player == 0:
            state.lines[0, row] ^= np.int64(1) << column
        else:
            state.lines[1, column] ^= np.int64(1) << row

    def play(self, state: Any, action: int) -> None:
        """Put a stone of the player to move, or swap the first one."""
        player = state.to_move
        if action == self.cells:
            # Rows become columns: the stone is mirrored as it changes its owner.
            for line in range(self.num_rows):
                state.lines[1, line] = state.lines[0, line]
                state.lines[0, line] = 0
        else:
            self.toggle(state, player, action)
            if self.has_all_lines(state, player) and self.has_connected(state, player):
                state.winner = player
        state.last = NO_ACTION if action == self.cells else action
        state.moves += 1
        state.to_move = 1 - player

    def spread(self, reached: int, stones: int) -> int:
        """All stones of a line connected with the reached ones, by doubled steps (Kogge-Stone)."""
        up = down = reached
        above = below = stones
        step = 1
        while step < LARGEST:
            up |= above & (up << step)
            above &= above << step
            down |= below & (down >> step)
            below &= below >> step
            step *= 2
            if step >= max(self.num_rows, self.num_cols):
                break
        return up | down

    def is_connected(self, state: Any, player: int) -> bool:
        """True if a player's first line is connected with the last one."""
        if not self.has_all_lines(state, player):
            return False
        last = self.sides[player] - 1
        reached = state.lines[player, 0]
        state.reached[0] = reached
        for line in range(1, last + 1):
            stones = state.lines[player, line]
            reached = stones & (reached | reached >> 1)
            if reached != 0:
                reached = self.spread(reached, stones)
            state.reached[line] = reached
        while state.reached[last] == 0:
            if not self.sweep(state, player, last):
                return False
        return True

    @not_inlined
    def has_connected(self, state: Any, player: int) -> bool:
        """``is_connected``, for a move: playouts, which look once at the end, have it inlined."""
        return self.is_connected(state, player)

    def has_all_lines(self, state: Any, player: int) -> bool:
        """True if a player has a stone in every line, as every connection has, but few boards."""
        lines = 0
        while lines < self.sides[player] and state.lines[player, lines] != 0:
            lines += 1
        return bool(lines == self.sides[player])

    def sweep(self, state: Any, player: int, last: int) -> bool:
        """Follow stones up and down once; returns whether more are reached."""
        # Lines last - 1, ..., 0, then 1, ..., last: each takes over from the line next to it.
        changed = False
        for back in range(2 * last):
            line = last - 1 - back if back < last else back - last + 1
            near = state.reached[line + 1] if back < last else state.reached[line - 1]
            near |= near << 1 if back < last else near >> 1
            stones = state.lines[player, line]
            new = stones & near & ~state.reached[line]
            if new != 0:
                state.reached[line] |= self.spread(new, stones)
                changed = True
        return changed

    def action_to_string(self, player: int, action: int) -> str:
        """The column's letter and the row's number."""
        if action == self.cells:
            return "swap"
        return cell_name(action % self.num_cols, action // self.num_cols)

    def string_of(self, state: Any) -> str:
        """The board, each row half a cell further to the right."""
        rows = self.board_rows(state, ".xo", " ")
        return "\n".join(" " * row + signs for row, signs in enumerate(rows))
