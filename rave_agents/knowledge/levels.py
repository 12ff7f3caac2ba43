"""Levels of strength: simulations and the temperature at which the move is drawn by visits.

A ladder for games of which nothing is known doubles the simulations. For others it is calibrated by
``rave-agents levels``, so that neighbours lie as many Elo points apart, and kept beside the values
that are shipped.
"""

import functools
import json
from typing import NamedTuple

from rave_agents.knowledge.linear_value import LinearValue
from rave_agents.knowledge.shipped import FOLDER

NO_LEVEL = 0
"""The level of a search that has none."""

LEVELS = 10
"""The number of levels."""

CALIBRATED = FOLDER / "levels.json"
"""The file with the levels of each game."""


class Level(NamedTuple):
    """Settings of one level."""

    simulations: int
    """Simulations of each move."""
    temperature: float
    """The move is drawn in proportion to visits to the power of one over this; at 0 it is the
    final move."""
    known: bool
    """True if a shipped value is used, where there is one."""


DOUBLING = (
    *(Level(max(2, round(1000 / 2 ** (9 - rung))), 0.5, False) for rung in range(LEVELS - 1)),
    Level(1000, 0.0, True),
)
"""The levels of a game of which nothing is known."""


def level_of(number: int, value: LinearValue | None) -> Level:
    """A level, from 1 to ``LEVELS``.

    Args:
        number: of the level.
        value: that is shipped for the game; None for none.
    """
    ladder = DOUBLING if value is None else calibrated().get(value.game, DOUBLING)
    return ladder[number - 1]


@functools.cache
def calibrated() -> dict[str, tuple[Level, ...]]:
    """The levels of each game for which they were measured."""
    if not CALIBRATED.exists():
        return {}
    told = json.loads(CALIBRATED.read_text(encoding="utf-8"))
    return {game: tuple(Level(*rung) for rung in rungs) for game, rungs in told.items()}
