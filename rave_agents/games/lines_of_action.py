"""Lines of Action, as OpenSpiel has it: ``lines_of_action(max_game_length=1000)``.

A piece moves in a straight line by as many squares as there are pieces on that line, over own
pieces but not over the opponent's, onto an empty square or an opponent's piece, which it captures.
A player with all pieces in one group, diagonals counted, wins: the mover if both have one. A player
without a move loses. A repeated board, whoever is to move, and the last move of the longest game
are a draw, even if they connect a group (OpenSpiel, ``lines_of_action.cc``).

Square 0 is a1, squares go to the right and then upwards. Action ``(from * 64 + to) * 2`` is a move,
plus 1 if it captures. The history holds 64-bit keys of boards; a capture empties it, as no earlier
board can occur again.
"""

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from rave_agents.games.bits import (
    NONE,
    ONE,
    bit,
    count_bits,
    has_bit,
    key_of,
    nth_bit,
    write_owners,
)
from rave_agents.games.coordinates import cell_name
from rave_agents.games.kit.rules import DRAWN, NO_ACTION, TERMINAL, WinnerRules, insert
from rave_agents.simulate.random_stream import random_below

SIZE, SQUARES = 8, 64
"""The board."""

DIRECTIONS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))
"""Steps in rows and columns; the opposite of each is four places further."""

NOT_FIRST, NOT_LAST = np.uint64(0xFEFEFEFEFEFEFEFE), np.uint64(0x7F7F7F7F7F7F7F7F)
"""All squares but those of the first and of the last column."""

UP, SIDE = np.uint64(8), np.uint64(1)
"""Distance from a square to the one above, and to the one on the right."""


class LinesOfAction(WinnerRules):
    """See the module."""

    name = "lines_of_action"
    uncovered = "max_game_length above 4096 or below 0"
    exchange = "same"
    unordered = {"boards": "num_boards"}  # noqa: RUF012  (read only)
    max_game_length: Annotated[int, Ge(0), Le(4096)] = 1000
    board_shape = SIZE, SIZE

    def setup(self) -> None:
        """Lay out the lines of each square."""
        # OpenSpiel never ends a game before the first move.
        self.max_game_length = max(1, self.max_game_length)
        self.num_distinct_actions = SQUARES * SQUARES * 2
        self.max_actions = 12 * 8
        self.lines = np.zeros((SQUARES, 4), np.uint64)  # The squares of each line through it.
        self.room = np.zeros((SQUARES, 8), np.int64)  # How far it is to the edge.
        self.between = np.zeros((SQUARES, 8, SIZE + 1), np.uint64)  # The squares that are jumped.
        self.steps = np.array([row * SIZE + column for row, column in DIRECTIONS])
        for square in range(SQUARES):
            for direction, (up, right) in enumerate(DIRECTIONS):
                row, column = square // SIZE + up, square % SIZE + right
                jumped = 0
                while 0 <= row < SIZE and 0 <= column < SIZE:
                    self.room[square, direction] += 1
                    self.between[square, direction, self.room[square, direction]] = jumped
                    jumped |= 1 << row * SIZE + column
                    row, column = row + up, column + right
                # Opposite directions share a line.
                self.lines[square, direction % 4] |= np.uint64(jumped | 1 << square)
        self.start = np.array([0x7E0000000000007E, 0x0081818181818100], np.uint64)
        self.fields: dict[str, Any] = {
            "pieces": (np.uint64, 2),
            **dict.fromkeys(("player", "winner", "moves", "num_boards"), np.int64),
            "boards": (np.uint64, self.max_game_length + 1),
        }

    def begin(self, state: Any) -> None:
        """Twelve pieces each, on opposite sides of the board without its corners."""
        state.pieces[:] = self.start
        state.winner = NO_ACTION
        state.boards[0] = key_of(state.pieces[0], state.pieces[1])
        state.num_boards = 1

    def player(self, state: Any) -> int:
        """Players take turns."""
        return state.player if state.winner == NO_ACTION else TERMINAL

    def target(self, own: Any, other: Any, square: int, direction: int) -> int:
        """The square that a piece reaches in a direction; ``NO_ACTION`` if it cannot move."""
        distance = count_bits((own | other) & self.lines[square, direction & 3])
        if distance > self.room[square, direction]:
            return NO_ACTION
        if other & self.between[square, direction, distance] != NONE:
            return NO_ACTION
        target = square + distance * self.steps[direction]
        return NO_ACTION if has_bit(own, target) else target

    def action(self, other: Any, square: int, target: int) -> int:
        """The number of a move."""
        return (square * SQUARES + target) * 2 + (1 if has_bit(other, target) else 0)

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Each piece's moves, sorted for each piece."""
        own, other = state.pieces[state.player], state.pieces[1 - state.player]
        count = 0
        for piece in range(count_bits(own)):
            square, first = nth_bit(own, piece), count
            for direction in range(8):
                target = self.target(own, other, square, direction)
                if target >= 0:
                    action = self.action(other, square, target)
                    count = insert(actions, first, count, action)
        return count

    def can_move(self, own: Any, other: Any) -> bool:
        """True if a player has a move."""
        for place in range(8 * count_bits(own)):
            if self.target(own, other, nth_bit(own, place >> 3), place & 7) >= 0:
                return True
        return False

    def is_one_group(self, pieces: Any) -> bool:
        """True if all pieces are connected: a flood fill from the first one reaches all."""
        group = pieces & (~pieces + ONE)
        while True:
            wide = group | ((group << SIDE) & NOT_FIRST) | ((group >> SIDE) & NOT_LAST)
            grown = (wide | (wide << UP) | (wide >> UP)) & pieces
            if grown == group:
                return group == pieces
            group = grown

    def play(self, state: Any, action: int) -> None:
        """Move a piece, take what is there, and see whether the game is over."""
        player = state.player
        square, target, takes = action >> 7, (action >> 1) & (SQUARES - 1), action & 1
        own = (state.pieces[player] ^ bit(square)) | bit(target)
        other = state.pieces[1 - player] & ~bit(target)
        state.pieces[player], state.pieces[1 - player] = own, other
        state.moves += 1
        state.player = 1 - player
        if takes == 1:
            state.num_boards = 0
        if self.keep_board(state) or state.moves >= self.max_game_length:
            state.winner = DRAWN
        elif self.is_one_group(own):
            state.winner = player
        elif self.is_one_group(other):
            state.winner = 1 - player
        elif not self.can_move(other, own):
            state.winner = player

    def keep_board(self, state: Any) -> bool:
        """Add the board to the history; returns whether it occurred before."""
        key = key_of(state.pieces[0], state.pieces[1])
        found = False
        for index in range(state.num_boards):
            found = found or state.boards[index] == key
        state.boards[state.num_boards] = key
        state.num_boards += 1
        return found

    def draw(self, state: Any, stream: Any) -> int:
        """Draw a piece and a direction until they are a move."""
        own, other = state.pieces[state.player], state.pieces[1 - state.player]
        count = count_bits(own)
        while True:
            drawn = random_below(stream, 8 * count)
            square = nth_bit(own, drawn >> 3)
            target = self.target(own, other, square, drawn & 7)
            if target >= 0:
                return self.action(other, square, target)

    def action_to_string(self, player: int, action: int) -> str:
        """The two squares, x between them where a piece is taken."""
        one, other = (cell_name(at % SIZE, at // SIZE) for at in (action >> 7, action >> 1 & 63))
        return f"{one}{'-x'[action & 1]}{other}"

    def describe_board(self, state: Any, cells: Any) -> None:
        """0 for an empty square, else one more than the piece's owner."""
        write_owners(state.pieces, cells)
