"""OpenSpiel's side of Shimmy's environments; see ``structure.openspiel``, which imports it."""

from typing import Any

import pyspiel
from rave_openspiel import OpenSpielState, refusal
from rave_openspiel.hanabi_worlds import HanabiWorlds
from rave_openspiel.support import check_worlds, plays
from rave_openspiel.worlds import view

SpielError: type[Exception] = pyspiel.SpielError
"""OpenSpiel's exception."""

__all__ = [
    "HanabiWorlds",
    "OpenSpielState",
    "SpielError",
    "check_worlds",
    "game_names",
    "hidden_information",
    "is_sequential",
    "plays",
    "refusal",
    "view",
]


def game_names() -> list[str]:
    """The names of the registered games."""
    return [game_type.short_name for game_type in pyspiel.registered_games()]


def is_sequential(game_type: Any) -> bool:
    """True if players of a game take turns."""
    return bool(game_type.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL)


def hidden_information(game_type: Any) -> str | None:
    """Return what a game hides from its players; None if nothing."""
    if game_type.information != pyspiel.GameType.Information.PERFECT_INFORMATION:
        return "the information that OpenSpiel's game keeps from its players"
    # Shimmy resolves chance itself inside ``step``, by a generator that copies would foresee.
    if game_type.chance_mode != pyspiel.GameType.ChanceMode.DETERMINISTIC:
        return "the outcomes of chance to come"
    return None
