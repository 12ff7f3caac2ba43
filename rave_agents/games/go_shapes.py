"""Surroundings of a point in Go: a code of two bits for each of its eight neighbours.

They are in the order of ``NEAR``: those beside it are the lower byte, the corners the upper. The
shapes of 3x3 points, in whose middle playouts like to play, are the patterns of Gelly, Wang, Munos
& Teytaud, "Modification of UCT with Patterns in Monte-Carlo Go", 2006: hane, two kinds of cuts, and
moves at the edge, turned and mirrored, with either colour.
"""

import functools
import itertools

import numpy as np
from numpy.typing import NDArray

from rave_agents.games.stones import BLACK, EDGE, EMPTY, NEAR, WHITE

SIGNS = {
    "X": (BLACK,),
    "O": (WHITE,),
    ".": (EMPTY,),
    "x": (WHITE, EMPTY),
    "o": (BLACK, EMPTY),
    "?": (BLACK, WHITE, EMPTY),
    "#": (EDGE,),
}
"""Contents of a point: a small letter is anything but that colour, # lies beyond the edge."""

SHAPES = (
    # Hane: enclosing, not cutting, around a corner; and a diagonal attachment.
    ("XOX", "...", "???"),
    ("XO.", "...", "?.?"),
    ("XO?", "X..", "?.?"),
    (".O.", "X..", "..."),
    # Cuts: unprotected, peeped, pushed through, and of a knight's move.
    ("XO?", "O.o", "?o?"),
    ("XO?", "O.X", "???"),
    ("?X?", "O.O", "ooo"),
    ("OX?", "o.O", "???"),
    # At the edge: chase, two blocks, a descent and a cut.
    ("X.?", "O.?", "###"),
    ("OX?", "X.O", "###"),
    ("?X?", "x.O", "###"),
    ("?XO", "x.x", "###"),
    ("?OX", "X.O", "###"),
)
"""Rows of three points, of which the one in the middle is played on."""


@functools.cache
def shape_codes() -> NDArray[np.bool_]:
    """True by the code of what is around a point, where a shape is."""
    codes = np.zeros(1 << 2 * len(NEAR), np.bool_)
    for rows in SHAPES:
        board = np.array([list(row) for row in rows])
        for turns, mirrored in itertools.product(range(4), (False, True)):
            seen = np.rot90(board[:, ::-1] if mirrored else board, turns)
            around = [SIGNS[seen[1 + up, 1 + on]] for up, on in NEAR]
            for colours in itertools.product(*around):
                for swapped in (False, True):
                    codes[_code(colours, swapped=swapped)] = True
    return codes


def _code(colours: tuple[int, ...], *, swapped: bool) -> int:
    code = 0
    for place, colour in enumerate(colours):
        other = WHITE + BLACK - colour if swapped and colour in (BLACK, WHITE) else colour
        code |= other << 2 * place
    return code


@functools.cache
def empty_beside() -> NDArray[np.uint8]:
    """The number of empty ones of four neighbours, by the byte of their codes."""
    return (_colours_of_bytes() == EMPTY).sum(axis=1).astype(np.uint8)


@functools.cache
def eye_codes() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """True by player and byte, where neighbours, and where corners, make a point an eye of theirs.

    All neighbours are their own stones or the edge; and of the corners the opponent has none at the
    edge, at most one elsewhere (Brügmann, "Monte Carlo Go", 1993).
    """
    colours = _colours_of_bytes()
    at_edge = (colours == EDGE).any(axis=1)
    beside, corners = [], []
    for player, opponent in ((BLACK, WHITE), (WHITE, BLACK)):
        beside.append(np.isin(colours, (player, EDGE)).all(axis=1))
        corners.append((colours == opponent).sum(axis=1) + at_edge < 2)
    return np.array(beside), np.array(corners)


def _colours_of_bytes() -> NDArray[np.int64]:
    """The four colours that each byte of a code tells, of shape [256, 4]."""
    return np.arange(256)[:, np.newaxis] >> 2 * np.arange(4) & 3
