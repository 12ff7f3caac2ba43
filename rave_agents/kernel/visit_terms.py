"""Terms of numbers of visits, which selection rules need at every node and every edge."""

import math

import numpy as np

from rave_agents.compiler.dispatch import kernel

LISTED = 8192
"""Numbers of visits whose terms are looked up, from 0 on: a power of two."""

PLACES = LISTED - 1
"""The bits of their places, so that the compiler sees that none is negative."""

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
    """``1 / sqrt(n)`` of a number of visits; of none as of one."""
    return 1.0 / math.sqrt(max(n, 1.0))


@kernel
def listed_inverse_root(n: float) -> float:
    """``inverse_root``, looked up where it is listed: faster, unless several are computed at once.

    The digits are the same.
    """
    return float(INVERSE_ROOTS[int(n) & PLACES]) if n < LISTED else inverse_root(n)
