"""Levels of strength: simulations and the temperature at which the move is drawn by visits.

The ladder for games of which nothing is known doubles the simulations. It is calibrated by
``rave-agents levels``, so that neighbours lie as many Elo points apart, and kept beside the values
that are shipped.
"""

import functools
import json
import math
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rave_agents.files import written_whole
from rave_agents.game.arguments import is_integer, is_number
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.knowledge.shipped import FOLDER, value_for

NO_LEVEL = 0
"""The level of a search that has none."""

LEVELS = 10
"""The number of levels."""

MOST_SIMULATIONS = 10**6
"""Simulations that a level is below."""

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

WITH_VALUE = (
    *(Level(simulations, 0.5, False) for simulations in (4, 16, 62, 250, 500)),
    *(Level(16, temperature, True) for temperature in (8.0, 1.0)),
    *(Level(simulations, 0.5, True) for simulations in (62, 250)),
    DOUBLING[-1],
)
"""The levels of a game with a shipped value, where they were not measured."""


def level_of(number: int, rules: BaseRules | None) -> Level:
    """A level, from 1 to ``LEVELS``.

    Args:
        number: of the level.
        rules: the game's compiled rules; None where it has none.
    """
    has_value = rules is not None and value_for(rules) is not None
    ladder = calibrated().get(str(rules), WITH_VALUE if has_value else DOUBLING)
    return ladder[number - 1]


@functools.cache
def calibrated() -> dict[str, tuple[Level, ...]]:
    """The levels of each game for which they were measured."""
    if not CALIBRATED.exists():
        return {}
    return read_levels(CALIBRATED)


def read_levels(path: pathlib.Path) -> dict[str, tuple[Level, ...]]:
    """The levels of the games of a file.

    Raises:
        OSError: if it cannot be read.
        ValueError: if it is no file of levels.
    """
    told = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(told, dict):
        raise ValueError(f"{str(path)!r} has no levels of games.")
    return {str(game): _checked(path, game, rungs) for game, rungs in told.items()}


def write_levels(path: pathlib.Path, ladders: Mapping[str, Sequence[Level]]) -> None:
    """Write the levels of games; each takes a line."""
    lines = [f"{json.dumps(game)}: {json.dumps(ladders[game])}" for game in sorted(ladders)]
    with written_whole(path, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


def _checked(path: pathlib.Path, game: str, rungs: Any) -> tuple[Level, ...]:
    """The levels of a game; refused if a search could not use them."""
    fits = isinstance(rungs, list) and len(rungs) == LEVELS
    for rung in rungs if fits else ():
        whole = isinstance(rung, list) and len(rung) == len(Level._fields)
        simulations, temperature, known = rung if whole else (0, 0, 0)
        fits = fits and is_integer(simulations) and 0 < simulations < MOST_SIMULATIONS
        fits = fits and is_number(temperature) and 0.0 <= temperature < math.inf
        fits = fits and isinstance(known, bool)
    if not fits:
        raise ValueError(f"{str(path)!r}: {game} has no {LEVELS} levels: {rungs!r}.")
    return tuple(Level(int(rung[0]), float(rung[1]), rung[2]) for rung in rungs)
