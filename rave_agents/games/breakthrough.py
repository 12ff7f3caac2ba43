"""Breakthrough, as OpenSpiel has it: ``breakthrough(rows=8,columns=8)``.

Pieces go one row ahead: straight to an empty square, or diagonally to one without an own piece. The
player who reaches the last row or takes the last piece wins (OpenSpiel, ``breakthrough.h``). Both
begin with two rows of pieces, or with one if the board has fewer than six rows.

An action is the piece's square, counted from player 0's corner, one of six directions (three for
each player) and whether it captures, in mixed base (rows * columns, 6, 2).

The rules foresee wins in a race. A *runner* reaches the last row whatever the opponent does: no
square of its path can be attacked when it gets there, nor blocked where it goes straight, and the
opponent arrives later (a race pattern, Saffidine, Jouandeau & Cazenave 2012).
"""

from typing import Any

import numpy as np

from rave_agents.games.bits import (
    NONE,
    ONE,
    count_bits,
    has_bit,
    lowest_bit,
    nth_bit,
)
from rave_agents.games.races import RaceRules
from rave_agents.simulate.random_stream import random_below

FULL_ROWS = 6
"""Number of rows from which each player begins with two rows of pieces."""


class Breakthrough(RaceRules):
    """See the module."""

    name = "breakthrough"
    uncovered = "more than 64 squares"
    planes = 1, 2, 0  # Player 0's pieces, player 1's, empty squares.
    rows: int = 8
    columns: int = 8

    def setup(self) -> None:
        """Lay out the bitboard: bit ``row * columns + column``."""
        squares = self.lay_board(2)
        self.num_distinct_actions: int = squares * 12
        filled = self.columns * (2 if self.rows >= FULL_ROWS else 1)
        self.max_actions: int = 3 * filled
        # Every move takes one piece a row ahead.
        self.max_game_length: int = 2 * filled * (self.rows - 1) + 1
        every = (1 << squares) - 1
        homes = [(1 << filled) - 1, every & ~((1 << squares - filled) - 1)]
        self.homes = np.array(homes, np.uint64)
        self.lay_rows(self.rows, self.columns)

    def lay_rows(self, rows: int, columns: int) -> None:
        """Lay out the last row of each player, and the squares with room for each direction."""
        squares = rows * columns
        every, last = (1 << squares) - 1, (1 << columns) - 1
        self.goals = np.array([last << squares - columns, last], np.uint64)
        # Directions 0, 1, 2 go to the left, straight and to the right: a piece in the first column
        # cannot go to the left, where a shift would carry it into the row before.
        edges = [sum(1 << row * columns + side for row in range(rows)) for side in (0, columns - 1)]
        self.inner = np.array([every & ~edges[0], every, every & ~edges[1]], np.uint64)
        self.ahead = np.array([columns - 1, columns, columns + 1], np.uint64)

    def after_step(self, pieces: Any, player: int, direction: int) -> Any:
        """Where pieces are after a step in a direction, occupied or not."""
        pieces &= self.inner[direction]
        if player == 0:
            return pieces << self.ahead[direction]
        return pieces >> self.ahead[2 - direction]

    def after_aslant(self, pieces: Any, player: int) -> Any:
        """Where pieces are after a diagonal step."""
        return self.after_step(pieces, player, 0) | self.after_step(pieces, player, 2)

    def foresee_end(self, state: Any, player: int, carrier: Any, room: Any) -> int:
        """The number of moves until a runner arrives: negative if it is the opponent's."""
        other = 1 - player
        moves = self.moves_to_run(other, state.pieces[other], state.pieces[player], True)
        if moves != 0:
            return -moves
        return self.moves_to_run(player, state.pieces[player], state.pieces[other], False)

    def moves_to_run(self, player: int, own: Any, others: Any, first: bool) -> int:
        """The moves of both until a runner of a player arrives; 0 if no piece is one.

        Args:
            player: the owner of the runner.
            own: the player's pieces.
            others: the opponent's.
            first: whether the player is to move.
        """
        runners, reached = own, others
        for step in range(self.board_shape[0]):
            if step > 0 or not first:
                # All squares that the opponent can have reached by now if each piece made every
                # move: more than one game allows, so a runner is safe in any case.
                captures = self.after_aslant(reached, 1 - player)
                runners &= ~captures
                reached |= captures | self.after_step(reached, 1 - player, 1)
                if reached & self.goals[1 - player] != NONE:
                    return 0
            straight = self.after_step(runners, player, 1) & ~reached
            runners = ~own & (self.after_aslant(runners, player) | straight)
            if runners & self.goals[player] != NONE:
                return 2 * step + (1 if first else 2)
            if runners == NONE:
                return 0
        return 0

    def movable(self, state: Any, direction: int) -> Any:
        """The pieces that can go in a direction: 0 to the left, 1 straight, 2 to the right."""
        player = state.to_move
        own, other = state.pieces[player], state.pieces[1 - player]
        free = ~(own | other) if direction == 1 else ~own
        pieces = own & self.inner[direction]
        if player == 0:
            return pieces & (free >> self.ahead[direction])
        return pieces & (free << self.ahead[2 - direction])

    def target(self, player: int, square: int, direction: int) -> int:
        """The square that a piece moves to."""
        return square + direction - 1 + (self.columns if player == 0 else -self.columns)

    def action_of(self, state: Any, square: int, direction: int) -> int:
        """The number of a move."""
        player = state.to_move
        captures = has_bit(state.pieces[1 - player], self.target(player, square, direction))
        return (square * 6 + player * 3 + direction) * 2 + captures

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Piece by piece, direction by direction."""
        left, straight, right = (
            self.movable(state, 0),
            self.movable(state, 1),
            self.movable(state, 2),
        )
        pieces = left | straight | right
        count = 0
        while pieces != NONE:
            square = lowest_bit(pieces)
            pieces &= pieces - ONE
            for direction in range(3):
                movable = left if direction == 0 else straight if direction == 1 else right
                if has_bit(movable, square):
                    actions[count] = self.action_of(state, square, direction)
                    count += 1
        return count

    def play(self, state: Any, action: int) -> None:
        """Move a piece, and take what stands there."""
        player, square = state.to_move, action // 12
        self.go(state, square, self.target(player, square, action // 2 % 6 - 3 * player))

    def draw(self, state: Any, stream: Any) -> int:
        """A place among the moves of all directions."""
        left, straight, right = (
            self.movable(state, 0),
            self.movable(state, 1),
            self.movable(state, 2),
        )
        lefts, straights = count_bits(left), count_bits(straight)
        place = random_below(stream, lefts + straights + count_bits(right))
        if place < lefts:
            return self.action_of(state, nth_bit(left, place), 0)
        place -= lefts
        if place < straights:
            return self.action_of(state, nth_bit(straight, place), 1)
        return self.action_of(state, nth_bit(right, place - straights), 2)

    def action_to_string(self, player: int, action: int) -> str:
        """The squares that a piece leaves and reaches, with a star for a capture."""
        square = action // 12
        direction = action // 2 % 6
        mover, step = divmod(direction, 3)
        places = (square, self.target(mover, square, step))
        written = "".join(self.square_name(place) for place in places)
        return written + "*" * (action % 2)

    def square_name(self, square: int) -> str:
        """The column's letter and the row's number, from player 1's side."""
        row, column = divmod(square, self.columns)
        return f"{chr(ord('a') + column)}{chr(ord('1') + self.rows - 1 - row)}"

    def string_of(self, state: Any) -> str:
        """The board, player 0's pieces above."""
        rows = self.board_rows(state, ".bw")
        letters = "".join(self.square_name(column)[0] for column in range(self.columns))
        return "\n".join([*(f"{self.rows - i}{row}" for i, row in enumerate(rows)), " " + letters])
