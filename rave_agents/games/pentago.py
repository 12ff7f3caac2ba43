"""Pentago, as OpenSpiel has it: ``pentago``.

Players put a stone on an empty cell of a board of 6 x 6 in turn, and then rotate one of its four
quadrants. Five in a row win; if both have five, or the board is full, it is a draw (OpenSpiel,
``pentago.h``). Action ``(row * 6 + column) * 8 + quadrant * 2`` rotates the quadrant to the left,
plus 1 to the right; quadrants are counted clockwise.

A player's stones are 36 bits, nine for each quadrant: its rim clockwise, so that two bits further
is a quarter turn, and then its centre.
"""

from typing import Any

import numpy as np

from rave_agents.games.bits import NONE, count_bits, nth_bit
from rave_agents.games.coordinates import cell_name
from rave_agents.games.kit.rules import DRAWN, WinnerRules
from rave_agents.simulate.random_stream import random_below

SIZE, ROW = 6, 5
"""Rows and columns of the board, and the stones of a row that wins."""

CELLS, TURNS = SIZE * SIZE, 8
"""The cells, and rotations of them."""

RIM = ((0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0), (1, 1))
"""Rows and columns of a quadrant's bits: clockwise, and the centre."""

CORNERS = ((0, 0), (0, 3), (3, 3), (3, 0))
"""Rows and columns where quadrants begin."""

QUADRANT_SETS = 1 << len(RIM)
"""Sets of stones in a quadrant."""

QUADRANT = np.uint64(QUADRANT_SETS - 1)
"""The bits of the first quadrant."""

TWO, SIX = np.uint64(2), np.uint64(6)
"""Bits of one quarter turn, and of three."""

LEFT, RIGHT = "vs  z^", "vv  w^"
"""Signs beside the rows of a board that is written: the letters and directions of rotations."""

# The bits of a quadrant:
#
#   0 1 2    quadrant q has the bits 9 * q + 0 to 8;
#   7 8 3    quadrant 0 is at the upper left
#   6 5 4


class Pentago(WinnerRules):
    """See the module."""

    name = "pentago"
    exchange = "same"
    num_distinct_actions = CELLS * TURNS
    max_game_length = CELLS
    board_shape = SIZE, SIZE

    def setup(self) -> None:
        """Lay out the bits."""
        bits = np.zeros((SIZE, SIZE), int)
        for quadrant, (top, left) in enumerate(CORNERS):
            for place, (row, column) in enumerate(RIM):
                bits[top + row, left + column] = quadrant * len(RIM) + place
        self.bits = bits.ravel().astype(np.uint64)
        self.cell_of = np.argsort(self.bits)
        self.full: np.uint64 = np.uint64((1 << CELLS) - 1)
        self.shifts = np.arange(0, CELLS, len(RIM)).astype(np.uint64)
        self.rims = np.array([0xFF << quadrant * len(RIM) for quadrant in range(4)], np.uint64)
        rows = []
        for up, right in ((0, 1), (1, 0), (1, 1), (-1, 1)):
            for row in range(SIZE):
                for column in range(SIZE):
                    last = row + (ROW - 1) * up, column + (ROW - 1) * right
                    if min(last) >= 0 and max(last) < SIZE:
                        places = (bits[row + i * up, column + i * right] for i in range(ROW))
                        rows.append(sum(1 << int(place) for place in places))
        # [quadrant, stones] a bit for each row of five that has all its cells of the quadrant: the
        # 32 rows fit into a word, and a row is complete if its bit is set in all four quadrants.
        stones = np.arange(QUADRANT_SETS)
        self.whole = np.zeros((4, QUADRANT_SETS), np.uint32)
        for quadrant in range(4):
            for number, row in enumerate(rows):
                cells = row >> quadrant * len(RIM) & QUADRANT_SETS - 1
                self.whole[quadrant] |= np.uint32(1 << number) * (stones & cells == cells)
        self.fields: dict[str, Any] = {
            "stones": (np.uint64, 2),
            **dict.fromkeys(("to_move", "moves", "winner"), np.int64),
        }

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty cell with every rotation."""
        taken = state.stones[0] | state.stones[1]
        count = 0
        for cell in range(CELLS):
            if (taken >> self.bits[cell]) & np.uint64(1) == NONE:
                for turn in range(TURNS):
                    actions[count] = cell * TURNS + turn
                    count += 1
        return count

    def play(self, state: Any, action: int) -> None:
        """Put a stone, and rotate a quadrant."""
        state.stones[state.to_move] |= np.uint64(1) << self.bits[action // TURNS]
        first = self.rotated(state.stones[0], action % TURNS)
        second = self.rotated(state.stones[1], action % TURNS)
        state.stones[0], state.stones[1] = first, second
        state.moves += 1
        state.to_move = 1 - state.to_move
        one, other = self.has_row(first), self.has_row(second)
        if one != other:
            state.winner = 0 if one else 1
        elif one or state.moves == CELLS:
            state.winner = DRAWN

    def rotated(self, stones: Any, turn: int) -> Any:
        """The stones after a rotation of a quadrant."""
        rim = self.rims[turn // 2]
        moved = stones & rim
        left, right = (moved >> TWO) | (moved << SIX), (moved << TWO) | (moved >> SIX)
        return (stones & ~rim) | ((left if turn % 2 == 0 else right) & rim)

    def has_row(self, stones: Any) -> bool:
        """True if there are five in a row."""
        rows = self.whole[0, stones & QUADRANT]
        for quadrant in range(1, 4):
            rows &= self.whole[quadrant, (stones >> self.shifts[quadrant]) & QUADRANT]
        return rows != 0

    def draw(self, state: Any, stream: Any) -> int:
        """An empty cell and a rotation."""
        empty = self.full & ~(state.stones[0] | state.stones[1])
        drawn = random_below(stream, count_bits(empty) * TURNS)
        return self.cell_of[nth_bit(empty, drawn // TURNS)] * TURNS + drawn % TURNS

    def describe_board(self, state: Any, cells: Any) -> None:
        """0 for an empty cell, else one more than the stone's owner."""
        for cell in range(CELLS):
            first = (state.stones[0] >> self.bits[cell]) & np.uint64(1)
            second = (state.stones[1] >> self.bits[cell]) & np.uint64(1)
            cells[cell] = first + second + second

    def action_to_string(self, player: int, action: int) -> str:
        """The cell, and the letter of the rotation."""
        row, column = divmod(action // TURNS, SIZE)
        return cell_name(column, row) + chr(ord("s") + action % TURNS)

    def string_of(self, state: Any) -> str:
        """The board."""
        cells = np.zeros(CELLS, np.int8)
        self.describe_board(state, cells)
        text = "    > t     u <\n    a b c d e f\n"
        for row, owners in enumerate(cells.reshape(SIZE, SIZE)):
            stones = " ".join(".O@"[owner] for owner in owners)
            text += f"{LEFT[row]} {row + 1} {stones} {RIGHT[row]}\n"
        return text + "    > y     x <\n"

    def observation_of(self, state: Any, player: int) -> Any:
        """Planes of the player's own stones, the opponent's, and empty cells."""
        return self.board_planes(state, (1 + player, 2 - player, 0))
