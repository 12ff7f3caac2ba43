"""The file of a session's game: a list of moves, with who played and what the clocks have left."""

import os
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
        UnsupportedGameError: if moves do not tell the game.
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
        UnsupportedGameError: if moves do not tell the game.
        OSError: if it cannot be written.
    """
    text = game_text(session)
    with written_whole(path, "w", encoding="utf-8") as file:
        file.write(text)


def restore_clocks(session: Session, path: str | os.PathLike[str]) -> None:
    """Set the clocks to what a file that ``save_game`` wrote says is left."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    told = [line for line in lines if line.startswith("# seconds left:")]
    words = told[0].partition(":")[2].split() if told else []
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
    """Moves in the game's notation; by number where a name does not tell them."""
    if not is_simultaneous(state):
        return [_word(legal_names(state), action) for action in actions]
    pairs = zip(players, actions, strict=True)
    return [_word(legal_names(state, player), action) for player, action in pairs]


def _word(names: dict[int, str], action: int) -> str:
    name = names[action]
    is_told = name and list(names.values()).count(name) == 1 and not name.startswith("#")
    return name if is_told and name.splitlines() == [name] and name == name.strip() else str(action)
