"""Points of a board as Go players write them: a letter without i for the column, a row's number."""

import math
from collections.abc import Sequence

LETTERS = "abcdefghjklmnopqrstuvwxyz"
"""The columns from the left; i is left out, since it is easily mistaken for j."""

HANDICAPS = ("d4", "q16", "d16", "q4", "d10", "q10", "k4", "k16", "k10")
"""Points of the stones of a handicap of two to nine; of five or seven, the last is in the middle.
"""


def point_name(column: int, row: int) -> str:
    """The name of a point, both counted from 0 at the lower left: (0, 0) is a1."""
    return f"{LETTERS[column]}{row + 1}"


def point_number(name: str) -> tuple[int, int]:
    """The column and the row of a point, from 0; the reverse of ``point_name``.

    Raises:
        ValueError: if it is not the name of a point.
    """
    letter, number = name[:1].lower(), name[1:]
    if letter not in LETTERS or not letter or not number.isdecimal() or int(number) < 1:
        raise ValueError(f"{name!r} is not a point: a point has a letter and a number, such as c4.")
    return LETTERS.index(letter), int(number) - 1


def handicap_points(count: int, size: int) -> list[tuple[int, int]]:
    """The columns and rows of a handicap's stones; beyond nine OpenSpiel lays none.

    Raises:
        ValueError: if the board is too small for one of them.
    """
    names = list(HANDICAPS[:count] if 2 <= count <= len(HANDICAPS) else ())
    if count in (5, 7):
        names[-1] = HANDICAPS[-1]
    points = [point_number(name) for name in names]
    if any(max(point) >= size for point in points):
        raise ValueError(f"A handicap of {count} needs a larger board_size, got {size}.")
    return points


def cell_name(column: int, row: int) -> str:
    """The name of a cell where no letter is left out, both counted from 0: (8, 0) is i1."""
    return f"{chr(ord('a') + column)}{row + 1}"


def board_of_points(signs: Sequence[str]) -> str:
    """A square board with its coordinates, from above; one sign for each point, a1 first."""
    size = math.isqrt(len(signs))
    rows = [f"{row + 1:2} " + " ".join(signs[row * size : (row + 1) * size]) for row in range(size)]
    letters = [point_name(column, 0)[0].upper() for column in range(size)]
    return "\n".join([*reversed(rows), "   " + " ".join(letters)])


def board_of_squares(rows: Sequence[str]) -> str:
    """A board with its coordinates, a1 below on the left; the rows from above, a sign a square."""
    width = len(str(len(rows)))
    lines = [f"{len(rows) - row:{width}}{signs}" for row, signs in enumerate(rows)]
    letters = "".join(cell_name(column, 0)[0] for column in range(len(rows[0])))
    return "\n".join([*lines, " " * width + letters, ""])
