"""Clobber, as OpenSpiel has it: ``clobber(rows=5,columns=6)``.

Pieces of both players fill the board alternately; a move puts a piece onto an adjacent one of the
opponent's, which is captured. A player without a move loses (OpenSpiel, ``clobber.cc``).

Square 0 is at the upper left, squares go to the right and then downwards, and an action is the
piece's square and one of four directions, up, right, down, left: ``square * 4 + direction``.
"""

from typing import Any

import numpy as np

from rave_agents.games.bits import NONE, ONE, bit, count_bits, write_owners
from rave_agents.games.coordinates import board_of_squares, cell_name
from rave_agents.games.directed import DirectedRules
from rave_agents.games.kit.rules import NO_ACTION

LARGEST, LETTERS = 64, 26
"""The most squares, and the most columns."""

SMALL, STAR, LARGE = 3, 2, 3
"""The most pieces of a group of known worth, and the codes of worth ``*`` and of larger groups."""


class Clobber(DirectedRules):
    """See the module."""

    name = "clobber"
    uncovered = "fewer than 2 rows or columns, or more than 64 squares"
    exchange = "same"
    turns = ("mirrored", "upside_down", "transposed")
    aside = ("movable",)
    rows: int = 5
    columns: int = 6

    def setup(self) -> None:
        """Lay out the bitboard: bit ``row * columns + column``."""
        squares = self.rows * self.columns
        if min(self.rows, self.columns) < 2 or squares > LARGEST or self.columns > LETTERS:
            raise ValueError(
                f"rows and columns must be at least 2 and have at most {LARGEST} squares and "
                f"{LETTERS} columns, got rows={self.rows}, columns={self.columns}."
            )
        self.num_distinct_actions = self.max_actions = squares * 4
        self.max_game_length: int = squares - 1
        self.board_shape: tuple[int, int] = self.rows, self.columns
        self.fields: dict[str, Any] = {
            "pieces": (np.uint64, 2),
            "movable": (np.uint64, 4),
            **dict.fromkeys(("to_move", "winner"), np.int64),
        }
        self.steps = np.array([-self.columns, 1, self.columns, -1], np.int64)
        self.up, self.side = np.uint64(self.columns), ONE
        first = sum(1 << row * self.columns for row in range(self.rows))
        every = (1 << squares) - 1
        self.not_first: np.uint64 = np.uint64(every & ~first)
        self.not_last: np.uint64 = np.uint64(every & ~(first << self.columns - 1))
        # Player 0 has the corner at the lower left.
        light = sum(
            1 << square
            for square in range(squares)
            if (square // self.columns + self.rows - 1 + square % self.columns) % 2 == 0
        )
        self.start = np.array([light, every & ~light], np.uint64)

    def begin(self, state: Any) -> None:
        """The pieces are laid out like a chessboard."""
        state.pieces[:] = self.start
        state.winner = NO_ACTION
        self.find_moves(state, state.pieces[0], state.pieces[1])

    def find_moves(self, state: Any, own: Any, other: Any) -> bool:
        """Store the pieces that can move in each direction; returns whether there are any."""
        up, right = own & (other << self.up), own & self.not_last & (other >> self.side)
        down, left = own & (other >> self.up), own & self.not_first & (other << self.side)
        state.movable[0], state.movable[1] = up, right
        state.movable[2], state.movable[3] = down, left
        return (up | right | down | left) != NONE

    def action_of(self, state: Any, place: int, direction: int) -> int:
        """The number of a move."""
        return place * 4 + direction

    def play(self, state: Any, action: int) -> None:
        """Capture an adjacent piece, and see whether the opponent can move."""
        player, square = state.to_move, action >> 2
        left, reached = bit(square), bit(square + self.steps[action & 3])
        own = (state.pieces[player] ^ left) | reached
        other = state.pieces[1 - player] & ~reached
        state.pieces[player], state.pieces[1 - player] = own, other
        state.to_move = 1 - player
        if not self.find_moves(state, other, own):
            state.winner = player

    def action_to_string(self, player: int, action: int) -> str:
        """The squares that a piece leaves and reaches."""
        square = action // 4
        return self.square_name(square) + self.square_name(square + int(self.steps[action % 4]))

    def square_name(self, square: int) -> str:
        """The column's letter and the row's number, from below."""
        row, column = divmod(square, self.columns)
        return cell_name(column, self.rows - 1 - row)

    def string_of(self, state: Any) -> str:
        """The board, with its coordinates."""
        return board_of_squares(self.board_rows(state, ".ox"))

    def describe_board(self, state: Any, cells: Any) -> None:
        """0 for an empty square, else one more than the piece's owner."""
        write_owners(state.pieces, cells)

    def describe_position(self, state: Any, cells: Any) -> int:
        """The groups of four and more pieces, the sum of the smaller ones, and the player to move.

        Groups that do not touch are played independently. A group of one colour is worth 0; two
        pieces, and three with the other colour in the middle, ``*``; other groups of three ``↑`` or
        ``↓``. Sums of equally many of these are the same game (Albert, Grossman, Nowakowski & Wolfe
        2005).
        """
        own, other = state.pieces[0], state.pieces[1]
        rest, pieces, kept = own | other, own | other, NONE
        stars, ups = 0, 0
        while rest != NONE:
            group = rest & (~rest + ONE)
            grown = (group | self.beside(group)) & pieces
            while grown != group:
                group = grown
                grown = (group | self.beside(group)) & pieces
            rest &= ~group
            kind = self.worth_of(own & group, other & group)
            if kind == LARGE:
                kept |= group
            elif kind == STAR:
                stars ^= 1  # * + * = 0.
            else:
                ups += kind
        write_owners((own & kept, other & kept), cells)
        return int((ups * 2 + stars) * 2 + state.to_move)

    def worth_of(self, light: Any, dark: Any) -> int:
        """The worth of a group: 0, ``STAR``, 1 for ``↑``, -1 for ``↓``, or ``LARGE``."""
        if light == NONE or dark == NONE:  # noqa: PLR1714, as rules are compiled.
            return 0
        size = count_bits(light | dark)
        if size > SMALL:
            return LARGE
        alternate = self.beside(light) & light == NONE and self.beside(dark) & dark == NONE
        if size < SMALL or alternate:
            return STAR
        return 1 if count_bits(light) > 1 else -1

    def beside(self, squares: Any) -> Any:
        """The squares adjacent to the given ones."""
        sides = (squares & self.not_last) << self.side | (squares & self.not_first) >> self.side
        return sides | squares << self.up | squares >> self.up

    def observation_of(self, state: Any, player: int) -> Any:
        """Planes of the player's pieces, the other's, and empty squares."""
        return self.board_planes(state, (1 + player, 2 - player, 0))
