"""Games of a match as SGF files (FF 4), written by sgfmill."""

import contextlib
import errno
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rave_agents import __version__
from rave_agents.arena.record import GameRecord
from rave_agents.arena.sgf_root import (
    GAME_NUMBERS,
    OTHER_GAME,
    check_root,
    lay_handicap,
    wanted_parameters,
    warn_of_result,
)
from rave_agents.extras import missing
from rave_agents.files import written_whole
from rave_agents.frameworks.adapters import Game
from rave_agents.games.coordinates import point_name, point_number
from rave_agents.gtp.position import board_size
from rave_agents.gtp.vertices import PASS, Vertices

_LARGEST = 26


class SgfFolder:
    """A folder that gets a file for each game of a match. A file that it has stays as it is.

    Args:
        folder: where; it is made if need be.
        game: the game.
        names: of the first and the second agent.
        event: the match, in words that no other match has; every file says it.

    Raises:
        ValueError: if sgfmill is not installed, or the folder has games of another match.
        UnsupportedGameError: if the game's moves are not single words.
        OSError: if the folder cannot be made.
    """

    def __init__(
        self, folder: str | Path, game: Game, names: tuple[str, str], event: str = ""
    ) -> None:
        _sgfmill()
        self.folder: Path = Path(folder)
        self._game = game
        self._names = names
        self._event = event
        self._vertices = Vertices(game)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._there = {self._path(number): number for number in self._numbers_there()}
        for path in self._there:
            found = _event_of(path)
            if found != event:
                other = f", {found!r}" if found else ""
                raise ValueError(
                    f"{folder} has games of another match: {path.name}{other}. Give another folder."
                )

    def _numbers_there(self) -> list[int]:
        names = sorted(path.name for path in self.folder.glob("game_*.sgf"))
        return [int(found[1]) - 1 for found in map(_NAME.fullmatch, names) if found]

    def _path(self, number: int) -> Path:
        return self.folder / f"game_{number + 1:04}.sgf"

    def begin(self, finished: Mapping[int, GameRecord], planned: Iterable[int]) -> None:
        """Save the finished games that the folder lacks, before others are played.

        Args:
            finished: the match's finished games, by number.
            planned: the numbers of all games that are played into this folder now.

        Raises:
            ValueError: if a game that is to be played has a file already.
            OSError: if one cannot be written.
        """
        again = sorted(set(self._there.values()) & set(planned) - finished.keys())
        if again:
            raise ValueError(
                f"{self.folder} has game {again[0] + 1} of this match, "
                f"{self._path(again[0]).name}, which is to be played again: go on from the file of "
                "games that it was saved in, or give another folder."
            )
        for number, record in sorted(finished.items()):
            if not self._path(number).exists():
                self.save(record)

    def save(self, record: GameRecord) -> Path:
        """Write a game; returns where.

        Raises:
            OSError: if it cannot be written, or is there already.
        """
        path = self._path(record.number)
        content = self._written(record)
        if path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        with written_whole(path) as file:
            file.write(content)
        return path

    def _written(self, record: GameRecord) -> bytes:
        vertices = self._vertices
        size = board_size(vertices.short_name, getattr(self._game, "parameters", {}))
        tree = _sgfmill().Sgf_game(size if size is not None and size <= _LARGEST else 19)
        root = tree.get_root()
        root.set_raw("GM", str(GAME_NUMBERS.get(vertices.short_name, OTHER_GAME)).encode())
        if size is None:
            root.unset("SZ")
        komi = getattr(self._game, "parameters", {}).get("komi")
        if komi is not None:
            root.set("KM", float(komi))
        lay_handicap(root, self._game)
        root.set("AP", ("rave-agents", __version__))
        if self._event:
            root.set("EV", self._event)
        root.set("GN", f"{self._game.name}, game {record.number + 1}")
        for seat, key in enumerate(("PB", "PW")):
            root.set(key, self._names[(seat + record.first_seat) % 2])
        root.set("RE", result_text(record))
        if record.ending:
            root.set("C", record.ending)
        state = self._game.new_initial_state()
        for number, action in enumerate(record.actions):
            node = tree.extend_main_sequence()
            colour = "bw"[state.current_player()]
            word = vertices.write(state, action)
            if vertices.has_go_points and word == PASS:
                node.set_move(colour, None)
            elif vertices.has_go_points:
                column, row = point_number(word)
                node.set_move(colour, (row, column))
            else:
                node.set_raw(colour.upper(), word.encode())
            if number + 1 == len(record.opening):
                node.set("C", "the random opening ends here")
            state.apply_action(action)
        return bytes(tree.serialise())


def read_sgf(path: Path, game: Game, number: int = 1) -> list[int]:
    """The actions of the main line of a game in an SGF file.

    Args:
        path: the file.
        game: the game, with the file's board, komi and handicap.
        number: the number of the game in the file, from 1.

    Raises:
        ValueError: if sgfmill is not installed, or the file has no such game of this one; the
            message names the game that it is of.
        UnsupportedGameError: if the game's moves are not single words.
        OSError: if it cannot be read.
    """
    vertices = Vertices(game)
    with _named(path, game):
        return _actions(_nodes(path, number), game, vertices)


def sgf_parameters(path: Path, game: Game, number: int = 1) -> dict[str, str]:
    """The parameters that a game lacks to be the one in an SGF file: size, komi and handicap.

    Args:
        path: the file.
        game: the game.
        number: the number of the game in the file, from 1.

    Raises:
        ValueError: as ``read_sgf`` does, of another game or of a size that this one cannot have.
        OSError: if it cannot be read.
    """
    with _named(path, game):
        return wanted_parameters(_nodes(path, number)[0], game)


@contextlib.contextmanager
def _named(path: Path, game: Game) -> Iterator[None]:
    """Let an error name the file and the game."""
    try:
        yield
    except (ValueError, LookupError) as error:
        raise ValueError(f"{path} is no SGF of {game.name}: {error}") from error


def _nodes(path: Path, number: int) -> list[Any]:
    """The main line of a game in a file."""
    trees = _sgfmill().sgf_grammar.parse_sgf_collection(path.read_bytes())
    if number > len(trees):
        raise ValueError(f"it has {len(trees)} games, and not number {number}.")
    tree = _sgfmill().Sgf_game.from_coarse_game_tree(trees[number - 1])
    return list(tree.main_sequence_iter())


def _actions(nodes: Sequence[Any], game: Game, vertices: Vertices) -> list[int]:
    laid = check_root(nodes[0], game)
    state = game.new_initial_state()
    actions: list[int] = []
    for number, node in enumerate(nodes):
        if node.has_setup_stones() and not (laid and number == 0):
            raise ValueError("it sets stones up, and only moves can be played.")
        colour = next((c for c in "bw" if node.has_property(c.upper())), None)
        if colour is None:
            continue
        if state.is_terminal() or colour != "bw"[state.current_player()]:
            raise ValueError(f"move {len(actions) + 1} is of {colour.upper()}, who is not to move.")
        raw = node.get_raw(colour.upper()).decode(errors="replace")
        word = _word(node, vertices) if vertices.has_go_points else raw
        try:
            action = vertices.read(state, word)
        except (LookupError, ValueError):
            raise ValueError(f"move {len(actions) + 1}, {raw!r}, is illegal.") from None
        state.apply_action(action)
        actions.append(action)
    warn_of_result(nodes[0], state)
    return actions


def _word(node: Any, vertices: Vertices) -> str:
    """A move of a game with Go's points, as ``Vertices`` reads it."""
    _, point = node.get_move()
    return PASS if point is None else point_name(point[1], point[0]).upper()


_NAME = re.compile(r"game_(\d+)\.sgf")


def _event_of(path: Path) -> str:
    """The match that a file's game is of; empty if it does not say."""
    try:
        root = _sgfmill().Sgf_game.from_bytes(path.read_bytes()).get_root()
        return str(root.get("EV"))
    except (ValueError, KeyError):
        return ""


def _sgfmill() -> Any:
    """Sgfmill's module of SGF files."""
    try:
        from sgfmill import sgf  # noqa: PLC0415  (optional: sgfmill)
    except ImportError as error:
        raise ValueError(missing("SGF needs", "sgf", "sgfmill")) from error
    return sgf


def result_text(record: GameRecord) -> str:
    """The result as SGF has it."""
    black, white = record.returns
    if black == white:
        return "0"
    winner = "B" if black > white else "W"
    if not record.ending or record.ending.startswith("the referee"):
        return f"{winner}+"
    if re.search(r"seat \d resigned", record.ending):
        return f"{winner}+R"
    return f"{winner}+T" if "on time" in record.ending else f"{winner}+F"
