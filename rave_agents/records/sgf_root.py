"""The first node of an SGF file: the game, its board, komi, handicap, rules and result."""

import logging
import math
import re
from collections.abc import Mapping
from typing import Any

from rave_agents.engines.client.boards import board_size
from rave_agents.extras import missing
from rave_agents.frameworks.adapters import Game, GameAbilities
from rave_agents.game.game_state import GameState
from rave_agents.games.coordinates import LETTERS, handicap_points, point_name

Node = Mapping[str, list[bytes]]
"""The properties of a node of an SGF file, each with its values."""

GAME_NUMBERS = {"go": 1, "nogo": 1, "othello": 2, "gomoku": 4, "lines_of_action": 9, "hex": 11}
"""SGF's numbers of games; NoGo uses Go's board and stones. Other games get ``OTHER_GAME``."""

OTHER_GAME = 0
"""Number for games without an SGF number."""

_LAST_NUMBER = 40
"""The last number in SGF's list of games."""

USUAL_SIZE = 19
"""Default size of a board if neither the game nor the file has one."""

_USUAL_SIZES = {"go": USUAL_SIZE, "hex": 11}
"""Default sizes of boards in files without size."""

_AREA_RULES = ("chinese", "aga", "nz", "tromp", "area", "bga", "ing", "goe")
"""Name prefixes of rules with area scoring, as in the game."""

_HUNDREDTHS = {
    **{550: 5.5, 650: 6.5, 700: 7.0, 750: 7.5},
    **{275: 5.5, 325: 6.5, 350: 7.0, 375: 7.5},
}
"""Komi in hundredths, as written by Fox: of points, or of stones under Chinese rules, worth two
points each."""

_FOX_HALF = 50
"""Fox's half a point; elsewhere 50 would be a komi of 50."""

_PASSES = ("", "tt")
_LARGEST = 52
"""The largest board that SGF's letters can address."""

_LAST_TT = 19
"""The largest board on which tt is a pass, not a point."""

_log = logging.getLogger("rave_agents")


def sgfmill() -> Any:
    """The package sgfmill, with its modules for SGF files and their grammar."""
    try:
        import sgfmill.sgf  # noqa: PLC0415  (optional: sgfmill)
    except ImportError as error:
        raise ValueError(missing("SGF needs", "sgf", "sgfmill")) from error
    return sgfmill  # Importing it also loads its grammar module.


def text_of(node: Node, key: str) -> str:
    """The first value of a property, unescaped; empty if there is none."""
    raw = node.get(key, [b""])[0].decode("utf-8", errors="replace")
    return re.sub(r"\\(.)", r"\1", raw, flags=re.DOTALL).strip()


def size_of(root: Node, name: str) -> int | None:
    """The size of a file's board; None if it has none.

    Raises:
        ValueError: if it is not a number, or the board is not square.
    """
    text = text_of(root, "SZ")
    sides = re.fullmatch(r"(\d{1,4})(?::(\d{1,4}))?", text)
    if not text:
        return _USUAL_SIZES.get(name)
    if sides is None:
        raise ValueError(f"its size, SZ[{text}], is no number")
    if sides[2] is not None and int(sides[2]) != int(sides[1]):
        raise ValueError(f"its board is not square, but has the size {text}")
    if int(sides[1]) > _LARGEST:
        raise ValueError(f"its size, SZ[{text}], exceeds SGF's letters")
    return int(sides[1])


def sides_of(parameters: Mapping[str, Any]) -> str:
    """The columns and rows of a board that is not square, in SGF notation; empty for a square."""
    for pair in (("num_cols", "num_rows"), ("columns", "rows")):
        columns, rows = map(parameters.get, pair)
        if columns != rows:
            return f"{columns}:{rows}"
    return ""


def go_point(raw: bytes, size: int) -> str:
    """The point of a move or stone in Go, such as ``D4``; empty for a pass.

    Raises:
        ValueError: if it is neither.
    """
    text = raw.decode("utf-8", errors="replace").strip()
    if text in _PASSES[: 2 if size <= _LAST_TT else 1]:
        return ""
    places = [ord(letter) - ord("a") for letter in text]
    if len(places) != 2 or not all(0 <= place < size for place in places):
        last = chr(ord("a") + size - 1)
        raise ValueError(
            f"is no point: SGF writes column and row as two lower-case letters from a to {last}"
        )
    return point_name(places[0], size - 1 - places[1]).upper()


def wanted_parameters(root: Node, game: Game) -> dict[str, str]:
    """The parameters needed for the game of a file: size, komi and handicap.

    Args:
        root: the file's first node.
        game: the game.

    Raises:
        ValueError: if the file belongs to another game, or has an invalid size, komi or handicap.
    """
    parameters = GameAbilities(game).parameters
    name = game.name.partition("(")[0]
    wanted: dict[str, str] = {}
    sides, text = sides_of(parameters), text_of(root, "SZ")
    if sides and text != sides and (text or name in _USUAL_SIZES):
        raise ValueError(f"its board does not have the game's size, {sides}, but SZ[{text}]")
    size, stated = board_size(name, parameters), None if sides else size_of(root, name)
    if size is None and stated is not None:
        raise ValueError(f"its board has the size {stated}, but the game's size is not one number")
    if stated not in (None, size):
        key = next((key for key in ("board_size", "size") if key in parameters), None)
        if key is None:
            raise ValueError(f"its board has the size {stated}, but the game's has {size}")
        wanted[key] = str(stated)
    if name == "go":
        assert stated is not None
        handicap = str(_own_handicap(handicap_of(root, stated), stated))
        if handicap != str(parameters["handicap"]):
            wanted["handicap"] = handicap
        komi = komi_of(root, stated)
        if komi is not None and komi != float(parameters["komi"]):
            wanted["komi"] = repr(komi)
    return wanted


def check_kind(root: Node, name: str, *, has_go_points: bool) -> None:
    """Refuse a file of another game.

    Args:
        root: the file's first node.
        name: the game's name without parameters.
        has_go_points: True if its moves are written as in Go.

    Raises:
        ValueError: if the file is of another game.
    """
    stated, own = text_of(root, "GM"), GAME_NUMBERS.get(name, OTHER_GAME)
    others = [each for each, number in GAME_NUMBERS.items() if str(number) == stated]
    if others and stated != str(own):
        raise ValueError(f"it is a game of {' or '.join(others)} (GM[{stated}])")
    listed = stated.isdecimal() and len(stated) < 3 and 0 < int(stated) <= _LAST_NUMBER
    if stated.lower() not in ("", name, str(own)) and (listed or own != OTHER_GAME):
        raise ValueError(f"it is a game of another kind, GM[{stated}]")
    if not stated and has_go_points and own not in (GAME_NUMBERS["go"], OTHER_GAME):
        raise ValueError(f"it names no game, which means go; {name} is GM[{own}]")
    written = re.match(r"(\w+)(?:\(.*\))?, game \d+$", text_of(root, "GN"))
    if text_of(root, "AP").startswith("rave-agents") and written and written[1] != name:
        raise ValueError(f"it is a game of {written[1]}")


def komi_of(root: Node, size: int) -> float | None:
    """The komi of a file of Go in points; None without one.

    Raises:
        ValueError: if it is not a possible number of points on the board.
    """
    text = text_of(root, "KM")
    if not text:
        return None
    try:
        komi = float(text.replace(",", "."))
    except ValueError:
        komi = math.nan
    is_fox = any(b"foxwq" in value for value in root.get("AP", []))
    if is_fox and komi == _FOX_HALF:
        return 0.5
    if komi in _HUNDREDTHS:
        return _HUNDREDTHS[int(komi)]
    if not abs(komi) <= size * size or (is_fox and abs(komi) > _FOX_HALF):
        raise ValueError(f"its komi, KM[{text}], is no number of points on this board")
    return komi


def handicap_of(root: Node, size: int) -> list[str]:
    """The points of the handicap stones in a file of Go.

    Raises:
        ValueError: if other stones are set up, or their number differs from the handicap.
    """
    try:
        black = sorted(_points(root.get("AB", []), size))
    except ValueError as error:
        raise ValueError(f"a stone set up by AB {error}") from error
    text = text_of(root, "HA")
    if text and re.fullmatch(r"\d{1,4}", text, re.ASCII) is None:
        raise ValueError(f"its handicap, HA[{text}], is no number of stones")
    count = int(text) if text else len(black)
    if "AW" in root or "AE" in root or (black and count < 2):
        raise ValueError("it sets up stones beyond the handicap, but only moves can be played")
    if count > 1 and not black:
        raise ValueError(f"it has a handicap of {count}, but no AB with its stones")
    if count > 1 and count != len(black):
        raise ValueError(f"it has a handicap of {count}, but AB sets up {len(black)} stones")
    return black


def _points(values: list[bytes], size: int) -> set[str]:
    """The points of a list, which may give rectangles by their corners."""
    found: set[str] = set()
    for value in filter(None, values):
        corners = [go_point(corner, size).lower() for corner in value.split(b":")]
        if "" in corners or len(corners) > 2:
            raise ValueError("is no point")
        columns = sorted(LETTERS.index(corner[0]) for corner in corners)
        rows = sorted(int(corner[1:]) for corner in corners)
        found |= {
            point_name(column, row - 1).upper()
            for column in range(columns[0], columns[-1] + 1)
            for row in range(rows[0], rows[-1] + 1)
        }
    return found


def _own_handicap(stones: list[str], size: int) -> int:
    """The game's handicap parameter for these stones; 0 if moves must place them."""
    try:
        points = handicap_points(len(stones), size)
    except ValueError:
        return 0
    usual = {point_name(column, row).upper() for column, row in points}
    return len(stones) if usual == set(stones) else 0


def stones_to_lay(root: Node, game: Game) -> list[str]:
    """The handicap stones that moves must place, since no parameter of the game places them."""
    parameters = GameAbilities(game).parameters
    if game.name.partition("(")[0] != "go" or parameters["handicap"]:
        return []
    return handicap_of(root, parameters["board_size"])


def warn_of_rules(root: Node, name: str) -> None:
    """Log differing scoring rules; the moves are the same."""
    rules = text_of(root, "RU") if name == "go" else ""
    if rules and not rules.lower().startswith(_AREA_RULES):
        _log.warning(
            "The file has the rules %r, but is read by the game's own area rules: results may "
            "differ by a point, and with them the values of close endgames.",
            rules,
        )


def warn_of_result(root: Node, state: GameState) -> None:
    """Log a winner in the file that differs from the winner by the game's rules."""
    stated = text_of(root, "RE")
    if not state.is_terminal() or not re.match(r"[BW]\+|0$|Draw$", stated):
        return
    black, white = state.returns()
    winner = "B" if black > white else "W" if white > black else ""
    said = stated[0] if stated[1:2] == "+" else ""
    if said != winner:
        names = {"B": "black wins", "W": "white wins", "": "it is a draw"}
        _log.warning(
            "The file has the result %s; by the game's rules %s, with dead stones left on the "
            "board.",
            stated,
            names[winner],
        )
