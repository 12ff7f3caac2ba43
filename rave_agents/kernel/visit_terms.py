"""Terms of numbers of visits, which selection rules need at every node and every edge."""

import math

import numpy as np

from rave_agents.compiler.dispatch import kernel

LISTED = 16384
"""Numbers of visits whose logarithms are looked up, from 0 on: a power of two."""

PLACES = LISTED - 1
"""The bits of their places, so that the compiler sees that none is negative."""

LOG_ROOTS = np.array([math.sqrt(math.log(max(n, 1))) for n in range(LISTED)])
"""``sqrt(ln n)``; 0 for no visits."""


@kernel
def log_root(n: float) -> float:
    """``sqrt(ln n)`` of a number of visits, at least 1."""
    return float(LOG_ROOTS[int(n) & PLACES]) if n < LISTED else math.sqrt(math.log(n))


@kernel
def inverse_root(n: float) -> float:
    """``1 / sqrt(n)`` of a number of visits; of none as of one.

    It is not looked up, so that a processor computes it for several edges at once.
    """
    return 1.0 / math.sqrt(max(n, 1.0))
