"""The board of backgammon: men at places, which points they hold, and the steps of dice.

Places are counted as each player moves: 0 is the bar, 1 to 24 are the points, 25 is off. So one
player's point is the other's 25 less its number.
"""

from typing import Any

import numpy as np

from rave_agents.games.bits import NONE, ONE, bit, has_bit
from rave_agents.games.kit.rules import Rules

BAR, POINTS, OFF = 0, 24, 25
"""The places beside the points, and the number of these."""

OUTSIDE = np.uint64((1 << 19) - 1)
"""The bar and all points but the last six."""

STARTS = {False: {1: 2, 12: 5, 17: 3, 19: 5}, True: {1: 1, 2: 1, 3: 1}}
"""Men on points at the start, without and with ``hyper_backgammon``."""


class BackgammonBoard(Rules):
    """See the module."""

    hyper_backgammon: bool = False
    board_shape = 2, OFF + 1

    def setup(self) -> None:
        """Name the fields, and lay out the start."""
        starts = STARTS[self.hyper_backgammon]
        self.start = np.array([starts.get(place, 0) for place in range(OFF + 1)], np.int8)
        self.num_men: int = int(self.start.sum())
        self.cell_kinds: int = self.num_men + 1
        self.fields: dict[str, Any] = {
            "men": (np.int8, self.board_shape),
            "held": (np.uint64, 2),  # The bar and points where the player has men,
            "open": (np.uint64, 2),  # and points where the opponent has less than two.
            "dice": (np.int64, 2),  # The lower one first; 0 if they are not thrown.
            **dict.fromkeys(("to_move", "previous", "turns", "is_extra"), np.int64),
        }

    def begin(self, state: Any) -> None:
        """The men are laid out."""
        for player in range(2):
            for point in range(1, POINTS + 1):
                state.men[player, point] = self.start[point]
                state.held[player] |= bit(point) if self.start[point] > 0 else NONE
                state.open[player] |= bit(OFF - point) if self.start[point] < 2 else NONE

    def sources(self, held: Any, free: Any, die: int) -> Any:
        """The places that a die may move a man from."""
        if has_bit(held, BAR):
            return ONE if has_bit(free, die) else NONE
        found = held & (free >> np.uint64(die))
        if held & OUTSIDE == NONE:
            exact, last = bit(OFF - die), held & (~held + ONE)
            found |= last if last > exact else held & exact
        return found

    def held_after(self, state: Any, player: int, source: int, die: int) -> Any:
        """The bar and points where a player has men after a step."""
        held = state.held[player]
        if state.men[player, source] == 1:
            held ^= bit(source)
        return held | bit(source + die) if source + die < OFF else held

    def firsts(self, state: Any, order: int, single: int) -> Any:
        """The places of the first step: with the higher die in order 0, with the lower in order 1.

        The lower is not first if they are equal, nor where only one is used and the higher can be.
        """
        held, free = state.held[state.to_move], state.open[state.to_move]
        found = self.sources(held, free, state.dice[1])
        if order == 0:
            return found
        if state.dice[0] == state.dice[1] or (single and found != NONE):
            return NONE
        return self.sources(held, free, state.dice[0])

    def seconds(self, state: Any, source: int, order: int, single: int) -> Any:
        """The places of the second step after a first one; off if there is no second."""
        if single:
            return bit(OFF)
        held = self.held_after(state, state.to_move, source, state.dice[1 - order])
        return self.sources(held, state.open[state.to_move], state.dice[order])

    def step(self, state: Any, player: int, source: int, die: int) -> None:
        """Move a man, and hit one; nothing from off the board."""
        if source == OFF:
            return
        other, target = 1 - player, min(source + die, OFF)
        state.held[player] = self.held_after(state, player, source, die)
        state.men[player, source] -= 1
        state.men[player, target] += 1
        if state.men[player, source] == 1 and source != BAR:
            state.open[other] |= bit(OFF - source)
        if target == OFF:
            return
        if state.men[player, target] == 2:
            state.open[other] ^= bit(OFF - target)
        if state.men[other, OFF - target] == 1:
            state.men[other, OFF - target] = 0
            state.men[other, BAR] += 1
            state.held[other] = (state.held[other] ^ bit(OFF - target)) | ONE

    def describe_board(self, state: Any, cells: Any) -> None:
        """The numbers of men at each place, X's before O's."""
        for player in range(2):
            for place in range(OFF + 1):
                cells[player * (OFF + 1) + place] = state.men[player, place]
