"""NoGo: Go's stones, but captures and suicide are not legal, and nobody passes.

A move that takes the last liberty of a chain of either colour is not legal; who has no legal move
loses. Action 0 is the point a1, below on the left; actions go to the right and then upwards.

A cell is a point of the board or of the edge around it; the left edge of a row is the right edge of
the one below, so that with ``width = size + 1`` the neighbours of a cell ``p`` are ``p - 1``,
``p + 1``, ``p - width`` and ``p + width``.

Chains are sets of a disjoint-set forest. For each its representative knows the number, the sum and
the sum of squares of its pseudo-liberties: an empty neighbour counts once for each stone of the
chain that it touches. All of them are the same point exactly if number times squares is the squared
sum (Cauchy-Schwarz), so that a chain in atari is seen without looking for its liberties.

What is not legal for a player never becomes legal again: points do not become empty, and a chain in
atari can only be extended at its last liberty itself. So each player's legal moves are kept as a
list of candidates that only shrinks: one that is drawn and found not legal is dropped for good.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rave_agents.games.coordinates import board_of_points, point_name, point_number
from rave_agents.games.rules import NO_ACTION, TERMINAL, Rules
from rave_agents.games.rules_state import RulesState
from rave_agents.simulate.random_stream import random_below

BLACK, WHITE, EMPTY, EDGE = 0, 1, 2, 3
"""Colours of a cell; the first two are the players' numbers too."""

SMALLEST, LARGEST = 2, 19
"""The least and the greatest size."""


class NoGo(Rules):
    """See the module."""

    name = "nogo"
    board_size: int = 9

    def setup(self) -> None:
        """Lay out the board and its edge."""
        size = self.board_size
        if not SMALLEST <= size <= LARGEST:
            raise ValueError(f"board_size must be from {SMALLEST} to {LARGEST}, got {size!r}.")
        self.width = size + 1
        self.cells = self.width * (size + 2) + 1
        self.num_distinct_actions = self.max_game_length = size * size
        self.points = np.array(
            [(row + 1) * self.width + column + 1 for row in range(size) for column in range(size)],
            np.int32,
        )
        self.steps = np.array([-self.width, -1, 1, self.width])
        self.fields = {
            "player": np.int64,
            "colour": (np.int8, self.cells),
            "parent": (np.int16, self.cells),
            "liberties": (np.int32, self.cells),
            "liberty_sum": (np.int32, self.cells),
            "liberty_squares": (np.int32, self.cells),
            "num_candidates": (np.int32, 2),
            "candidates": (np.int16, (2, size * size)),
        }

    def begin(self, state: Any) -> None:
        """The board is empty, and Black begins."""
        state.colour[:] = EDGE
        state.colour[self.points] = EMPTY
        state.candidates[:] = self.points
        state.num_candidates[:] = len(self.points)

    def action_of(self, cell: int) -> int:
        """The action that plays at a cell."""
        return (cell // self.width - 1) * self.board_size + cell % self.width - 1

    def chain_of(self, state: Any, stone: int) -> int:
        """The representative of a stone's chain."""
        while state.parent[stone] != stone:
            state.parent[stone] = state.parent[state.parent[stone]]
            stone = state.parent[stone]
        return stone

    def in_atari(self, state: Any, chain: int) -> bool:
        """Whether a chain has one liberty left."""
        number = np.int64(state.liberties[chain])
        total = np.int64(state.liberty_sum[chain])
        return number * np.int64(state.liberty_squares[chain]) == total * total

    def is_legal(self, state: Any, player: int, cell: int) -> bool:
        """Whether a player may play at a cell: neither capture nor suicide, on an empty point."""
        if state.colour[cell] != EMPTY:
            return False
        has_liberty = False
        for direction in range(4):
            near = cell + self.steps[direction]
            colour = state.colour[near]
            if colour == EMPTY:
                has_liberty = True
            elif colour != EDGE:
                last = self.in_atari(state, self.chain_of(state, near))
                if colour == player:
                    has_liberty = has_liberty or not last
                elif last:
                    return False
        return has_liberty

    def player(self, state: Any) -> int:
        """Players take turns until the one to move has no candidate that is legal."""
        player = state.player
        while state.num_candidates[player] > 0:
            last = state.num_candidates[player] - 1
            if self.is_legal(state, player, state.candidates[player, last]):
                return player
            state.num_candidates[player] = last
        return TERMINAL

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every point where the player to move may play."""
        count = 0
        for action in range(self.num_distinct_actions):
            if self.is_legal(state, state.player, self.points[action]):
                actions[count] = action
                count += 1
        return count

    def play(self, state: Any, action: int) -> None:
        """Put a stone on a point, and join it with the chains beside it; the other one moves."""
        player, cell = state.player, self.points[action]
        state.colour[cell] = player
        state.parent[cell] = cell
        state.liberties[cell] = state.liberty_sum[cell] = state.liberty_squares[cell] = 0
        own = int(cell)
        for direction in range(4):
            near = cell + self.steps[direction]
            colour = state.colour[near]
            if colour == EMPTY:
                self.add_liberties(state, own, 1, near, near * near)
            elif colour != EDGE:
                chain = int(self.chain_of(state, near))
                self.add_liberties(state, chain, -1, -cell, -cell * cell)
                if colour == player and chain != own:
                    more = state.liberties[own], state.liberty_sum[own], state.liberty_squares[own]
                    self.add_liberties(state, chain, more[0], more[1], more[2])
                    state.parent[own] = chain
                    own = chain
        state.player = 1 - player

    def add_liberties(self, state: Any, chain: int, number: int, total: int, squares: int) -> None:
        """Add to the pseudo-liberties of a chain."""
        state.liberties[chain] += number
        state.liberty_sum[chain] += total
        state.liberty_squares[chain] += squares

    def returns(self, state: Any, returns: Any) -> None:
        """Who is to move and cannot has lost."""
        returns[state.player] = -1.0
        returns[1 - state.player] = 1.0

    def draw(self, state: Any, stream: Any) -> int:
        """Candidates are drawn until one is legal; the others are dropped."""
        player = state.player
        while state.num_candidates[player] > 0:
            index = random_below(stream, state.num_candidates[player])
            cell = state.candidates[player, index]
            if self.is_legal(state, player, cell):
                return self.action_of(cell)
            last = state.num_candidates[player] - 1
            state.candidates[player, index] = state.candidates[player, last]
            state.num_candidates[player] = last
        return NO_ACTION

    def action_to_string(self, player: int, action: int) -> str:
        """The point in Go's coordinates: a column's letter without i, and a row's number."""
        return point_name(action % self.board_size, action // self.board_size)

    def string_of(self, state: Any) -> str:
        """The board, from above."""
        return board_of_points(["XO."[colour] for colour in state.colour[self.points]])

    def observation(self, state: Any) -> Any:
        """Planes of black stones, white stones, empty points, and whether White is to move."""
        colours = state.colour[self.points]
        planes = [colours == colour for colour in (BLACK, WHITE, EMPTY)]
        planes.append(np.full(colours.shape, state.player == WHITE and not self.is_over(state)))
        return np.array(planes, np.float32).reshape(4, self.board_size, self.board_size)

    def is_over(self, state: Any) -> bool:
        """Whether the player to move has no legal move."""
        return bool(self.player(state) == TERMINAL)


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
        """For each action the colour of its point: 0 black, 1 white, 2 empty."""
        colours: list[int] = self.record.colour[self.rules.points].tolist()  # type: ignore[attr-defined]
        return colours
