"""Go, as OpenSpiel has it: ``go(board_size=19,komi=7.5,handicap=0,max_game_length=...)``.

Suicide and retaking a ko at once are not legal. A stone that repeats a whole board ends the game as
a draw (positional superko); two passes, or ``max_game_length`` moves, end it by Tromp and Taylor's
rules: stones and the empty regions that reach one colour alone, less the komi and a handicap of two
or more (OpenSpiel, ``go.cc`` and ``go_board.cc``). Action 0 is the point a1, below on the left;
actions go to the right and then upwards; the last one passes. The number behind the points, the
pass, stands for the edge too.

A chain knows the number, the sum and the sum of squares of its pseudo-liberties, packed in one
integer: an empty neighbour counts once for each stone of the chain that it touches. All of them are
the same point exactly if number times squares is the squared sum (Cauchy-Schwarz): so a chain in
atari is seen without looking for its liberties.

A board can only repeat if the stone that was played last had stood there before. Only then is the
history looked through, as 64-bit Zobrist keys.
"""

from typing import Any

import numpy as np

from rave_agents.games.coordinates import board_of_points, point_name, point_number
from rave_agents.games.rules import NO_ACTION, TERMINAL, Rules
from rave_agents.simulate.random_stream import random_below

BLACK, WHITE, EMPTY, EDGE = 0, 1, 2, 3
"""Colours of a point; the first two are the players' numbers too."""

SMALLEST, LARGEST = 2, 19
"""The least and the greatest size of a board."""

LONGEST = 4096
"""The greatest length of a game."""

GOES_ON, SCORED, DRAWN = 0, 1, 2
"""How a game has ended."""

SQUARES_BITS, SUM_BITS = 28, 20
"""How liberties are packed: enough for 4 of each point of the largest board."""

HANDICAPS = ("d4", "q16", "d16", "q4", "d10", "q10", "k4", "k16", "k10")
"""Where the stones of a handicap of two to nine lie; the last of five or seven lies in the
middle."""


class Go(Rules):
    """See the module.

    In sensible playouts a player does not fill an eye of one point, and passes only if there is
    nothing else.
    """

    name = "go"
    board_size: int = 19
    komi: float = 7.5
    handicap: int = 0
    max_game_length: int = -1  # -1: twice as many moves as there are points.

    def setup(self) -> None:
        """Lay out the board."""
        size = self.board_size
        if not SMALLEST <= size <= LARGEST:
            raise ValueError(f"board_size must be from {SMALLEST} to {LARGEST}, got {size}.")
        self.points = size * size
        if not -1 <= self.max_game_length <= LONGEST:
            raise ValueError(
                f"max_game_length must be from -1, for twice the points, to {LONGEST}, got "
                f"{self.max_game_length}."
            )
        # OpenSpiel lets the second move be made in any case.
        length = 2 * self.points if self.max_game_length < 0 else self.max_game_length
        self.max_game_length = max(2, length)
        self.num_distinct_actions = self.points + 1
        self.stones = np.array(self.handicap_stones(), np.int64)
        self.white_begins = self.handicap >= 2
        places = range(-1, size + 1)
        cells = {(row, column): self.points for row in places for column in places}
        cells |= {divmod(point, size): point for point in range(self.points)}
        near = [(-1, 0), (0, -1), (0, 1), (1, 0), (-1, -1), (-1, 1), (1, -1), (1, 1)]
        self.near = np.array(
            [
                [cells[point // size + row, point % size + column] for row, column in near]
                for point in range(self.points)
            ],
            np.int16,
        )
        numbers = np.arange(self.points + 1)
        self.liberty = (1 << SQUARES_BITS + SUM_BITS) + (numbers << SQUARES_BITS) + numbers**2
        keys = np.random.default_rng(9).integers(1, 2**63 - 1, (2, self.points + 1))
        self.keys = keys.astype(np.int64)
        self.results = self.results_by_difference()
        self.fields = {
            "player": np.int64,
            "ending": np.int64,
            "moves": np.int64,
            "passes": np.int64,
            "ko": np.int64,
            "key": np.int64,
            "num_boards": np.int64,
            "keeps_eyes": np.int64,
            "num_empty": np.int64,
            "liberties": (np.int64, self.points + 1),
            "empty": (np.int16, self.points + 1),
            "place": (np.int16, self.points + 1),
            "chain": (np.int16, self.points + 1),
            "next": (np.int16, self.points + 1),
            "length": (np.int16, self.points + 1),
            "colour": (np.int8, self.points + 1),
            "stood": (np.int8, self.points + 1),
            "boards": (np.int64, self.max_game_length + 1),
        }

    def handicap_stones(self) -> list[int]:
        """The points of the handicap's stones; beyond nine OpenSpiel lays none."""
        count = self.handicap if 2 <= self.handicap <= len(HANDICAPS) else 0
        names = list(HANDICAPS[:count])
        if count in (5, 7):
            names[-1] = HANDICAPS[-1]
        points = [point_number(name) for name in names]
        if any(max(point) >= self.board_size for point in points):
            raise ValueError(f"A handicap of {count} needs a larger board_size, got {self}.")
        return [row * self.board_size + column for column, row in points]

    def results_by_difference(self) -> Any:
        """Black's result for each difference of areas, from the least: in single precision."""
        areas = np.arange(-self.points, self.points + 1).astype(np.float32)
        scores = areas - np.float32(self.komi)
        if self.white_begins:
            scores = scores - np.float32(self.handicap)
        return (scores > 0).astype(np.float64) - (scores < 0)

    def begin(self, state: Any) -> None:
        """The board is empty but for the handicap."""
        state.colour[:] = EMPTY
        state.colour[self.points] = EDGE
        state.ko = NO_ACTION
        state.num_empty = self.points
        state.empty[:] = state.place[:] = np.arange(self.points + 1)
        for point in self.stones:
            state.player = BLACK
            self.put(state, int(point))
        state.player = WHITE if self.white_begins else BLACK
        state.boards[0] = state.key
        state.num_boards = 1

    def player(self, state: Any) -> int:
        """Players take turns."""
        return state.player if state.ending == GOES_ON else TERMINAL

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty point that is not suicide nor the ko, and the pass."""
        count = 0
        for point in range(self.points):
            if state.colour[point] == EMPTY and self.is_legal(state, point):
                actions[count] = point
                count += 1
        actions[count] = self.points
        return count + 1

    def is_legal(self, state: Any, point: int) -> bool:
        """Whether the player may play on an empty point: it has a liberty then, or takes one."""
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

    def in_atari(self, state: Any, chain: int) -> bool:
        """Whether a chain has one liberty left."""
        packed = state.liberties[chain]
        squares = packed & ((1 << SQUARES_BITS) - 1)
        total = (packed >> SQUARES_BITS) & ((1 << SUM_BITS) - 1)
        return (packed >> (SQUARES_BITS + SUM_BITS)) * squares == total * total

    def play(self, state: Any, action: int) -> None:
        """Pass, or put a stone on a point."""
        state.moves += 1
        if action == self.points:
            state.ko = NO_ACTION
            state.passes += 1
            if state.passes == 2:
                state.ending = SCORED
        else:
            self.put(state, action)
            state.passes = 0
            self.keep_board(state, action)
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
        """Put a stone on a point, join the chains beside it, and take those without liberties."""
        player = state.player
        last = state.empty[state.num_empty - 1]
        state.num_empty -= 1
        state.empty[state.place[point]] = last
        state.place[last] = state.place[point]
        state.colour[point] = player
        state.chain[point] = state.next[point] = point
        state.length[point] = 1
        state.key ^= self.keys[player, point]
        liberties = np.int64(0)
        in_eye = True
        for direction in range(4):
            near = self.near[point, direction]
            colour = state.colour[near]
            if colour == EMPTY:
                liberties += self.liberty[near]
            elif colour != EDGE:
                state.liberties[state.chain[near]] -= self.liberty[point]
            in_eye = in_eye and colour not in (EMPTY, player)
        state.liberties[point] = liberties
        taken, ko = 0, NO_ACTION
        for direction in range(4):
            near = self.near[point, direction]
            colour = state.colour[near]
            if colour == player:
                self.join(state, state.chain[point], state.chain[near])
            elif colour == 1 - player and state.liberties[state.chain[near]] == 0:
                taken += state.length[state.chain[near]]
                ko = int(near)
                self.take(state, ko)
        state.ko = ko if in_eye and taken == 1 else NO_ACTION

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
        after = state.next[one]
        state.next[one] = state.next[other]
        state.next[other] = after

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
        """Who has more, the komi taken off, wins."""
        if state.ending == SCORED:
            result = self.results[self.area_difference(state) + self.points]
            returns[BLACK] = result
            returns[WHITE] = -result

    def area_difference(self, state: Any) -> int:
        """Black's stones and regions less White's.

        ``length`` and ``next`` of empty points, which say nothing, mark those that are counted.
        """
        difference = 0
        for point in range(self.points):
            colour = state.colour[point]
            if colour == EMPTY:
                state.length[point] = 0
            else:
                difference += 1 if colour == BLACK else -1
        for index in range(state.num_empty):
            region, reached = self.fill_region(state, state.empty[index])
            if reached == 1 << BLACK:
                difference += region
            elif reached == 1 << WHITE:
                difference -= region
        return difference

    def fill_region(self, state: Any, point: int) -> tuple[int, int]:
        """How many points an empty region has, none if it was counted, and what it reaches."""
        if state.length[point] != 0:
            return 0, 0
        region = reached = 0
        waiting = int(point)
        state.length[waiting] = 1
        state.next[waiting] = NO_ACTION
        while waiting != NO_ACTION:
            found = waiting
            waiting = int(state.next[found])
            region += 1
            for direction in range(4):
                near = int(self.near[found, direction])
                colour = state.colour[near]
                if colour < EMPTY:
                    reached |= 1 << colour
                elif colour == EMPTY and state.length[near] == 0:
                    state.length[near] = 1
                    state.next[near] = waiting
                    waiting = near
        return region, reached

    def make_sensible(self, state: Any) -> None:
        """Playouts keep eyes."""
        state.keeps_eyes = 1

    def draw(self, state: Any, stream: Any) -> int:
        """Empty points and the pass are drawn until one is legal."""
        if state.keeps_eyes:
            return self.draw_outside_eyes(state, stream)
        while True:
            place = random_below(stream, state.num_empty + 1)
            if place == state.num_empty:
                return self.points
            point = int(state.empty[place])
            if self.is_legal(state, point):
                return point

    def draw_outside_eyes(self, state: Any, stream: Any) -> int:
        """Empty points are drawn until one is legal and no eye; the others go to the list's end."""
        count = state.num_empty
        while count > 0:
            place = random_below(stream, count)
            point = int(state.empty[place])
            if self.is_legal(state, point) and not self.is_eye(state, point):
                return point
            count -= 1
            last = state.empty[count]
            state.empty[count], state.empty[place] = point, last
            state.place[point], state.place[last] = count, place
        return self.points

    def is_eye(self, state: Any, point: int) -> bool:
        """Whether an empty point is the player's eye.

        All four neighbours are their own stones, and of the corners the opponent has none at the
        edge, at most one elsewhere (Brügmann, "Monte Carlo Go", 1993).
        """
        corners = edges = 0
        for direction in range(8):
            colour = state.colour[self.near[point, direction]]
            if direction < 4:
                if colour not in (state.player, EDGE):
                    return False
            else:
                edges += colour == EDGE
                corners += colour == 1 - state.player
        return corners + (edges > 0) < 2

    def action_to_string(self, player: int, action: int) -> str:
        """The colour and the point in Go's coordinates."""
        row, column = divmod(action, self.board_size)
        return f"{'BW'[player]} {'PASS' if action == self.points else point_name(column, row)}"

    def string_of(self, state: Any) -> str:
        """The board, from above."""
        return board_of_points(["XO."[colour] for colour in state.colour[: self.points]])

    def observation(self, state: Any) -> Any:
        """Planes of black stones, white stones, empty points, and whether White is to move."""
        colours = state.colour[: self.points]
        planes = [colours == colour for colour in (BLACK, WHITE, EMPTY)]
        planes.append(np.full(colours.shape, state.player == WHITE))
        return np.array(planes, np.float32).reshape(4, self.board_size, self.board_size)
