"""The first node of an SGF file: board, komi, rules, handicap and result, held against the game."""

import logging
import re
from collections.abc import Mapping
from typing import Any

from rave_agents.frameworks.adapters import Game
from rave_agents.game.game_state import GameState
from rave_agents.games.coordinates import handicap_points
from rave_agents.gtp.position import board_size

GAME_NUMBERS = {"go": 1, "nogo": 1, "othello": 2, "gomoku": 4, "lines_of_action": 9, "hex": 11}
"""SGF's numbers of games; NoGo has Go's board and stones. Others get ``OTHER_GAME``."""

OTHER_GAME = 0
"""Number for games that SGF has none for."""

_AREA_RULES = ("chinese", "aga", "nz", "tromp", "area", "bga", "ing", "goe")
"""Beginnings of the names of rules that count areas, as the game does."""

_log = logging.getLogger("rave_agents")


def check_root(root: Any, game: Game) -> bool:
    """Refuse a game that is not the one it is read as; the message names the one that fits.

    Rules that count otherwise are told in the log: the moves are the same.

    Args:
        root: the file's first node.
        game: the game.

    Returns:
        True if the node lays the stones of the game's handicap.

    Raises:
        ValueError: if its game, size, komi or handicap differ.
    """
    name = game.name.partition("(")[0]
    wanted = wanted_parameters(root, game)
    if wanted:
        given = dict(re.findall(r"(\w+)=([^,()]+)", game.name))
        if "board_size" in wanted:
            given.pop("max_game_length", None)
        text = ",".join(f"{key}={value}" for key, value in {**given, **wanted}.items())
        differs = " and ".join(f"{key} {value}" for key, value in wanted.items())
        raise ValueError(f"it has {differs}: name the game {name}({text}) to read it.")
    _warn_of_rules(root, name)
    return name == "go" and _is_laid(root, game)


def wanted_parameters(root: Any, game: Game) -> dict[str, str]:
    """The parameters that a game lacks to be the one of a file: size, komi and handicap.

    Args:
        root: the file's first node.
        game: the game.

    Raises:
        ValueError: if the file is of another game, or its board has a size that this one cannot
            have.
    """
    parameters: Mapping[str, Any] = getattr(game, "parameters", {})
    name = game.name.partition("(")[0]
    _check_kind(root, name)
    wanted: dict[str, str] = {}
    size = board_size(name, parameters)
    told = root.get_size() if root.has_property("SZ") or name == "go" else None
    if size is not None and told not in (None, size):
        if "board_size" not in parameters:
            raise ValueError(f"its board has the size {told}, and the game's {size}.")
        wanted["board_size"] = str(told)
    if name == "go":
        handicap = _handicap(root)
        if handicap not in (None, int(parameters["handicap"])):
            wanted["handicap"] = str(handicap)
        if root.has_property("KM") and float(root.get("KM")) != float(parameters["komi"]):
            wanted["komi"] = f"{float(root.get('KM')):g}"
    return wanted


def lay_handicap(root: Any, game: Game) -> None:
    """Write the handicap of a game of Go into a file's first node."""
    parameters: Mapping[str, Any] = getattr(game, "parameters", {})
    points = handicap_points(int(parameters.get("handicap", 0)), parameters.get("board_size", 0))
    if points:
        root.set("HA", len(points))
        root.set_setup_stones([(row, column) for column, row in points], [])


def _check_kind(root: Any, name: str) -> None:
    if not root.has_property("GM"):
        return
    told, own = root.get_raw("GM").decode(errors="replace").strip(), GAME_NUMBERS.get(name)
    others = [each for each, number in GAME_NUMBERS.items() if str(number) == told]
    if others and told != str(own):
        raise ValueError(f"it is a game of {' or '.join(others)} (GM[{told}]).")


def _handicap(root: Any) -> int | None:
    """The handicap of a file of Go; None if it sets up other stones."""
    black, white, empty = root.get_setup_stones()
    count = int(root.get("HA")) if root.has_property("HA") else len(black)
    if count < 2:
        count = 0
    return None if white or empty or (black and not count) else count


def _is_laid(root: Any, game: Game) -> bool:
    """True if the file lays the stones of the game's handicap."""
    black, _, _ = root.get_setup_stones()
    count = _handicap(root)
    if not black or count is None:
        return False
    size = getattr(game, "parameters", {})["board_size"]
    if black != {(row, column) for column, row in handicap_points(count, size)}:
        raise ValueError(
            f"its handicap of {count} does not lie on the usual points, where the game lays it."
        )
    return True


def _warn_of_rules(root: Any, name: str) -> None:
    rules = root.get("RU").strip() if name == "go" and root.has_property("RU") else ""
    if rules and not rules.lower().startswith(_AREA_RULES):
        _log.warning(
            "The file has the rules %r; it is read by the game's own, which count areas: results "
            "may differ by a point, and values of close ends with them.",
            rules,
        )


def warn_of_result(root: Any, state: GameState) -> None:
    """Tell in the log if a file says that another player has won than by the game's rules."""
    told = str(root.get("RE")) if root.has_property("RE") else ""
    if not state.is_terminal() or not re.match(r"[BW]\+|0$|Draw$", told):
        return
    black, white = state.returns()
    winner = "B" if black > white else "W" if white > black else ""
    said = told[0] if told[1:2] == "+" else ""
    if said != winner:
        names = {"B": "black wins", "W": "white wins", "": "it is a draw"}
        _log.warning(
            "The file has the result %s; by the game's rules %s, dead stones standing as they "
            "stand.",
            told,
            names[winner],
        )
