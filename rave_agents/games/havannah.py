"""Havannah, as OpenSpiel has it: ``havannah(board_size=8,swap=False)``.

Players put stones on the empty cells of a hexagon of hexagons. Who first joins two corners, or
three edges, corners being part of none, or closes a ring around anything, wins; a full board is a
draw. With ``swap`` the second player may take the first stone over, by playing onto it (OpenSpiel,
``havannah.cc``). Action ``row * (2 * board_size - 1) + column`` is a cell if row and column differ
by less than the size.

A player's stones are bits of a word for each row, so that the pattern of those around a cell is
looked up at once: the arcs of stones beside one another, of which each is one group already. Groups
are sets of a disjoint-set forest; each representative knows its corners and edges.

A ring encloses a cell that is not the player's exactly if a stone joins two arcs of one group: by
Euler's formula, a stone changes stones - pairs + triangles, which is groups - holes, by 1 - arcs,
and groups by 1 - groups joined. A ring around the player's own stones alone has one among them with
all six neighbours. OpenSpiel's search for a way without sharp turns that meets itself finds the
same: what it finds encloses a cell, and around a cell that is enclosed there is such a way.
"""

from typing import Any

import numpy as np

from rave_agents.games.coordinates import cell_name
from rave_agents.games.hexagon_stones import BOTH, HexagonStones
from rave_agents.games.hexagons import SELF, WHOLE, corners_and_edges, neighbours, owners, patterns
from rave_agents.games.kit.rules import DRAWN, NO_ACTION, TERMINAL
from rave_agents.games.winner import WinnerRules
from rave_agents.simulate.random_stream import random_below

LARGEST = 31
"""The greatest size: a row must fit into a word."""

CORNERS, EDGES = range(6), range(6, 12)
"""The bits of a group's sides."""


class Havannah(HexagonStones, WinnerRules):
    """See the module."""

    name = "havannah"
    exchange = "same"
    board_size: int = 8
    swap: bool = False

    def setup(self) -> None:
        """Lay out the hexagon."""
        size = self.board_size
        if not 1 <= size <= LARGEST:
            raise ValueError(f"board_size must be from 1 to {LARGEST}, got {size}.")
        self.width: int = 2 * size - 1
        self.num_distinct_actions = cells = self.width**2
        self.board_shape: tuple[int, int] = self.width, self.width
        rows, columns = divmod(np.arange(cells), self.width)
        on_board = abs(rows - columns) < size
        self.points = np.flatnonzero(on_board)
        self.max_actions = self.num_points = len(self.points)
        self.max_game_length: int = self.num_points + self.swap
        self.placement: bool = not self.swap
        self.row_starts = np.maximum(0, np.arange(self.width) - size + 1)
        self.row_ends = np.minimum(self.width, np.arange(self.width) + size)
        self.sides = corners_and_edges(size)
        sets = np.arange(1 << 12)
        corners, edges = (np.sum([sets >> side & 1 for side in six], 0) for six in (CORNERS, EDGES))
        self.wins = (corners >= 2) | (edges >= 3)
        beside = neighbours(on_board.reshape(self.board_shape))
        self.lay_neighbours(beside, np.full(beside.shape, BOTH))
        self.aside = (*self.answer_fields, "parent", "sides")
        self.fields: dict[str, Any] = {
            "to_move": np.int64,
            "moves": np.int64,
            "winner": np.int64,
            "rows": (np.int64, (2, self.width + 2)),
            **self.answer_fields,
            "parent": (np.int16, cells),
            "sides": (np.int16, cells),
        }
        self.num_arcs, self.arcs, self.num_middles, self.middles = patterns(self.width)

    def begin(self, state: Any) -> None:
        """The board is empty, and nobody has won."""
        state.parent[:] = np.arange(self.num_distinct_actions)
        state.sides[:] = self.sides
        state.winner = state.last = NO_ACTION

    def owns(self, state: Any, player: int, action: int) -> bool:
        """True if a cell has a player's stone."""
        row, column = action // self.width, action % self.width
        return bool(state.rows[player, row + 1] >> (column + 1) & 1 == 1)

    def player(self, state: Any) -> int:
        """Players take turns until one has won or the board is full."""
        return state.to_move if state.winner == NO_ACTION else TERMINAL

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty cell, and the first stone for who may swap."""
        swaps = self.swap and state.moves == 1 and state.to_move == 1
        count = 0
        for row in range(self.width):
            taken = state.rows[0, row + 1] | state.rows[1, row + 1]
            if swaps:
                taken = 0
            for column in range(self.row_starts[row], self.row_ends[row]):
                if taken >> (column + 1) & 1 == 0:
                    actions[count] = row * self.width + column
                    count += 1
        return count

    def pattern(self, state: Any, player: int, row: int, column: int) -> int:
        """A player's stones around a cell; see ``hexagons.py``."""
        above = state.rows[player, row] >> column & 3
        beside = state.rows[player, row + 1] >> column & 7
        below = state.rows[player, row + 2] >> (column + 1) & 3
        return above | beside << 2 | below << 5

    def representative(self, state: Any, stone: int) -> int:
        """The representative of a stone's group."""
        while state.parent[stone] != stone:
            state.parent[stone] = state.parent[state.parent[stone]]
            stone = int(state.parent[stone])
        return stone

    def play(self, state: Any, action: int) -> None:
        """Put a stone, join the arcs around it, and see whether the game is over."""
        player = state.to_move
        row, column = action // self.width, action % self.width
        stone = np.int64(1) << (column + 1)
        if self.swap and state.rows[1 - player, row + 1] & stone:
            state.rows[1 - player, row + 1] ^= stone
            state.moves -= 1
        state.rows[player, row + 1] |= stone
        state.moves += 1
        state.last = action
        state.to_move = 1 - player
        pattern = self.pattern(state, player, row, column) & ~SELF
        own = int(action)
        won = False
        for arc in range(self.num_arcs[pattern]):
            group = self.representative(state, action + self.arcs[pattern, arc])
            if group == own:
                won = True
            else:
                state.parent[own] = group
                state.sides[group] |= state.sides[own]
                own = group
        for middle in range(self.num_middles[pattern]):
            near = action + self.middles[pattern, middle]
            around = self.pattern(state, player, near // self.width, near % self.width)
            won = won or around == WHOLE
        if won or self.wins[state.sides[own]]:
            state.winner = player
        elif state.moves == self.num_points:
            state.winner = DRAWN

    def playout(self, state: Any, players: Any, actions: Any, end: int, stream: Any) -> int:
        """Draw from a list of the empty cells, which lies where the moves are to be."""
        count, begin = 0, end
        while state.winner == NO_ACTION:
            # What may be swapped with is only legal at once: the list is made anew.
            if count == 0 or (self.swap and state.moves <= 1):
                if end + self.max_actions > len(actions):
                    return NO_ACTION
                count = self.legal_actions(state, actions[end:])
                if state.sensible:
                    self.look_at_board(state, actions[end:], count)
                begin = end
            drawn: Any = np.int64(NO_ACTION)
            if state.sensible and state.last != NO_ACTION:
                drawn = self.place_of_answer(state, state.last, state.to_move)
            if drawn == NO_ACTION:
                drawn = end - begin + random_below(stream, count)
            action = self.take_place(state, actions[begin:], end - begin, drawn, state.to_move)
            players[end] = state.to_move
            end += 1
            count -= 1
            self.play(state, action)
        return end

    def action_to_string(self, player: int, action: int) -> str:
        """The column's letter and the row's number."""
        return cell_name(action % self.width, action // self.width)

    def string_of(self, state: Any) -> str:
        """The board, its middle row furthest to the left."""
        owned = owners(state.rows[:, 1:-1] >> 1, self.width)
        return "\n".join(
            " " * abs(self.board_size - 1 - row)
            + " ".join(".O@"[owner] for owner in owned[row, start:end])
            for row, (start, end) in enumerate(zip(self.row_starts, self.row_ends, strict=True))
        )

    def observation(self, state: Any) -> Any:
        """Planes of the stones of player 0, of player 1, and of empty cells."""
        owned = owners(state.rows[:, 1:-1] >> 1, self.width)
        rows, columns = np.indices(owned.shape)
        on_board = abs(rows - columns) < self.board_size
        return np.array([(owned == owner) & on_board for owner in (1, 2, 0)], np.float32)
