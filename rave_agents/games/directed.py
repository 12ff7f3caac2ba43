"""Base of Checkers and Clobber: a move is a piece and one of four directions, on 64-bit boards."""

from typing import Any

from rave_agents.games.bits import NONE, ONE, count_bits, has_bit, lowest_bit, nth_bit
from rave_agents.games.kit.rules import WinnerRules
from rave_agents.simulate.random_stream import random_below

DIRECTIONS = 4
"""The number of directions."""


class DirectedRules(WinnerRules):
    """The common part; the field ``movable`` has the set of movable pieces for each direction."""

    def action_of(self, state: Any, place: int, direction: int) -> int:
        """The action that moves the piece of a bit in a direction."""
        raise NotImplementedError

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Piece by piece, direction by direction."""
        pieces = state.movable[0] | state.movable[1] | state.movable[2] | state.movable[3]
        count = 0
        while pieces != NONE:
            place = lowest_bit(pieces)
            pieces &= pieces - ONE
            for direction in range(DIRECTIONS):
                if has_bit(state.movable[direction], place):
                    actions[count] = self.action_of(state, place, direction)
                    count += 1
        return count

    def draw(self, state: Any, stream: Any) -> int:
        """One of the moves of all directions, each equally likely."""
        total = 0
        for direction in range(DIRECTIONS):
            total += count_bits(state.movable[direction])
        place = random_below(stream, total)
        direction = 0
        while place >= count_bits(state.movable[direction]):
            place -= count_bits(state.movable[direction])
            direction += 1
        return self.action_of(state, nth_bit(state.movable[direction], place), direction)
