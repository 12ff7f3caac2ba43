"""Starting positions, given by moves, by a file of moves, or by the game's text."""

import heapq
import itertools
import math
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rave_agents.errors import RaveAgentsError
from rave_agents.frameworks.adapters import Game, GameAbilities, seeded_start
from rave_agents.frameworks.plain_games import load_plain_game
from rave_agents.game.game_state import (
    GameState,
    apply_path,
    draws_chance,
    hides_information,
    is_simultaneous,
)
from rave_agents.game.notation import Moves, apply_moves, position_text
from rave_agents.game.plain_text import shortened
from rave_agents.records import pgn, sgf_game
from rave_agents.records.record import ReadGame

MOST_SECONDS, PATIENCE = 10.0, 3.0
"""Maximum seconds to search for moves to a position, and maximum seconds without progress."""


class Position(NamedTuple):
    """A position of a game."""

    state: GameState
    """The position."""
    actions: tuple[int, ...] | None
    """The actions that lead to it, including chance outcomes; None if the game starts there."""
    seed: int | None = None
    """The seed of a dealt initial position that they start from; None for the game's own."""


def set_up(
    game: Game,
    moves: Moves = "",
    position: str | os.PathLike[str] | None = None,
    seed: int | None = None,
) -> Position:
    """Set up a position.

    Args:
        game: the game.
        moves: moves to play after ``position``: a text or a sequence of actions, see
            ``apply_moves``.
        position: the position to start from: a FEN in games that have one, the game's text of a
            position, or a file with one of these or with moves, as SGF or text. None for the
            initial position.
        seed: deals the initial position if it is dealt and no file names a seed; None for the
            game's own.

    Raises:
        ValueError: if it is not a position of the game, or a move is illegal, naming the accepted
            forms.
        OSError: if the file cannot be read.
    """
    if position is None:
        begun = Position(beginning(game, seed), (), seed)
    else:
        begun = _found(game, position, seed)
    played = apply_moves(begun.state, moves)
    return begun._replace(actions=None if begun.actions is None else (*begun.actions, *played))


def moves_to(game: Game, position: Position) -> tuple[int, ...]:
    """The actions from the initial position to a position, found by a search if necessary.

    Raises:
        ValueError: if none are found.
    """
    if position.actions is not None:
        return position.actions
    found = _looked_for(game, str(position.state))
    if found is None or found.actions is None:
        raise ValueError(
            f"No moves were found that lead to '{shortened(_line(str(position.state)), 100)}', but "
            "games must start from a reachable position. Pass its moves, or a file of them."
        )
    return found.actions


def _found(game: Game, given: str | os.PathLike[str], seed: int | None) -> Position:
    if not isinstance(given, str | os.PathLike):
        raise TypeError(f"position must be a text or the path of a file, got {given!r}.")
    path = Path(given)
    if not _is_file(path):
        # A text that looks like a file's name is a misspelt file, and no position.
        if isinstance(given, os.PathLike) or path.suffix.lower() in (".sgf", ".pgn", ".txt"):
            raise FileNotFoundError(f"There is no file {str(given)!r} to read a position from.")
        return _of_text(game, given.replace("\\n", "\n"), moves=False)
    kind = format_of(path)
    if kind == "sgf":
        return _of_game(path, sgf_game.read_sgf(path, game), sgf_game.count_games(path))
    if kind == "pgn":
        return _of_game(path, pgn.read_pgn(path, game), pgn.count_games(path))
    if kind == "journal":
        raise ValueError(f"{path} has the games of a run; give the moves of one.")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not a text file: {error}.") from error
    named_game = re.search(r"^# rave-agents: a game of (.+)$", text, re.MULTILINE)
    if named_game is not None and not is_named(game, named_game[1]):
        raise ValueError(f"{path} is a game of {named_game[1]}, not of {game.name}.")
    dealt = re.search(r"^# dealt by seed: (\d{1,10})$", text, re.MULTILINE)
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    found_seed = seed if dealt is None else int(dealt[1])
    return _of_text(game, "\n".join(lines), moves=True, seed=found_seed)


def format_of(path: Path) -> Literal["sgf", "pgn", "journal", "text"]:
    """The format of a file of games, by its first characters or its name."""
    with path.open("rb") as file:
        begins = file.read(200).decode("utf-8", errors="replace").removeprefix("\ufeff").lstrip()
    if begins.startswith("{") and '"rave-agents ' in begins:
        return "journal"
    if path.suffix.lower() == ".sgf" or begins.startswith("(;"):
        return "sgf"
    if path.suffix.lower() == ".pgn" or re.match(r"\[\w+ \"", begins):
        return "pgn"
    return "text"


def is_named(game: Game, name: str) -> bool:
    """True if a name from a file denotes this game; no other game is loaded for it."""
    if name == game.name:
        return True
    if _short(name) != _short(game.name):
        return False  # Before loading anything: most names of other games end here.
    try:
        named = load_plain_game(name)
    except RaveAgentsError:
        return False
    stated, own = (getattr(each, "parameters", None) for each in (named, game))
    alike = stated is not None and stated == own
    return named.name == game.name or alike


def _short(name: str) -> str:
    return name.partition("(")[0].rpartition(":")[2].strip()


def _is_file(path: Path) -> bool:
    """True for a file; a text of several lines is never taken for a file name."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _of_game(path: Path, read: ReadGame, games: int) -> Position:
    """The position at the end of a file's only game."""
    if games > 1:
        raise ValueError(f"{path} has several games; a position is the end of a file's only one.")
    if read.goes_on:
        raise ValueError(f"{path} does not end at a position of the game: {read.goes_on}.")
    state = read.start.clone()
    apply_path(state, list(read.actions))
    return Position(state, None if read.laid is None else (*read.laid, *read.actions))


def beginning(game: Game, seed: int | None) -> GameState:
    """The initial position of a game, dealt by a seed if it is dealt; None for the game's own."""
    return game.new_initial_state() if seed is None else seeded_start(game, lambda: seed)


def _of_text(game: Game, text: str, *, moves: bool, seed: int | None = None) -> Position:
    """The position of a text: a FEN, moves if ``moves`` allows them, or the game's own text."""
    own = GameAbilities(game).position_of
    state = None if own is None else own(text)
    if state is not None:
        return Position(state, None)
    reason, begins = "", False
    if moves:
        begun = beginning(game, seed)
        try:
            return Position(begun, tuple(apply_moves(begun, text)), seed)
        except ValueError as error:
            reason = f" {error}"
            begins = position_text(begun) != position_text(beginning(game, seed))
    found = _looked_for(game, text)
    if found is None and begins:
        raise ValueError(f"It is not a list of moves of {_name(game)}:{reason}")
    if found is None:
        raise ValueError(
            f"'{shortened(_line(text), 100)}' is not a position of {_name(game)} that was found."
            f"{reason and f' It is not a list of moves:{reason}'} {_taken(game)}"
        )
    return found


def _taken(game: Game) -> str:
    form = GameAbilities(game).position_form
    shown = _line(position_text(game.new_initial_state()))
    return (
        f"{_name(game)} takes {f'{form}, ' if form else ''}the text that it prints, such as "
        f"'{shortened(shown, 80)}', or a file of moves (.sgf, .pgn or text); moves are given by "
        "themselves."
    )


def _name(game: Game) -> str:
    return game.name.removesuffix("()")


def _line(text: str) -> str:
    return "\\n".join(_lines(text))


def _lines(text: str) -> tuple[str, ...]:
    """The lines of a printed position without colours and invisible characters."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return tuple(line.rstrip() for line in plain.strip("\n").splitlines())


def _looked_for(game: Game, text: str) -> Position | None:
    """Search for the position that prints a text, most similar positions first.

    This works if every move brings the position closer, as with pieces that stay where they are
    placed or move one at a time. None if not found.
    """
    root = game.new_initial_state()
    if hides_information(root) or draws_chance(root) or is_simultaneous(root):
        return None
    wanted = _key(text)
    first = _key(position_text(root))
    if len(wanted) not in _line_counts(root):  # No position prints so many lines.
        return None
    # Best-first search; positions at equal distance are tried deepest first (-len(path)), and
    # ``count`` orders the rest, since states cannot be compared.
    last = time.monotonic() + MOST_SECONDS
    end = time.monotonic() + PATIENCE
    nearest = math.inf
    count = itertools.count()
    queue: list[tuple[int, int, int, Any, tuple[int, ...]]] = []
    seen = {first}
    heapq.heappush(queue, (_distance(first, wanted, first), 0, next(count), root, ()))
    while queue and time.monotonic() < end:
        distance, _, _, state, path = heapq.heappop(queue)
        if distance == 0:
            return Position(state, path)
        if distance < nearest:
            nearest, end = distance, min(last, time.monotonic() + PATIENCE)
        for action in _actions(state):
            child = state.clone()
            child.apply_action(action)
            key = _key(position_text(child))
            if key not in seen and not child.is_terminal():
                seen.add(key)
                away = _distance(key, wanted, first)
                heapq.heappush(queue, (away, -len(path), next(count), child, (*path, action)))
    return None


def _line_counts(root: GameState) -> range:
    """The possible numbers of lines of the game's text; any if the first positions differ."""
    children = [root.clone() for _ in _actions(root)]
    for child, action in zip(children, _actions(root), strict=True):
        child.apply_action(action)
    counts = {len(_key(position_text(each))) for each in (root, *children)}
    return range(min(counts), max(counts) + 1) if len(counts) == 1 else range(1000)


def _actions(state: GameState) -> Iterator[int]:
    if state.is_terminal() or is_simultaneous(state):
        return iter(())
    if state.is_chance_node():
        return (int(outcome) for outcome, _ in state.chance_outcomes())
    return (int(action) for action in state.legal_actions())


_FEN = re.compile(r"([^\s/]+(?:/[^\s/]+)+ \S+(?: [^\s\d]\S*)*)(?: \d+)*")
"""A FEN, followed by its move counters."""


def _key(text: str) -> tuple[str, ...]:
    """The lines of a printed position, without brackets around the last move.

    A FEN becomes its rows, with a dot per empty square, and the rest without counters.
    """
    lines = _lines(text)
    fen = _FEN.fullmatch(lines[0]) if len(lines) == 1 else None
    if fen is None:
        return tuple(re.sub(r"[\[\]]", " ", line).rstrip() for line in lines)
    board, *rest = fen[1].split(" ")
    squares = re.sub(r"\d+", lambda number: "." * int(number[0]), board)
    return (*squares.split("/"), *rest)


_LACKING, _WRONG = 1, 3
"""Weights of a wrong character that is still as in the initial position, and of one that moves have
made wrong."""


def _distance(one: tuple[str, ...], wanted: tuple[str, ...], first: tuple[str, ...]) -> int:
    """Distance of a printed position from the wanted one; ``first`` is the initial position."""
    away = 0
    for line, goal, start in itertools.zip_longest(one, wanted, first, fillvalue=""):
        away += abs(len(line) - len(goal))
        if line != goal:
            away += sum(
                _LACKING if has == began else _WRONG
                for has, wants, began in itertools.zip_longest(line, goal, start, fillvalue="")
                if has != wants
            )
    return away
