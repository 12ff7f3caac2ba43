"""Base of Go and Cursor Go: captures, ko, and boards that come back.

Suicide and retaking a ko at once are not legal; areas are counted by Tromp and Taylor's rules:
stones and the empty regions that reach one colour alone, less the komi and a handicap of two or
more (OpenSpiel, ``go_board.cc``). ``stones.py`` has the board.

A board can only repeat if the stone that was played last had stood there before. Only then is the
history looked through, as 64-bit Zobrist keys.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.games.coordinates import handicap_points
from rave_agents.games.kit.rules import NO_ACTION
from rave_agents.games.stones import BLACK, EMPTY, WHITE, StoneRules


class CaptureRules(StoneRules):
    """The common part; a game has ``komi`` and ``handicap``, and ``capture_fields`` in its own."""

    komi: float
    handicap: int
    most_boards: int
    """Boards that are kept in mind, to be set before ``setup``; beyond, the older half goes."""

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
        """True if the player may play on an empty point: it has a liberty then, or takes one."""
        if point == state.ko:
            return False
        return self.has_liberty(state, point) or self.joins_or_takes(state, point)

    def has_liberty(self, state: Any, point: int) -> bool:
        """True if a point has an empty one beside it."""
        found = False
        for direction in range(4):
            found |= state.colour[self.near[point, direction]] == EMPTY
        return bool(found)

    def joins_or_takes(self, state: Any, point: int) -> bool:
        """True if a stone of the player's joins a chain with another liberty, or takes one."""
        found = False
        for direction in range(4):
            near = self.near[point, direction]
            colour = state.colour[near]
            own = colour == state.player
            found |= (colour < EMPTY) & (own != self.in_atari(state, state.chain[near]))
        return bool(found)

    def comes_back(self, state: Any, point: int) -> bool:
        """True if the board, with a stone just put on a point, was there before; it is kept."""
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
            alone = state.length[chain] == 1 and state.liberties[chain] == self.liberty[ko]
            state.ko = ko if taken == 1 and alone else NO_ACTION

    def fill(self, state: Any, point: int) -> None:
        """Note that a point is empty no more, where a game keeps a list of them."""

    def clear(self, state: Any, point: int) -> None:
        """Note that a point is empty, where a game keeps a list of them."""

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
        """The returns by area: who has more points wins, once the komi is taken off."""
        returns[BLACK] = self.results[self.area_difference(state) + self.points]
        returns[WHITE] = -returns[BLACK]
