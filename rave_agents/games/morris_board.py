"""The board of nine men's morris: its points and lines, and what it looks like."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel

POINTS = 24
"""Points of the board, numbered row after row from the top left."""

EVERYWHERE = np.uint64((1 << POINTS) - 1)
"""The set of all points."""

LINES = (
    *((first, first + 1, first + 2) for first in range(0, POINTS, 3)),
    *((0, 9, 21), (3, 10, 18), (6, 11, 15), (1, 4, 7)),
    *((16, 19, 22), (8, 12, 17), (5, 13, 20), (2, 14, 23)),
)
"""The points of each row of three, those along first; neighbours on a row are connected."""

ROWS = np.array(
    [[sum(1 << one for one in line) for line in LINES if point in line] for point in range(POINTS)],
    np.uint64,
)
"""[points, 2] the sets of the rows through each point."""

STEPS = np.array([step[::way] for line in LINES for step in pairwise(line) for way in (1, -1)])
"""[moves, 2] where each move along a line begins and ends."""

NEAR = np.array(
    [
        sum(1 << target for source, target in STEPS.tolist() if source == point)
        for point in range(POINTS)
    ],
    np.uint64,
)
"""[points] the set of the points that each is connected with."""

HALF = (
    *(".------.------.", "|      |      |", "| .----.----. |"),
    *("| |    |    | |", "| | .--.--. | |", "| | |     | | |"),
)
LARGE = "\n".join((*HALF, ".-.-.     .-.-.", *HALF[::-1], ""))
"""The board as it is printed, each point as a dot."""

SMALL = ".--.--.|.-.-.|||...||... ...||...|||.-.-.|.--.--."
"""The board of seven by seven cells as tensors show it."""

KINDS = ".WB-| "
"""The contents of cells: a point that is empty or has a man, two kinds of lines, and nothing."""

CELLS = np.array([KINDS.index(sign) for sign in SMALL])
"""[7 * 7] the contents of each cell of an empty board."""

PLACES = np.array([cell for cell, sign in enumerate(SMALL) if sign == "."])
"""[points] the cell of each point."""


def board_text(owners: Iterable[int]) -> str:
    """The board as it is printed, with 1 or 2 for each point where White or Black has a man."""
    signs = iter(owners)
    return "".join(KINDS[next(signs)] if sign == "." else sign for sign in LARGE)


@kernel
def is_in_mill(men: Any, point: int) -> bool:
    """True if men of a set fill one of the two rows through a point."""
    along, across = ROWS[point, 0], ROWS[point, 1]
    return men & along == along or men & across == across
