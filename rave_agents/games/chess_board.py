"""The board of chess and its variants: pieces are put on it, moved, and written as text."""

from typing import Any

import numpy as np

from rave_agents.games.bits import NONE, ONE, bit, has_bit
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


class BoardRules(PieceRules):
    """Rules with a board; a game adds what may not be played, and when it ends."""

    cell_kinds = 2 * len(LETTERS) + 1

    def put_pieces(self, state: Any, position: Position) -> None:
        """Set up a position."""
        state.pieces[:] = NONE
        state.kinds[:] = NONE
        for square, letter in enumerate(position.pieces):
            if letter:
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
            moved = ((pieces >> np.uint64(square)) & ONE) << np.uint64(target)
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

    def piece_at(self, state: Any, square: int) -> str:
        """The letter of the piece on a square, a small one of Black's; empty for none."""
        code = self.code_at(state, square)
        if code == 0:
            return ""
        letter = LETTERS[(code - 1) // 2]
        return letter if code % 2 else letter.lower()

    def code_at(self, state: Any, square: int) -> int:
        """0 for an empty square, else 1 and twice the piece's place in ``LETTERS``, 2 if Black's."""
        is_black = has_bit(state.pieces[BLACK], square)
        if not (is_black or has_bit(state.pieces[WHITE], square)):
            return 0
        sets = 0
        for kind in range(KINGS + 1):
            sets |= has_bit(state.kinds[kind], square) << kind
        return 1 + 2 * self.piece_of[sets] + is_black

    def describe_board(self, state: Any, cells: Any) -> None:
        """What ``code_at`` tells of each square, a1 and the first rank first."""
        for cell in range(SQUARES):
            cells[cell] = self.code_at(state, RANKS * (cell % RANKS) + cell // RANKS)

    def told_position(self, state: Any) -> Position:
        """The position as a FEN tells it, where nobody may castle."""
        pieces = [self.piece_at(state, square) for square in range(SQUARES)]
        told = (int(state[name]) for name in ("passed", "quiet", "moves"))
        return Position(pieces, bool(state.to_move == WHITE), "-", *told)

    def san(self, state: Any, action: int) -> str:
        """A legal move in short algebraic notation, without signs of check."""
        mirror = 0 if state.to_move == WHITE else MIRRORED
        start, way = divmod(action, self.destinations)
        square, target = start ^ mirror, (start + int(self.offsets[way])) ^ mirror
        piece = self.piece_at(state, square).upper()
        places = [place for place in range(STEPS) if has_bit(state.targets[place], target)]
        origins = {int(self.origin(state, target, place)) for place in places} - {square}
        rivals = [near for near in origins if self.piece_at(state, near).upper() == piece]
        is_last = target % RANKS in (0, RANKS - 1)
        return move_text(
            piece,
            square,
            target,
            takes=square // RANKS != target // RANKS if piece == "P" else self.piece_at(state, target) != "",
            rivals=rivals,
            promoted=LETTERS[self.promoted[way]] if piece == "P" and is_last else "",
        )
