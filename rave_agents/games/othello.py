"""Othello, as OpenSpiel has it.

A disk is put where it encloses others' disks in a line with an own one; these change their colour.
A player without such a move passes (action 64), and passes only then; when nobody has a move, more
disks win (OpenSpiel, ``othello.h``; World Othello Federation's rules). Action 0 is a1, at the upper
left; actions go to the right and then downwards.

Moves and flips are found for all squares at once: disks of the other colour next to an own disk are
filled in one direction by doubled steps, without those on the edge, which a shift would carry into
another row (Kogge-Stone; chessprogramming.org, "Fill Algorithms").
"""

from typing import Any

import numpy as np

from rave_agents.games.bits import (
    NONE,
    bit,
    count_bits,
    has_bit,
    list_bits,
    nth_bit,
    write_owners,
)
from rave_agents.games.coordinates import cell_name
from rave_agents.games.kit.rules import TERMINAL, Rules
from rave_agents.simulate.random_stream import random_below

SIZE, SQUARES = 8, 64
PASS = SQUARES
"""The action to pass."""

FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
INNER = np.uint64(0x7E7E7E7E7E7E7E7E)
"""The squares of all columns but the outer two."""

STEPS = (np.uint64(1), np.uint64(8), np.uint64(9), np.uint64(7))
"""Distances of the next square along a row, a column and the two diagonals."""


class Othello(Rules):
    """See the module."""

    name = "othello"
    exchange = "same"
    turns = ("mirrored", "upside_down", "transposed")
    aside = ("moves",)
    num_distinct_actions = SQUARES + 1
    max_actions = SQUARES + 1
    max_game_length = 2 * SQUARES
    board_shape = SIZE, SIZE

    def setup(self) -> None:
        """Name the masks of the four lines, and the fields."""
        self.fields: dict[str, Any] = {
            "disks": (np.uint64, 2),
            "moves": np.uint64,
            "to_move": np.int64,
        }
        self.steps = np.array(STEPS, np.uint64)
        self.masks = np.array([INNER, FULL, INNER, INNER], np.uint64)
        self.first_moves: np.uint64 = np.uint64(1 << 19 | 1 << 26 | 1 << 37 | 1 << 44)

    def begin(self, state: Any) -> None:
        """Two disks of each colour in the middle; Black begins."""
        state.disks[0] = np.uint64(1 << 28 | 1 << 35)
        state.disks[1] = np.uint64(1 << 27 | 1 << 36)
        state.moves = self.first_moves

    def filled_up(self, disks: Any, others: Any, line: int) -> Any:
        """The runs of others' disks that follow the given disks, towards higher squares."""
        # Runs have at most six disks, as the edge is masked: 1 + 1 + 2 + 2 steps reach them all.
        step = self.steps[line]
        others &= self.masks[line]
        found = others & (disks << step)
        found |= others & (found << step)
        pairs = others & (others << step)
        found |= pairs & (found << (step + step))
        return found | (pairs & (found << (step + step)))

    def filled_down(self, disks: Any, others: Any, line: int) -> Any:
        """The same to lower squares."""
        step = self.steps[line]
        others &= self.masks[line]
        found = others & (disks >> step)
        found |= others & (found >> step)
        pairs = others & (others >> step)
        found |= pairs & (found >> (step + step))
        return found | (pairs & (found >> (step + step)))

    def moves_of(self, own: Any, others: Any) -> Any:
        """The squares where a disk encloses others: those behind what is filled."""
        moves = NONE
        for line in range(4):
            moves |= self.filled_up(own, others, line) << self.steps[line]
            moves |= self.filled_down(own, others, line) >> self.steps[line]
        return moves & ~(own | others)

    def flips(self, disk: Any, own: Any, others: Any) -> Any:
        """The disks that one disk encloses: what is filled, if an own disk is behind it."""
        flips = NONE
        for line in range(4):
            found = self.filled_up(disk, others, line)
            if (found << self.steps[line]) & own != NONE:
                flips |= found
            found = self.filled_down(disk, others, line)
            if (found >> self.steps[line]) & own != NONE:
                flips |= found
        return flips

    def player(self, state: Any) -> int:
        """Players take turns, or pass, until nobody can move."""
        return state.to_move

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every square that encloses something, or to pass."""
        moves = state.moves
        if moves == NONE:
            actions[0] = PASS
            return 1
        return list_bits(moves, actions, 0, 0)

    def play(self, state: Any, action: int) -> None:
        """Put a disk, and flip what it encloses; or pass."""
        player = state.to_move
        own, others = state.disks[player], state.disks[1 - player]
        if action != PASS:
            disk = bit(action)
            flips = self.flips(disk, own, others)
            own |= flips | disk
            others &= ~flips
            state.disks[player], state.disks[1 - player] = own, others
        moves = self.moves_of(others, own)
        state.moves = moves
        state.to_move = 1 - player
        if moves == NONE and self.moves_of(own, others) == NONE:
            state.to_move = TERMINAL

    def returns(self, state: Any, returns: Any) -> None:
        """1 for the player with more disks, -1 for the other; 0 if equal."""
        lead = count_bits(state.disks[0]) - count_bits(state.disks[1])
        self.write_leader(returns, lead)

    def draw(self, state: Any, stream: Any) -> int:
        """A place among the moves."""
        if state.moves == NONE:
            random_below(stream, 1)  # As many random numbers as for a move, as on the bridge.
            return PASS
        return nth_bit(state.moves, random_below(stream, count_bits(state.moves)))

    def action_to_string(self, player: int, action: int) -> str:
        """The column's letter and the row's number, from above."""
        return "pass" if action == PASS else cell_name(action % SIZE, action // SIZE)

    def string_of(self, state: Any) -> str:
        """The board, from above."""
        signs = [
            "x" if has_bit(state.disks[0], q) else "o" if has_bit(state.disks[1], q) else "-"
            for q in range(SQUARES)
        ]
        rows = [f"{row + 1} {' '.join(signs[8 * row : 8 * row + 8])}" for row in range(SIZE)]
        return "\n".join(["  a b c d e f g h", *rows])

    def describe_board(self, state: Any, cells: Any) -> None:
        """0 for an empty square, else one more than the disk's owner."""
        write_owners(state.disks, cells)

    def describe_position(self, state: Any, cells: Any) -> int:
        """The board; and who is to move."""
        self.describe_board(state, cells)
        return int(state.to_move)
