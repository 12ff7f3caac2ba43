"""Tables between PettingZoo's and OpenSpiel's action numbers in chess.

Both number actions from the mover's side of the board, 64 squares by 73 planes, in different
orders. OpenSpiel has two more numbers, for castling; in PettingZoo castling is a king's move of two
squares, with the number of a queen's or rook's move over the same squares. The tables are computed
from both libraries' legal actions on boards with few pieces.
"""

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyspiel
from numpy.typing import NDArray

from rave_pettingzoo.classic_knowledge import chess_move_actions

NONE = -1
"""No such action."""

AMBIGUOUS = -2
"""Castling or a plain move; only the board shows which."""

PETTINGZOO_ACTIONS = 4672
OPENSPIEL_ACTIONS = 4674


class ChessActions(NamedTuple):
    """Both directions, for players 0 (white) and 1."""

    to_openspiel: NDArray[np.int32]
    """[2, PETTINGZOO_ACTIONS] or NONE or AMBIGUOUS."""
    to_pettingzoo: NDArray[np.int32]
    """[2, OPENSPIEL_ACTIONS] or NONE."""


@functools.cache
def chess_actions() -> ChessActions:
    """Compute the tables, once."""
    game = pyspiel.load_game("chess")
    tables = ChessActions(
        np.full((2, PETTINGZOO_ACTIONS), NONE, np.int32),
        np.full((2, OPENSPIEL_ACTIONS), NONE, np.int32),
    )
    for board in _boards():
        player = int(not board.turn)
        state = game.new_initial_state(board.fen())
        for move, action in chess_move_actions(board).items():
            number = state.parse_move_to_action(move.uci())
            # One of PettingZoo's numbers with two meanings: castling, or a queen's or rook's move.
            known = tables.to_openspiel[player, action]
            same = known in (NONE, number)
            tables.to_openspiel[player, action] = number if same else AMBIGUOUS
            tables.to_pettingzoo[player, number] = action
    return tables


def _boards() -> Iterator[Any]:
    """Boards on which every move of every piece is legal at least once, for both sides."""
    import chess  # noqa: PLC0415  (optional: comes with PettingZoo's classic environments)

    def with_kings(own: int, other: int, pieces: dict[int, Any]) -> Any:
        board = chess.Board(None)
        board.set_piece_at(own, chess.Piece(chess.KING, chess.WHITE))
        board.set_piece_at(other, chess.Piece(chess.KING, chess.BLACK))
        for square, piece in pieces.items():
            board.set_piece_at(square, piece)
        return board

    # Kings of white and black: for each square some pair leaves the piece there all its moves, and
    # the black king out of check.
    places = ("a1 h8", "h1 a8", "d1 e8", "a4 h5", "b3 g5", "c7 g2", "f6 b1")
    corners = [tuple(map(chess.parse_square, place.split())) for place in places]
    whites = [chess.Board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")]
    # Rooks, bishops, kings and pawns move along a queen's lines, and share its numbers.
    for square in chess.SQUARES:
        for piece in (chess.QUEEN, chess.KNIGHT):
            for own, other in corners:
                if square not in (own, other):
                    whites.append(with_kings(own, other, {square: chess.Piece(piece, chess.WHITE)}))
    # Pawns that promote, ahead and by capture: underpromotions have planes of their own.
    for file in range(8):
        prey = {
            chess.square(near, 7): chess.Piece(chess.KNIGHT, chess.BLACK)
            for near in (file - 1, file + 1)
            if 0 <= near < 8
        }
        pawn = {chess.square(file, 6): chess.Piece(chess.PAWN, chess.WHITE)}
        whites.append(with_kings(chess.A1, chess.H3, {**prey, **pawn}))
    for board in whites:
        if board.is_valid():
            yield board
            yield board.mirror()
