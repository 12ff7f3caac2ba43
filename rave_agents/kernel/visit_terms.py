"""Functions of visits that selection rules need at every node and edge."""

import math

import numpy as np

from rave_agents.compiler.dispatch import kernel

LISTED = 8192
"""Size of the lookup tables: a power of two."""

PLACES = LISTED - 1
"""Bit mask of indices: with it the compiler knows that none is negative, and drops Python's
wrap-around of negative indices."""

LOG_ROOTS = np.array([math.sqrt(math.log(max(n, 1))) for n in range(LISTED)])
"""``sqrt(ln n)``; 0 for no visits."""

INVERSE_ROOTS = np.array([1.0 / math.sqrt(max(n, 1)) for n in range(LISTED)])
"""``1 / sqrt(n)``; 1 for no visits."""


@kernel
def log_root(n: float) -> float:
    """``sqrt(ln n)`` of a number of visits, at least 1."""
    return float(LOG_ROOTS[int(n) & PLACES]) if n < LISTED else math.sqrt(math.log(n))


@kernel
def inverse_root(n: float) -> float:
    """``1 / sqrt(n)`` of a number of visits; 1 for no visits."""
    return 1.0 / math.sqrt(max(n, 1.0))


@kernel
def listed_inverse_root(n: float) -> float:
    """``inverse_root`` from the table if listed: faster, unless several are computed at once.

    The result is the same to the last bit.
    """
    return float(INVERSE_ROOTS[int(n) & PLACES]) if n < LISTED else inverse_root(n)
