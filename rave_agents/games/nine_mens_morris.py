"""Nine men's morris, as OpenSpiel has it: ``nine_mens_morris``.

Two players place nine men each on the points of three squares, then move them along the lines; who
has only three left moves them to any empty point. Three men in a row on a line are a mill: who
closes one takes a man of the opponent's that is in no mill, or any if all are. Who has two men, or
cannot move, loses; after 200 turns it is a draw (OpenSpiel, ``nine_mens_morris.cc``).

Points are numbered row after row from the top left. Actions 0 to 23 place a man on a point, or take
the one there; action ``24 + from * 24 + to`` moves a man.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

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
from rave_agents.games.kit.rules import DRAWN, NO_ACTION, TERMINAL
from rave_agents.games.morris_board import (
    CELLS,
    EVERYWHERE,
    KINDS,
    NEAR,
    PLACES,
    POINTS,
    STEPS,
    board_text,
    is_in_mill,
)
from rave_agents.games.winner import WinnerRules
from rave_agents.simulate.random_stream import random_below

MEN, TURNS, FLYING, LOST = 9, 200, 3, 2
"""Men of each player, turns of the longest game, men of who may move anywhere and has lost."""


class NineMensMorris(WinnerRules):
    """See the module."""

    name = "nine_mens_morris"
    num_distinct_actions = POINTS + POINTS * POINTS
    max_actions = FLYING * (POINTS - 2 * FLYING)
    max_game_length = TURNS + 2 * (MEN - LOST)
    board_shape, cell_kinds = (7, 7), len(KINDS)

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

    def player(self, state: Any) -> int:
        """The player whose turn it is; who closes a mill also takes a man."""
        return state.to_move if state.winner == NO_ACTION else TERMINAL

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
        """A man or a point; steps along lines are drawn until one is a move."""
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

    def observation(self, state: Any) -> Any:
        """Planes of White's men, Black's, empty points and both kinds of lines."""
        return self.board_planes(state, [KINDS.index(kind) for kind in "WB.-|"])
