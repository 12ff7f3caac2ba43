"""Moves of the pieces of chess, on sets of squares; for chess and its variants.

Square ``8 * file + rank`` has that bit: a1 is 0, a2 is 1, b1 is 8, in the order of OpenSpiel's
actions. White is player 1, as in OpenSpiel.

Moves are kept as the squares that are reached by each of sixteen steps, eight along lines and eight
of a knight, and by a pawn's three steps to the last rank, where it is promoted. That says which
piece moves, too: the nearest one on the way back. So all moves of one step are found at once, and
are counted and drawn without a list.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import kernel
from rave_agents.games.bits import NONE, ONE, bit, has_bit, lowest_bit
from rave_agents.games.chess_notation import (
    KNIGHT_STEPS,
    LINE_STEPS,
    MIRRORED,
    PROMOTION_FILES,
    RANKS,
    SQUARES,
    ActionNumbers,
)
from rave_agents.games.ordered import insert
from rave_agents.games.winner import WinnerRules

BLACK, WHITE = range(2)
"""The players."""

PAWNS, KNIGHTS, DIAGONAL, STRAIGHT, KINGS = range(5)
"""Sets of pieces by how they move; a queen is in two of them."""

SETS_OF = ((KINGS,), (DIAGONAL, STRAIGHT), (STRAIGHT,), (DIAGONAL,), (KNIGHTS,), (PAWNS,))
"""The sets that each piece is in, in the order of ``LETTERS``."""

LINES, STEPS = len(LINE_STEPS), len(LINE_STEPS) + len(KNIGHT_STEPS)
"""The number of steps along lines, and of all steps."""

PAWN_STEPS = ((1, 6, 5), (0, 4, 7))
"""Steps of each player's pawns: ahead, and aslant to the next and to the previous file."""

LEFT, RIGHT = LINE_STEPS.index((-1, 0)), LINE_STEPS.index((1, 0))
"""Steps to the squares beside one."""

SIDES = len(PROMOTION_FILES)
"""Ways of a pawn: ahead, and aslant to either side."""

SETS = STEPS + SIDES
"""Sets of squares that are reached: the last three are those of pawns that are promoted."""

WORD = np.uint64(64)
"""Bits of a set."""


@kernel
def rotated(bits: Any, distance: Any) -> Any:
    """A set with each square moved on by a distance, beyond the last one to the first."""
    return (bits << distance) | (bits >> (WORD - distance))


def set_of(squares: Any) -> Any:
    """The set of some squares."""
    return np.uint64(sum(1 << square for square in squares))


class PieceRules(WinnerRules):
    """Rules with pieces of chess: sets of them in ``piece_fields``, which a game has in its own."""

    promotions: str
    """The letters of what a pawn may become beside a queen, in the order of actions."""

    def set_up_pieces(self) -> None:
        """Lay out the steps and the numbers of actions."""
        self.board_shape = RANKS, RANKS
        numbers = ActionNumbers(self.promotions)
        self.num_distinct_actions = numbers.count
        self.destinations: int = numbers.destinations
        self.offsets, self.promoted = numbers.offsets, numbers.promoted
        self.numbers, self.choices = numbers.of_squares, len(self.promotions) + 1
        steps = (*LINE_STEPS, *KNIGHT_STEPS)
        self.distances: NDArray[np.int64] = np.array([RANKS * file + rank for file, rank in steps])
        self.turns_on = (self.distances % SQUARES).astype(np.uint64)
        self.turns_twice, self.turns_four = self.turns_on * 2 % WORD, self.turns_on * 4 % WORD
        squares = {divmod(square, RANKS) for square in range(SQUARES)}
        inside = [
            set_of(RANKS * to + at for to, at in squares if (to - file, at - rank) in squares)
            for file, rank in steps
        ]
        self.inside: NDArray[np.uint64] = np.array(inside, np.uint64)
        self.sliders: NDArray[np.int64] = np.array([STRAIGHT] * 4 + [DIAGONAL] * 4)
        self.pawn_steps = np.array(PAWN_STEPS)
        ranks = [set_of(range(rank, SQUARES, RANKS)) for rank in range(RANKS)]
        self.before_last = np.array([ranks[1], ranks[6]])
        self.passed_over = np.array([ranks[5], ranks[2]])
        self.is_in = np.array([[kind in kinds for kind in range(KINGS + 1)] for kinds in SETS_OF])
        self.piece_fields: dict[str, Any] = {
            "pieces": (np.uint64, 2),
            "kinds": (np.uint64, 5),
            "targets": (np.uint64, SETS),
            **dict.fromkeys(("to_move", "winner", "passed", "quiet", "moves"), np.int64),
        }

    def moved(self, pieces: Any, step: int) -> Any:
        """The squares that pieces reach by a step."""
        return rotated(pieces, self.turns_on[step]) & self.inside[step]

    def slid(self, pieces: Any, empty: Any, step: int) -> Any:
        """The pieces, and the empty squares that they reach by a step and any number of others."""
        free = empty & self.inside[step]
        pieces |= free & rotated(pieces, self.turns_on[step])
        free &= rotated(free, self.turns_on[step])
        pieces |= free & rotated(pieces, self.turns_twice[step])
        free &= rotated(free, self.turns_twice[step])
        return pieces | (free & rotated(pieces, self.turns_four[step]))

    def find_targets(self, state: Any) -> Any:
        """Find all moves of the player to move, safe for a king or not; returns what they reach."""
        player = state.to_move
        own, other = state.pieces[player], state.pieces[1 - player]
        empty = ~(own | other)
        kings, knights = own & state.kinds[KINGS], own & state.kinds[KNIGHTS]
        reached = NONE
        for step in range(LINES):
            sliders = own & state.kinds[self.sliders[step]]
            if sliders != NONE:
                sliders = self.slid(sliders, empty, step)
            targets = self.moved(sliders | kings, step) & ~own
            state.targets[step] = targets
            reached |= targets
        for step in range(LINES, STEPS):
            targets = self.moved(knights, step) & ~own
            state.targets[step] = targets
            reached |= targets
        return reached | self.find_pawn_targets(state, own & state.kinds[PAWNS], empty, other)

    def find_pawn_targets(self, state: Any, pawns: Any, empty: Any, other: Any) -> Any:
        """Find the moves of pawns; returns what they reach."""
        player = state.to_move
        last = pawns & self.before_last[player]
        pawns ^= last
        ahead = self.pawn_steps[player, 0]
        passed = NONE if state.passed < 0 else bit(state.passed)
        once = self.moved(pawns, ahead) & empty
        reached = once | (self.moved(once & self.passed_over[player], ahead) & empty)
        state.targets[ahead] |= reached
        state.targets[STEPS] = self.moved(last, ahead) & empty
        reached |= state.targets[STEPS]
        for side in range(1, SIDES):
            step = self.pawn_steps[player, side]
            taken = self.moved(pawns, step) & (other | passed)
            state.targets[step] |= taken
            state.targets[STEPS + side] = self.moved(last, step) & other
            reached |= taken | state.targets[STEPS + side]
        return reached

    def origin(self, state: Any, target: int, place: int) -> int:
        """The square from which a target is reached, in one of the sets of targets."""
        step = place if place < STEPS else self.pawn_steps[state.to_move, place - STEPS]
        square = target - self.distances[step]
        if place < LINES:
            occupied = state.pieces[0] | state.pieces[1]
            while not has_bit(occupied, square):
                square -= self.distances[step]
        return square

    def number_of(self, state: Any, target: int, place: int) -> int:
        """The number of a move; of the promotion to a queen, where a pawn is promoted."""
        mirror = 0 if state.to_move == WHITE else MIRRORED
        start = self.origin(state, target, place) ^ mirror
        action: Any = np.int64(self.numbers[start, target ^ mirror])
        return action

    def promotion_number(self, state: Any, target: int, side: int, choice: int) -> int:
        """The number of a promotion: to a queen, or to one of ``promotions``."""
        action = self.number_of(state, target, STEPS + side)
        if choice == 0:
            return action
        return action - action % self.destinations + SIDES * (choice - 1) + side

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Step by step; actions are put in order."""
        count = 0
        for place in range(SETS):
            targets = state.targets[place]
            while targets != NONE:
                target = lowest_bit(targets)
                targets &= targets - ONE
                if place < STEPS:
                    count = insert(actions, 0, count, self.number_of(state, target, place))
                else:
                    for choice in range(self.choices):
                        action = self.promotion_number(state, target, place - STEPS, choice)
                        count = insert(actions, 0, count, action)
        return count
