"""Shapes of 3x3 points in Go, in whose middle playouts like to play.

The patterns of Gelly, Wang, Munos & Teytaud, "Modification of UCT with Patterns in Monte-Carlo Go",
2006: hane, two kinds of cuts, and moves at the edge, turned and mirrored, with either colour.
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
    """True by the code of what lies around a point, two bits a neighbour in the order of NEAR."""
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
