"""Values that are shipped with the package, in ``data/``: found for the game that they fit.

``examples/learn_all.py`` makes them anew; each file tells how it was made.
"""

import functools
import pathlib
from typing import Any

from rave_agents.errors import UnsupportedGameError
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.knowledge.linear_value import LinearValue

FOLDER = pathlib.Path(__file__).parent / "data"
"""The folder of the files, see ``file_name``."""


def shipped_files() -> list[pathlib.Path]:
    """All files that are shipped."""
    return sorted(FOLDER.glob("*.npz"))


def known_games() -> dict[str, str]:
    """The games of which values are shipped, with their parameters, and how each is backed up."""
    values = map(_loaded, shipped_files())
    return {value.game: value.backup for value in values}


def rules_of(state: Any) -> BaseRules | None:
    """The compiled rules of a state's game, if they are this package's; else None.

    A game of the user's own may have the name of one of ours. Values are for games on compiled
    rules alone: elsewhere they cost more than they bring.
    """
    found = getattr(state, "on_compiled_rules", lambda: None)()
    return None if found is None or found.rules.is_checked else found.rules


@functools.lru_cache(maxsize=256)
def value_for(rules: BaseRules) -> LinearValue | None:
    """The shipped value that fits a game; None if there is none."""
    if not rules.name or rules.num_board_cells == 0:
        return None
    for path in (*FOLDER.glob(f"{rules.name}.npz"), *FOLDER.glob(f"{rules.name}-*.npz")):
        value = _loaded(path)
        try:
            value.judged(rules)
        except UnsupportedGameError:
            continue
        return value
    return None


@functools.cache
def _loaded(path: pathlib.Path) -> LinearValue:
    return LinearValue.load(path)


def file_name(rules: BaseRules) -> str:
    """The name of a game's file: its name and the values of its parameters."""
    words = [str(value).replace(".", "_") for value in rules.parameters.values()]
    return "-".join([rules.name, *words]) + ".npz"
