"""Boards: their sizes, games on other boards, and the score of a Go board."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rave_agents.config.specs import parse_value
from rave_agents.frameworks.adapters import Game, GameAbilities, load_game

SIZES = ("board_size", "size")
"""Names that games have for the parameter that sets the board's size."""

SIDES = {"breakthrough": ("rows", "columns"), "clobber": ("rows", "columns")}
"""Games with two parameters for the sides of a board."""

_FIXED_SIZES = {"othello": 8, "lines_of_action": 8, "tic_tac_toe": 3, "pentago": 6}

BLACK, WHITE, EMPTY = "X", "O", "+"


def go_rows(board: str) -> list[str]:
    """The rows of a Go board as OpenSpiel prints it, from the top."""
    return re.findall(r"^ *\d+ ([+XO]+) *$", board, re.MULTILINE)


def area_score(rows: Sequence[str], komi: float) -> float:
    """Black's area minus White's area and the komi.

    A player's area is their stones and the empty regions that border on their stones alone.
    """
    cells = {(y, x): colour for y, row in enumerate(rows) for x, colour in enumerate(row)}
    score = -komi
    seen: set[tuple[int, int]] = set()
    for place, colour in cells.items():
        if colour != EMPTY:
            score += 1 if colour == BLACK else -1
        elif place not in seen:  # Each empty region once.
            region, borders = _region(cells, place)
            seen |= region
            if borders == {BLACK}:
                score += len(region)
            elif borders == {WHITE}:
                score -= len(region)
    return score


def _region(
    cells: dict[tuple[int, int], str], start: tuple[int, int]
) -> tuple[set[tuple[int, int]], set[str]]:
    """The empty region around a point, and the colours that border on it."""
    region, borders, waiting = {start}, set(), [start]
    while waiting:
        y, x = waiting.pop()
        for near in ((y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)):
            colour = cells.get(near)
            if colour in (BLACK, WHITE):
                borders.add(colour)
            elif colour == EMPTY and near not in region:
                region.add(near)
                waiting.append(near)
    return region, borders


def score_text(score: float) -> str:
    """Format a score as the protocol does: ``B+3.5``, ``W+1``, or ``0`` for a draw."""
    return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"


def board_size(short_name: str, parameters: Mapping[str, Any]) -> int | None:
    """The size of a game's board by its parameters; None if it is not one number."""
    if parameters.get("num_cols") != parameters.get("num_rows"):
        return None
    for name in ("num_cols", *SIZES):
        if name in parameters:
            return int(parameters[name])
    sides = {parameters.get(name) for name in SIDES.get(short_name, ())}
    if len(sides) == 1 and None not in sides:
        return int(sides.pop())  # type: ignore[arg-type]
    return _FIXED_SIZES.get(short_name)


def named_parameters(game: Game) -> dict[str, str]:
    """The parameters written in a game's name."""
    return dict(re.findall(r"(\w+)=([^,()]+)", game.name))


def game_with(game: Game, changes: Mapping[str, str]) -> Game:
    """The game with other values of some parameters, given as texts.

    A limit on the number of moves, as OpenSpiel's Go has, follows the board's size. Each framework
    raises its own exception if there is no such game.
    """
    if not changes:
        return game
    given, changes = named_parameters(game), dict(changes)
    size = next((changes[key] for key in SIZES if key in changes), None)
    if size is not None and "max_game_length" in given:
        changes["max_game_length"] = str(2 * int(size) ** 2)
    change = GameAbilities(game).with_parameters
    if change is not None:
        changed: Game = change(**{key: parse_value(value) for key, value in changes.items()})
        return changed
    merged = ",".join(f"{key}={value}" for key, value in {**given, **changes}.items())
    return load_game(f"{game.name.partition('(')[0]}({merged})")
