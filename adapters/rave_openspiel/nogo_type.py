"""NoGo in OpenSpiel: ``nogo(board_size=9)``; its rules are loaded with the first game."""

from typing import Any

import pyspiel

from rave_openspiel.rules_game import game_type, register

NOGO = game_type("nogo", {"board_size": 9}, long_name="NoGo")
"""The type of the game."""


def _make_nogo(params: dict[str, Any] | None = None) -> pyspiel.Game:
    from rave_agents.games.nogo import NoGo  # noqa: PLC0415
    from rave_openspiel.rules_state import RulesGame  # noqa: PLC0415

    return RulesGame(NOGO, NoGo, params)


def register_nogo() -> None:
    """Register the game with OpenSpiel, unless a game of that name is there."""
    register(NOGO, _make_nogo)
