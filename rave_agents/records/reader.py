"""The reader of games: SGF, PGN, lists of moves and journals; and the plies of a game."""

import itertools
import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rave_agents.frameworks.adapters import Game
from rave_agents.game.game_state import (
    NO_ACTION,
    GameState,
    is_simultaneous,
    joint_action,
    moving_players,
)
from rave_agents.game.notation import action_name
from rave_agents.game.plain_text import printable
from rave_agents.records import pgn, sgf_game
from rave_agents.records.journal import read_games
from rave_agents.records.openings import start_state
from rave_agents.records.positions import beginning, format_of, is_named, set_up

_log = logging.getLogger("rave_agents")


class RecordedGame(NamedTuple):
    """A game from a file."""

    start: GameState
    """The beginning of the game, with its deal."""
    actions: tuple[int, ...]
    """The actions and chance outcomes from there, as ``apply_path`` takes them."""


def read_game(game: Game, path: str | os.PathLike[str], number: int = 1) -> RecordedGame:
    """Read a game from a file: SGF, PGN, a list of moves, or a journal.

    Args:
        game: the game.
        path: the file.
        number: the number of the game, from 1, in a journal, a PGN or an SGF.

    Raises:
        ValueError: if the file has no such game, or an action is not legal.
        OSError: if it cannot be read.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    kind = format_of(path)
    if kind == "journal":
        return _of_journal(game, path, number)
    if kind in ("sgf", "pgn"):
        read = (sgf_game.read_sgf if kind == "sgf" else pgn.read_pgn)(path, game, number)
        if read.goes_on:
            _log.warning("%s: %s; these are left out.", path, read.goes_on)
        found = RecordedGame(read.start, read.actions)
    elif number > 1:
        raise ValueError(f"{path} has one game, and not number {number}.")
    else:
        position = set_up(game, position=path)
        if position.actions is None:
            raise ValueError(f"{path} has a position and no moves: there is nothing to review.")
        found = RecordedGame(beginning(game, position.seed), position.actions)
    if not found.actions:
        raise ValueError(f"{path} has no moves: there is nothing to review.")
    return found


def _of_journal(game: Game, path: Path, number: int) -> RecordedGame:
    found = read_games(path)
    own = {name for name, _, _ in found.games if is_named(game, name)}
    tables = [played for (name, _, _), played in found.games.items() if name in own]
    records = list(itertools.chain.from_iterable(tables))
    if not 1 <= number <= len(records):
        others = sorted({name for name, _, _ in found.games if name not in own})
        has = f", but of {', '.join(map(printable, others))}" if others and not records else ""
        raise ValueError(
            f"{path} has {len(records)} games of {game.name}{has}, and not number {number}."
        )
    record = records[number - 1]
    start = start_state(game, found.run.seed, record.pair)
    played = plies(start, record.actions, joint=True)
    return RecordedGame(start, tuple(action for ply in played for action in ply.actions))


class Ply(NamedTuple):
    """A position of a game, and the actions taken there."""

    state: GameState
    """The position before them; not to be changed."""
    players: tuple[int, ...]
    """The players who acted; empty for chance, and at the end."""
    actions: tuple[int, ...]
    """Their actions, or the chance outcome; empty at the end."""

    @property
    def names(self) -> tuple[str, ...]:
        """The actions in the game's notation."""
        pairs = zip(self.actions, self.players or (None,), strict=True) if self.actions else ()
        return tuple(action_name(self.state, *pair) for pair in pairs)


def plies(start: GameState, actions: Sequence[int], *, joint: bool = False) -> Iterator[Ply]:
    """The plies of a game, and a last one without actions.

    Every action is checked before the game gets it: a framework may read out of bounds for an
    invalid one.

    Args:
        start: the beginning; it is not changed.
        actions: the actions and chance outcomes.
        joint: whether simultaneous moves list an action of every player, as in ``GameRecord``, and
            not those of the moving players alone, as for ``apply_path``.

    Raises:
        ValueError: if an action is not legal, or there are too few or too many.
    """
    state, place = start.clone(), 0
    while place < len(actions):
        if state.is_terminal():
            raise ValueError(f"The game is over after {place} of {len(actions)} actions.")
        together = is_simultaneous(state)
        if together:
            players = tuple(moving_players(state))
            legal = [list(state.legal_actions(player)) for player in players]  # type: ignore[call-arg]
        elif state.is_chance_node():
            players, legal = (), [[outcome for outcome, _ in state.chance_outcomes()]]
        else:
            players, legal = (int(state.current_player()),), [list(state.legal_actions())]
        # The place of each moving player's action in this step.
        places = players if together and joint else range(len(legal))
        legal_at = dict(zip(places, legal, strict=True))
        width = state.num_players() if together and joint else len(legal)
        step = actions[place : place + width]
        for number, action in enumerate(step):
            if action not in legal_at.get(number, [NO_ACTION]):
                raise ValueError(
                    f"Action {action}, number {place + number + 1} of the game, is not legal."
                )
        if len(step) < width:
            raise ValueError(f"The actions end with {len(step)} of those at the same time.")
        played = tuple(step[number] for number in places)
        yield Ply(state.clone(), players, played)
        if together:
            state.apply_actions(joint_action(players, played, state.num_players()))  # type: ignore[attr-defined]
        else:
            state.apply_action(played[0])
        place += width
    yield Ply(state, (), ())
