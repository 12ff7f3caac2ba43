"""Reads games from SGF files, which sgfmill parses."""

import codecs
import contextlib
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rave_agents.engines.client.boards import EMPTY, board_size, game_with, go_rows
from rave_agents.engines.client.vertices import PASS, RESIGN, Vertices
from rave_agents.frameworks.adapters import Game, GameAbilities
from rave_agents.game.game_state import GameState, apply_path
from rave_agents.games.coordinates import point_number
from rave_agents.records.record import ReadGame, ending
from rave_agents.records.sgf_root import (
    USUAL_SIZE,
    Node,
    check_kind,
    go_point,
    sgfmill,
    size_of,
    stones_to_lay,
    text_of,
    wanted_parameters,
    warn_of_result,
    warn_of_rules,
)

_SETUP = ("AB", "AW", "AE")
_GIVEN_UP = (RESIGN, "resigns", "forfeit")
_SWAP, _SWAPS = "swap", ("swap", "swap-pieces")
"""Hex's swap move: OpenSpiel's word, and the words in files."""

_log = logging.getLogger("rave_agents")


def read_sgf(path: Path, game: Game, number: int = 1) -> ReadGame:
    """The main line of a game in an SGF file.

    Args:
        path: the file.
        game: the game, with the file's board, komi and handicap.
        number: the number of the game in the file, from 1.

    Raises:
        ValueError: if sgfmill is not installed, or the file has no readable game of this kind, with
            the move and the reason, or the name of the file's game.
        UnsupportedGameError: if the game's moves are not single words.
        OSError: if it cannot be read.
    """
    vertices = Vertices(game)
    with _named(path, game):
        nodes = _nodes(path, number)
        wanted = _wanted(nodes, game, vertices)
        if wanted:  # Refused, with the game that fits: komi or size would change silently.
            differs = " and ".join(f"{key} {value}" for key, value in wanted.items())
            fitting = _fitting(game, wanted)
            if fitting is None or _wanted(nodes, fitting, Vertices(fitting)):
                raise ValueError(f"it has {differs}, and {game.name} cannot be changed to that")
            _read(nodes, fitting, Vertices(fitting))  # Raises a better reason for other faults.
            raise ValueError(f"it has {differs}: name the game {fitting.name} to read it")
        read = _read(nodes, game, vertices)
        warn_of_rules(nodes[0], vertices.short_name)
        if read.laid:
            _log.warning("The handicap stones are placed by moves: white gets no points for them.")
        end = read.start.clone()
        apply_path(end, list(read.actions))
        if not read.goes_on:
            warn_of_result(nodes[0], end)
        return read


def sgf_parameters(path: Path, game: Game, number: int = 1) -> dict[str, str]:
    """The parameters needed for the game in an SGF file: size, komi and handicap.

    Args:
        path: the file.
        game: the game.
        number: the number of the game in the file, from 1.

    Raises:
        ValueError: as ``read_sgf``, for another game or an impossible size.
        OSError: if it cannot be read.
    """
    with _named(path, game):
        return _wanted(_nodes(path, number), game, Vertices(game))


def count_games(path: Path) -> int:
    """The number of games in an SGF file; 0 if it is not one.

    Raises:
        OSError: if it cannot be read.
    """
    try:
        return len(sgfmill().sgf_grammar.parse_sgf_collection(_content(path)))
    except ValueError:
        return 0


@contextlib.contextmanager
def _named(path: Path, game: Game) -> Iterator[None]:
    try:
        yield
    except (ValueError, LookupError) as error:
        raise ValueError(f"{path} is not an SGF of {game.name}: {error}.") from error


def _content(path: Path) -> bytes:
    """The content of a file in UTF-8: in other encodings a byte of a letter can be a bracket."""
    data = path.read_bytes()
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace").encode()
    charset = re.search(rb"\bCA\[([\w.:-]+)\]", data)
    with contextlib.suppress(LookupError):
        if charset is not None:
            return data.decode(charset[1].decode("ascii", "replace"), errors="replace").encode()
    return data


def _nodes(path: Path, number: int) -> list[Node]:
    grammar, content = sgfmill().sgf_grammar, _content(path)
    try:
        trees = grammar.parse_sgf_collection(content)
    except ValueError as error:
        moves = len(re.findall(rb";\s*[BW][a-z]*\s*\[[^\]]{0,20}\]", content))
        raise ValueError(
            f"its text ends early or is broken, after {moves} moves: {error}"
        ) from None
    if number > len(trees):
        raise ValueError(f"it has only {len(trees)} games, not number {number}")
    return list(grammar.main_sequence_iter(trees[number - 1]))


def _wanted(nodes: Sequence[Node], game: Game, vertices: Vertices) -> dict[str, str]:
    """The parameters needed for the file's game."""
    check_kind(nodes[0], vertices.short_name, has_go_points=vertices.has_go_points)
    wanted = wanted_parameters(nodes[0], game)
    parameters = GameAbilities(game).parameters
    swaps = any(text_of(node, key).lower() in _SWAPS for node in nodes for key in "BW")
    if swaps and parameters.get("swap") is False:
        wanted["swap"] = "True"
    return wanted


def _fitting(game: Game, wanted: Mapping[str, str]) -> Game | None:
    """The game with other parameters; None if there is no such game."""
    try:
        changed = game_with(game, wanted)
        Vertices(changed)
    except Exception:  # Each framework raises its own exception.
        return None
    return changed


def _read(nodes: Sequence[Node], game: Game, vertices: Vertices) -> ReadGame:
    """The main line as actions of the game, which must have the file's parameters."""
    state = game.new_initial_state()
    laid = _lay(stones_to_lay(nodes[0], game), state, vertices)
    size = board_size(vertices.short_name, GameAbilities(game).parameters)
    if size is None and vertices.has_go_points:
        size = size_of(nodes[0], vertices.short_name)
    start, played = state.clone(), _Played(state, vertices, size or USUAL_SIZE)
    for place, node in enumerate(nodes):
        after = f"after {played.last}, " if played.count else ""
        is_handicap = place == 0 and vertices.short_name == "go"
        if any(key in node for key in _SETUP) and not is_handicap:
            raise ValueError(f"{after}it sets up stones, but only moves can be played")
        moves = [(key, value) for key in "BW" for value in node.get(key, [])]
        if len(moves) > 1:
            raise ValueError(f"{after}it has {len(moves)} moves in one node")
        if "PL" in node and not moves:
            played.check_turn(text_of(node, "PL"), after)
        for colour, value in moves:
            played.move(colour, value)
    return ReadGame(start, tuple(played.actions), tuple(laid), played.goes_on())


def _lay(stones: Sequence[str], state: GameState, vertices: Vertices) -> list[int]:
    """Place a handicap: black plays the stones, and white passes in between."""
    laid: list[int] = []
    for stone in stones:
        for word in (PASS, stone) if laid else (stone,):  # White passes before all but the first.
            laid.append(vertices.read(state, word))
            state.apply_action(laid[-1])
    return laid


class _Played:
    """Plays the moves of a file on a state, up to the end of the game."""

    def __init__(self, state: GameState, vertices: Vertices, size: int) -> None:
        self._state, self._vertices, self._size = state, vertices, size
        self.actions: list[int] = []
        """The actions."""
        self.count = 0
        """The number of moves, including those after the end."""
        self.last = ""
        """The last move, for messages."""
        self._end, self._behind, self._passes, self._given_up = "", 0, 0, False

    def check_turn(self, stated: str, after: str) -> None:
        seat = {"b": 0, "black": 0, "1": 0, "w": 1, "white": 1, "2": 1}.get(stated.lower())
        if not self._state.is_terminal() and stated and seat != self._state.current_player():
            raise ValueError(f"{after}PL[{stated}] gives the move to the wrong player")

    def move(self, colour: str, value: bytes) -> None:
        self.count += 1
        raw = value.decode("utf-8", errors="replace").strip()
        label = f"move {self.count}"
        if self._given_up:
            raise ValueError(f"{label} of {colour} follows a resignation")
        if raw.lower() in _GIVEN_UP:
            self._given_up = True
            return
        try:
            word = self._word(value)
        except ValueError as error:
            raise ValueError(f"{label}, {raw!r}, {error}") from error
        if self._state.is_terminal():
            # Servers write a third pass, or passes until both players agree on dead stones.
            if word != PASS:
                self._behind = self.count
            return
        if colour != "BW"[self._state.current_player()]:
            raise ValueError(f"{label} is of {colour}, who is not to move")
        try:
            action = self._vertices.read(self._state, word)
        except LookupError:
            raise ValueError(f"{label}, {raw!r}, is illegal{self._why(word)}") from None
        except ValueError:
            raise ValueError(f"{label}, {raw!r}, is no move of {self._example()}") from None
        self._state.apply_action(action)
        self.actions.append(action)
        self._passes = self._passes + 1 if word == PASS else 0
        self.last = f"move {self.count}"
        if self._state.is_terminal():
            self._end = self.last

    def goes_on(self) -> str:
        """The sentence for moves after the end; empty if there are only passes."""
        if not self._behind:
            return ""
        how = "since it is won or full"
        if self._passes > 1:
            how = "by two passes"
        elif self._vertices.short_name == "go":
            how = "at its greatest number of moves (max_game_length)"
        return ending(self._end, how, self._behind - len(self.actions))

    def _word(self, value: bytes) -> str:
        """A move in the form of ``Vertices``."""
        if not self._vertices.has_go_points:
            raw = value.decode("utf-8", errors="replace").strip()
            return _SWAP if raw.lower() in _SWAPS else raw
        return go_point(value, self._size) or PASS

    def _why(self, word: str) -> str:
        rows = go_rows(str(self._state)) if self._vertices.short_name == "go" else []
        if not rows or word == PASS:
            return ""
        column, row = point_number(word)
        if rows[len(rows) - 1 - row][column] != EMPTY:
            return ": a stone lies there"
        return ": it takes its own last liberty, or repeats a position"

    def _example(self) -> str:
        example = self._vertices.write(self._state, int(next(iter(self._state.legal_actions()))))
        return f"{self._vertices.short_name}, such as {example!r}"
