"""The file of a session's game: its moves, the agents, and the time left."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from rave_agents.errors import UnsupportedGameError
from rave_agents.files import written_whole
from rave_agents.frameworks.adapters import is_dealt
from rave_agents.game.game_state import (
    GameState,
    draws_chance,
    is_simultaneous,
)
from rave_agents.game.notation import legal_names
from rave_agents.records.positions import beginning, moves_to
from rave_agents.records.reader import plies
from rave_agents.sessions.session import PERSON, Session


def game_text(session: Session) -> str:
    """The game as a list of moves, which ``--position`` and ``review`` read.

    Raises:
        UnsupportedGameError: if its moves do not determine the game.
    """
    game, start = session.game, session.start
    if draws_chance(start.state):
        raise UnsupportedGameError(
            f"A game of {game.name} cannot be saved: its environment draws chance itself."
        )
    lines = [f"# rave-agents: a game of {game.name}"]
    if start.seed is not None and is_dealt(game):
        lines.append(f"# dealt by seed: {start.seed}")
    seats = ", ".join("a person" if who is PERSON else str(who) for who in session.seats)
    lines.append(f"# seats: {seats}")
    clocks = [clock.time_left()[0] for clock in session.clocks if clock is not None]
    if clocks:
        lines.append(f"# seconds left: {' '.join(f'{left:.1f}' for left in clocks)}")
    for ply in plies(beginning(game, start.seed), moves_to(game, start)):
        lines += _words(ply.state, ply.players, ply.actions)
    for number, turn in enumerate(session.turns):
        lines += _words(session.before(number), turn.players, turn.actions)
    return "\n".join(lines) + "\n"


def save_game(session: Session, path: str | os.PathLike[str]) -> None:
    """Write ``game_text`` into a file.

    Raises:
        UnsupportedGameError: as ``game_text``.
        OSError: if it cannot be written.
    """
    text = game_text(session)
    with written_whole(path, "w", encoding="utf-8") as file:
        file.write(text)


def restore_clocks(session: Session, path: str | os.PathLike[str]) -> None:
    """Set the clocks to the time left in a file of ``save_game``, as far as it is valid."""
    text = Path(path).read_text(encoding="utf-8")
    found = re.search(r"^# seconds left:(.*)$", text, re.MULTILINE)
    words = found[1].split() if found else []
    if len(words) != len(session.clocks):
        return
    for clock, word in zip(session.clocks, words, strict=True):
        try:
            left = float(word)
        except ValueError:
            continue
        if clock is not None and 0 <= left <= clock.control.main + 1e6:
            clock.set_left(left)


def _words(state: GameState, players: Sequence[int], actions: Sequence[int]) -> list[str]:
    """Moves in the game's notation; by number if a name is not unique."""
    if not is_simultaneous(state):
        return [_word(legal_names(state), action) for action in actions]
    pairs = zip(players, actions, strict=True)
    return [_word(legal_names(state, player), action) for player, action in pairs]


def _word(names: dict[int, str], action: int) -> str:
    name = names[action]
    is_unique = name and list(names.values()).count(name) == 1 and not name.startswith("#")
    # A line of the file must give the name back.
    is_line = name.splitlines() == [name] and name == name.strip()
    return name if is_unique and is_line else str(action)
