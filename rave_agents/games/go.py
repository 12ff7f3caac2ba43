"""Go, as OpenSpiel has it: ``go(board_size=19,komi=7.5,handicap=0,max_game_length=...)``.

A stone that repeats a whole board ends the game as a draw (positional superko); two passes, or
``max_game_length`` moves, end it by its areas (OpenSpiel, ``go.cc``). The last action passes;
``captures.py`` has the rest of the rules.
"""

from typing import Any

import numpy as np

from rave_agents.games.go_playouts import GoPlayouts
from rave_agents.games.kit.rules import NO_ACTION, TERMINAL

LONGEST = 4096
"""The greatest length of a game."""

GOES_ON, SCORED, DRAWN = 0, 1, 2
"""States of the game's end."""


class Go(GoPlayouts):
    """See the module."""

    name = "go"
    fills_own_cells = True
    unordered = {"boards": "num_boards"}  # noqa: RUF012  (read only)
    aside = (
        "liberties",
        "chain",
        "next",
        "length",
        "key",
        "sensible",
        "num_empty",
        "empty",
        "place",
        "around",
        "last",
        "stood",
    )
    board_size: int = 19
    komi: float = 7.5
    handicap: int = 0
    max_game_length: int = -1  # -1: twice as many moves as there are points.

    def setup(self) -> None:
        """Lay out the board, with room for the boards of a game."""
        if not -1 <= self.max_game_length <= LONGEST:
            told = f"from -1, for twice the points, to {LONGEST}, got {self.max_game_length}."
            raise ValueError(f"max_game_length must be {told}")
        points = self.board_size**2
        # OpenSpiel lets the second move be made in any case.
        length = 2 * points if self.max_game_length < 0 else self.max_game_length
        self.max_game_length = max(2, length)
        self.most_boards = self.max_game_length + 1
        super().setup()
        self.num_distinct_actions: int = self.points + 1
        self.fields: dict[str, Any] = {
            **self.playout_fields,
            **dict.fromkeys(("ending", "moves", "passes"), np.int64),
        }

    def player(self, state: Any) -> int:
        """Players take turns."""
        return state.player if state.ending == GOES_ON else TERMINAL

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty point that is not suicide nor the ko, and the pass."""
        count = self.legal_points(state, actions)
        actions[count] = self.points
        return count + 1

    def play(self, state: Any, action: int) -> None:
        """Pass, or put a stone on a point."""
        state.moves += 1
        state.last = self.numbers[action]
        if action == self.points:
            state.ko = NO_ACTION
            state.passes += 1
            if state.passes == 2:
                state.ending = SCORED
        else:
            point = self.numbers[action]
            self.put(state, point)
            state.passes = 0
            if self.comes_back(state, point):
                state.ending = DRAWN
        if state.moves >= self.max_game_length and state.ending == GOES_ON:
            state.ending = SCORED
        state.player = 1 - state.player

    def returns(self, state: Any, returns: Any) -> None:
        """Write the returns, by area unless the game is drawn."""
        if state.ending == SCORED:
            self.write_areas(state, returns)

    def action_to_string(self, player: int, action: int) -> str:
        """The colour and the point in Go's coordinates."""
        return f"{'BW'[player]} {'PASS' if action == self.points else self.point_text(action)}"
