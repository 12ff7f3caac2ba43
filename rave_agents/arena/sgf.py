"""Games of a match as SGF files (FF 4), written by sgfmill."""

import re
from pathlib import Path
from typing import Any

from rave_agents import __version__
from rave_agents.arena.record import GameRecord
from rave_agents.files import written_whole
from rave_agents.frameworks.adapters import Game
from rave_agents.games.coordinates import point_number
from rave_agents.gtp.position import board_size
from rave_agents.gtp.vertices import PASS, Vertices

GAME_NUMBERS = {"go": 1, "nogo": 1, "othello": 2, "gomoku": 4, "lines_of_action": 9, "hex": 11}
"""SGF's numbers of games; NoGo has Go's board and stones. Others get ``OTHER_GAME``."""

OTHER_GAME = 0
"""Number for games that SGF has none for."""

_LARGEST = 26


class SgfFolder:
    """A folder that gets a file for each game of a match.

    Args:
        folder: where; it is made if need be.
        game: the game.
        names: of the first and the second agent.

    Raises:
        ValueError: if sgfmill is not installed.
        UnsupportedGameError: if the game's moves are not single words.
        OSError: if the folder cannot be made.
    """

    def __init__(self, folder: str | Path, game: Game, names: tuple[str, str]) -> None:
        _sgfmill()
        self.folder: Path = Path(folder)
        self._game = game
        self._names = names
        self._vertices = Vertices(game)
        self.folder.mkdir(parents=True, exist_ok=True)

    def save(self, record: GameRecord) -> Path:
        """Write a game; returns where.

        Raises:
            OSError: if it cannot be written.
        """
        path = self.folder / f"game_{record.number + 1:04}.sgf"
        content = self._written(record)
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
        root.set("AP", ("rave-agents", __version__))
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


def _sgfmill() -> Any:
    """Sgfmill's module of SGF files."""
    try:
        from sgfmill import sgf  # noqa: PLC0415  (optional: sgfmill)
    except ImportError as error:
        raise ValueError("Saving games needs sgfmill: pip install 'rave-agents[sgf]'.") from error
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
