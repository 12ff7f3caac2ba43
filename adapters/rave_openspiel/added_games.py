"""Games of this package that OpenSpiel has not, such as ``nogo(board_size=9)``, in OpenSpiel.

The rules of a game are loaded with the first one.
"""

import functools
from typing import Any

import pyspiel

from rave_agents.games import rules_class
from rave_openspiel.rules_game import game_type, new_game, register

ADDED = {
    "atari_go": ("Atari Go", {"board_size": 9}),
    "domineering": ("Domineering", {"rows": 8, "columns": 8}),
    "knightthrough": ("Knightthrough", {"rows": 8, "columns": 8}),
    "nogo": ("NoGo", {"board_size": 9}),
}
"""The names of the games in print, and their parameters with the defaults."""


def _make(kind: pyspiel.GameType, params: dict[str, Any] | None = None) -> pyspiel.Game:
    return new_game(kind, rules_class(kind.short_name), params)


def register_games() -> None:
    """Register each game with OpenSpiel, unless a game of its name is there."""
    for name, (long_name, parameters) in ADDED.items():
        kind = game_type(name, parameters, long_name=long_name)
        register(kind, functools.partial(_make, kind))
