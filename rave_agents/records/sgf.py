"""Games of a match as SGF files (FF 4), written by sgfmill."""

import errno
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rave_agents import __version__
from rave_agents.engines.client.boards import board_size
from rave_agents.engines.client.vertices import PASS, Vertices
from rave_agents.files import written_whole
from rave_agents.frameworks.adapters import Game, GameAbilities
from rave_agents.games.coordinates import handicap_points, point_number
from rave_agents.records.record import GameRecord
from rave_agents.records.sgf_root import GAME_NUMBERS, OTHER_GAME, USUAL_SIZE, sgfmill, sides_of

_LARGEST = 26


class SgfFolder:
    """A folder with a file for each game of a match. Existing files are never changed.

    Args:
        folder: the path of the folder, created if missing.
        game: the game.
        names: the names of the first and second agent.
        event: a unique description of the match, stored in every file.

    Raises:
        ValueError: if sgfmill is not installed, or the folder has games of another match.
        UnsupportedGameError: if the game's moves are not single words.
        OSError: if the folder cannot be made.
    """

    def __init__(
        self, folder: str | Path, game: Game, names: tuple[str, str], event: str = ""
    ) -> None:
        sgfmill()
        self.folder: Path = Path(folder)
        self._game = game
        self._names = names
        self._event = event
        self._vertices = Vertices(game)
        self.folder.mkdir(parents=True, exist_ok=True)
        there = (_NAME.fullmatch(path.name) for path in sorted(self.folder.glob("game_*.sgf")))
        self._there = {self.folder / name[0]: int(name[1]) - 1 for name in there if name}
        for path in self._there:
            found = _event_of(path)
            if found != event:
                other = f", {found!r}" if found else ""
                raise ValueError(
                    f"{folder} has games of another match: {path.name}{other}. Use another folder."
                )

    def _path(self, number: int) -> Path:
        return self.folder / f"game_{number + 1:04}.sgf"

    def begin(self, finished: Mapping[int, GameRecord], planned: Iterable[int]) -> None:
        """Save the finished games that the folder lacks, before others are played.

        Args:
            finished: the match's finished games, by number.
            planned: the numbers of all games to be saved to this folder now.

        Raises:
            ValueError: if a game to be played already has a file.
            OSError: if one cannot be written.
        """
        # A game without its record would be played again, and could be another one.
        again = sorted(set(self._there.values()) & set(planned) - finished.keys())
        if again:
            raise ValueError(
                f"{self.folder} has game {again[0] + 1} of this match, "
                f"{self._path(again[0]).name}, which would be played again: continue from the file "
                "of games that recorded it, or use another folder."
            )
        for number, record in sorted(finished.items()):
            if not self._path(number).exists():
                self.save(record)

    def save(self, record: GameRecord) -> Path:
        """Write a game; returns its path.

        Raises:
            OSError: if it cannot be written, or already exists.
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
        size = board_size(vertices.short_name, GameAbilities(self._game).parameters)
        tree = sgfmill().sgf.Sgf_game(size if size is not None and size <= _LARGEST else USUAL_SIZE)
        root = tree.get_root()
        root.set_raw("GM", str(GAME_NUMBERS.get(vertices.short_name, OTHER_GAME)).encode())
        if size is None:
            root.unset("SZ")
        komi = GameAbilities(self._game).parameters.get("komi")
        if komi is not None:
            root.set("KM", float(komi))
        _lay_handicap(root, self._game)
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
        content = bytes(tree.serialise())
        sides = sides_of(GameAbilities(self._game).parameters)
        if sides:  # Sgfmill writes only sizes of square boards.
            content = content.replace(b"(;FF[4]", f"(;FF[4]SZ[{sides}]".encode(), 1)
        return content


def _lay_handicap(root: Any, game: Game) -> None:
    parameters = GameAbilities(game).parameters
    points = handicap_points(int(parameters.get("handicap", 0)), parameters.get("board_size", 0))
    if points:
        root.set("HA", len(points))
        root.set_setup_stones([(row, column) for column, row in points], [])


_NAME = re.compile(r"game_(\d+)\.sgf")


def _event_of(path: Path) -> str:
    try:
        root = sgfmill().sgf.Sgf_game.from_bytes(path.read_bytes()).get_root()
        return str(root.get("EV"))
    except (ValueError, KeyError):
        return ""


def result_text(record: GameRecord) -> str:
    """The result in SGF notation."""
    black, white = record.returns
    if black == white:
        return "0"
    winner = "B" if black > white else "W"
    if not record.ending or record.ending.startswith("the referee"):
        return f"{winner}+"
    if re.search(r"seat \d resigned", record.ending):
        return f"{winner}+R"
    return f"{winner}+T" if "on time" in record.ending else f"{winner}+F"
