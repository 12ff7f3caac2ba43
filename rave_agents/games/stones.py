"""Base of Go, Cursor Go and NoGo: stones on a square board, chains, liberties, areas, captures.

Action 0 is the point a1, at the lower left; actions go to the right and then upwards. The number
after the last point means the edge, and the pass in games that have one.

A chain is identified by one of its stones, and is a ring of them linked by ``next``. It stores the
number, the sum and the sum of squares of its pseudo-liberties, packed in one integer; an empty
neighbour counts once for each stone of the chain that it touches. They are all the same point
exactly if number * squares equals sum² (Cauchy-Schwarz), so atari is seen without looking for
liberties.

Captures (``CaptureRules``): suicide and retaking a ko at once are illegal. Areas are counted by
Tromp and Taylor's rules: stones and the empty regions that reach one colour alone, less the komi
and a handicap of two or more (OpenSpiel, ``go_board.cc``). A board can only repeat if the last
stone had been on its point before; only then is the history searched, for the 64-bit key of the
board.
"""

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from rave_agents.games.coordinates import board_of_points, handicap_points, point_name
from rave_agents.games.kit.rules import NO_ACTION, Rules

BLACK, WHITE, EMPTY, EDGE = 0, 1, 2, 3
"""Colours of a point; the first two are the players' numbers too."""

BoardSize = Annotated[int, Ge(2), Le(19)]
"""Points on a side."""

SQUARES_BITS, SUM_BITS = 28, 20
"""Bits of packed liberties, ``number | sum | squares``: enough for 4 of each point of 19 x 19."""

NEAR = ((-1, 0), (0, -1), (0, 1), (1, 0), (-1, -1), (-1, 1), (1, -1), (1, 1))
"""Steps to the four neighbours of a point, then to its corners."""


CHAIN_FIELDS = ("liberties", "chain", "next", "length")
"""Fields that follow from the stones on the board."""


class StoneRules(Rules):
    """The common part; a game includes ``stone_fields`` in its fields."""

    board_size: BoardSize

    def setup(self) -> None:
        """Lay out the points and their neighbours."""
        size = self.board_size
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
        """Put a stone of the player to move on a point, and join it with adjacent own chains.

        Returns whether it takes the last liberty of a chain of the opponent's.
        """
        state.colour[point] = state.player
        state.chain[point] = state.next[point] = point
        state.length[point] = 1
        # Without branches, which a processor could not predict.
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
        # Swapping the successors of one stone of each makes one ring of two.
        state.next[one], state.next[other] = state.next[other], state.next[one]

    def area_difference(self, state: Any) -> int:
        """Black's area minus White's: stones, and empty regions that reach one colour alone.

        ``length`` and ``next`` of empty points, which are otherwise unused, mark counted points.
        """
        black = white = 0
        for point in range(self.points):
            black += state.colour[point] == BLACK
            white += state.colour[point] == WHITE
            if state.colour[point] == EMPTY:
                state.length[point] = 0
        difference = black - white
        if black == 0 or white == 0:  # The only colour owns the whole board.
            return self.points * int(np.sign(difference))
        for point in range(self.points):
            if state.colour[point] == EMPTY and state.length[point] == 0:
                size, reached = self.fill_region(state, point)
                if reached == 1 << BLACK or reached == 1 << WHITE:
                    difference += size if reached == 1 << BLACK else -size
        return difference

    def fill_region(self, state: Any, point: int) -> tuple[int, int]:
        """Size of an empty region, and the bits of the colours that it reaches."""
        # A flood fill whose stack is linked by ``next``.
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


class CaptureRules(StoneRules):
    """The part of Go and Cursor Go, whose fields include ``capture_fields``."""

    komi: float
    handicap: int
    most_boards: int
    """Boards that are stored, set before ``setup``; the older half makes room for more."""

    def setup(self) -> None:
        """Lay out the board with the handicap, and the result for each difference of areas."""
        super().setup()
        stones = handicap_points(self.handicap, self.board_size)
        numbers = [row * self.board_size + on for on, row in stones]
        self.stones: NDArray[np.int64] = np.array(numbers, np.int64)
        self.white_begins: bool = self.handicap >= 2
        # OpenSpiel counts in single precision.
        scores = np.arange(-self.points, self.points + 1).astype(np.float32) - np.float32(self.komi)
        scores -= np.float32(self.handicap if self.white_begins else 0)
        self.results: NDArray[np.float64] = np.sign(scores).astype(np.float64)
        keys = np.random.default_rng(9).integers(1, 2**63 - 1, (2, self.points + 1))
        self.keys: NDArray[np.int64] = keys.astype(np.int64)
        self.capture_fields: dict[str, Any] = {
            **self.stone_fields,
            **dict.fromkeys(("ko", "key", "num_boards"), np.int64),
            "stood": (np.int8, self.points + 1),
            "boards": (np.int64, self.most_boards),
        }

    def begin(self, state: Any) -> None:
        """The board is empty but for the handicap."""
        super().begin(state)
        for point in self.stones:
            self.put(state, self.numbers[point])
            state.stood[point] = 1 << BLACK
        state.ko = NO_ACTION
        state.player = WHITE if self.white_begins else BLACK
        state.boards[0] = state.key
        state.num_boards = 1

    def is_legal(self, state: Any, point: int) -> bool:
        """True if a stone on an empty point has a liberty or takes one, and is not a ko."""
        if point == state.ko:
            return False
        return self.has_liberty(state, point) or self.joins_or_takes(state, point)

    def has_liberty(self, state: Any, point: int) -> bool:
        """True if a point has an empty one next to it."""
        found = False
        for direction in range(4):
            found |= state.colour[self.near[point, direction]] == EMPTY
        return bool(found)

    def joins_or_takes(self, state: Any, point: int) -> bool:
        """True if the player's stone joins a chain with another liberty, or takes one."""
        found = False
        for direction in range(4):
            near = self.near[point, direction]
            colour = state.colour[near]
            own = colour == state.player
            # An own chain that is not in atari, or another's that is.
            found |= (colour < EMPTY) & (own != self.in_atari(state, state.chain[near]))
        return bool(found)

    def comes_back(self, state: Any, point: int) -> bool:
        """Store the board with a stone just put on a point; returns whether it occurred before."""
        colour = 1 << state.player
        known = False
        if state.stood[point] & colour:
            for index in range(state.num_boards):
                if state.boards[index] == state.key:
                    known = True
        state.stood[point] |= colour
        if state.num_boards == self.most_boards:
            older = self.most_boards // 2
            state.num_boards -= older
            for index in range(state.num_boards):
                state.boards[index] = state.boards[older + index]
        state.boards[state.num_boards] = state.key
        state.num_boards += 1
        return known

    def put(self, state: Any, point: int) -> None:
        """Put a stone on a point, and take the chains beside it that have no liberties left."""
        self.fill(state, point)
        state.key ^= self.keys[state.player, point]
        state.ko = NO_ACTION
        if self.add_stone(state, point):
            taken, ko = 0, 0
            for direction in range(4):
                near: Any = self.near[point, direction]
                chain = state.chain[near]
                if state.colour[near] == 1 - state.player and state.liberties[chain] == 0:
                    taken += state.length[chain]
                    ko = near
                    self.take(state, near)
            chain = state.chain[point]
            # A ko: a single stone took one stone, and that point is its only liberty.
            alone = state.length[chain] == 1 and state.liberties[chain] == self.liberty[ko]
            state.ko = ko if taken == 1 and alone else NO_ACTION

    def fill(self, state: Any, point: int) -> None:
        """A point is no longer empty; for games with a list of empty points."""

    def clear(self, state: Any, point: int) -> None:
        """A point is empty; for games with a list of empty points."""

    def take(self, state: Any, stone: int) -> None:
        """Take all stones of a chain off the board."""
        colour = state.colour[stone]
        while state.colour[stone] != EMPTY:
            state.colour[stone] = EMPTY
            state.key ^= self.keys[colour, stone]
            self.clear(state, stone)
            for direction in range(4):
                near = self.near[stone, direction]
                if state.colour[near] < EMPTY:
                    state.liberties[state.chain[near]] += self.liberty[stone]
            stone = state.next[stone]

    def write_areas(self, state: Any, returns: Any) -> None:
        """The returns by area: more points win, after subtracting the komi."""
        returns[BLACK] = self.results[self.area_difference(state) + self.points]
        returns[WHITE] = -returns[BLACK]
