"""Nine men's morris, as OpenSpiel has it: ``nine_mens_morris``.

Two players place nine men each on the points of three squares, then move them along the lines; a
player with only three men left moves them to any empty point. Three men in a row are a mill: who
closes one takes a man of the opponent's that is in no mill, or any if all are. A player with two
men or without a move loses; after 200 turns it is a draw (OpenSpiel, ``nine_mens_morris.cc``).

Points are numbered row by row. Actions 0 to 23 place a man on a point, or take the one there;
action ``24 + from * 24 + to`` moves a man.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.game.board import Board, Cell, Place, Tiling
from rave_agents.games.bits import (
    NONE,
    ONE,
    bit,
    count_bits,
    drawn_bit,
    has_bit,
    list_bits,
    lowest_bit,
    write_owners,
)
from rave_agents.games.kit.rules import DRAWN, NO_ACTION, WinnerRules
from rave_agents.simulate.random_stream import random_below

POINTS = 24
"""Points of the board, numbered row after row from the top left."""

EVERYWHERE = np.uint64((1 << POINTS) - 1)
"""The set of all points."""

LINES = (
    *((first, first + 1, first + 2) for first in range(0, POINTS, 3)),
    *((0, 9, 21), (3, 10, 18), (6, 11, 15), (1, 4, 7)),
    *((16, 19, 22), (8, 12, 17), (5, 13, 20), (2, 14, 23)),
)
"""The points of each row of three, those along first; neighbours on a row are connected."""

ROWS = np.array(
    [[sum(1 << one for one in line) for line in LINES if point in line] for point in range(POINTS)],
    np.uint64,
)
"""[points, 2] the sets of the rows through each point."""

STEPS = np.array([step[::way] for line in LINES for step in pairwise(line) for way in (1, -1)])
"""[moves, 2] where each move along a line begins and ends."""

NEAR = np.array(
    [
        sum(1 << target for source, target in STEPS.tolist() if source == point)
        for point in range(POINTS)
    ],
    np.uint64,
)
"""[points] the set of the points that each is connected with."""

HALF = (
    *(".------.------.", "|      |      |", "| .----.----. |"),
    *("| |    |    | |", "| | .--.--. | |", "| | |     | | |"),
)
LARGE = "\n".join((*HALF, ".-.-.     .-.-.", *HALF[::-1], ""))
"""The board as it is printed, each point as a dot."""

SMALL = ".--.--.|.-.-.|||...||... ...||...|||.-.-.|.--.--."
"""The board of seven by seven cells as tensors show it."""

KINDS = ".WB-| "
"""The contents of cells: a point that is empty or has a man, two kinds of lines, and nothing."""

CELLS = np.array([KINDS.index(sign) for sign in SMALL])
"""[7 * 7] the contents of each cell of an empty board."""

PLACES = np.array([cell for cell, sign in enumerate(SMALL) if sign == "."])
"""[points] the cell of each point."""


def board_text(owners: Iterable[int]) -> str:
    """The board as it is printed, with 1 or 2 for each point where White or Black has a man."""
    signs = iter(owners)
    return "".join(KINDS[next(signs)] if sign == "." else sign for sign in LARGE)


@kernel
def is_in_mill(men: Any, point: int) -> bool:
    """True if a set of men fills one of the two rows through a point."""
    along, across = ROWS[point, 0], ROWS[point, 1]
    return men & along == along or men & across == across


MEN, TURNS, FLYING, LOST = 9, 200, 3, 2
"""Men of each player, turns of the longest game, men of who may move anywhere and has lost."""

# The points:
#
#    0---------1---------2
#    |   3-----4-----5   |
#    |   |  6--7--8  |   |
#    9--10-11    12-13--14
#    |   | 15-16-17  |   |
#    |  18----19----20   |
#   21--------22--------23


class NineMensMorris(WinnerRules):
    """See the module."""

    name = "nine_mens_morris"
    num_distinct_actions = POINTS + POINTS * POINTS
    max_actions = FLYING * (POINTS - 2 * FLYING)
    max_game_length = TURNS + 2 * (MEN - LOST)
    board_shape, cell_kinds = (7, 7), len(KINDS)
    planes = tuple(map(KINDS.index, "WB.-|"))  # Both players' men, empty points, lines.

    def setup(self) -> None:
        """Name the fields."""
        self.fields: dict[str, Any] = {
            "men": (np.uint64, 2),
            "unplaced": (np.int64, 2),
            **dict.fromkeys(("to_move", "takes", "turns", "winner"), np.int64),
        }

    def begin(self, state: Any) -> None:
        """No man is on the board."""
        state.unplaced[:] = MEN
        state.winner = NO_ACTION

    def takable(self, men: Any) -> Any:
        """The men that may be taken."""
        free, left = men, men
        while left != NONE:
            point = lowest_bit(left)
            left &= left - ONE
            if is_in_mill(men, point):
                free ^= bit(point)
        return men if free == NONE else free

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Men to take, points to place one on, or moves of each man."""
        own, other = state.men[state.to_move], state.men[1 - state.to_move]
        if state.takes:
            return list_bits(self.takable(other), actions, 0, 0)
        empty = EVERYWHERE & ~(own | other)
        if state.unplaced[state.to_move] > 0:
            return list_bits(empty, actions, 0, 0)
        count, flies = 0, count_bits(own) <= FLYING
        while own != NONE:
            source = lowest_bit(own)
            own &= own - ONE
            targets = empty if flies else empty & NEAR[source]
            # Points in ascending order, and so their actions.
            count = list_bits(targets, actions, count, POINTS + source * POINTS)
        return count

    def play(self, state: Any, action: int) -> None:
        """Place, move or take a man; the turn ends unless a mill is closed."""
        player, other = state.to_move, 1 - state.to_move
        if state.takes:
            state.men[other] ^= bit(action)
            state.takes = 0
        else:
            target = action
            if action < POINTS:
                state.unplaced[player] -= 1
            else:
                state.men[player] ^= bit(action // POINTS - 1)
                target = action % POINTS
            state.men[player] |= bit(target)
            if is_in_mill(state.men[player], target):
                state.takes = 1
                return
        state.to_move = other
        state.turns += 1
        if self.has_lost(state, other):
            state.winner = player
        elif state.turns == TURNS:
            state.winner = DRAWN

    def has_lost(self, state: Any, player: int) -> bool:
        """True if a player has too few men, or cannot move."""
        men, empty = state.men[player], EVERYWHERE & ~(state.men[0] | state.men[1])
        if state.unplaced[player] > 0 or count_bits(men) <= FLYING:
            return state.unplaced[player] + count_bits(men) <= LOST
        while men != NONE:
            if NEAR[lowest_bit(men)] & empty != NONE:
                return False
            men &= men - ONE
        return True

    def draw(self, state: Any, stream: Any) -> int:
        """A man or a point; steps along lines are drawn until one is legal."""
        own, other = state.men[state.to_move], state.men[1 - state.to_move]
        if state.takes:
            return drawn_bit(self.takable(other), stream)
        empty = EVERYWHERE & ~(own | other)
        if state.unplaced[state.to_move] > 0:
            return drawn_bit(empty, stream)
        if count_bits(own) <= FLYING:
            return POINTS + drawn_bit(own, stream) * POINTS + drawn_bit(empty, stream)
        while True:
            step = random_below(stream, STEPS.shape[0])
            source, target = STEPS[step, 0], STEPS[step, 1]
            if has_bit(own, source) and has_bit(empty, target):
                return POINTS + source * POINTS + target

    def action_to_string(self, player: int, action: int) -> str:
        """The point, or both of a move."""
        source, target = divmod(action, POINTS)
        return f"Move {source - 1} -> {target}" if source else f"Point {action}"

    def describe_board(self, state: Any, cells: Any) -> None:
        """The contents of each of seven by seven cells, as ``KINDS`` has them."""
        for cell in range(cells.shape[0]):
            cells[cell] = CELLS[cell]
        for point in range(POINTS):
            white, black = has_bit(state.men[0], point), has_bit(state.men[1], point)
            cells[PLACES[point]] = 1 if white else 2 if black else 0

    def drawn_board(self, state: Any, legal: Sequence[int]) -> Board:
        """The points, and the lines that join them."""
        owners = np.zeros(POINTS, np.int8)
        write_owners(state.men, owners)
        spots = [divmod(place, 7) for place in PLACES.tolist()]
        men = [((None, None), ("W", 0), ("B", 1))[owner] for owner in owners.tolist()]
        cells = tuple(
            Cell(row=row, column=column, x=column, y=-row, piece=piece, owner=player)
            for (row, column), (piece, player) in zip(spots, men, strict=True)
        )
        moves = {int(action): divmod(int(action), POINTS) for action in legal}
        places = {
            action: Place(point, source - 1) if source else Place(point)
            for action, (source, point) in moves.items()
        }
        joined = tuple((one, other) for one, other in STEPS.tolist() if one < other)
        names = tuple(f"point {point}" for point in range(POINTS))
        return Board(tiling=Tiling.POINTS, cells=cells, places=places, names=names, lines=joined)

    def string_of(self, state: Any) -> str:
        """The board and what the state holds."""
        owners = np.zeros(POINTS, np.int8)
        write_owners(state.men, owners)
        men = [left + count_bits(on) for left, on in zip(state.unplaced, state.men, strict=True)]
        return (
            f"{board_text(owners)}\nCurrent player: {'WB'[state.to_move]}\n"
            f"Turn number: {state.turns}\nMen to deploy: {state.unplaced[0]} {state.unplaced[1]}\n"
            f"Num men: {men[0]} {men[1]}\n"
        ) + ("Last move formed a mill. Capture time!" if state.takes else "")
