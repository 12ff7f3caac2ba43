"""Go, as OpenSpiel has it: ``go(board_size=19,komi=7.5,handicap=0,max_game_length=...)``.

Suicide and retaking a ko at once are not legal. A stone that repeats a whole board ends the game as
a draw (positional superko); two passes, or ``max_game_length`` moves, end it by Tromp and Taylor's
rules: stones and the empty regions that reach one colour alone, less the komi and a handicap of two
or more (OpenSpiel, ``go.cc`` and ``go_board.cc``). The last action passes; ``stones.py`` has the
board.

A board can only repeat if the stone that was played last had stood there before. Only then is the
history looked through, as 64-bit Zobrist keys.
"""

from typing import Any

import numpy as np

from rave_agents.games.coordinates import handicap_points
from rave_agents.games.go_playouts import GoPlayouts
from rave_agents.games.kit.rules import NO_ACTION, TERMINAL
from rave_agents.games.stones import BLACK, EDGE, EMPTY, WHITE

LONGEST = 4096
"""The greatest length of a game."""

GOES_ON, SCORED, DRAWN = 0, 1, 2
"""States of the game's end."""


class Go(GoPlayouts):
    """See the module."""

    name = "go"
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
        "last",
        "stood",
    )
    board_size: int = 19
    komi: float = 7.5
    handicap: int = 0
    max_game_length: int = -1  # -1: twice as many moves as there are points.

    def setup(self) -> None:
        """Lay out the board with the handicap, and the result for each difference of areas."""
        super().setup()
        if not -1 <= self.max_game_length <= LONGEST:
            told = f"from -1, for twice the points, to {LONGEST}, got {self.max_game_length}."
            raise ValueError(f"max_game_length must be {told}")
        # OpenSpiel lets the second move be made in any case.
        length = 2 * self.points if self.max_game_length < 0 else self.max_game_length
        self.max_game_length = max(2, length)
        self.num_distinct_actions: int = self.points + 1
        stones = handicap_points(self.handicap, self.board_size)
        self.stones = np.array([row * self.board_size + on for on, row in stones], np.int64)
        self.white_begins: bool = self.handicap >= 2
        # OpenSpiel counts in single precision.
        scores = np.arange(-self.points, self.points + 1).astype(np.float32) - np.float32(self.komi)
        scores -= np.float32(self.handicap if self.white_begins else 0)
        self.results = np.sign(scores).astype(np.float64)
        keys = np.random.default_rng(9).integers(1, 2**63 - 1, (2, self.points + 1))
        self.keys = keys.astype(np.int64)
        self.fields: dict[str, Any] = {
            **self.stone_fields,
            **dict.fromkeys(("ending", "moves", "passes", "ko", "key", "sensible"), np.int64),
            **dict.fromkeys(("num_boards", "num_empty"), np.int64),
            "empty": (np.uint16, self.points + 1),
            "place": (np.uint16, self.points + 1),
            "last": np.uint16,
            "stood": (np.int8, self.points + 1),
            "boards": (np.int64, self.max_game_length + 1),
        }

    def begin(self, state: Any) -> None:
        """The board is empty but for the handicap."""
        super().begin(state)
        state.ko = NO_ACTION
        state.last = self.points
        state.num_empty = self.points
        state.empty[:] = state.place[:] = np.arange(self.points + 1)
        for point in self.stones:
            self.put(state, self.numbers[point])
        state.player = WHITE if self.white_begins else BLACK
        state.boards[0] = state.key
        state.num_boards = 1

    def player(self, state: Any) -> int:
        """Players take turns."""
        return state.player if state.ending == GOES_ON else TERMINAL

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty point that is not suicide nor the ko, and the pass."""
        count = self.legal_points(state, actions)
        actions[count] = self.points
        return count + 1

    def is_legal(self, state: Any, point: int) -> bool:
        """True if the player may play on an empty point: it has a liberty then, or takes one."""
        if point == state.ko:
            return False
        for direction in range(4):
            near = self.near[point, direction]
            colour = state.colour[near]
            if colour == EMPTY:
                return True
            own = colour == state.player
            if colour != EDGE and own != self.in_atari(state, state.chain[near]):
                return True
        return False

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
            self.keep_board(state, point)
        if state.moves >= self.max_game_length and state.ending == GOES_ON:
            state.ending = SCORED
        state.player = 1 - state.player

    def keep_board(self, state: Any, point: int) -> None:
        """Add the board to the history; the game is a draw if it is there."""
        colour = 1 << state.player
        if state.stood[point] & colour:
            for index in range(state.num_boards):
                if state.boards[index] == state.key:
                    state.ending = DRAWN
        state.stood[point] |= colour
        state.boards[state.num_boards] = state.key
        state.num_boards += 1

    def put(self, state: Any, point: int) -> None:
        """Put a stone on a point, and take the chains beside it that have no liberties left."""
        last = state.empty[state.num_empty - 1]
        state.num_empty -= 1
        state.empty[state.place[point]] = last
        state.place[last] = state.place[point]
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

    def take(self, state: Any, stone: int) -> None:
        """Take all stones of a chain off the board."""
        colour = state.colour[stone]
        while state.colour[stone] != EMPTY:
            state.colour[stone] = EMPTY
            state.key ^= self.keys[colour, stone]
            state.empty[state.num_empty] = stone
            state.place[stone] = state.num_empty
            state.num_empty += 1
            for direction in range(4):
                near = self.near[stone, direction]
                if state.colour[near] < EMPTY:
                    state.liberties[state.chain[near]] += self.liberty[stone]
            stone = state.next[stone]

    def returns(self, state: Any, returns: Any) -> None:
        """Write the returns: the player with more points wins, once the komi is taken off."""
        if state.ending == SCORED:
            returns[BLACK] = self.results[self.area_difference(state) + self.points]
            returns[WHITE] = -returns[BLACK]

    def action_to_string(self, player: int, action: int) -> str:
        """The colour and the point in Go's coordinates."""
        return f"{'BW'[player]} {'PASS' if action == self.points else self.point_text(action)}"
