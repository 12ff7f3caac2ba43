"""Checkers, as OpenSpiel has it: ``checkers(rows=8,columns=8,egocentric=False)``.

Men go one square ahead on a diagonal, kings in all four directions; a piece captures an adjacent
piece by jumping over it. Captures are compulsory, and go on with the same piece while it can, each
jump being a move of its own; a man that becomes a king ends the turn. A player without a move
loses, and 40 moves without a capture are a draw (OpenSpiel, ``checkers.cc``).

Square 0 is at the upper left, squares go to the right and then downwards, and an action is the
piece's square, one of four directions and whether it captures, in mixed base (rows * columns, 4,
2). Sets have a bit for each dark square. With an even number of columns they have one more bit per
two rows, which is always 0, so that each direction is the same distance everywhere.
"""

from typing import Any

import numpy as np

from rave_agents.games.bits import NONE, bit, has_bit
from rave_agents.games.coordinates import board_of_squares, cell_name
from rave_agents.games.directed import DirectedRules
from rave_agents.games.kit.rules import DRAWN, NO_ACTION

DIRECTIONS = ((-1, -1), (-1, 1), (1, 1), (1, -1))
"""Steps in rows and columns; player 0's men take the first two, player 1's the others."""

FILLED_ROWS = 3
"""Rows of pieces of each player."""

LONGEST_QUIET = 40
"""Moves without a capture after which the game is drawn."""

LARGEST, LETTERS = 64, 26
"""The most bits of a set, and the most columns."""

# The bits of squares:
#
#     .  0  .  1  .  2  .  3  |        the bits of 8 x 8 squares:
#     4  .  5  .  6  .  7  .  (8)      to the upper left and right 5 and 4 less,
#     .  9  . 10  . 11  . 12  |        to the lower right and left 5 and 4 more


class Checkers(DirectedRules):
    """See the module."""

    name = "checkers"
    uncovered = (
        "fewer than 7 rows, fewer than 2 columns, more columns than rows, or more than 128 "
        "squares, with one more a row where columns are even"
    )
    cell_kinds = 5
    rows: int = 8
    columns: int = 8
    egocentric: bool = False

    def setup(self) -> None:
        """Lay out the sets."""
        rows, columns = self.rows, self.columns
        width = columns | 1
        # OpenSpiel's code for a further jump fails with more columns than rows.
        fits = 2 <= columns <= min(rows, LETTERS) and rows > 2 * FILLED_ROWS
        if not fits or rows * width // 2 > LARGEST:
            raise ValueError(
                f"rows must be at least {2 * FILLED_ROWS + 1}, columns 2 to {LETTERS} and at most "
                f"the rows, and the squares at most {2 * LARGEST}, with one more a row if columns "
                f"are even: got rows={rows}, columns={columns}."
            )
        self.num_distinct_actions: int = rows * columns * 8
        self.board_shape: tuple[int, int] = rows, columns
        dark = [(row, c) for row in range(rows) for c in range(columns) if (row + c) % 2 == 1]
        self.bit_of = np.full(rows * columns, NO_ACTION)
        self.square_of = np.zeros(LARGEST, np.int64)
        for row, column in dark:
            place, square = (row * width + column) // 2, row * columns + column
            self.bit_of[square], self.square_of[place] = place, square
        self.steps = np.array([(up * width + right) // 2 for up, right in DIRECTIONS])
        self.board = self.set_of(dark)
        inner = [[(r, c) for r, c in dark if (r + up, c + to) in dark] for up, to in DIRECTIONS]
        self.inner = np.array([self.set_of(squares) for squares in inner])
        first = [square for square in dark if square[0] >= rows - FILLED_ROWS]
        second = [square for square in dark if square[0] < FILLED_ROWS]
        self.start = np.array([self.set_of(first), self.set_of(second)])
        goals = [[square for square in dark if square[0] == last] for last in (0, rows - 1)]
        self.goals = np.array([self.set_of(squares) for squares in goals])
        self.max_actions: int = 4 * max(len(first), len(second))
        self.max_game_length: int = LONGEST_QUIET * (len(first) + len(second))
        self.fields: dict[str, Any] = {
            "pieces": (np.uint64, 2),
            "kings": np.uint64,
            "movable": (np.uint64, 4),
            **dict.fromkeys(("takes", "to_move", "quiet", "winner"), np.int64),
        }

    def set_of(self, squares: Any) -> Any:
        """The set of squares given by row and column."""
        bits = [1 << int(self.bit_of[row * self.columns + column]) for row, column in squares]
        return np.uint64(sum(bits))

    def begin(self, state: Any) -> None:
        """Men fill three rows on each side."""
        state.pieces[:] = self.start
        state.winner = NO_ACTION
        self.find_any(state, 0)

    def beside(self, targets: Any, direction: int) -> Any:
        """The squares from which a step in a direction leads to one of the targets."""
        step = self.steps[direction]
        moved = targets << np.uint64(-step) if step < 0 else targets >> np.uint64(step)
        return moved & self.inner[direction]

    def find_moves(self, state: Any, player: int, pieces: Any, takes: int) -> bool:
        """Store which pieces can capture, or step, in each direction; returns whether any can."""
        other = state.pieces[1 - player]
        free = self.board & ~(state.pieces[player] | other)
        found = NONE
        for direction in range(4):
            targets = free if takes == 0 else other & self.beside(free, direction)
            # Men go in two directions, kings in all.
            movers = pieces if direction >> 1 == player else pieces & state.kings
            state.movable[direction] = movers & self.beside(targets, direction)
            found |= state.movable[direction]
        state.takes = takes
        return found != NONE

    def find_any(self, state: Any, player: int) -> bool:
        """Store what a player can move: captures if there are any, else steps."""
        own = state.pieces[player]
        return self.find_moves(state, player, own, 1) or self.find_moves(state, player, own, 0)

    def action_of(self, state: Any, place: int, direction: int) -> int:
        """The number of a move."""
        return (self.square_of[place] * 4 + direction) * 2 + state.takes

    def play(self, state: Any, action: int) -> None:
        """Move a piece, capture what it jumps over, and find who moves next."""
        player, takes = state.to_move, action & 1
        place, step = self.bit_of[action >> 3], self.steps[action >> 1 & 3]
        left, reached = bit(place), bit(place + step * (1 + takes))
        state.pieces[player] = (state.pieces[player] ^ left) | reached
        was_king = state.kings & left != NONE
        state.kings &= ~left
        crowned = not was_king and reached & self.goals[player] != NONE
        if was_king or crowned:
            state.kings |= reached
        state.quiet += 1
        if takes == 1:
            taken = bit(place + step)
            state.pieces[1 - player] &= ~taken
            state.kings &= ~taken
            state.quiet = 0
            if not crowned and self.find_moves(state, player, reached, 1):
                return
        state.to_move = 1 - player
        if state.quiet >= LONGEST_QUIET:
            state.winner = DRAWN
        elif not self.find_any(state, 1 - player):
            state.winner = player

    def action_to_string(self, player: int, action: int) -> str:
        """The squares that a piece leaves and reaches."""
        row, column = divmod(action // 8, self.columns)
        up, right = DIRECTIONS[action // 2 % 4]
        far = 1 + action % 2
        places = (row, column), (row + far * up, column + far * right)
        return "".join(cell_name(column, self.rows - 1 - row) for row, column in places)

    def string_of(self, state: Any) -> str:
        """The board, with its coordinates."""
        return board_of_squares(self.board_rows(state, ".o+8*"))

    def describe_board(self, state: Any, cells: Any) -> None:
        """0 for an empty square, else one more than the owner, and two more for a king."""
        cells[:] = 0
        for square in range(cells.shape[0]):
            place = self.bit_of[square]
            for player in range(2):
                if place >= 0 and has_bit(state.pieces[player], place):
                    cells[square] = 1 + player + (2 if has_bit(state.kings, place) else 0)

    def observation_of(self, state: Any, player: int) -> Any:
        """Planes of player 0's (or, egocentric, own) men and kings, the others, empty squares."""
        first = player if self.egocentric else 0
        return self.board_planes(state, (1 + first, 3 + first, 2 - first, 4 - first, 0))
