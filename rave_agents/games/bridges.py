"""Base of Hex and Y: bridges, and playouts that fill the board.

Players put stones on empty cells in turn, and who connects first wins. On a full board exactly one
player is connected, so a playout draws stones for all empty cells and then finds by bisection which
stone won.

Two stones of one colour are joined by a *bridge* if two cells adjacent to both are empty: when the
opponent takes one, the player takes the other. Likewise two empty cells of a side join a stone with
that side. A player who joins the goal sides by stones and by bridges that share no cell wins,
whatever the opponent does (Anshelevich 2002).

A cell is ``row * columns + column``; ``STEPS`` lists its neighbours around it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.games.bits import count_bits
from rave_agents.games.hexagons import NONE, SIDES, HexagonStones, cells_at
from rave_agents.games.kit.rules import NO_ACTION, WinnerRules
from rave_agents.simulate.random_stream import random_below

STEPS = ((0, 1), (1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1))
"""Rows and columns from a cell to its neighbours, each beside the next."""

BITS = 64
"""Cells that a word of a carrier has bits for."""

# Neighbours of a cell, in the order of STEPS:
#
#       5   4            (-1, 0) (-1, 1)
#     3   .   0    =   (0, -1)   .   (0, 1)
#       2   1             (1, -1) (1, 0)


class BridgeRules(HexagonStones, WinnerRules):
    """The common part; a game has ``points``, ``owns``, ``toggle``, ``is_empty``, ``is_connected``.

    Its record has ``board_fields`` and those of ``HexagonStones``; ``setup`` calls ``lay_bridges``.
    """

    aside: tuple[str, ...] = ("empty",)
    points: Any
    """int array: the actions that are cells, in ascending order."""

    def board_fields(self, *lines: int) -> dict[str, Any]:
        """The fields of a board whose stones lie in such an array of words for each player."""
        return {
            "lines": (np.int64, (2, *lines)),
            "empty": (np.int16, len(self.points)),
            "to_move": np.int64,
            "moves": np.int64,
            "winner": np.int64,
        }

    def begin(self, state: Any) -> None:
        """The board is empty, and nobody has won."""
        state.winner = state.last = NO_ACTION

    def toggle(self, state: Any, player: int, action: int) -> None:
        """Put a player's stone on a cell, or take it away."""
        raise NotImplementedError

    def is_empty(self, state: Any, action: int) -> bool:
        """True if a cell has no stone."""
        raise NotImplementedError

    def is_connected(self, state: Any, player: int) -> bool:
        """True if a player has won."""
        raise NotImplementedError

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty cell."""
        return self.list_empty(state, actions)

    def list_empty(self, state: Any, actions: Any) -> int:
        """Write the empty cells, without a branch; returns how many there are."""
        count = 0
        for action in self.points:
            actions[count] = action
            count += self.is_empty(state, action)
        return count

    def play(self, state: Any, action: int) -> None:
        """Put a stone of the player to move."""
        player = state.to_move
        self.toggle(state, player, action)
        if self.is_connected(state, player):
            state.winner = player
        state.last = action
        state.moves += 1
        state.to_move = 1 - player

    def winning_place(self, state: Any, count: int, first: int) -> int:
        """The place of the stone that connects the winner, whose first one is at ``first``."""
        low, high = 0, (count - 1 - first) // 2
        now = high
        while low < high:
            middle = (low + high) // 2
            for stone in range(min(now, middle) + 1, max(now, middle) + 1):
                action: Any = np.int64(state.empty[first + 2 * stone])
                self.toggle(state, state.winner, action)
            now = middle
            if self.is_connected(state, state.winner):
                high = middle
            else:
                low = middle + 1
        return first + 2 * low

    def lay_bridges(
        self, on_board: NDArray[np.bool_], sides: NDArray[np.bool_], goals: tuple[int, int]
    ) -> None:
        """Find out what is beside each cell, and what a bridge may join it with.

        Args:
            on_board: whether each cell is one of the board's, by row and column.
            sides: for each side of the board the cells that belong to it.
            goals: for each player the sides to join, a bit for each.
        """
        cells: int = on_board.size
        self.goals: tuple[int, int] = goals
        self.num_sides: int = len(sides)
        self.foresight_room: int = 3 * cells
        self.beside: NDArray[np.int16] = cells_at(on_board, STEPS)
        shape = cells, SIDES, 3
        self.bridges: NDArray[np.int16] = np.full(shape, NONE, np.int16)
        shape_of_sides = cells, self.num_sides, 2
        self.side_bridges: NDArray[np.int16] = np.full(shape_of_sides, NONE, np.int16)
        of_side = np.pad(sides.reshape(self.num_sides, cells), ((0, 0), (0, 1)))  # NONE has none.
        bits = of_side[:, :-1].T << np.arange(self.num_sides)
        self.touched: NDArray[np.int64] = bits.sum(axis=1)
        pairs = list(zip(STEPS, (*STEPS[1:], STEPS[0]), strict=True))
        ends = cells_at(on_board, [(one[0] + two[0], one[1] + two[1]) for one, two in pairs])
        for place in range(SIDES):
            both = self.beside[:, [place, (place + 1) % SIDES]]
            far = ends[:, place]
            there = on_board.ravel() & (both != NONE).all(axis=1)
            joined = there & (far != NONE)
            self.bridges[joined, place] = np.column_stack([far, both])[joined]
            for side, belongs in enumerate(of_side):
                beside = there & belongs[both].all(axis=1) & ~belongs[:-1]
                self.side_bridges[beside, side] = both[beside]
        self.lay_neighbours(self.beside, self.owners_outside())

    def owners_outside(self) -> NDArray[np.int64]:
        """Who counts as the owner of each neighbour off the board: the players who join that side.

        Off the board, a neighbour belongs to the sides that all cells adjacent to both share.
        """
        outside = np.zeros(self.beside.shape, np.int64)
        for cell, step in np.argwhere(self.beside == NONE):
            shared = self.touched[cell]
            for turn in (-1, 1):
                near = self.beside[cell, (step + turn) % SIDES]
                if near != NONE:
                    shared &= self.touched[near]
            outside[cell, step] = sum(
                1 << player for player, goal in enumerate(self.goals) if goal & shared
            )
        return outside

    def foresee_end(self, state: Any, player: int, carrier: Any, room: Any) -> int:
        """The cells of the bridges, if a player's stones and bridges join what must be joined.

        The opponent can play on each of them, and is answered on another one.
        """
        if not self.more_stones_never_hurt:
            return 0
        for cell in range(self.foresight_room):
            room[cell] = NONE
        for start in self.points:
            if room[start] == NONE and self.owns(state, player, start):
                for word in range(carrier.shape[0]):
                    carrier[word] = 0
                if self.joins_all(state, player, start, carrier, room):
                    return max(1, self.count_cells(carrier))
        return 0

    def count_cells(self, carrier: Any) -> int:
        """The cells of a carrier."""
        count = 0
        for word in range(carrier.shape[0]):
            count += count_bits(carrier[word])
        return count

    def joins_all(self, state: Any, player: int, start: int, carrier: Any, room: Any) -> bool:
        """True if all that is joined with a stone joins a player's sides.

        ``room`` holds for each cell the stone that it was reached from, then for each cell the
        first stone of those whose bridge uses it, then the stones that were reached.
        """
        cells = self.num_distinct_actions
        origins, used, queue = room[:cells], room[cells : 2 * cells], room[2 * cells : 3 * cells]
        origins[start] = start
        queue[0] = start
        count, at, goal, joined = 1, 0, self.goals[player], 0
        while at < count:
            cell: Any = np.int64(queue[at])
            at += 1
            for side in range(self.num_sides):
                if (goal & ~joined) >> side & 1 == 0:
                    continue
                one, two = self.side_bridges[cell, side]
                if self.touched[cell] >> side & 1 or self.is_bridge(state, used, start, one, two):
                    joined |= 1 << side
                    if self.touched[cell] >> side & 1 == 0:
                        self.add_bridge(carrier, one, two)
                    self.add_way(carrier, origins, start, cell)
            if joined == goal:
                return True
            for place in range(SIDES):
                near: Any = np.int64(self.beside[cell, place])
                if near != NONE and origins[near] == NONE and self.owns(state, player, near):
                    origins[near] = cell
                    queue[count] = near
                    count += 1
            for place in range(SIDES):
                far: Any = np.int64(self.bridges[cell, place, 0])
                if far == NONE or origins[far] != NONE or not self.owns(state, player, far):
                    continue
                one, two = self.bridges[cell, place, 1], self.bridges[cell, place, 2]
                if self.is_bridge(state, used, start, one, two):
                    origins[far] = cell
                    queue[count] = far
                    count += 1
        return False

    def is_bridge(self, state: Any, used: Any, start: int, one: Any, two: Any) -> bool:
        """True if both cells are empty and no bridge uses them yet; this one does from now on."""
        if one == NONE or used[one] == start or used[two] == start:
            return False
        if not (self.is_empty(state, int(one)) and self.is_empty(state, int(two))):
            return False
        used[one] = used[two] = start
        return True

    def add_bridge(self, carrier: Any, one: Any, two: Any) -> None:
        """Add the cells of a bridge to a carrier."""
        for cell in (np.uint64(one), np.uint64(two)):
            carrier[cell // np.uint64(BITS)] |= np.uint64(1) << cell % np.uint64(BITS)

    def add_way(self, carrier: Any, origins: Any, start: int, cell: Any) -> None:
        """Add the bridges on the way from the first stone to another one to a carrier."""
        while cell != start:
            origin: Any = np.int64(origins[cell])
            for place in range(SIDES):
                if self.bridges[origin, place, 0] == cell:
                    one, two = self.bridges[origin, place, 1], self.bridges[origin, place, 2]
                    self.add_bridge(carrier, one, two)
            cell = origin

    def playout(self, state: Any, players: Any, actions: Any, end: int, stream: Any) -> int:
        """Draw stones for all empty cells, and keep those up to the winning one."""
        count = self.legal_actions(state, state.empty)
        if end + count > players.shape[0]:
            return -1
        if state.sensible:
            self.look_at_board(state, state.empty, count)
        first, last = state.to_move, state.last
        for place in range(count):
            player = (first + place) & 1
            drawn: Any = np.int64(NONE)
            if state.sensible and last != NONE:
                drawn = self.place_of_answer(state, last, player)
            if drawn == NONE:
                drawn = place + random_below(stream, count - place)
            last = self.take_place(state, state.empty, place, drawn, player)
            self.toggle(state, player, last)
            players[end + place] = player
            actions[end + place] = last
        state.winner = 0 if self.is_connected(state, 0) else 1
        return end + self.winning_place(state, count, first ^ state.winner) + 1
