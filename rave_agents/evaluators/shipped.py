"""Learned values and policies that ship with the package, in ``data/``.

``examples/learn_all.py`` makes them; each file says how it was made.
"""

import functools
import pathlib
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

_load = functools.cache(load_learned)


def shipped_files() -> list[pathlib.Path]:
    """All shipped files."""
    return sorted(FOLDER.glob("*.npz"))


def known_games() -> dict[str, dict[str, Any]]:
    """The games with a shipped file, with their parameters, and what the file records."""
    return {
        learned.game: {
            "backup": learned.backup,
            "other_sizes": learned.other_sizes,
            "match": None if learned.match is None else learned.match.to_dict(),
        }
        for learned in map(_load, shipped_files())
    }


def rules_of(state: Any) -> BaseRules | None:
    """The compiled rules of a state's game if they are this package's; else None.

    A game of the user's own may have the name of one of ours, and without compiled rules a value
    costs more than it gains.
    """
    found = compiled_form(state)
    return None if found is None or found.rules.is_checked else found.rules


@functools.lru_cache(maxsize=256)
def value_for(rules: BaseRules) -> LinearValue | MovePolicy | None:
    """The shipped value or policy that fits a game, or None.

    Without one for its size, the value of the nearest size whose file says that it helps on others.
    """
    if not rules.name or rules.num_board_cells == 0:
        return None
    paths = *FOLDER.glob(f"{rules.name}.npz"), *FOLDER.glob(f"{rules.name}-*.npz")
    found = [_load(path) for path in sorted(paths)]
    for learned in found:
        try:
            learned.check_rules(rules)
        except UnsupportedGameError:
            continue
        warn_of_lost_match(learned)
        return learned
    values = [each for each in found if isinstance(each, LinearValue) and each.other_sizes]

    def distance(value: LinearValue) -> int:
        assert value.network is not None
        sides = zip(value.network.board, rules.board_shape, strict=False)
        return sum(abs(before - now) for before, now in sides)

    resized = (at_other_size(value, rules) for value in sorted(values, key=distance))
    return next((value for value in resized if value is not None), None)


def file_name(rules: BaseRules) -> str:
    """The name of a game's file: its name and the values of its parameters."""
    words = [str(value).replace(".", "_") for value in rules.parameters.values()]
    return "-".join([rules.name, *words]) + ".npz"
