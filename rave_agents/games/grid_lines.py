"""The straight lines of a grid of any dimensions, on which stones can stand in a row."""

import itertools
import math

import numpy as np


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
