"""Base of Go and NoGo: stones on a square board, chains, liberties, empty regions.

Action 0 is the point a1, below on the left; actions go to the right and then upwards. The number
behind the points stands for the edge, and for the pass where there is one.

A chain is known by one of its stones, and is a ring of them. It has the number, the sum and the sum
of squares of its pseudo-liberties, packed in one integer: an empty neighbour counts once for each
stone of the chain that it touches. All of them are the same point exactly if number times squares
is the squared sum (Cauchy-Schwarz): so a chain in atari is seen without looking for its liberties.
"""

from typing import Any

import numpy as np

from rave_agents.games.coordinates import board_of_points, point_name
from rave_agents.games.kit.rules import Rules

BLACK, WHITE, EMPTY, EDGE = 0, 1, 2, 3
"""Colours of a point; the first two are the players' numbers too."""

SMALLEST, LARGEST = 2, 19
"""The least and the greatest size of a board."""

SQUARES_BITS, SUM_BITS = 28, 20
"""Bits of packed liberties: enough for 4 of each point of the largest board."""

NEAR = ((-1, 0), (0, -1), (0, 1), (1, 0), (-1, -1), (-1, 1), (1, -1), (1, 1))
"""Steps to the four neighbours of a point, then to its corners."""


class StoneRules(Rules):
    """The common part; a game has ``board_size``, and puts ``stone_fields`` into its fields."""

    board_size: int

    def setup(self) -> None:
        """Lay out the points with what is near each of them."""
        size = self.board_size
        if not SMALLEST <= size <= LARGEST:
            raise ValueError(f"board_size must be from {SMALLEST} to {LARGEST}, got {size}.")
        self.points: int = size * size
        self.board_shape: tuple[int, int] = size, size
        numbers = np.arange(self.points + 1)
        # As unsigned integers, points need no check for a negative index.
        self.numbers = numbers.astype(np.uint16)
        cells = np.full((size + 2, size + 2), self.points, np.int16)
        cells[1:-1, 1:-1] = numbers[:-1].reshape(size, size)
        beside = [cells[1 + up : size + 1 + up, 1 + on : size + 1 + on] for up, on in NEAR]
        self.near = np.stack(beside, axis=-1).reshape(self.points, len(NEAR)).astype(np.uint16)
        self.liberty = (1 << SQUARES_BITS + SUM_BITS) + (numbers << SQUARES_BITS) + numbers**2
        self.stone_fields = {
            "player": np.int64,
            "liberties": (np.int64, self.points + 1),
            "chain": (np.uint16, self.points + 1),
            "next": (np.uint16, self.points + 1),
            "length": (np.int16, self.points + 1),
            "colour": (np.int8, self.points + 1),
        }

    def begin(self, state: Any) -> None:
        """The board is empty."""
        state.colour[:] = EMPTY
        state.colour[self.points] = EDGE

    def is_legal(self, state: Any, point: int) -> bool:
        """True if the player to move may play on an empty point."""
        raise NotImplementedError

    def legal_points(self, state: Any, actions: Any) -> int:
        """Write the points where the player to move may play; returns how many there are."""
        count = 0
        for index in range(self.points):
            point = self.numbers[index]
            if state.colour[point] == EMPTY and self.is_legal(state, point):
                actions[count] = point
                count += 1
        return count

    def in_atari(self, state: Any, chain: int) -> bool:
        """True if a chain has one liberty left."""
        packed = state.liberties[chain]
        squares = packed & ((1 << SQUARES_BITS) - 1)
        total = (packed >> SQUARES_BITS) & ((1 << SUM_BITS) - 1)
        return (packed >> (SQUARES_BITS + SUM_BITS)) * squares == total * total

    def last_liberty(self, state: Any, chain: int) -> int:
        """The one liberty of a chain in atari."""
        packed = state.liberties[chain]
        total = (packed >> SQUARES_BITS) & ((1 << SUM_BITS) - 1)
        point: int = self.numbers[total // (packed >> (SQUARES_BITS + SUM_BITS))]
        return point

    def add_stone(self, state: Any, point: int) -> bool:
        """Put a stone of the player to move on a point, and join it with the chains beside it.

        Returns whether it takes the last liberty of a chain of the opponent's.
        """
        state.colour[point] = state.player
        state.chain[point] = state.next[point] = point
        state.length[point] = 1
        # Without branches, which a processor could not foresee.
        liberties = np.int64(0)
        joins = takes = False
        for direction in range(4):
            near = self.near[point, direction]
            colour, chain = state.colour[near], state.chain[near]
            liberties += self.liberty[near] * (colour == EMPTY)
            state.liberties[chain] -= self.liberty[point] * (colour < EMPTY)
            joins |= colour == state.player
            takes |= (colour == 1 - state.player) & (state.liberties[chain] == 0)
        state.liberties[point] = liberties
        if joins:
            for direction in range(4):
                near = self.near[point, direction]
                if state.colour[near] == state.player:
                    self.join(state, state.chain[point], state.chain[near])
        return takes

    def join(self, state: Any, one: int, other: int) -> None:
        """Make two chains one, if they are two: the smaller becomes part of the larger."""
        if one == other:
            return
        if state.length[one] < state.length[other]:
            one, other = other, one
        state.liberties[one] += state.liberties[other]
        state.length[one] += state.length[other]
        stone = other
        while state.chain[stone] != one:
            state.chain[stone] = one
            stone = state.next[stone]
        state.next[one], state.next[other] = state.next[other], state.next[one]

    def area_difference(self, state: Any) -> int:
        """Black's stones, and empty regions that reach black stones alone, less White's.

        ``length`` and ``next`` of empty points, which say nothing, mark those that are counted.
        """
        black = white = 0
        for point in range(self.points):
            black += state.colour[point] == BLACK
            white += state.colour[point] == WHITE
            if state.colour[point] == EMPTY:
                state.length[point] = 0
        difference = black - white
        if black == 0 or white == 0:  # Then who has stones has all.
            return self.points * int(np.sign(difference))
        for point in range(self.points):
            if state.colour[point] == EMPTY and state.length[point] == 0:
                size, reached = self.fill_region(state, point)
                if reached == 1 << BLACK or reached == 1 << WHITE:
                    difference += size if reached == 1 << BLACK else -size
        return difference

    def fill_region(self, state: Any, point: int) -> tuple[int, int]:
        """Size of an empty region, and the set of colours that it reaches."""
        size = reached = 0
        waiting: Any = self.numbers[point]
        state.length[waiting] = 1
        state.next[waiting] = self.points
        while waiting != self.points:
            found = waiting
            waiting = state.next[found]
            size += 1
            for direction in range(4):
                near = self.near[found, direction]
                colour = state.colour[near]
                if colour < EMPTY:
                    reached |= 1 << colour
                elif colour == EMPTY and state.length[near] == 0:
                    state.length[near] = 1
                    state.next[near] = waiting
                    waiting = near
        return size, reached

    def point_text(self, point: int) -> str:
        """The point in Go's coordinates: a column's letter without i, and a row's number."""
        return point_name(point % self.board_size, point // self.board_size)

    def string_of(self, state: Any) -> str:
        """The board, from above."""
        return board_of_points(["XO."[colour] for colour in state.colour[: self.points]])

    def describe_board(self, state: Any, cells: Any) -> None:
        """The points' colours."""
        for point in range(self.points):
            cells[point] = state.colour[point]

    def observation(self, state: Any) -> Any:
        """Planes of black stones, white stones, empty points, and whether White is to move."""
        colours = state.colour[: self.points]
        planes = [colours == colour for colour in (BLACK, WHITE, EMPTY)]
        planes.append(np.full(colours.shape, self.is_whites_turn(state)))
        return np.array(planes, np.float32).reshape(4, self.board_size, self.board_size)

    def is_whites_turn(self, state: Any) -> bool:
        """True if White is to move, for the last plane of an observation."""
        return bool(state.player == WHITE)
