"""Moves of the pieces of chess on sets of squares, and positions as FEN and SAN write them.

Square ``8 * file + rank`` has that bit, in the order of OpenSpiel's actions; White is player 1, as
in OpenSpiel.

The moves of a position are stored as sets of target squares, one for each of sixteen steps (eight
along lines, eight of a knight) and for a pawn's three steps to the last rank, where it is promoted.
The piece that moves is the nearest one on the way back. So all moves of a step are found at once,
and are counted and drawn without a list.

An action is the square that a piece leaves, as its player sees the board, and where it goes: one of
the promotions other than to a queen, a distance along a line, or a knight's step.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import kernel
from rave_agents.games.bits import NONE, ONE, bit, has_bit, lowest_bit
from rave_agents.games.coordinates import cell_name
from rave_agents.games.kit.rules import WinnerRules, insert

RANKS, SQUARES = 8, 64
"""The ranks, which are as many as the files, and the squares: ``8 * file + rank``."""

MIRRORED = 7
"""``square ^ MIRRORED`` is the square with its ranks reversed: as Black sees it."""

LINE_STEPS = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, -1), (1, -1), (-1, 1))
"""Steps along lines, in files and ranks."""

KNIGHT_STEPS = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (2, -1), (2, 1), (1, -2), (1, 2))
"""A knight's steps, in the order of actions."""

PROMOTION_FILES = (0, 1, -1)
"""Files by which a promoted pawn steps aside, in the order of actions."""

LETTERS = "KQRBNP"
"""The pieces."""

PLACEMENT = re.compile(r"[KQRBNPkqrbnp1-8]+(/[KQRBNPkqrbnp1-8]+){7}")
"""The first field of a FEN."""

# The bits of squares:
#
#   8  7 15 23 31 39 47 55 63
#   :  :                    :
#   2  1  9 17 25 33 41 49 57
#   1  0  8 16 24 32 40 48 56
#      a  b  c  d  e  f  g  h


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
    """A position as in a FEN."""

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
    """Read a FEN; the last two fields are optional.

    A square for en passant is dropped if no pawn can take there, as in OpenSpiel.

    Raises:
        ValueError: naming the field that is wrong.
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
    # A FEN lists ranks from above; squares are numbered file by file, from below.
    pieces = [letter for file in zip(*reversed(rows), strict=True) for letter in file]
    if not "".join(pieces).strip():
        raise _wrong(text, "there are no pieces")
    square = _passed_square(text, pieces, passed, side == "w")
    quiet, number = map(int, counts)
    return Position(pieces, side == "w", castling, square, quiet, number)


def _passed_square(text: str, pieces: Sequence[str], passed: str, is_white: bool) -> int:
    """The square that a pawn has passed over; -1 if there is none, or nobody can take the pawn."""
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


BLACK, WHITE = range(2)
"""The players."""

PAWNS, KNIGHTS, DIAGONAL, STRAIGHT, KINGS = range(5)
"""Sets of pieces by how they move; a queen is in two of them."""

SETS_OF = ((KINGS,), (DIAGONAL, STRAIGHT), (STRAIGHT,), (DIAGONAL,), (KNIGHTS,), (PAWNS,))
"""The sets that each piece is in, in the order of ``LETTERS``."""

LINES, STEPS = len(LINE_STEPS), len(LINE_STEPS) + len(KNIGHT_STEPS)
"""The number of steps along lines, and of all steps."""

PAWN_STEPS = ((1, 6, 5), (0, 4, 7))
"""Steps of each player's pawns: ahead, and aslant to the next and to the previous file."""

LEFT, RIGHT = LINE_STEPS.index((-1, 0)), LINE_STEPS.index((1, 0))
"""Steps to the squares on the left and on the right."""

SIDES = len(PROMOTION_FILES)
"""Ways of a pawn: ahead, and aslant to either side."""

SETS = STEPS + SIDES
"""Sets of target squares: one per step, and the last three for promotions."""

WORD = np.uint64(64)
"""Bits of a set."""


@kernel
def rotated(bits: Any, distance: Any) -> Any:
    """A set with each square moved by a distance, wrapping around from the last to the first."""
    return (bits << distance) | (bits >> (WORD - distance))


def set_of(squares: Any) -> Any:
    """The set of some squares."""
    return np.uint64(sum(1 << square for square in squares))


class PieceRules(WinnerRules):
    """Rules with pieces of chess: sets of them in ``piece_fields``, which a game has in its own."""

    promotions: str
    """The letters of promotions other than to a queen, in the order of actions."""

    def set_up_pieces(self) -> None:
        """Lay out the steps and the numbers of actions."""
        self.board_shape = RANKS, RANKS
        numbers = ActionNumbers(self.promotions)
        self.num_distinct_actions = numbers.count
        self.destinations: int = numbers.destinations
        self.offsets, self.promoted = numbers.offsets, numbers.promoted
        self.numbers, self.choices = numbers.of_squares, len(self.promotions) + 1
        steps = (*LINE_STEPS, *KNIGHT_STEPS)
        self.distances: NDArray[np.int64] = np.array([RANKS * file + rank for file, rank in steps])
        self.turns_on = (self.distances % SQUARES).astype(np.uint64)
        self.turns_twice, self.turns_four = self.turns_on * 2 % WORD, self.turns_on * 4 % WORD
        squares = {divmod(square, RANKS) for square in range(SQUARES)}
        inside = [
            set_of(RANKS * to + at for to, at in squares if (to - file, at - rank) in squares)
            for file, rank in steps
        ]
        self.inside: NDArray[np.uint64] = np.array(inside, np.uint64)
        self.sliders: NDArray[np.int64] = np.array([STRAIGHT] * 4 + [DIAGONAL] * 4)
        self.pawn_steps = np.array(PAWN_STEPS)
        ranks = [set_of(range(rank, SQUARES, RANKS)) for rank in range(RANKS)]
        self.before_last = np.array([ranks[1], ranks[6]])
        self.passed_over = np.array([ranks[5], ranks[2]])
        self.is_in = np.array([[kind in kinds for kind in range(KINGS + 1)] for kinds in SETS_OF])
        self.piece_fields: dict[str, Any] = {
            "pieces": (np.uint64, 2),
            "kinds": (np.uint64, 5),
            "targets": (np.uint64, SETS),
            **dict.fromkeys(("to_move", "winner", "passed", "quiet", "moves"), np.int64),
        }

    def moved(self, pieces: Any, step: int) -> Any:
        """The squares that pieces reach by a step."""
        # `inside` removes the squares that the rotation carried around the edge.
        return rotated(pieces, self.turns_on[step]) & self.inside[step]

    def slid(self, pieces: Any, empty: Any, step: int) -> Any:
        """The pieces, and the empty squares that they reach by repeating a step."""
        # Kogge-Stone: after steps of 1, 2 and 4, up to seven squares are filled.
        free = empty & self.inside[step]
        pieces |= free & rotated(pieces, self.turns_on[step])
        free &= rotated(free, self.turns_on[step])
        pieces |= free & rotated(pieces, self.turns_twice[step])
        free &= rotated(free, self.turns_twice[step])
        return pieces | (free & rotated(pieces, self.turns_four[step]))

    def find_targets(self, state: Any) -> Any:
        """Find all pseudo-legal moves of the player to move; returns all their targets."""
        player = state.to_move
        own, other = state.pieces[player], state.pieces[1 - player]
        empty = ~(own | other)
        kings, knights = own & state.kinds[KINGS], own & state.kinds[KNIGHTS]
        reached = NONE
        for step in range(LINES):
            sliders = own & state.kinds[self.sliders[step]]
            if sliders != NONE:
                sliders = self.slid(sliders, empty, step)
            targets = self.moved(sliders | kings, step) & ~own
            state.targets[step] = targets
            reached |= targets
        for step in range(LINES, STEPS):
            targets = self.moved(knights, step) & ~own
            state.targets[step] = targets
            reached |= targets
        return reached | self.find_pawn_targets(state, own & state.kinds[PAWNS], empty, other)

    def find_pawn_targets(self, state: Any, pawns: Any, empty: Any, other: Any) -> Any:
        """Find the moves of pawns; returns their targets."""
        player = state.to_move
        last = pawns & self.before_last[player]
        pawns ^= last
        ahead = self.pawn_steps[player, 0]
        passed = NONE if state.passed < 0 else bit(state.passed)
        # Those that pass the third rank, as their player sees it, may go one square further.
        once = self.moved(pawns, ahead) & empty
        reached = once | (self.moved(once & self.passed_over[player], ahead) & empty)
        state.targets[ahead] |= reached
        state.targets[STEPS] = self.moved(last, ahead) & empty
        reached |= state.targets[STEPS]
        for side in range(1, SIDES):
            step = self.pawn_steps[player, side]
            taken = self.moved(pawns, step) & (other | passed)
            state.targets[step] |= taken
            state.targets[STEPS + side] = self.moved(last, step) & other
            reached |= taken | state.targets[STEPS + side]
        return reached

    def origin(self, state: Any, target: int, place: int) -> int:
        """The square from which a target of one of the sets is reached."""
        # Knights, and pawns that are promoted, are one step away, lines may be longer.
        step = place if place < STEPS else self.pawn_steps[state.to_move, place - STEPS]
        square = target - self.distances[step]
        if place < LINES:
            occupied = state.pieces[0] | state.pieces[1]
            while not has_bit(occupied, square):
                square -= self.distances[step]
        return square

    def number_of(self, state: Any, target: int, place: int) -> int:
        """The number of a move; of a pawn on the last rank, of its promotion to a queen."""
        mirror = 0 if state.to_move == WHITE else MIRRORED
        start = self.origin(state, target, place) ^ mirror
        action: Any = np.int64(self.numbers[start, target ^ mirror])
        return action

    def promotion_number(self, state: Any, target: int, side: int, choice: int) -> int:
        """The number of a promotion: to a queen, or to one of ``promotions``."""
        action = self.number_of(state, target, STEPS + side)
        if choice == 0:
            return action
        return action - action % self.destinations + SIDES * (choice - 1) + side

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Step by step; each action is inserted in order."""
        count = 0
        for place in range(SETS):
            targets = state.targets[place]
            while targets != NONE:
                target = lowest_bit(targets)
                targets &= targets - ONE
                if place < STEPS:
                    count = insert(actions, 0, count, self.number_of(state, target, place))
                else:
                    for choice in range(self.choices):
                        action = self.promotion_number(state, target, place - STEPS, choice)
                        count = insert(actions, 0, count, action)
        return count
