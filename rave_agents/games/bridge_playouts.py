"""Playouts of Hex and Y: stones are drawn for all empty cells; sensible ones keep bridges."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.games.bridges import BridgeRules
from rave_agents.games.hexagons import NONE, SIDES
from rave_agents.simulate.random_stream import random_below


class BridgePlayouts(BridgeRules):
    """The rules with such playouts."""

    def lay_bridges(
        self, on_board: NDArray[np.bool_], sides: NDArray[np.bool_], goals: tuple[int, int]
    ) -> None:
        """Find out, too, who has what lies outside the board: who is to join a side there."""
        super().lay_bridges(on_board, sides, goals)
        outside = np.zeros(self.beside.shape, np.int64)
        for cell, step in np.argwhere(self.beside == NONE):
            # The sides that all cells on the board beside the one outside belong to.
            shared = self.touched[cell]
            for turn in (-1, 1):
                near = self.beside[cell, (step + turn) % SIDES]
                if near != NONE:
                    shared &= self.touched[near]
            outside[cell, step] = sum(
                1 << player for player, goal in enumerate(goals) if goal & shared
            )
        self.lay_neighbours(self.beside, outside)

    def playout(self, state: Any, players: Any, actions: Any, end: int, stream: Any) -> int:
        """Draw stones for all empty cells, and keep those up to the winning one."""
        count = self.legal_actions(state, state.empty)
        if end + count > players.shape[0]:
            return -1
        if state.sensible:
            self.look_at_board(state, state.empty, count)
        first, last = state.to_move, state.last
        for place in range(count):
            player = (first + place) & 1
            drawn: Any = np.int64(NONE)
            if state.sensible and last != NONE:
                drawn = self.place_of_answer(state, last, player)
            if drawn == NONE:
                drawn = place + random_below(stream, count - place)
            last = self.take_place(state, state.empty, place, drawn, player)
            self.toggle(state, player, last)
            players[end + place] = player
            actions[end + place] = last
        state.winner = 0 if self.is_connected(state, 0) else 1
        return end + self.winning_place(state, count, first ^ state.winner) + 1
