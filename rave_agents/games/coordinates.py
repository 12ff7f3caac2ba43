"""Cells of a grid: points as Go players write them (a letter without i, a number), and lines."""

import itertools
import math
from collections.abc import Sequence

import numpy as np

LETTERS = "abcdefghjklmnopqrstuvwxyz"
"""The columns from the left; i is left out, since it is easily mistaken for j."""

_SMALLEST, _GO_SIZE, _MOST_STONES = 7, 19, 9
"""The smallest board with points for a handicap, the largest, and the stones that this one has."""


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


def star_points(count: int, size: int) -> list[tuple[int, int]]:
    """The columns and rows of a handicap's stones, where Go players lay them on a board of a size.

    Args:
        count: how many stones; fewer than two are none.
        size: the board's size; where it has fewer points for stones, all of those are given.
    """
    near, middle = (3 if size > 12 else 2), size // 2
    far = size - 1 - near
    points = [(near, near), (far, far), (near, far), (far, near)]
    has_middle = size % 2 == 1 and size > _SMALLEST
    if has_middle:
        points += [(near, middle), (far, middle), (middle, near), (middle, far), (middle, middle)]
    if size < _SMALLEST or count < 2:
        return []
    points = points[:count]
    if has_middle and count in (5, 7):
        points[-1] = (middle, middle)
    return points


def handicap_points(count: int, size: int) -> list[tuple[int, int]]:
    """The columns and rows of a handicap's stones in OpenSpiel: those of the largest board.

    Beyond nine it lays none.

    Raises:
        ValueError: if the board is too small for one of them.
    """
    points = star_points(count, _GO_SIZE) if count <= _MOST_STONES else []
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


def lines_of(sides: tuple[int, ...], wrap: bool) -> list[tuple[int, list[int]]]:
    """All lines of a grid: the number of the direction, and the cells in order."""
    numbers = np.arange(math.prod(sides)).reshape(sides)
    steps = itertools.product((-1, 0, 1), repeat=len(sides))
    found = []
    for direction, step in enumerate(step for step in steps if step > (0,) * len(sides)):
        seen: set[tuple[int, ...]] = set()
        for first in itertools.product(*map(range, sides)):
            # A line that ends is followed from its first cell.
            begins = wrap or not is_inside(moved(first, step, -1), sides)
            cell, line = first, []
            while begins and cell not in seen and is_inside(cell, sides):
                seen.add(cell)
                line.append(int(numbers[cell]))
                cell = moved(cell, step, 1)
                cell = tuple(np.mod(cell, sides)) if wrap else cell
            if line:
                found.append((direction, line))
    return found


def moved(cell: tuple[int, ...], step: tuple[int, ...], times: int) -> tuple[int, ...]:
    """The cell that a number of steps lead to."""
    return tuple(place + times * by for place, by in zip(cell, step, strict=True))


def is_inside(cell: tuple[int, ...], sides: tuple[int, ...]) -> bool:
    """True if a cell is one of the grid's."""
    return all(0 <= place < side for place, side in zip(cell, sides, strict=True))
