"""Learned values and policies of the package, in ``data/``: found for the game that they fit.

``examples/learn_all.py`` makes them anew; each file tells how it was made.
"""

import functools
import pathlib
from collections.abc import Callable
from typing import Any

from rave_agents.errors import UnsupportedGameError
from rave_agents.evaluators.learned_file import warn_of_lost_match
from rave_agents.evaluators.linear_value import LinearValue
from rave_agents.evaluators.move_policy import MovePolicy, load_learned
from rave_agents.evaluators.other_sizes import at_other_size
from rave_agents.game.game_state import compiled_form
from rave_agents.games.kit.base_rules import BaseRules

FOLDER = pathlib.Path(__file__).parent / "data"
"""The folder of the files, see ``file_name``."""


def shipped_files() -> list[pathlib.Path]:
    """All files that are shipped."""
    return sorted(FOLDER.glob("*.npz"))


def known_games() -> dict[str, dict[str, Any]]:
    """The games of which something is shipped, with their parameters, and what each file says."""
    return {
        learned.game: {
            "backup": learned.backup,
            "other_sizes": learned.other_sizes,
            "match": None if learned.match is None else learned.match.to_dict(),
        }
        for learned in map(_loaded, shipped_files())
    }


def rules_of(state: Any) -> BaseRules | None:
    """The compiled rules of a state's game, if they are this package's; else None.

    A game of the user's own may have the name of one of ours. Files are for games on compiled
    rules alone: elsewhere they cost more than they bring.
    """
    found = compiled_form(state)
    return None if found is None or found.rules.is_checked else found.rules


@functools.lru_cache(maxsize=256)
def value_for(rules: BaseRules) -> LinearValue | MovePolicy | None:
    """The shipped value, or policy, that fits a game; None if there is none.

    Where there is none of its size, it is the value of the nearest whose file says that it helps on
    others.
    """
    found = _learned_of(rules)
    for learned in found:
        try:
            learned.check_rules(rules)
        except UnsupportedGameError:
            continue
        warn_of_lost_match(learned)
        return learned
    values = [each for each in found if isinstance(each, LinearValue) and each.other_sizes]
    near = sorted(values, key=_distance(rules))
    return next(filter(None, (at_other_size(value, rules) for value in near)), None)


def _learned_of(rules: BaseRules) -> list[LinearValue | MovePolicy]:
    """Values and policies that are shipped of a game, whatever its parameters."""
    if not rules.name or rules.num_board_cells == 0:
        return []
    paths = *FOLDER.glob(f"{rules.name}.npz"), *FOLDER.glob(f"{rules.name}-*.npz")
    return [_loaded(path) for path in sorted(paths)]


def _distance(rules: BaseRules) -> Callable[[LinearValue], int]:
    """The number of rows and columns by which a value's board is larger or smaller."""

    def distance(value: LinearValue) -> int:
        assert value.network is not None
        sides = zip(value.network.board, rules.board_shape, strict=False)
        return sum(abs(before - now) for before, now in sides)

    return distance


@functools.cache
def _loaded(path: pathlib.Path) -> LinearValue | MovePolicy:
    return load_learned(path)


def file_name(rules: BaseRules) -> str:
    """The name of a game's file: its name and the values of its parameters."""
    words = [str(value).replace(".", "_") for value in rules.parameters.values()]
    return "-".join([rules.name, *words]) + ".npz"
