"""Backgammon as OpenSpiel numbers and writes it, and its drawn board.

OpenSpiel counts points from 0 on as X moves, with 24 for the bar and 25 for a die that is not used;
``backgammon.py`` counts places as each player moves.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rave_agents.game.board import Board, Cell, Place, Tiling

BAR, POINTS, OFF = 0, 24, 25
"""The places other than points, and the number of points."""

UNUSED, NUMBERS = 25, 26
"""OpenSpiel's number for a die that is not used, and how many numbers there are."""

LOW_FIRST = NUMBERS * NUMBERS
"""The number that is added to actions that move the lower die first."""

PLACE_OF = np.array([[*range(1, POINTS + 1), BAR, OFF], [*range(POINTS, 0, -1), BAR, OFF]])
"""[2, 26] the place of each of OpenSpiel's numbers for X and for O; off for ``UNUSED``."""

NUMBER_OF = np.argsort(PLACE_OF, axis=1)
"""[2, 26] OpenSpiel's number of each place for X and for O."""

DICE = range(1, 7)
PAIRS = [(low, high) for low in DICE for high in DICE if low < high]
ROLLS = np.array([*(roll for one in PAIRS for roll in (one, one[::-1])), *((n, n) for n in DICE)])
"""[36, 2] what the dice show at each outcome of chance, doubles last."""

FIRST_ROLLS = 2 * len(PAIRS)
"""The number of outcomes that begin a game: no doubles."""

NAMES = {25: "Bar", -2: "Off", -1: "Pass"}
"""Ends of steps other than points; points are counted down."""

HEIGHT = 5
"""The most men of a point that are shown one by one."""


class _Step(NamedTuple):
    """The step of one man: where it begins and ends, and whether it hits."""

    start: int
    end: int
    hits: bool

    def __str__(self) -> str:
        ends = [NAMES.get(end, end) for end in self[:2]]
        return f"{ends[0]}/{ends[1]}{'*' if self.hits else ''}"


def _step(player: int, number: int, die: int, others: Sequence[int]) -> _Step:
    """The step of a player's man by a die, with the other's men at each place."""
    if number == UNUSED:
        return _Step(25 if player == 0 else 0, -1, False)
    start = OFF - int(PLACE_OF[player, number])
    end = start - die
    return _Step(start, end, others[end] == 1) if end > 0 else _Step(start, -2, False)


def move_text(player: int, action: int, dice: Sequence[int], others: Sequence[int]) -> str:
    """An action: two steps, the one from the higher point first, or one man's as one.

    Args:
        player: who moves.
        action: the action.
        dice: the lower and the higher one.
        others: the number of the opponent's men at each place.
    """
    numbers = (action % LOW_FIRST % NUMBERS, action % LOW_FIRST // NUMBERS)
    ordered = dice if action >= LOW_FIRST else dice[::-1]
    first, second = (
        _step(player, number, die, others) for number, die in zip(numbers, ordered, strict=True)
    )
    if first[:2] == second[:2]:
        return "Pass" if first.end == -1 else f"{action} - {first}(2)"
    if second.end != -1 and (first.end == -1 or first[:2] < second[:2]):
        first, second = second, first
    if second.end == -1:
        return f"{action} - {first} Pass"
    if first.end == second.start:
        return f"{action} - {first}/{str(second).partition('/')[2]}"
    if first.hits and second.end == first.end:
        second = second._replace(hits=False)
    return f"{action} - {first} {second}"


def roll_text(outcome: int, *, is_first: bool) -> str:
    """The dice as they fall, and at first who begins."""
    starts = f" {'XO'[outcome % 2]} starts," if is_first else ""
    return f"chance outcome {outcome}{starts} (roll: {ROLLS[outcome, 0]}{ROLLS[outcome, 1]})"


def board_text(men: Any) -> str:
    """The board with both players' men."""
    half = ["|......|......|"] * HEIGHT
    rows = [list(row) for row in (*half, "|      |      |", *half)]
    for point, (own, other) in enumerate(zip(*_on_points(men), strict=True)):
        count = max(own, other)
        is_low = point < POINTS // 2
        column = 13 - point - point // 6 if is_low else point - 11 + (point - 12) // 6
        outer, inwards = (len(rows) - 1, -1) if is_low else (0, 1)
        for height in range(min(count, HEIGHT)):
            rows[outer + inwards * height][column] = "x" if own else "o"
        number = str(count) if count > HEIGHT else ""
        upper = outer - 1 if is_low and len(number) > 1 else outer
        for row, digit in enumerate(number):
            rows[upper + row][column] = digit
    edge = "+------|------+"
    return "\n".join([edge, *map("".join, rows), edge, ""])


def state_text(state: Any) -> str:
    """The board, and the turn, dice, bar and scores."""
    bars = "x" * state.men[0, BAR] + "o" * state.men[1, BAR]
    dice = "".join(str(die) for die in state.dice if die)
    return (
        f"{board_text(state.men)}Turn: {'xo*'[state.to_move]}\n"
        f"Previous player: {state.previous}\nExtra turn: {state.is_extra}\nDice: {dice}\n"
        f"Bar:{' ' if bars else ''}{bars}\n"
        f"Scores, X: {state.men[0, OFF]}, O: {state.men[1, OFF]}\n"
    )


def features(state: Any, player: int) -> Any:
    """Tesauro's features: points, the bar, men off and the turn, own ones first; and the dice."""
    sides = [player, 1 - player]
    points = np.ravel(_on_points(state.men)[sides])
    counts = np.maximum(points - 3, 0)
    on_board = np.stack([points == 1, points == 2, points == 3, counts], axis=1)
    rest = [(state.men[side, BAR], state.men[side, OFF], state.to_move == side) for side in sides]
    return np.concatenate([np.ravel(on_board), np.ravel(rest), state.dice])


def _on_points(men: Any) -> Any:
    """[2, 24] the men on each point, as OpenSpiel counts them, of those at each place."""
    return np.take_along_axis(men, PLACE_OF[:, :POINTS], axis=1)


HALF, QUARTER = POINTS // 2, POINTS // 4
"""The points of a side of the board, and those up to the bar."""

LENGTH, GAP = 5.0, 0.25
"""The length of a point, in men, and the distance to the bar and to the men that are off."""


def drawn(men: Any, dice: Sequence[int], mover: int, legal: Sequence[int]) -> Board:
    """The board as X sees it, whose last points are above on the right.

    An action is placed where its first step goes, the one from farther back.

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
    """Where the first step of an action begins and ends; None if it has no step."""
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
