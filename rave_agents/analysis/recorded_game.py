"""The moves of one game out of a file: SGF, a list of moves, or the games of a match."""

import os
from pathlib import Path

from rave_agents.arena.journal import FORMAT
from rave_agents.arena.positions import set_up
from rave_agents.arena.report_data import load_report
from rave_agents.errors import RaveAgentsError
from rave_agents.frameworks.adapters import Game, load_plain_game


def recorded_actions(game: Game, path: str | os.PathLike[str], number: int = 1) -> tuple[int, ...]:
    """The actions of a game in a file: SGF, a list of moves, or a file of games.

    Args:
        game: the game.
        path: the file.
        number: the number of the game, from 1, in a file of games.

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
        found = set_up(game, position=path).actions
        if found is None:
            raise ValueError(f"{path} has a position and no moves: there is nothing to review.")
        return found
    data = load_report(path)
    records = [
        record
        for match in data.result.matches
        if _is_of(game, match.game)
        for record in match.records
    ]
    if not 1 <= number <= len(records):
        raise ValueError(
            f"{path} has {len(records)} games of {game.name}, and not number {number}."
        )
    return records[number - 1].actions


def _is_of(game: Game, name: str) -> bool:
    """True if a name out of a file is the game's; the file makes no game of its own."""
    if name == game.name:
        return True
    try:
        return load_plain_game(name).name == game.name
    except RaveAgentsError:
        return False
