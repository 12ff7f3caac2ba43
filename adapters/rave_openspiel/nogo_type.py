"""NoGo in OpenSpiel: ``nogo(board_size=9)``; its rules are loaded with the first game."""

from typing import Any

import pyspiel

from rave_agents.games import rules_class
from rave_openspiel.rules_game import game_type, new_game, register

NOGO = game_type("nogo", {"board_size": 9}, long_name="NoGo")
"""The type of the game."""


def _make_nogo(params: dict[str, Any] | None = None) -> pyspiel.Game:
    return new_game(NOGO, rules_class("nogo"), params)


def register_nogo() -> None:
    """Register the game with OpenSpiel, unless a game of that name is there."""
    register(NOGO, _make_nogo)
