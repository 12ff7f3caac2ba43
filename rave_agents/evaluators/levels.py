"""Levels of strength: simulations of each move, and how the move is drawn.

All levels lie on one path from random play to the full search, ``PATH``: first fewer and fewer
moves are drawn at random, then simulations double. ``examples/level_ladder.py`` measures how
strong the places on it are in a game, so that neighbours lie as many Elo points apart. They are
kept next to the values that are shipped; games that were not measured have levels amid theirs.
"""

import functools
import json
import math
import pathlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from rave_agents.evaluators.other_sizes import rules_named
from rave_agents.evaluators.shipped import FOLDER, value_for
from rave_agents.files import strict_json, written_whole
from rave_agents.game.arguments import is_integer, is_number
from rave_agents.games.kit.base_rules import BaseRules

NO_LEVEL = 0
"""The level of a search that has none."""

LEVELS = 10
"""The number of levels."""

MOST_SIMULATIONS = 10**6
"""Simulations that a level is below."""

LEAST_ELO = 60.0
"""Elo points between neighbours from which on one can tell them apart."""

CALIBRATED = FOLDER / "levels.json"
"""The file with the levels of each game."""


class Level(NamedTuple):
    """Settings of one level."""

    simulations: int
    """Simulations of each move."""
    temperature: float
    """The move is drawn in proportion to visits to the power of one over this; at 0 it is the
    final move."""
    random_moves: float
    """The probability that it is drawn uniformly from all legal moves instead."""


class Ladder(NamedTuple):
    """The levels of a game."""

    levels: tuple[Level, ...]
    """The ten, from the weakest."""
    distance: float | None = None
    """Elo points between neighbours, as measured; None where they were not."""


PATH = (
    *(Level(4, 0.5, share) for share in (1.0, 0.8, 0.6, 0.4, 0.2, 0.1, 0.0)),
    *(Level(round(1000 / 2**halvings), 0.5, 0.0) for halvings in range(7, 0, -1)),
    Level(1000, 0.0, 0.0),
)
"""Levels from random play, at place 0, to the full search; places between two are mixtures."""

DEFAULT_PLACES = (5.6, 7.0, 8.0, 8.9, 9.8, 10.7, 11.6, 12.4, 13.2, 14.0)
"""Places on the path of the levels of a game that was not measured, amid those of the others."""


def level_at(place: float) -> Level:
    """The level at a place on the path, from 0: simulations grow by equal factors between rungs."""
    number = min(int(place), len(PATH) - 2)
    low, high, share = PATH[number], PATH[number + 1], place - number
    simulations = low.simulations * (high.simulations / low.simulations) ** share
    return Level(
        round(simulations),
        round((1.0 - share) * low.temperature + share * high.temperature, 3),
        round((1.0 - share) * low.random_moves + share * high.random_moves, 3),
    )


DEFAULT = Ladder(tuple(level_at(place) for place in DEFAULT_PLACES))
"""The levels of a game that was not measured."""


def level_of(number: int, rules: BaseRules | None) -> Level:
    """A level, from 1 to ``LEVELS``.

    Args:
        number: of the level.
        rules: the game's compiled rules; None where it has none.
    """
    return ladder_of(rules).levels[number - 1]


@functools.lru_cache(maxsize=256)
def ladder_of(rules: BaseRules | None) -> Ladder:
    """The levels of a game: as measured, or those of the nearest size that was, or the default.

    Nearest is the one whose number of actions is. A size with a shipped value has nothing to say
    of one without.
    """
    if rules is None:
        return DEFAULT
    ladders = calibrated()
    if str(rules) in ladders:
        return ladders[str(rules)]
    has_value = value_for(rules) is not None
    sizes = [
        other
        for game in ladders
        if (other := rules_named(game, type(rules))) is not None
        and (value_for(other) is not None) == has_value
    ]
    if not sizes:
        return DEFAULT
    size = math.log(rules.num_distinct_actions)
    nearest = min(sizes, key=lambda other: abs(math.log(other.num_distinct_actions) - size))
    return ladders[str(nearest)]._replace(distance=None)


@functools.cache
def calibrated() -> dict[str, Ladder]:
    """The levels of each game for which they were measured."""
    if not CALIBRATED.exists():
        return {}
    return read_levels(CALIBRATED)


def read_levels(path: pathlib.Path) -> dict[str, Ladder]:
    """The levels of the games of a file.

    Raises:
        OSError: if it cannot be read.
        ValueError: if it is no file of levels.
    """
    try:
        told = strict_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{str(path)!r} is no file of levels: {error}.") from error
    if not isinstance(told, dict):
        raise ValueError(f"{str(path)!r} has no levels of games.")
    return {str(game): _checked(path, game, ladder) for game, ladder in told.items()}


def write_levels(path: pathlib.Path, ladders: Mapping[str, Ladder]) -> None:
    """Write the levels of games; each game takes a line."""
    lines = [
        f"{json.dumps(game)}: {json.dumps(ladders[game]._asdict())}" for game in sorted(ladders)
    ]
    with written_whole(path, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


def _checked(path: pathlib.Path, game: str, told: Any) -> Ladder:
    """The levels of a game; refused if a search could not use them."""
    fits = isinstance(told, dict) and told.keys() == {*Ladder._fields}
    rungs, distance = (told["levels"], told["distance"]) if fits else ([], None)
    fits = fits and (distance is None or is_number(distance))
    fits = fits and isinstance(rungs, list) and len(rungs) == LEVELS
    for rung in rungs if fits else ():
        whole = isinstance(rung, list) and len(rung) == len(Level._fields)
        simulations, temperature, share = rung if whole else (0, 0, 0)
        fits = fits and is_integer(simulations) and 0 < simulations < MOST_SIMULATIONS
        fits = fits and is_number(temperature) and 0.0 <= temperature < math.inf
        fits = fits and is_number(share) and 0.0 <= share <= 1.0
    if not fits:
        raise ValueError(f"{str(path)!r}: {game} has no {LEVELS} levels: {repr(told)[:200]}.")
    levels = tuple(Level(int(rung[0]), float(rung[1]), float(rung[2])) for rung in rungs)
    return Ladder(levels, distance)
