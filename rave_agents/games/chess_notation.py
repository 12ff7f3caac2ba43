"""Positions and moves of chess as they are written: FEN, SAN, and OpenSpiel's numbers of actions.

A number is the square that a piece leaves, as its player sees the board, and where it goes from
there: by one of the promotions other than to a queen, along a line, or by a knight's step.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.games.coordinates import cell_name

RANKS, SQUARES = 8, 64
"""The ranks, which are as many as the files, and the squares: ``8 * file + rank``."""

MIRRORED = 7
"""The bits of a square's number that are other ones on Black's side."""

LINE_STEPS = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, -1), (1, -1), (-1, 1))
"""Steps along lines, in files and ranks."""

KNIGHT_STEPS = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (2, -1), (2, 1), (1, -2), (1, 2))
"""A knight's steps, in the order of actions."""

PROMOTION_FILES = (0, 1, -1)
"""Files by which a pawn steps aside as it is promoted, in the order of actions."""

LETTERS = "KQRBNP"
"""The pieces."""

PLACEMENT = re.compile(r"[KQRBNPkqrbnp1-8]+(/[KQRBNPkqrbnp1-8]+){7}")
"""The first field of a FEN."""


class ActionNumbers:
    """Numbers of the actions of a game with pieces of chess.

    Args:
        promotions: the letters of what a pawn may become beside a queen, in the order of actions.
    """

    def __init__(self, promotions: str) -> None:
        promoted = [(side, 1) for _ in promotions for side in PROMOTION_FILES]
        distances = [*range(1 - RANKS, 0), *range(1, RANKS)]
        lines = ((0, 1), (1, 0), (1, 1), (1, -1))
        along = [(files * far, ranks * far) for files, ranks in lines for far in distances]
        plain = [*along, *KNIGHT_STEPS]
        ways = [*promoted, *plain]
        self.destinations: int = len(ways)
        """The number of ways to go from a square."""
        self.count: int = SQUARES * len(ways)
        """The number of actions."""
        self.offsets: NDArray[np.int64] = np.array([RANKS * files + ranks for files, ranks in ways])
        """[destinations] the difference of the squares' numbers."""
        becomes = [letter for letter in promotions for _ in PROMOTION_FILES] + ["Q"] * len(plain)
        self.promoted: NDArray[np.int64] = np.array([LETTERS.index(letter) for letter in becomes])
        """[destinations] what a pawn on the last rank becomes, by its place in ``LETTERS``."""
        places = {way: len(promoted) + place for place, way in enumerate(plain)}
        self.of_squares: NDArray[np.int16] = self._of_squares(places)
        """[64, 64] the action from a square to another, -1 where none is."""

    def _of_squares(self, places: dict[tuple[int, int], int]) -> NDArray[np.int16]:
        found = np.full((SQUARES, SQUARES), -1, np.int16)
        for start in range(SQUARES):
            for end in range(SQUARES):
                way = end // RANKS - start // RANKS, end % RANKS - start % RANKS
                if way in places:
                    found[start, end] = start * self.destinations + places[way]
        return found


class Position(NamedTuple):
    """A position as a FEN tells it."""

    pieces: Sequence[str]
    """[64] the letter on each square, a small one of Black's; a space where none is."""
    is_white: bool
    """True if White is to move."""
    castling: str
    """The rights to castle, as they are written."""
    passed: int
    """The square that a pawn has just passed over; -1 for none."""
    quiet: int
    """Moves since a pawn moved or a piece was taken."""
    number: int
    """The number of the move, counted up after Black's."""

    def __str__(self) -> str:
        rows = []
        for rank in reversed(range(RANKS)):
            row = "".join(self.pieces[rank::RANKS])
            rows.append(re.sub(" +", lambda empty: str(len(empty[0])), row))
        side, passed = "bw"[self.is_white], "-" if self.passed < 0 else square_name(self.passed)
        return f"{'/'.join(rows)} {side} {self.castling} {passed} {self.quiet} {self.number}"


def square_name(square: int) -> str:
    """The name of a square."""
    return cell_name(*divmod(square, RANKS))


def read_fen(text: str) -> Position:
    """Read a FEN, of which the last two fields may be left out.

    A pawn that nobody can take as it passes is not told, as by OpenSpiel.

    Raises:
        ValueError: naming what is wrong.
    """
    fields = text.split()
    if len(fields) == 4:
        fields += ["0", "1"]
    if len(fields) != 6:
        raise _wrong(text, f"it has {len(fields)} fields, not 6 or 4")
    board, side, castling, passed, *counts = fields
    rows = [re.sub(r"\d", lambda count: " " * int(count[0]), row) for row in board.split("/")]
    if PLACEMENT.fullmatch(board) is None or {len(row) for row in rows} != {RANKS}:
        raise _wrong(text, "its board is not 8 rows of 8 squares with pieces KQRBNPkqrbnp")
    if side not in ("w", "b"):
        raise _wrong(text, f"the side to move must be w or b, got {side!r}")
    if not all(re.fullmatch("[0-9]{1,4}", count) for count in counts):
        raise _wrong(text, f"its last two fields are not numbers of moves: {' '.join(counts)!r}")
    # From below, and file by file.
    pieces = [letter for file in zip(*reversed(rows), strict=True) for letter in file]
    if not "".join(pieces).strip():
        raise _wrong(text, "there are no pieces")
    square = _passed_square(text, pieces, passed, side == "w")
    quiet, number = map(int, counts)
    return Position(pieces, side == "w", castling, square, quiet, number)


def _passed_square(text: str, pieces: Sequence[str], passed: str, is_white: bool) -> int:
    """The square over which a pawn has passed; -1 if none has that can be taken."""
    if passed == "-":
        return -1
    rank, back, own, other = (5, -1, "P", "p") if is_white else (2, 1, "p", "P")
    if re.fullmatch(r"[a-h][36]", passed) is None or int(passed[1]) != rank + 1:
        raise _wrong(text, f"{passed!r} is no square that a pawn has just passed over")
    file = ord(passed[0]) - ord("a")
    square = RANKS * file + rank
    origin = square - back
    if pieces[square] != " " or pieces[origin] != " " or pieces[square + back] != other:
        raise _wrong(text, f"no pawn has just passed over {passed!r}")
    beside = [RANKS * near + rank + back for near in (file - 1, file + 1) if 0 <= near < RANKS]
    if all(pieces[near] != own for near in beside):
        return -1
    return square


def _wrong(text: str, reason: str) -> ValueError:
    return ValueError(f"{text!r} is no FEN: {reason}.")


def move_text(
    letter: str, start: int, end: int, rivals: Sequence[int], *, takes: bool, becomes: str
) -> str:
    """A move in short algebraic notation, without signs of check.

    Args:
        letter: the piece.
        start: the square that it leaves.
        end: the square that it reaches.
        rivals: the squares of the player's other pieces of its kind that reach the same square.
        takes: whether it takes a piece.
        becomes: the letter of what a pawn is promoted to; empty for none.
    """
    name = square_name(start)
    told = letter
    if letter == "P":
        told = name[0] if takes else ""
    elif rivals:
        shares_file = any(rival // RANKS == start // RANKS for rival in rivals)
        shares_rank = any(rival % RANKS == start % RANKS for rival in rivals)
        if not shares_file:
            told += name[0]
        else:
            told += name if shares_rank else name[1]
    promotion = f"={becomes}" if becomes else ""
    return f"{told}{'x' if takes else ''}{square_name(end)}{promotion}"
