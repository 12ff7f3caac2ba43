"""The logistic function, by which a sum of learned numbers becomes a share of what can be won."""

import math

from rave_agents.compiler.dispatch import kernel

LARGEST = 30.0
"""The largest size of a number that makes a difference."""


@kernel
def logistic(x: float) -> float:
    """``1 / (1 + exp(-x))``, the same digits in the interpreter and compiled."""
    return 1.0 / (1.0 + math.exp(max(-LARGEST, min(LARGEST, -x))))
