"""Connect four, as OpenSpiel has it: ``connect_four(rows=6,columns=7,x_in_row=4)``.

Players drop pieces into columns; the first line of four, or of ``x_in_row``, wins, and a full board
is a draw (OpenSpiel, ``connect_four.h``). Each player's pieces are a bitboard of ``rows + 1`` bits
a column, the last of them always empty, so that no line goes on in the next column (Tromp, "John's
Connect Four Playground"; Herzberg, "Bitboards and Connect Four").
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from rave_agents.games.bits import NONE, ONE
from rave_agents.games.kit.rules import NO_ACTION, TERMINAL, Rules
from rave_agents.simulate.random_stream import random_below

LARGEST = 64
"""The most bits of a board."""

ALL = ~NONE
"""Every bit."""

# The bits of squares:
#
#   .  .  .  .  .  .  .      6 13 20 27 34 41 48  (always empty)
#   5 12 19 26 33 40 47
#   :  :  :  :  :  :  :      up 1, right 7,
#   1  8 15 22 29 36 43      diagonals 6 and 8
#   0  7 14 21 28 35 42


class ConnectFour(Rules):
    """See the module."""

    name = "connect_four"
    uncovered = "(rows + 1) * columns above 64"
    exchange = "same"
    turns = ("mirrored",)
    rows: int = 6
    columns: int = 7
    x_in_row: int = 4

    def setup(self) -> None:
        """Lay out the bitboard."""
        if min(self.rows, self.columns, self.x_in_row) < 1:
            raise ValueError(f"{self.parameters} must all be at least 1.")
        if (self.rows + 1) * self.columns > LARGEST:
            raise ValueError(
                f"(rows + 1) * columns must be at most {LARGEST}, got rows={self.rows}, "
                f"columns={self.columns}."
            )
        self.height: int = self.rows + 1
        self.board_shape: tuple[int, int] = self.rows, self.columns
        self.num_distinct_actions: int = self.columns
        self.max_game_length = self.squares = self.rows * self.columns
        self.fields: dict[str, Any] = {
            "pieces": (np.uint64, 2),
            "player": np.int64,
            "moves": np.int64,
            "winner": np.int64,
        }
        ones = [np.uint64(1 << self.height * column) for column in range(self.columns)]
        self.bottoms = np.array(ones, np.uint64)
        self.tops = self.bottoms << np.uint64(self.rows - 1)
        self.bottom: Any = np.bitwise_or.reduce(self.bottoms)
        self.board: Any = np.bitwise_or.reduce((self.tops << ONE) - self.bottoms)
        # On a board of one column a step of 63 shifts all pieces out, as a shift by 64 is
        # undefined.
        steps = [1, self.height, self.height - 1, self.height + 1]
        self.steps = np.array([min(step, LARGEST - 1) for step in steps], np.uint64)

    def begin(self, state: Any) -> None:
        """The board is empty, and nobody has won."""
        state.winner = NO_ACTION

    def place(self, state: Any, rows: Sequence[Sequence[int]], player: int) -> None:
        """Set up a board, its lowest row first: the player of each piece, -1 for none."""
        for row, pieces in enumerate(rows):
            for column, owner in enumerate(pieces):
                if owner >= 0:
                    state.pieces[owner] |= np.uint64(1 << self.height * column + row)
                    state.moves += 1
        state.player = player
        for owner in range(2):
            if self.has_line(state.pieces[owner]):
                state.winner = owner

    def place_text(self, state: Any, text: str) -> None:
        """Set up a board in OpenSpiel's JSON, its lowest row first."""
        given = json.loads(text)
        rows = [["xo".find(sign) for sign in row] for row in given["board"]]
        # "Terminal" at the end of a game.
        self.place(state, rows, max(0, "xo".find(given["current_player"])))

    def player(self, state: Any) -> int:
        """Players take turns until one has won or the board is full."""
        if state.winner != NO_ACTION or state.moves == self.squares:
            return TERMINAL
        return state.player

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every column that is not full."""
        taken = state.pieces[0] | state.pieces[1]
        count = 0
        for column in range(self.columns):
            if taken & self.tops[column] == NONE:
                actions[count] = column
                count += 1
        return count

    def play(self, state: Any, action: int) -> None:
        """Drop a piece: adding the column's lowest bit carries up to its first gap."""
        player = state.player
        taken = state.pieces[0] | state.pieces[1]
        state.pieces[player] |= (taken + self.bottoms[action]) & ~taken & self.column(action)
        state.moves += 1
        state.player = 1 - player
        if self.has_line(state.pieces[player]):
            state.winner = player

    def column(self, action: int) -> Any:
        """All squares of a column."""
        return (self.tops[action] << ONE) - self.bottoms[action]

    def has_line(self, pieces: Any) -> bool:
        """True if there is a line: a set that overlaps itself when moved along a direction."""
        for direction in range(4):
            line = pieces
            for _ in range(self.x_in_row - 1):
                line &= line >> self.steps[direction]
            if line != NONE:
                return True
        return False

    def completing(self, pieces: Any) -> Any:
        """The squares that would complete a line of the pieces, occupied or not."""
        # For each place of the square in its line: the pieces before and after it are all there.
        found = NONE
        for direction in range(4):
            step = self.steps[direction]
            for place in range(self.x_in_row):
                before, after = ALL, ALL
                for _ in range(place):
                    before = (before & pieces) << step
                for _ in range(self.x_in_row - 1 - place):
                    after = (after & pieces) >> step
                found |= before & after
        return found

    def foresee_end(self, state: Any, player: int, carrier: Any, room: Any) -> int:
        """The number of moves until a line if each is forced; negative if the opponent gets it."""
        # `own` moves next: complete a line, else stop one of theirs; two to stop are too many, as
        # is one that lets them complete a line above it.
        own, others, moves = state.pieces[1 - player], state.pieces[player], 0
        while True:
            free = ((own | others) + self.bottom) & self.board
            if free == NONE:
                return 0
            if free & self.completing(own) != NONE:
                return -moves - 1 if moves % 2 == 0 else moves + 1
            lines = self.completing(others) & self.board
            move = free & lines
            if move == NONE:  # Nothing to stop: play no square below one that completes theirs.
                move = free & ~(lines >> ONE)
                if move & (move - ONE) != NONE:
                    return 0
            elif move & (move - ONE) != NONE or move & (lines >> ONE) != NONE:
                move = NONE
            if move == NONE:
                return moves + 2 if moves % 2 == 0 else -moves - 2
            own, others = others, own | move
            moves += 1

    def describe_board(self, state: Any, cells: Any) -> None:
        """0 for an empty square, else one more than the piece's owner."""
        for row in range(self.rows):
            for column in range(self.columns):
                place = np.uint64(self.height * column + row)
                first, second = state.pieces[0] >> place & ONE, state.pieces[1] >> place & ONE
                cells[row * self.columns + column] = first + second + second

    def describe_position(self, state: Any, cells: Any) -> int:
        """The board; and who is to move."""
        self.describe_board(state, cells)
        return int(state.player)

    def returns(self, state: Any, returns: Any) -> None:
        """1 for who has a line, -1 for the other."""
        if state.winner != NO_ACTION:
            self.write_winner(returns, state.winner)

    def draw(self, state: Any, stream: Any) -> int:
        """Columns are drawn until one is not full."""
        taken = state.pieces[0] | state.pieces[1]
        while True:
            column = random_below(stream, self.columns)
            if taken & self.tops[column] == NONE:
                return column

    def action_to_string(self, player: int, action: int) -> str:
        """The player's sign and the column."""
        return f"{'xo'[player]}{action}"
