"""NoGo: Go's stones, but captures and suicide are illegal, and nobody passes.

A move that takes the last liberty of a chain of either colour is illegal; a player without a legal
move loses. ``stones.py`` has the board.

An illegal move never becomes legal again: points do not become empty, and a chain in atari can only
be extended at its last liberty itself. So each player's legal moves are kept as a list of
candidates that only shrinks: a drawn candidate that is illegal is dropped for good.

So a point where nobody may play is a liberty for ever, and the chains adjacent to it are *safe*:
nobody can take their last liberty, and their colour may always be joined to them. Regions of points
that no other chain connects are played independently: a sum of games (Albert, Grossman, Nowakowski
& Wolfe 2005). A region that only one player can use is a number of free moves, and a lonely point
that both can use is ``*``.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rave_agents.games.coordinates import point_number
from rave_agents.games.kit.rules import NO_ACTION, TERMINAL
from rave_agents.games.kit.rules_state import RulesState
from rave_agents.games.stones import BLACK, CHAIN_FIELDS, EDGE, EMPTY, WHITE, BoardSize, StoneRules
from rave_agents.simulate.random_stream import random_below

BOTH, SAFE, ATARI, SEEN, OPEN = 3, 4, 8, 16, 32
"""Marks: of points, a bit for each player who may play there (``BOTH``: both); of chains, that they
are safe or in atari; of both, that their region is found; of a region's first point, that it is
open."""

SETTLED, SAFE_BLACK, DEAD = EDGE, 4, 6
"""Contents of cells in addition to the colours: settled, a safe black stone (white: one more), and
a point where nobody may play."""

MOVES, FREE, STARS, FOUND = 0, 2, 3, 4
"""Entries of the tally: the points of open regions where each player may play (two entries),
Black's free moves minus White's, the parity of lonely points, and whether the tally is up to
date."""

TALLY = 5
"""Length of the tally."""


class NoGo(StoneRules):
    """See the module."""

    name = "nogo"
    exchange = "same"
    turns = ("mirrored", "upside_down", "transposed")
    aside = (*CHAIN_FIELDS, "num_candidates", "candidates", "marks", "tally")
    board_size: BoardSize = 9
    position_kinds = 7

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

    def settled_fields(self) -> dict[str, Any]:
        """The fields."""
        return {"marks": (np.uint8, self.points + 1), "tally": (np.int16, TALLY)}

    def find_settled(self, state: Any) -> None:
        """Mark points, chains and regions, and count free moves and what is open."""
        tally = state.tally
        if tally[FOUND] != 0:
            return
        self.mark_chains(state)
        self.mark_points(state)
        for place in range(TALLY):
            tally[place] = 0
        tally[FOUND] = 1
        for index in range(self.points):
            point = self.numbers[index]
            if state.colour[point] == EMPTY and 0 < state.marks[point] <= BOTH:
                self.count_region(state, point)

    def mark_chains(self, state: Any) -> None:
        """Mark the chains in atari, and clear all other marks."""
        for index in range(self.points):
            point = self.numbers[index]
            state.marks[point] = 0
            if state.colour[point] < EMPTY and state.chain[point] == point:
                state.marks[point] = self.in_atari(state, point) * ATARI

    def mark_points(self, state: Any) -> None:
        """Mark where each player may play, and the chains next to a point where nobody may."""
        for index in range(self.points):
            point = self.numbers[index]
            if state.colour[point] != EMPTY:
                continue
            # A bit for each player: whose stone would have a liberty here, and whose stone would
            # take the last liberty of a chain of the other's (bit 2 >> colour).
            lives, taken = 0, 0
            for direction in range(4):
                near = self.near[point, direction]
                colour = state.colour[near]
                if colour == EMPTY:
                    lives = BOTH
                elif colour < EMPTY:
                    if state.marks[state.chain[near]] & ATARI == 0:
                        lives |= 1 << colour
                    else:
                        taken |= 2 >> colour
            state.marks[point] = lives & ~taken
            if state.marks[point] == 0:
                for direction in range(4):
                    near = self.near[point, direction]
                    if state.colour[near] < EMPTY:
                        state.marks[state.chain[near]] |= SAFE

    def count_region(self, state: Any, first: int) -> None:
        """Find the region of a point, as a list linked by ``next``, and count it."""
        marks = state.marks
        size, moves_of_black, moves_of_white = 0, 0, 0
        kinds = 0  # A bit for each colour of chains that are not safe, then of those that are.
        point, last = first, first
        marks[first] |= SEEN
        state.next[first] = first
        while True:
            size += 1
            moves_of_black += (marks[point] >> BLACK) & 1
            moves_of_white += (marks[point] >> WHITE) & 1
            for direction in range(4):
                near = self.near[point, direction]
                colour = state.colour[near]
                if colour == EMPTY:
                    if marks[near] == 0:
                        kinds |= BOTH << 2
                    elif marks[near] < SEEN:
                        last = self.append(state, near, last)
                elif colour < EMPTY:
                    chain = state.chain[near]
                    if marks[chain] & SAFE != 0:
                        kinds |= 1 << 2 + colour
                    else:
                        kinds |= 1 << colour
                        if marks[chain] < SEEN:
                            last = self.append_liberties(state, chain, last)
            if point == last:
                break
            point = state.next[point]
        if not self.settle(state, size, moves_of_black, moves_of_white, kinds):
            marks[first] |= OPEN

    def append(self, state: Any, point: int, last: int) -> int:
        """Put a point at the end of a region's list; returns it."""
        state.marks[point] |= SEEN
        state.next[last] = point
        state.next[point] = point
        return point

    def append_liberties(self, state: Any, chain: int, last: int) -> int:
        """Put the liberties of a chain at the end of a region's list; returns the last."""
        state.marks[chain] |= SEEN
        stone = chain
        while True:
            for direction in range(4):
                near = self.near[stone, direction]
                if state.colour[near] == EMPTY and state.marks[near] < SEEN:
                    last = self.append(state, near, last)
            stone = state.next[stone]
            if stone == chain:
                return last

    def settle(self, state: Any, size: int, black: int, white: int, kinds: int) -> bool:
        """Count a region; returns whether it is settled.

        Args:
            state: the record.
            size: the points of the region.
            black: the points where Black may play.
            white: those where White may.
            kinds: a bit for each colour of chains that are not safe, then of those that are.
        """
        if size == 1 and black == white:
            state.tally[STARS] ^= 1
            return True
        for player in range(2):
            if (white if player == BLACK else black) == 0 and kinds >> (1 - player) & 1 == 0:
                # All points are free moves, except the last liberty if no chain is safe.
                free = size if kinds >> (2 + player) & 1 == 1 else size - 1
                state.tally[FREE] += free if player == BLACK else -free
                return True
        state.tally[MOVES + BLACK] += black
        state.tally[MOVES + WHITE] += white
        return False

    def write_region(self, state: Any, first: int, cells: Any) -> None:
        """Describe an open region: its points, and what is adjacent to them."""
        point = first
        while True:
            cells[point] = EMPTY
            for direction in range(4):
                near = self.near[point, direction]
                colour = state.colour[near]
                if colour == EMPTY:
                    if state.marks[near] == 0:
                        cells[near] = DEAD
                elif colour < EMPTY and cells[near] == SETTLED:
                    if state.marks[state.chain[near]] & SAFE != 0:
                        cells[near] = SAFE_BLACK + colour
                    else:
                        self.write_chain(state, near, cells)
            if state.next[point] == point:
                return
            point = state.next[point]

    def write_chain(self, state: Any, first: int, cells: Any) -> None:
        """Describe a chain that is not safe."""
        stone = first
        while True:
            cells[stone] = state.colour[stone]
            stone = state.next[stone]
            if stone == first:
                return

    def foresee_end(self, state: Any, player: int, carrier: Any, room: Any) -> int:
        """The number of empty points, if a player has more free moves than the other can make."""
        self.find_settled(state)
        tally = state.tally
        free = tally[FREE] if player == BLACK else -tally[FREE]
        # The opponent moves next, on a lonely point if there is one.
        if free - tally[MOVES + 1 - player] >= tally[STARS]:
            return self.count_empty(state)
        if free + tally[MOVES + player] < tally[STARS]:
            return -self.count_empty(state)
        return 0

    def count_empty(self, state: Any) -> int:
        """The number of empty points."""
        count = 0
        for point in range(self.points):
            count += state.colour[point] == EMPTY
        return count

    def describe_position(self, state: Any, cells: Any) -> int:
        """The open regions, the difference of free moves, and the player to move."""
        for point in range(self.points):
            cells[point] = SETTLED
        self.find_settled(state)
        for index in range(self.points):
            point = self.numbers[index]
            if state.colour[point] == EMPTY and state.marks[point] & OPEN != 0:
                self.write_region(state, point, cells)
        free = int(state.tally[FREE]) + self.points
        return (free * 2 + int(state.tally[STARS])) * 2 + int(state.player)

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
        """Players take turns until the player to move has no legal candidate."""
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
        """Write the returns: the player to move has no move and loses."""
        self.write_winner(returns, 1 - state.player)

    def draw(self, state: Any, stream: Any) -> Any:
        """Draw candidates until one is legal; illegal ones are dropped."""
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
