"""Games that a file may name: their parameters are numbers, or texts that are only parsed."""

from collections.abc import Mapping
from typing import Any

import pyspiel

LONGEST = 2000
"""Characters of a spec."""

PARSED = frozenset(
    [
        *("betting", "bettingAbstraction", "bidding_rule", "blind", "boardCards", "fen"),
        *("firstPlayer", "gameversion", "grid", "handReaches", "history", "maxRaises"),
        *("numBoardCards", "observation_type", "obstype", "payoff", "payoffs", "pile_sizes"),
        *("points_order", "raiseSize", "returns_type", "scoring_type", "ship_sizes"),
        *("ship_values", "stack", "string_rep"),
    ]
)
"""Parameters of OpenSpiel's games whose text is read as it is; others, such as ``filename``,
``instances_file`` or ``word_list_file``, name files."""

INNER = frozenset(["game", "stage_game"])
"""Parameters that are games themselves."""


def is_plain(spec: str, known: Mapping[str, pyspiel.GameType]) -> bool:
    """Return whether OpenSpiel makes the game of this spec without opening a file.

    Args:
        spec: such as ``"hex(board_size=9)"``; OpenSpiel's own parser reads it, as it does to load.
        known: the registered games.
    """
    if len(spec) > LONGEST:
        return False
    try:
        return _is_plain(pyspiel.game_parameters_from_string(spec), known)
    except (pyspiel.SpielError, UnicodeError):
        return False


def _is_plain(parameters: Mapping[str, Any], known: Mapping[str, pyspiel.GameType]) -> bool:
    game_type = known.get(parameters.get("name", ""))
    if game_type is None:
        return False
    # An allowlist: a parameter that a later OpenSpiel adds may name a file.
    given = {key: value for key, value in parameters.items() if key != "name"}
    return given.keys() <= game_type.parameter_specification.keys() and all(
        _is_plain_value(key, value, known) for key, value in given.items()
    )


def _is_plain_value(key: str, value: Any, known: Mapping[str, pyspiel.GameType]) -> bool:
    if isinstance(value, dict):
        return key in INNER and _is_plain(value, known)
    return isinstance(value, bool | int | float) or (key in PARSED and isinstance(value, str))
