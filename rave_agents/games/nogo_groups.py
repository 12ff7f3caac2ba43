"""Regions of NoGo that are settled: points of one player alone, and those apart from others.

What is not legal for a player stays so. So a point where nobody may play is a liberty for ever, and
the chains beside it are *safe*: nobody can take their last liberty, and their colour may always be
joined to them. Regions of points that no other chain connects are played independently; that is a
sum of games (Albert, Grossman, Nowakowski & Wolfe 2005), in which a region that only one player
can use is so many free moves, and a lonely point that both can use is ``*``.
"""

from typing import Any

import numpy as np

from rave_agents.games.stones import BLACK, EDGE, EMPTY, WHITE, StoneRules

BOTH, SAFE, ATARI, SEEN, OPEN = 3, 4, 8, 16, 32
"""Marks: of points, who may play there, a bit for each; of chains, that they are safe, or have one
liberty left; of both, that their region is found; of a region's first point, that it is open."""

SETTLED, SAFE_BLACK, DEAD = EDGE, 4, 6
"""Contents of cells, beside the colours: what changes nothing any more, a safe stone of Black's
(and, one more, of White's), and a point where nobody may play."""

MOVES, FREE, STARS, FOUND = 0, 2, 3, 4
"""Places of what is counted: the points of open regions where each player may play, Black's free
moves less White's, and the lonely points of both; and whether that is counted."""

TALLY = 5
"""The numbers that are counted."""


class SettledRules(StoneRules):
    """The part of NoGo's rules that finds what is settled.

    Records have two fields for it, ``marks`` of points and of chains' first stones, and ``tally``.
    """

    position_kinds = 7

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
        """Mark the chains that have one liberty left, and forget other marks."""
        for index in range(self.points):
            point = self.numbers[index]
            state.marks[point] = 0
            if state.colour[point] < EMPTY and state.chain[point] == point:
                state.marks[point] = self.in_atari(state, point) * ATARI

    def mark_points(self, state: Any) -> None:
        """Mark where each player may play, and the chains beside a point where nobody may."""
        for index in range(self.points):
            point = self.numbers[index]
            if state.colour[point] != EMPTY:
                continue
            lives, taken = 0, 0  # A bit for each player.
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
        """Find the region of a point, as a list of ``next`` from there, and count it."""
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
        """Count a region, and tell whether it is settled.

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
                # All points but one, by which the last chain lives, unless there is a safe one.
                free = size if kinds >> (2 + player) & 1 == 1 else size - 1
                state.tally[FREE] += free if player == BLACK else -free
                return True
        state.tally[MOVES + BLACK] += black
        state.tally[MOVES + WHITE] += white
        return False

    def write_region(self, state: Any, first: int, cells: Any) -> None:
        """Describe an open region: its points, and all that is beside them."""
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
        """The open points where one has more free moves than the other one can make at most."""
        self.find_settled(state)
        tally = state.tally
        free = tally[FREE] if player == BLACK else -tally[FREE]
        # The opponent moves next, in a lonely point if there is one.
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
        """The open regions, how many moves one has more, and who is to move."""
        for point in range(self.points):
            cells[point] = SETTLED
        self.find_settled(state)
        for index in range(self.points):
            point = self.numbers[index]
            if state.colour[point] == EMPTY and state.marks[point] & OPEN != 0:
                self.write_region(state, point, cells)
        free = int(state.tally[FREE]) + self.points
        return (free * 2 + int(state.tally[STARS])) * 2 + int(state.player)
