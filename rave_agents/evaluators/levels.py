"""Levels of strength: simulations a move, and how the move is drawn.

All levels lie on one path from random play to the full search, ``PATH``: first ever fewer moves are
random, then simulations double. ``examples/level_ladder.py`` measures the strength of the places on
it, and chooses levels that lie equally many Elo points apart. Games that were not measured have
levels in the middle of those of the others.
"""

import functools
import json
import math
import pathlib
from collections.abc import Mapping
from typing import NamedTuple

from rave_agents.evaluators.other_sizes import rules_named
from rave_agents.evaluators.shipped import FOLDER, value_for
from rave_agents.files import strict_json, written_whole
from rave_agents.games.kit.base_rules import BaseRules

NO_LEVEL, LEVELS = 0, 10
"""The level of a search that has none, and the highest."""

LEAST_ELO = 60.0
"""The smallest distance of neighbours in Elo points that people notice."""

CALIBRATED = FOLDER / "levels.json"
"""The file with the measured levels of each game."""


class Level(NamedTuple):
    """Settings of one level."""

    simulations: int
    """Simulations a move."""
    temperature: float
    """The move is drawn in proportion to visits ** (1 / temperature); 0 for the final move."""
    random_moves: float
    """The probability of a move drawn uniformly from all legal moves instead."""


class Ladder(NamedTuple):
    """The levels of a game."""

    levels: tuple[Level, ...]
    """The ten, from the weakest."""
    distance: float | None = None
    """Measured Elo points between neighbours; None if they were not measured."""


PATH = (
    *(Level(4, 0.5, share) for share in (1.0, 0.8, 0.6, 0.4, 0.2, 0.1, 0.0)),
    *(Level(round(1000 / 2**halvings), 0.5, 0.0) for halvings in range(7, 0, -1)),
    Level(1000, 0.0, 0.0),
)
"""Levels from random play to the full search; a place between two of them is a mixture."""

DEFAULT_PLACES = (5.6, 7.0, 8.0, 8.9, 9.8, 10.7, 11.6, 12.4, 13.2, 14.0)
"""Places on the path of the levels of games that were not measured."""


def level_at(place: float) -> Level:
    """The level at a place on the path; simulations grow exponentially between two of them."""
    number = min(int(place), len(PATH) - 2)
    low, high, share = PATH[number], PATH[number + 1], place - number
    return Level(
        # Geometric: equal factors of simulations are about equal steps in Elo.
        round(low.simulations * (high.simulations / low.simulations) ** share),
        round((1.0 - share) * low.temperature + share * high.temperature, 3),
        round((1.0 - share) * low.random_moves + share * high.random_moves, 3),
    )


DEFAULT = Ladder(tuple(level_at(place) for place in DEFAULT_PLACES))
"""The levels of games that were not measured."""


def level_of(number: int, rules: BaseRules | None) -> Level:
    """A level.

    Args:
        number: from 1 to ``LEVELS``.
        rules: the game's compiled rules, if it has any.
    """
    return ladder_of(rules).levels[number - 1]


@functools.lru_cache(maxsize=256)
def ladder_of(rules: BaseRules | None) -> Ladder:
    """The levels of a game: those measured, or of the nearest measured size, or the default.

    The nearest size has the nearest number of actions. Sizes with a shipped value are stronger: a
    size takes over the levels of one with a value only if it has one, too.
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
    """The measured levels of each game."""
    return read_levels(CALIBRATED) if CALIBRATED.exists() else {}


def read_levels(path: pathlib.Path) -> dict[str, Ladder]:
    """Read a file of ``write_levels``."""
    stored = strict_json(path.read_text(encoding="utf-8"))
    return {
        game: Ladder(tuple(Level(*level) for level in ladder["levels"]), ladder["distance"])
        for game, ladder in stored.items()
    }


def write_levels(path: pathlib.Path, ladders: Mapping[str, Ladder]) -> None:
    """Write the levels of games, one line each."""
    lines = [
        f"{json.dumps(game)}: {json.dumps(ladders[game]._asdict())}" for game in sorted(ladders)
    ]
    with written_whole(path, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
