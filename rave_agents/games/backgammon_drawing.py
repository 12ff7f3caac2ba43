"""The drawn board of backgammon: points with their men, the bar between them, and men off."""

from collections.abc import Sequence
from typing import Any

from rave_agents.game.board import Board, Cell, Place, Tiling
from rave_agents.games.backgammon_board import BAR, OFF, POINTS
from rave_agents.games.backgammon_notation import LOW_FIRST, NUMBER_OF, NUMBERS, PLACE_OF, UNUSED

HALF, QUARTER = POINTS // 2, POINTS // 4
"""The points of a side of the board, and those up to the bar."""

LENGTH, GAP = 5.0, 0.25
"""The length of a point, in men, and the distance to the bar and to the men that are off."""


def drawn(men: Any, dice: Sequence[int], mover: int, legal: Sequence[int]) -> Board:
    """The board as X sees it, whose last points are above on the right.

    A move stands where its first step goes, as it is written: the one from farther back.

    Args:
        men: [2, 26] each player's men at each place.
        dice: the lower and the higher one.
        mover: the player to move.
        legal: that player's actions.
    """
    cells, names = [], []
    for number in range(POINTS):
        counts = [int(men[player, PLACE_OF[player, number]]) for player in range(2)]
        column = HALF - 1 - number if number < HALF else number - HALF
        cells.append(_cell(column + (column >= QUARTER), number >= HALF, counts))
        names.append(f"point {OFF - PLACE_OF[mover, number]}")
    for column, place, name in ((QUARTER, BAR, "bar"), (HALF + 1, OFF, "off")):
        for player in range(2):
            counts = [0, 0]
            counts[player] = int(men[player, place])
            cells.append(_cell(column, (player == 0) == (place == OFF), counts))
            names.append(f"{name} of seat {player}")
    found = {action: _place(action, dice, mover) for action in legal}
    places = {action: place for action, place in found.items() if place is not None}
    return Board(tiling=Tiling.SQUARES, cells=tuple(cells), places=places, names=tuple(names))


def _cell(column: int, is_above: bool, counts: Sequence[int]) -> Cell:
    """A point of the upper or the lower half, with each player's men."""
    owner = next((player for player, count in enumerate(counts) if count), None)
    return Cell(
        row=0 if is_above else 1,
        column=column,
        x=column + GAP * ((column >= QUARTER) + (column > QUARTER) + (column > HALF)),
        y=0.0 if is_above else -LENGTH - 0.6,
        height=LENGTH,
        piece=None if owner is None else "man",
        owner=owner,
        count=max(counts) or 1,
    )


def _place(action: int, dice: Sequence[int], player: int) -> Place | None:
    """The way of the first step of an action; None if it has none."""
    numbers = action % LOW_FIRST % NUMBERS, action % LOW_FIRST // NUMBERS
    ordered = dice if action >= LOW_FIRST else dice[::-1]
    steps = [
        (int(PLACE_OF[player, number]), int(die))
        for number, die in zip(numbers, ordered, strict=True)
        if number != UNUSED
    ]
    if not steps:
        return None
    source, die = min(steps)
    return Place(_index(min(source + die, OFF), player), _index(source, player))


def _index(place: int, player: int) -> int:
    """The index of the cell of a player's place."""
    if place == BAR:
        return POINTS + player
    return POINTS + 2 + player if place == OFF else int(NUMBER_OF[player, place])
