"""Playouts of Hex and Y: stones are drawn for all empty cells, or bridges are kept as well.

In sensible playouts a player whose bridge the opponent's last stone cuts into takes its other cell
(Arneson, Hayward & Henderson, "Monte Carlo Tree Search in Hex", 2010).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.games.bridges import NONE, STEPS, BridgeRules
from rave_agents.games.kit.instructions import lowest_bit
from rave_agents.simulate.random_stream import random_below

BITS = 3
"""Bits for what is on a cell: one for each player's stone, and ``EMPTY``."""

EMPTY = 4
"""The bit of an empty cell."""

FIRST_BITS = sum(1 << BITS * step for step in range(len(STEPS)))
"""The first bit of each cell beside another one, in the order of ``STEPS``."""


class BridgePlayouts(BridgeRules):
    """The rules with such playouts; ``playout_fields`` are the fields."""

    def lay_bridges(
        self, on_board: NDArray[np.bool_], sides: NDArray[np.bool_], goals: tuple[int, int]
    ) -> None:
        """Find out what is beside each cell, the sides of the board included.

        Where the board ends, ``near`` has a number above the cells': plus one for a side that
        player 0 is to join, and plus two for one of player 1's.
        """
        super().lay_bridges(on_board, sides, goals)
        cells: int = on_board.size
        near = np.asarray(self.beside, np.int64)
        for cell, step in np.argwhere(near == NONE):
            # The sides that all cells on the board beside the one outside belong to.
            shared = int(self.touched[cell])
            for turn in (-1, 1):
                other = near[cell, (step + turn) % len(STEPS)]
                if 0 <= other < cells:
                    shared &= int(self.touched[other])
            owners = [1 << player for player, goal in enumerate(goals) if goal & shared]
            near[cell, step] = cells + sum(owners)
        self.near: NDArray[np.uint16] = near.astype(np.uint16)
        self.playout_fields: dict[str, Any] = {
            "sensible": np.int64,
            "stands": (np.uint8, cells + EMPTY),
            "place": (np.uint16, cells),
        }

    def make_sensible(self, state: Any) -> None:
        """Playouts keep bridges, unless moves are drawn one by one."""
        state.sensible = 1 if self.plays_itself else 0

    def playout(self, state: Any, players: Any, actions: Any, end: int, stream: Any) -> int:
        """Draw stones for all empty cells, and keep those up to the winning one."""
        count = self.legal_actions(state, state.empty)
        if end + count > players.shape[0]:
            return -1
        if state.sensible:
            self.look_at_board(state, count)
        first, last = state.to_move, state.last
        for place in range(count):
            player = (first + place) & 1
            drawn: Any = np.int64(NONE)
            if state.sensible and last != NONE:
                drawn = self.place_of_answer(state, last, player)
            if drawn == NONE:
                drawn = place + random_below(stream, count - place)
            action: Any = np.int64(state.empty[drawn])
            other: Any = np.int64(state.empty[place])
            state.empty[drawn] = other
            state.place[other] = drawn
            state.empty[place] = action
            state.stands[action] = 1 << player
            self.toggle(state, player, action)
            players[end + place] = player
            actions[end + place] = last = action
        state.winner = 0 if self.is_connected(state, 0) else 1
        return end + self.winning_place(state, count, first ^ state.winner) + 1

    def look_at_board(self, state: Any, count: int) -> None:
        """Note what is on each cell, and the place of each empty one in the list."""
        cells = self.num_distinct_actions
        for cell in self.points:
            state.stands[cell] = 1 if self.owns(state, 0, cell) else 2
        for owners in range(EMPTY):
            state.stands[cells + owners] = owners
        for place in range(count):
            empty: Any = np.int64(state.empty[place])
            state.stands[empty] = EMPTY
            state.place[empty] = place

    def place_of_answer(self, state: Any, last: Any, player: int) -> Any:
        """The place in the list of the cell that keeps a bridge; ``NONE`` if none is cut into.

        Beside the opponent's last stone it lies between two of the player's stones, or sides.
        """
        beside = np.int64(0)
        for step in range(len(STEPS)):
            beside |= np.int64(state.stands[self.near[last, step]]) << BITS * step
        whole = BITS * len(STEPS)
        mine, empty = beside >> player & FIRST_BITS, beside >> BITS - 1 & FIRST_BITS
        mine |= mine << whole
        empty |= empty << whole
        cut = mine & empty >> BITS & mine >> 2 * BITS & FIRST_BITS
        if cut == 0:
            return np.int64(NONE)
        between = (lowest_bit(cut) // BITS + 1) % len(STEPS)
        return np.int64(state.place[self.near[last, between]])
