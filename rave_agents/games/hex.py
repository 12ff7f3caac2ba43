"""Hex, as OpenSpiel has it: ``hex(num_cols=11,num_rows=11,swap=False)``.

Players put stones on empty cells; player 0 connects the first row with the last, player 1 the first
column with the last, and nobody draws (OpenSpiel, ``hex.h``). With ``swap``, the second player may
take the first stone over: it becomes theirs, mirrored on the long diagonal.

A player's stones are *lines* of bits across the way that they go: rows for player 0, columns for
player 1. Seen so the game is the same for both: the neighbours of bit b are b - 1 and b + 1 in its
line, b and b - 1 in the next one, and b and b + 1 in the one before.
"""

from typing import Any

import numpy as np

from rave_agents.games.bridge_playouts import BridgePlayouts
from rave_agents.games.coordinates import cell_name
from rave_agents.games.kit.rules import NO_ACTION

SMALLEST, LARGEST = 2, 62
"""The fewest and the most rows and columns."""


class Hex(BridgePlayouts):
    """See the module."""

    name = "hex"
    num_cols: int = 11
    num_rows: int = 11
    swap: bool = False
    turns = ("half_turn",)

    def setup(self) -> None:
        """Lay out the lines."""
        sides = self.num_rows, self.num_cols
        if min(sides) < SMALLEST or max(sides) > LARGEST:
            raise ValueError(f"num_rows and num_cols must be {SMALLEST} to {LARGEST}, got {sides}.")
        if self.swap and self.num_rows != self.num_cols:
            raise ValueError("swap needs as many rows as columns.")
        self.cells: int = self.num_rows * self.num_cols
        self.num_distinct_actions: int = self.cells + self.swap
        self.max_game_length: int = self.cells + self.swap
        self.sides = self.board_shape = sides
        self.placement = self.more_stones_never_hurt = not self.swap
        self.exchange: str = "transposed" if sides[0] == sides[1] and not self.swap else ""
        self.plays_itself: bool = not self.swap  # To swap is a move that fills no cell.
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
        """Every empty cell; and to swap, once."""
        count = self.list_empty(state, actions)
        if self.swap and state.moves == 1:
            actions[count] = self.cells
            count += 1
        return count

    def toggle(self, state: Any, player: int, action: int) -> None:
        """Put a player's stone on a cell, or take it away."""
        row, column = action // self.num_cols, action % self.num_cols
        if player == 0:
            state.lines[0, row] ^= np.int64(1) << column
        else:
            state.lines[1, column] ^= np.int64(1) << row

    def play(self, state: Any, action: int) -> None:
        """A stone of the player to move; or the first stone changes its owner and its place."""
        player = state.to_move
        if action == self.cells:
            for line in range(self.num_rows):
                state.lines[1, line] = state.lines[0, line]
                state.lines[0, line] = 0
        else:
            self.toggle(state, player, action)
            if self.is_connected(state, player):
                state.winner = player
        state.last = NO_ACTION if action == self.cells else action
        state.moves += 1
        state.to_move = 1 - player

    def spread(self, reached: int, stones: int) -> int:
        """All stones of a line that are joined with some, by doubled steps (Kogge-Stone)."""
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
        """True if a player's first line is joined with the last: swept down and up until it is."""
        last = self.sides[player] - 1
        for line in range(last + 1):
            if state.lines[player, line] == 0:
                return False
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

    def sweep(self, state: Any, player: int, last: int) -> bool:
        """Follow stones up and down again; returns whether more are reached."""
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
        signs = [" ".join(row) for row in np.array(list(".xo"))[self.owners(state)]]
        return "\n".join(" " * row + signs[row] for row in range(self.num_rows))

    def observation(self, state: Any) -> Any:
        """Planes of empty cells, stones of player 0, stones of player 1."""
        owners = self.owners(state)
        return np.array([owners == owner for owner in range(3)], np.float32)

    def owners(self, state: Any) -> Any:
        """Owners of the cells, rows × columns: 0 for empty, else one more than the player."""
        rows, columns = np.arange(self.num_rows), np.arange(self.num_cols)
        first = state.lines[0, rows][:, None] >> columns & 1
        second = state.lines[1, columns][None, :] >> rows[:, None] & 1
        return first + 2 * second
