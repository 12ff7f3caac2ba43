"""NoGo: Go's stones, but captures and suicide are not legal, and nobody passes.

A move that takes the last liberty of a chain of either colour is not legal; who has no legal move
loses. ``stones.py`` has the board.

What is not legal for a player never becomes legal again: points do not become empty, and a chain in
atari can only be extended at its last liberty itself. So each player's legal moves are kept as a
list of candidates that only shrinks: one that is drawn and found not legal is dropped for good.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rave_agents.games.coordinates import point_number
from rave_agents.games.kit.rules import NO_ACTION, TERMINAL
from rave_agents.games.kit.rules_state import RulesState
from rave_agents.games.nogo_groups import FOUND, SettledRules
from rave_agents.games.stones import EDGE, EMPTY
from rave_agents.simulate.random_stream import random_below


class NoGo(SettledRules):
    """See the module."""

    name = "nogo"
    exchange = "same"
    turns = ("mirrored", "upside_down", "transposed")
    aside = (
        "liberties",
        "chain",
        "next",
        "length",
        "num_candidates",
        "candidates",
        "marks",
        "tally",
    )
    board_size: int = 9

    def setup(self) -> None:
        """Lay out the board."""
        super().setup()
        self.num_distinct_actions = self.max_game_length = self.points
        self.fields: dict[str, Any] = {
            **self.stone_fields,
            **self.settled_fields(),
            "num_candidates": (np.int32, 2),
            "candidates": (np.uint16, (2, self.points)),
        }

    def begin(self, state: Any) -> None:
        """The board is empty, and Black begins."""
        super().begin(state)
        state.candidates[:] = np.arange(self.points)
        state.num_candidates[:] = self.points

    def is_legal(self, state: Any, point: int) -> bool:
        """True if the player may play on a point: neither capture nor suicide, and it is empty."""
        if state.colour[point] != EMPTY:
            return False
        has_liberty = False
        for direction in range(4):
            near = self.near[point, direction]
            colour = state.colour[near]
            if colour == EMPTY:
                has_liberty = True
            elif colour != EDGE:
                last = self.in_atari(state, state.chain[near])
                if colour == state.player:
                    has_liberty = has_liberty or not last
                elif last:
                    return False
        return has_liberty

    def player(self, state: Any) -> int:
        """Players take turns until the one to move has no candidate that is legal."""
        player = state.player
        while state.num_candidates[player] > 0:
            last = state.num_candidates[player] - 1
            point = state.candidates[player, last]
            if self.is_legal(state, point):
                return player
            state.num_candidates[player] = last
        return TERMINAL

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every point where the player to move may play."""
        return self.legal_points(state, actions)

    def play(self, state: Any, action: int) -> None:
        """Put a stone on a point; the other one moves."""
        self.add_stone(state, self.numbers[action])
        state.player = 1 - state.player
        state.tally[FOUND] = 0

    def returns(self, state: Any, returns: Any) -> None:
        """Write the returns: the player who is to move and cannot has lost."""
        self.write_winner(returns, 1 - state.player)

    def draw(self, state: Any, stream: Any) -> Any:
        """Candidates are drawn until one is legal; the others are dropped."""
        player = state.player
        while state.num_candidates[player] > 0:
            index = random_below(stream, state.num_candidates[player])
            point = state.candidates[player, index]
            if self.is_legal(state, point):
                return np.int64(point)
            last = state.num_candidates[player] - 1
            state.candidates[player, index] = state.candidates[player, last]
            state.num_candidates[player] = last
        return NO_ACTION

    def action_to_string(self, player: int, action: int) -> str:
        """The point in Go's coordinates."""
        return self.point_text(action)

    def is_whites_turn(self, state: Any) -> bool:
        """True if White is to move; False at the end."""
        return super().is_whites_turn(state) and self.player(state) != TERMINAL


DEFAULT_SIZE = NoGo.board_size
"""The size of the board where none is given."""


class NoGoState(RulesState):
    """A position of NoGo: Go's stones, but captures and suicide are not legal, and nobody passes.

    Player 0 has the black stones and begins. A player who has to move and has no legal move
    loses: the returns are 1 for the winner and -1 for the loser. Action 0 is the point a1, at the
    lower left; actions go to the right and then upwards.

    Args:
        board_size: points on a side, from 2 to 19.

    Raises:
        TypeError, ValueError: for a size that is not allowed.
    """

    def __init__(self, board_size: int = DEFAULT_SIZE) -> None:
        super().__init__(NoGo(board_size=board_size))
        self.board_size: int = int(board_size)
        """Points on a side."""

    def clone(self) -> "NoGoState":
        """A copy that shares nothing that can change with this state."""
        copied = super().clone()
        copied.board_size = self.board_size
        return copied

    def string_to_action(self, text: str) -> int:
        """The action that plays at this point.

        Raises:
            ValueError: if there is no such point.
        """
        column, row = point_number(text)
        if max(column, row) >= self.board_size:
            raise ValueError(f"There is no point {text!r} on a board of size {self.board_size}.")
        return row * self.board_size + column

    def colours(self) -> Sequence[int]:
        """The colour of each action's point: 0 black, 1 white, 2 empty."""
        colours: list[int] = self.record.colour[: self.rules.points].tolist()  # type: ignore[attr-defined]
        return colours
