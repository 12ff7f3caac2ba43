"""Games whose rules are Python, compiled by Numba, and the kit to write one.

A game is a file here, with a subclass of ``Rules`` of less than 200 lines; what games share lies
beside them (boards of stones or hexagons, sets of squares). What compiles, simulates and shows any
game is written once, in ``kit/``.
"""

import importlib
from typing import TYPE_CHECKING, Any

from rave_agents.game.arguments import unknown_name

if TYPE_CHECKING:
    from rave_agents.games.kit.rules import CHANCE, NO_ACTION, TERMINAL, Rules
    from rave_agents.games.kit.rules_state import RulesState
    from rave_agents.games.nogo import NoGoState
    from rave_agents.simulate.random_stream import random_below, random_unit

__all__ = [
    "CHANCE",
    "GAMES",
    "NO_ACTION",
    "TERMINAL",
    "NoGoState",
    "Rules",
    "RulesState",
    "random_below",
    "random_unit",
    "rules_class",
]

GAMES = {
    "amazons": "Amazons",
    "antichess": "Antichess",
    "atari_go": "AtariGo",
    "backgammon": "Backgammon",
    "breakthrough": "Breakthrough",
    "checkers": "Checkers",
    "clobber": "Clobber",
    "connect_four": "ConnectFour",
    "cursor_go": "CursorGo",
    "domineering": "Domineering",
    "dots_and_boxes": "DotsAndBoxes",
    "einstein_wurfelt_nicht": "EinsteinWurfeltNicht",
    "go": "Go",
    "gomoku": "Gomoku",
    "havannah": "Havannah",
    "hex": "Hex",
    "knightthrough": "Knightthrough",
    "lines_of_action": "LinesOfAction",
    "mancala": "Mancala",
    "mnk": "MNK",
    "nim": "Nim",
    "nine_mens_morris": "NineMensMorris",
    "nogo": "NoGo",
    "othello": "Othello",
    "oware": "Oware",
    "pentago": "Pentago",
    "pig": "Pig",
    "quoridor": "Quoridor",
    "tic_tac_toe": "TicTacToe",
    "twixt": "Twixt",
    "ultimate_tic_tac_toe": "UltimateTicTacToe",
    "y": "Y",
}
"""The games that are here, by name: the class in the module of that name."""

_PLACES = {
    "CHANCE": "rave_agents.games.kit.rules",
    "NO_ACTION": "rave_agents.games.kit.rules",
    "TERMINAL": "rave_agents.games.kit.rules",
    "Rules": "rave_agents.games.kit.rules",
    "RulesState": "rave_agents.games.kit.rules_state",
    "NoGoState": "rave_agents.games.nogo",
    "random_below": "rave_agents.simulate.random_stream",
    "random_unit": "rave_agents.simulate.random_stream",
}


def rules_class(name: str) -> "type[Rules]":
    """The rules of a game of ``GAMES``.

    Raises:
        ValueError: if there is no such game.
    """
    if name not in GAMES:
        raise ValueError(unknown_name("game", name, GAMES))
    module = importlib.import_module(f"rave_agents.games.{name}")
    found: type[Rules] = vars(module)[GAMES[name]]
    return found


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return vars(importlib.import_module(_PLACES[name]))[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
