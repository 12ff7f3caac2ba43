"""One game out of a file: SGF, PGN, a list of moves, or the games of a match."""

import logging
import os
from pathlib import Path
from typing import NamedTuple

from rave_agents.arena.report_data import load_report
from rave_agents.frameworks.adapters import Game
from rave_agents.game.game_state import GameState
from rave_agents.game.plain_text import printable
from rave_agents.records.journal import FORMAT
from rave_agents.records.openings import start_state
from rave_agents.records.pgn import read_pgn
from rave_agents.records.positions import beginning, is_named, is_pgn, is_sgf, set_up
from rave_agents.records.sgf_game import read_sgf

_log = logging.getLogger("rave_agents")


class RecordedGame(NamedTuple):
    """A game out of a file."""

    start: GameState
    """The game's beginning, with the deal that it had."""
    actions: tuple[int, ...]
    """The actions and chance outcomes from there."""


def recorded_game(game: Game, path: str | os.PathLike[str], number: int = 1) -> RecordedGame:
    """The game in a file: SGF, PGN, a list of moves, or a file of games.

    Args:
        game: the game.
        path: the file.
        number: the number of the game, from 1, in a file of games, a PGN or an SGF.

    Raises:
        ValueError: if the file has no such game, or an action is not legal.
        OSError: if it cannot be read.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    with path.open("rb") as file:
        begins = file.readline(4096)
    if not (begins.startswith(b"{") and f'"{FORMAT} '.encode() in begins):
        if is_sgf(path) or is_pgn(path):
            read = (read_sgf if is_sgf(path) else read_pgn)(path, game, number)
            if read.goes_on:
                _log.warning("%s: %s; these are left out.", path, read.goes_on)
            if not read.actions:
                raise ValueError(f"{path} has no moves: there is nothing to review.")
            return RecordedGame(read.start, read.actions)
        if number > 1:
            raise ValueError(f"{path} has one game, and not number {number}.")
        found = set_up(game, position=path)
        if found.actions is None:
            raise ValueError(f"{path} has a position and no moves: there is nothing to review.")
        if not found.actions:
            raise ValueError(f"{path} has no moves: there is nothing to review.")
        return RecordedGame(beginning(game, found.seed), found.actions)
    data = load_report(path)
    records = [
        record
        for match in data.result.matches
        if is_named(game, match.game)
        for record in match.records
    ]
    if not 1 <= number <= len(records):
        others = sorted({m.game for m in data.result.matches if not is_named(game, m.game)})
        has = f", but of {', '.join(map(printable, others))}" if others and not records else ""
        raise ValueError(
            f"{path} has {len(records)} games of {game.name}{has}, and not number {number}."
        )
    record = records[number - 1]
    return RecordedGame(start_state(game, data.result.seed, record.pair), record.actions)
