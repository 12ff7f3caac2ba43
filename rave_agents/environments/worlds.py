"""Worlds of an environment, drawn by the user's function.

A world (determinization) is an environment that an agent cannot tell from the live one. Neither
PettingZoo's nor Gymnasium's interface can draw them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

Unit = Callable[[], float]
"""Draws a uniform random number in [0, 1)."""

WorldFunction = Callable[[Any, Any, np.random.Generator], Any]
"""A source of worlds, called as ``worlds(env, agent, rng)``: it returns an environment in a state
that ``agent``, who is to move, cannot tell from that of ``env``. A Gymnasium environment has one
agent without a name: ``agent`` is None.

``env`` is a copy, without the wrappers that only watch over the caller; it may be changed and
returned. What is still to come is hidden too: a deck is to be shuffled, a random generator of the
environment's to be replaced, by what ``rng`` draws."""


def check_world_function(worlds: object) -> None:
    """Raise TypeError if ``worlds`` is neither a function nor None."""
    if worlds is not None and not callable(worlds):
        raise TypeError(f"worlds must be a function of (env, agent, rng) or None, got {worlds!r}.")


def world_random(unit: Unit) -> np.random.Generator:
    """Return the generator that a world function gets, seeded by the search's own numbers."""
    return np.random.default_rng([int(unit() * 2**32) for _ in range(4)])
