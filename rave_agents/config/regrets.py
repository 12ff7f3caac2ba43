"""Searches that keep regrets of information sets, from the start of the game."""

import math
from typing import Annotated, NamedTuple

from annotated_types import Ge, Le


class NoRegrets(NamedTuple):
    """A tree search of the position."""


class MCCFR(NamedTuple):
    """External-sampling Monte-Carlo CFR from the start of the game, see ``equilibrium/``.

    The defaults are those of the paper (Lanctot et al. 2009).
    """

    regret_power: Annotated[float, Ge(0), Le(8)] = 0.0
    """Regrets of iteration t weigh t to this power. 0: all the same. 1: linear CFR (Brown &
    Sandholm 2019)."""
    average_power: Annotated[float, Ge(0), Le(8)] = 0.0
    """Strategies of iteration t weigh t to this power in the average."""
    floor: bool = False
    """True to raise negative regrets to 0 after each update (regret matching+, Tammelin 2014)."""
    growth: Annotated[float, Ge(1)] = math.inf
    """Histories that a traversal may add, at least 1; below them, a random playout gives the
    value."""
