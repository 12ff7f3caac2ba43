"""The board of chess and its variants: pieces are put on it, moved, and written as text."""

from typing import Any

import numpy as np

from rave_agents.games.bits import NONE, ONE, bit, has_bit, lowest_bit
from rave_agents.games.chess_notation import LETTERS, MIRRORED, RANKS, SQUARES, Position, move_text
from rave_agents.games.chess_pieces import (
    BLACK,
    KINGS,
    LEFT,
    PAWNS,
    RIGHT,
    STEPS,
    WHITE,
    PieceRules,
)
from rave_agents.games.kit.rules import NO_ACTION

FILE, RANK = SQUARES - RANKS, RANKS - 1
"""The bits of a square's number that tell its file, and those that tell its rank."""


EMPTY = " "
"""The sign of an empty square."""

SIGNS = EMPTY + "".join(letter + letter.lower() for letter in LETTERS)
"""The signs of all that may be on a square: nothing, or a piece, White's and Black's."""


class BoardRules(PieceRules):
    """Rules with a board; a game adds what may not be played, and when it ends."""

    cell_kinds = len(SIGNS)

    def put_pieces(self, state: Any, position: Position) -> None:
        """Set up a position."""
        state.pieces[:] = NONE
        state.kinds[:] = NONE
        for square, letter in enumerate(position.pieces):
            if letter != EMPTY:
                state.pieces[WHITE if letter.isupper() else BLACK] |= bit(square)
                self.put(state, square, LETTERS.index(letter.upper()))
        state.to_move = WHITE if position.is_white else BLACK
        state.passed, state.quiet, state.moves = position.passed, position.quiet, position.number

    def put(self, state: Any, square: int, piece: int) -> None:
        """Add a square to the sets that a piece, by its place in ``LETTERS``, is in."""
        for kind in range(KINGS + 1):
            if self.is_in[piece, kind]:
                state.kinds[kind] |= bit(square)

    def move(self, state: Any, action: int) -> bool:
        """Move a piece and take what is there; returns whether no move can undo that."""
        player = state.to_move
        mirror = 0 if player == WHITE else MIRRORED
        start, way = action // self.destinations, action % self.destinations
        square, target = start ^ mirror, (start + self.offsets[way]) ^ mirror
        left, reached = bit(square), bit(target)
        takes = state.pieces[1 - player] & reached != NONE
        is_pawn = state.kinds[PAWNS] & left != NONE
        state.pieces[player] ^= left | reached
        state.pieces[1 - player] &= ~reached
        for kind in range(KINGS + 1):
            pieces = state.kinds[kind]
            moved = reached if pieces & left != NONE else NONE
            state.kinds[kind] = (pieces & ~(left | reached)) | moved
        passed = state.passed
        state.passed = NO_ACTION
        if is_pawn:
            if target == passed:
                self.take_passed(state, (target & FILE) | (square & RANK))
            self.finish_pawn(state, square, target, self.promoted[way])
        state.quiet = 0 if takes or is_pawn else state.quiet + 1
        state.moves += 1 - player
        state.to_move = 1 - player
        return takes or is_pawn

    def take_passed(self, state: Any, square: int) -> None:
        """Take the pawn that has passed, en passant."""
        taken = ~bit(square)
        state.pieces[1 - state.to_move] &= taken
        state.kinds[PAWNS] &= taken

    def finish_pawn(self, state: Any, square: int, target: int, piece: int) -> None:
        """Promote a pawn on the last rank, or note where one that went two ranks can be taken."""
        if target & RANK == 0 or target & RANK == RANK:
            state.kinds[PAWNS] ^= bit(target)
            self.put(state, target, piece)
        elif abs(target - square) == 2:
            near = self.moved(bit(target), LEFT) | self.moved(bit(target), RIGHT)
            if near & state.pieces[1 - state.to_move] & state.kinds[PAWNS] != NONE:
                state.passed = (square + target) >> 1

    def squares_of(self, state: Any, piece: int) -> Any:
        """Both players' squares with a piece, by its place in ``LETTERS``."""
        squares = ~NONE
        for kind in range(KINGS + 1):
            pieces = state.kinds[kind]
            squares &= pieces if self.is_in[piece, kind] else ~pieces
        return squares

    def describe_board(self, state: Any, cells: Any) -> None:
        """The place in ``SIGNS`` of what is on each square, the first rank first."""
        cells[:] = 0
        for piece in range(len(LETTERS)):
            pieces = self.squares_of(state, piece)
            for player in range(2):
                squares = pieces & state.pieces[player]
                while squares != NONE:
                    square = lowest_bit(squares)
                    squares &= squares - ONE
                    cells[(square & RANK) * RANKS + square // RANKS] = 2 + 2 * piece - player

    def letters(self, state: Any) -> list[str]:
        """The sign of each square."""
        cells = np.zeros(SQUARES, np.int8)
        self.describe_board(state, cells)
        return [SIGNS[code] for code in cells.reshape(RANKS, RANKS).T.ravel()]

    def told_position(self, state: Any) -> Position:
        """The position as a FEN tells it, where nobody may castle."""
        told = (int(state[name]) for name in ("passed", "quiet", "moves"))
        return Position(self.letters(state), bool(state.to_move == WHITE), "-", *told)

    def san(self, state: Any, action: int) -> str:
        """A legal move in short algebraic notation, without signs of check."""
        mirror = 0 if state.to_move == WHITE else MIRRORED
        start, way = divmod(action, self.destinations)
        square, target = start ^ mirror, (start + int(self.offsets[way])) ^ mirror
        letters = self.letters(state)
        piece, takes = letters[square], letters[target] != EMPTY
        becomes = ""
        if piece in "Pp":
            takes = square // RANKS != target // RANKS
            becomes = LETTERS[self.promoted[way]] if target % RANKS in (0, RANKS - 1) else ""
        places = [place for place in range(STEPS) if has_bit(state.targets[place], target)]
        origins = {int(self.origin(state, target, place)) for place in places} - {square}
        rivals = [near for near in origins if letters[near] == piece]
        return move_text(piece.upper(), square, target, rivals, takes=takes, becomes=becomes)
