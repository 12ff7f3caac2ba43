"""Games of chess out of PGN files, read by python-chess."""

import contextlib
import importlib
from pathlib import Path
from typing import Any

from rave_agents.extras import missing
from rave_agents.frameworks.adapters import Game
from rave_agents.game.game_state import GameState, apply_path
from rave_agents.gtp.uci_moves import UciMoves

_USUAL = ("standard", "chess", "normal")
"""Names that the tag ``Variant`` has for chess itself."""


def read_pgn(path: Path, game: Game, number: int = 1) -> tuple[GameState, list[int]]:
    """A game's beginning, which a tag may tell as a FEN, and the actions of its main line.

    Args:
        path: the file.
        game: the game, which must be chess.
        number: the number of the game in the file, from 1.

    Raises:
        ValueError: if python-chess is not installed, or the file has no such game of chess.
        OSError: if it cannot be read.
    """
    if game.name.partition("(")[0] != "chess":
        raise ValueError(f"{path} is a PGN, and so a game of chess, not of {game.name}.")
    moves = UciMoves(game)
    pgn = _pgn()

    class Strict(pgn.GameBuilder):  # type: ignore[name-defined,misc]
        def handle_error(self, error: Exception) -> None:
            raise ValueError(str(error)) from error

    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for skipped in range(number - 1):
            if not pgn.skip_game(file):
                raise ValueError(f"{path} has {skipped} games, and not number {number}.")
        try:
            found = pgn.read_game(file, Visitor=Strict)
        except ValueError as error:
            raise ValueError(f"{path} is no PGN of chess: {error}.") from error
    if found is None:
        raise ValueError(f"{path} has {number - 1} games, and not number {number}.")
    variant = found.headers.get("Variant", "standard")
    if variant.lower() not in _USUAL:
        raise ValueError(f"{path} is a game of {variant}, not of chess.")
    state = _beginning(path, game, found.headers)
    return state, _actions(path, state, moves, found)


def _beginning(path: Path, game: Game, headers: Any) -> GameState:
    fen = headers.get("FEN")
    if fen is None:
        return game.new_initial_state()
    state = None
    with contextlib.suppress(AttributeError):
        state = game.position_of(fen)  # type: ignore[attr-defined]
    if state is None:
        raise ValueError(f"{path} begins at {fen!r}, which is no position of {game.name}.")
    return state  # type: ignore[no-any-return]


def _actions(path: Path, start: GameState, moves: UciMoves, found: Any) -> list[int]:
    state = start.clone()
    actions: list[int] = []
    for move in found.mainline_moves():
        if state.is_terminal():
            raise ValueError(f"{path}: the game is over before move {len(actions) + 1}, {move}.")
        try:
            turn = moves.read(state, move.uci())
        except LookupError:
            raise ValueError(f"{path}: move {len(actions) + 1}, {move}, is illegal.") from None
        apply_path(state, list(turn))
        actions += turn
    return actions


def _pgn() -> Any:
    """python-chess's module of PGN."""
    try:
        return importlib.import_module("chess.pgn")
    except ImportError as error:
        raise ValueError(missing("Reading PGN needs", "pgn", "chess")) from error
