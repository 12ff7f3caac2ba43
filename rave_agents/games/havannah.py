"""Havannah, as OpenSpiel has it: ``havannah(board_size=8,swap=False)``.

Players put stones on the empty cells of a hexagon of hexagons. Who first joins two corners, or
three edges, corners being part of none, or closes a ring around anything, wins; a full board is a
draw. With ``swap`` the second player may take the first stone over, by playing onto it (OpenSpiel,
``havannah.cc``). Action ``row * (2 * board_size - 1) + column`` is a cell if row and column differ
by less than the size.

Stones are joined as sets of a disjoint-set forest; each representative knows its corners and edges.
A ring can only be closed by a stone whose neighbours were joined before. Then it is looked for as a
way from that stone, never turned sharply, that meets itself: such a way encloses a cell.
"""

from typing import Any

import numpy as np

from rave_agents.games.rules import NO_ACTION, TERMINAL, Rules
from rave_agents.simulate.random_stream import random_below

EMPTY, OUTSIDE, ON_WAY = 2, 3, 4
"""What a cell's owner is, if it is no player, and what is added for stones on the way."""

DRAWN = 2
"""The winner where nobody has won."""

LARGEST = 64
"""The greatest size."""

NEIGHBOURS = ((-1, -1), (0, -1), (1, 0), (1, 1), (0, 1), (-1, 0))
"""Steps in columns and rows, clockwise."""


class Havannah(Rules):
    """See the module."""

    name = "havannah"
    board_size: int = 8
    swap: bool = False

    def setup(self) -> None:
        """Lay out the hexagon."""
        size = self.board_size
        if not 1 <= size <= LARGEST:
            raise ValueError(f"board_size must be from 1 to {LARGEST}, got {size}.")
        self.width = 2 * size - 1
        self.num_distinct_actions = outside = self.width**2
        rows, columns = divmod(np.arange(outside), self.width)
        self.points = np.flatnonzero(abs(rows - columns) < size)
        self.max_actions = len(self.points)
        self.max_game_length = len(self.points) + self.swap
        self.placement = not self.swap
        self.near = np.full((outside, 6), outside, np.int16)
        for point in self.points:
            for direction, (right, down) in enumerate(NEIGHBOURS):
                row, column = rows[point] + down, columns[point] + right
                if 0 <= min(row, column) and max(row, column) < self.width:
                    self.near[point, direction] = row * self.width + column
        self.sides = self.sides_of_cells()
        sets = np.arange(1 << 12)
        corners, edges = (
            sum(sets >> first + side & 1 for side in range(6)) for first in (0, 6)
        )
        self.wins = (corners >= 2) | (edges >= 3)  # noqa: PLR2004  (the rules)
        self.fields = {
            "to_move": np.int64,
            "moves": np.int64,
            "winner": np.int64,
            "parent": (np.int16, outside),
            "sides": (np.int16, outside),
            "way": (np.int16, outside),
            "heading": (np.int8, outside),
            "turn": (np.int8, outside),
            "owner": (np.int8, outside + 1),
        }

    def sides_of_cells(self) -> Any:
        """For each cell the corners, bits 0 to 5, and the edges, bits 6 to 11, that it is part of.

        A cell is part of an edge if it is on one border of the hexagon, in a corner if on two.
        """
        last = self.width - 1
        sides = np.zeros(self.num_distinct_actions, np.int16)
        for point in self.points.tolist():
            row, column = divmod(point, self.width)
            reach = self.board_size - 1
            borders = (row == 0, column - row == reach, column == last)
            borders += (row == last, row - column == reach, column == 0)
            on = [side for side in range(6) if borders[side]]
            if len(on) == 1:
                sides[point] = 1 << 6 + on[0]
            elif on:
                sides[point] = 1 << (0 if on[0] == 0 and on[-1] == 5 else on[-1])  # noqa: PLR2004
        return sides

    def begin(self, state: Any) -> None:
        """The board is empty, and nobody has won."""
        state.owner[:] = OUTSIDE
        state.owner[self.points] = EMPTY
        state.parent[:] = np.arange(self.num_distinct_actions)
        state.sides[:] = self.sides
        state.winner = NO_ACTION

    def player(self, state: Any) -> int:
        """Players take turns until one has won or the board is full."""
        return state.to_move if state.winner == NO_ACTION else TERMINAL

    def can_swap(self, state: Any) -> bool:
        """Whether the player may take the only stone over."""
        return self.swap and state.moves == 1 and state.to_move == 1

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty cell, and the first stone for who may swap."""
        swaps = self.can_swap(state)
        count = 0
        for point in self.points:
            if state.owner[point] == EMPTY or (swaps and state.owner[point] == 0):
                actions[count] = point
                count += 1
        return count

    def representative(self, state: Any, stone: int) -> int:
        """The representative of a stone's group."""
        while state.parent[stone] != stone:
            state.parent[stone] = state.parent[state.parent[stone]]
            stone = np.int64(state.parent[stone])
        return stone

    def play(self, state: Any, action: int) -> None:
        """Put a stone, join it with those beside it, and see whether the game is over."""
        player = state.to_move
        state.to_move = 1 - player
        state.moves += state.owner[action] == EMPTY
        state.owner[action] = player
        own = np.int64(action)
        met_again, before = False, False
        for direction in range(6):
            near = self.near[action, direction]
            beside = state.owner[near] == player
            # Of stones beside one another only the first counts: the next is joined with it.
            if beside and not before:
                group = self.representative(state, np.int64(near))
                met_again = met_again or group == own
                if group != own:
                    state.parent[own] = group
                    state.sides[group] |= state.sides[own]
                    own = group
            before = beside and not before
        if self.wins[state.sides[own]] or (met_again and self.closes_ring(state, action)):
            state.winner = player
        elif state.moves == len(self.points):
            state.winner = DRAWN

    def closes_ring(self, state: Any, stone: int) -> bool:
        """Whether a way from a stone, which goes straight on or half left or right, meets itself.

        Four directions are enough to begin with: no ring leaves its stone by the other two alone.
        """
        player = state.owner[stone]
        state.owner[stone] += ON_WAY
        state.way[0], state.heading[0], state.turn[0] = stone, 1, -1
        depth = 0
        found = False
        while depth >= 0:
            at = state.way[depth]
            if found or state.turn[depth] > (1 if depth > 0 else 2):
                state.owner[at] = player
                depth -= 1
                continue
            heading = (state.heading[depth] + state.turn[depth] + 6) % 6
            state.turn[depth] += 1
            near = self.near[at, heading]
            if state.owner[near] == player:
                depth += 1
                state.owner[near] += ON_WAY
                state.way[depth], state.heading[depth], state.turn[depth] = near, heading, -1
            elif state.owner[near] == player + ON_WAY:
                found = True
        return found

    def returns(self, state: Any, returns: Any) -> None:
        """1 for the winner, -1 for the other."""
        if state.winner != DRAWN:
            returns[state.winner] = 1.0
            returns[1 - state.winner] = -1.0

    def playout(self, state: Any, players: Any, actions: Any, end: int, stream: Any) -> int:
        """Draw from a list of the empty cells, which lies where the moves are to be."""
        count = 0
        while state.winner == NO_ACTION:
            # What may be swapped with is only legal at once: the list is made anew.
            if count == 0 or (self.swap and state.moves <= 1):
                if end + self.max_actions > len(actions):
                    return NO_ACTION
                count = self.legal_actions(state, actions[end:])
            place = end + random_below(stream, count)
            action = actions[place]
            actions[place] = actions[end]
            actions[end] = action
            players[end] = state.to_move
            end += 1
            count -= 1
            self.play(state, action)
        return end

    def action_to_string(self, player: int, action: int) -> str:
        """The column's letter and the row's number."""
        row, column = divmod(action, self.width)
        return f"{chr(ord('a') + column)}{row + 1}"

    def string_of(self, state: Any) -> str:
        """The board, its middle row furthest to the left."""
        owners = state.owner[:-1].reshape(self.width, self.width)
        return "\n".join(
            " " * abs(self.board_size - 1 - row)
            + " ".join("O@."[owner] for owner in owners[row] if owner != OUTSIDE)
            for row in range(self.width)
        )

    def observation(self, state: Any) -> Any:
        """Planes of the stones of player 0, of player 1, and of empty cells."""
        planes = [state.owner[:-1] == owner for owner in (0, 1, EMPTY)]
        return np.array(planes, np.float32).reshape(3, self.width, self.width)
