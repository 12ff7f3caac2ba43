"""Sets of squares as 64 bits, for rules: a few instructions each in compiled code.

A set is a ``numpy.uint64``, and may only be combined with others: Numba turns the sum of a signed
and an unsigned integer into a float.
"""

from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.games.kit.memory import count_bits, lowest_bit
from rave_agents.simulate.random_stream import random_below

__all__ = [
    "NONE",
    "ONE",
    "TWO",
    "bit",
    "count_bits",
    "drawn_bit",
    "has_bit",
    "key_of",
    "list_bits",
    "lowest_bit",
    "nth_bit",
    "write_owners",
]

ONE = np.uint64(1)
TWO = np.uint64(2)
NONE = np.uint64(0)


LARGEST = 64
"""The most squares of a board: a set is one number."""


def board_squares(rows: int, columns: int, least: int = 2) -> int:
    """The number of squares of a board.

    Args:
        rows: the rows.
        columns: the columns.
        least: the fewest of both.

    Raises:
        ValueError: for fewer rows or columns, or more than 64 squares.
    """
    squares = rows * columns
    if min(rows, columns) < least or squares > LARGEST:
        raise ValueError(
            f"rows and columns must be at least {least} and have at most {LARGEST} squares, got "
            f"rows={rows}, columns={columns}."
        )
    return squares


@kernel
def write_owners(sets: Any, cells: Any) -> None:
    """Write 1 or 2 for each square in the first or second set, else 0."""
    for square in range(cells.shape[0]):
        place = np.uint64(square)
        cells[square] = (sets[0] >> place & ONE) + (sets[1] >> place & ONE) * TWO


@kernel
def bit(square: int) -> Any:
    """The set of one square."""
    return ONE << np.uint64(square)


@kernel
def has_bit(bits: Any, square: int) -> bool:
    """True if a square is in a set."""
    return ((bits >> np.uint64(square)) & ONE) != NONE


@kernel
def nth_bit(bits: Any, place: int) -> int:
    """The square at a place of a set, counted from 0 in ascending order."""
    # `bits & (bits - 1)` removes the lowest bit.
    for _ in range(place):
        bits &= bits - ONE
    return lowest_bit(bits)


@kernel
def drawn_bit(bits: Any, stream: Any) -> int:
    """One of the squares of a set, each equally probable."""
    return nth_bit(bits, random_below(stream, count_bits(bits)))


@kernel
def list_bits(bits: Any, actions: Any, count: int, first: int) -> int:
    """Add to a list of actions ``first`` and the number of each square; returns its new length."""
    while bits != NONE:
        actions[count] = first + lowest_bit(bits)
        bits &= bits - ONE
        count += 1
    return count


FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))
"""Odd numbers with mixed bits, for keys."""


@kernel
def key_of(first: Any, second: Any) -> Any:
    """A 64-bit hash of a pair of sets."""
    first *= FACTORS[0]
    second *= FACTORS[1]
    first ^= first >> np.uint64(29)
    second ^= second >> np.uint64(31)
    return (first + second) * FACTORS[1]
