"""Atari Go: Go's stones and captures, and the first capture wins.

A stone that takes the last liberty of an opponent's chain wins at once. Suicide is illegal, nobody
passes, and a player without a legal move loses. ``stones.py`` has the board. Papers on AMAF play it
without a ko, since no stone ever leaves the board (Cazenave 2015).
"""

from typing import Any

import numpy as np

from rave_agents.games.kit.rules import NO_ACTION, TERMINAL
from rave_agents.games.stones import CHAIN_FIELDS, EMPTY, BoardSize, StoneRules
from rave_agents.simulate.random_stream import random_below


class AtariGo(StoneRules):
    """See the module.

    A state has the list ``empty`` of empty points, with the ``place`` of each on it.
    """

    name = "atari_go"
    exchange = "same"
    turns = ("mirrored", "upside_down", "transposed")
    aside = (*CHAIN_FIELDS, "num_empty", "empty", "place")
    fills_own_cells = True
    board_size: BoardSize = 9

    def setup(self) -> None:
        """Lay out the board."""
        super().setup()
        self.num_distinct_actions = self.max_game_length = self.points
        self.fields: dict[str, Any] = {
            **self.stone_fields,
            "winner": np.int64,
            "num_empty": np.int64,
            "empty": (np.uint16, self.points),
            "place": (np.uint16, self.points),
        }

    def begin(self, state: Any) -> None:
        """The board is empty, and Black begins."""
        super().begin(state)
        state.winner = NO_ACTION
        state.num_empty = self.points
        state.empty[:] = state.place[:] = np.arange(self.points)

    def is_legal(self, state: Any, point: int) -> bool:
        """True if a stone on an empty point has a liberty, joins a chain with another, or takes."""
        found = False
        for direction in range(4):
            near = self.near[point, direction]
            colour = state.colour[near]
            own = colour == state.player
            found |= colour == EMPTY
            # An own chain that is not in atari, or another's that is.
            found |= (colour < EMPTY) & (own != self.in_atari(state, state.chain[near]))
        return bool(found)

    def player(self, state: Any) -> int:
        """Players take turns until somebody has captured, or the player to move has no move."""
        if state.winner == NO_ACTION:
            # Usually the first point is legal.
            for place in range(state.num_empty):
                if self.is_legal(state, state.empty[place]):
                    return int(state.player)
        return TERMINAL

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every point where the player to move may play."""
        return self.legal_points(state, actions)

    def play(self, state: Any, action: int) -> None:
        """Put a stone on a point; whoever takes a chain has won."""
        point: Any = self.numbers[action]
        last = state.empty[state.num_empty - 1]
        state.num_empty -= 1
        state.empty[state.place[point]] = last
        state.place[last] = state.place[point]
        if self.add_stone(state, point):
            state.winner = state.player
        state.player = 1 - state.player

    def returns(self, state: Any, returns: Any) -> None:
        """Write the returns: without a capture, the player to move has no move and loses."""
        captured = state.winner != NO_ACTION
        self.write_winner(returns, state.winner if captured else 1 - state.player)

    def draw(self, state: Any, stream: Any) -> Any:
        """Draw empty points until one is legal; others go to the end of the list."""
        count = state.num_empty
        while count > 0:
            place = random_below(stream, count)
            point = state.empty[place]
            if self.is_legal(state, point):
                return np.int64(point)
            count -= 1
            last = state.empty[count]
            state.empty[place], state.empty[count] = last, point
            state.place[last], state.place[point] = place, count
        return NO_ACTION

    def describe_position(self, state: Any, cells: Any) -> int:
        """The points' colours, and who is to move."""
        self.describe_board(state, cells)
        return self.player(state)

    def action_to_string(self, player: int, action: int) -> str:
        """The point in Go's coordinates."""
        return self.point_text(action)

    def is_whites_turn(self, state: Any) -> bool:
        """True if White is to move; False at the end."""
        return super().is_whites_turn(state) and self.player(state) != TERMINAL
