"""Havannah, as OpenSpiel has it: ``havannah(board_size=8,swap=False)``.

Players put stones on the empty cells of a hexagon of hexagons. Who first joins two corners, or
three edges, corners being part of none, or closes a ring around anything, wins; a full board is a
draw. With ``swap`` the second player may take the first stone over, by playing onto it (OpenSpiel,
``havannah.cc``). Action ``row * (2 * board_size - 1) + column`` is a cell if row and column differ
by less than the size.

A player's stones are bits of one word per row, so that the pattern around a cell is one lookup: its
arcs of adjacent stones, each of which is part of one group. Groups are a disjoint-set forest whose
representatives store the corners and edges of their group.

A stone closes a ring around a cell that is not the player's exactly if it joins two arcs of one
group. By Euler's formula, stones - pairs + triangles = groups - holes; a new stone changes the left
side by 1 - arcs and the number of groups by 1 - groups joined, so holes grow by arcs - groups
joined. In a ring around the player's own stones alone, one of those has all six neighbours.
OpenSpiel's search for a path without sharp turns that meets itself finds the same rings.
"""

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from rave_agents.games.coordinates import cell_name
from rave_agents.games.hexagons import BOTH, HexagonStones, cells_at
from rave_agents.games.kit.rules import DRAWN, NO_ACTION, WinnerRules
from rave_agents.simulate.random_stream import random_below

CORNERS, EDGES = range(6), range(6, 12)
"""The bits of a group's sides."""

AROUND = ((0, 1), (1, 1), (1, 0), (0, -1), (-1, -1), (-1, 0))
"""Rows and columns from a cell to its neighbours, in order around it."""

# A pattern has a bit for each stone around a cell and for the cell itself (3):
#
#      0   1        row above
#    2   3   4      the cell's row
#      5   6        row below
WHOLE, SELF = 127, 8
"""The pattern of a stone with all neighbours, and the bit of the stone itself."""

CLOCKWISE = (0, 1, 4, 6, 5, 2)
"""The neighbours' bits in order around the cell."""


class Havannah(HexagonStones, WinnerRules):
    """See the module."""

    name = "havannah"
    uncovered = "board_size above 31"
    exchange = "same"
    board_size: Annotated[int, Ge(1), Le(31)] = 8  # A row must fit into a word.
    swap: bool = False

    def setup(self) -> None:
        """Lay out the hexagon."""
        size = self.board_size
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
        beside = cells_at(on_board.reshape(self.board_shape), AROUND)
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
        """A player's stones around a cell, see ``WHOLE``."""
        # Words have an empty bit at each end and an empty row above and below the board, so that no
        # neighbour needs a check.
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
            # The swap is legal at the second move only: list the cells again after it.
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
        rows = zip(self.board_rows(state, ".O@"), self.row_starts, self.row_ends, strict=True)
        return "\n".join(
            " " * abs(self.board_size - 1 - row) + " ".join(signs[start:end])
            for row, (signs, start, end) in enumerate(rows)
        )

    def observation(self, state: Any) -> Any:
        """Planes of the stones of player 0, of player 1, and of empty cells."""
        rows, columns = np.indices(self.board_shape)
        return self.board_planes(state, (1, 2, 0)) * (abs(rows - columns) < self.board_size)


def corners_and_edges(size: int) -> NDArray[np.int16]:
    """[cells] a bit for the corner or edge that a cell is part of: corners 0 to 5, edges 6 to 11.

    The hexagon has ``size`` cells a side and lies in a square of rows and columns.
    """
    last = 2 * size - 2
    rows, columns = divmod(np.arange((last + 1) ** 2), last + 1)
    # A cell is part of an edge if it is on one border of the hexagon, in a corner if on two.
    slope = columns - rows
    first_half = [rows == 0, slope == size - 1, columns == last]
    borders = np.array([*first_half, rows == last, slope == 1 - size, columns == 0])
    corners = borders & np.roll(borders, 1, axis=0) & (borders.sum(0) == 2)
    sides = np.concatenate([corners, borders & (borders.sum(0) == 1)])
    bits: NDArray[np.int16] = (sides << np.arange(12)[:, None]).sum(0).astype(np.int16)
    return bits


def patterns(width: int) -> tuple[Any, Any, Any, Any]:
    """For each pattern: number of arcs, their first stones, and stones between two others.

    An arc is a run of adjacent stones around the cell. A stone is given by what to add to the
    cell's number, on a board with rows of ``width`` cells.
    """
    places = (-width - 1, -width, -1, 0, 1, width, width + 1)
    num_arcs, num_middles = np.zeros((2, WHOLE + 1), np.int8)
    arcs, middles = np.zeros((WHOLE + 1, 4), np.int16), np.zeros((WHOLE + 1, 8), np.int16)
    for pattern in range(WHOLE + 1):
        around = [pattern >> place & 1 for place in CLOCKWISE]
        for turn, place in enumerate(CLOCKWISE):
            before, after = around[turn - 1], around[(turn + 1) % 6]
            if around[turn] and not before:
                arcs[pattern, num_arcs[pattern]] = places[place]
                num_arcs[pattern] += 1
            elif around[turn] and after:
                middles[pattern, num_middles[pattern]] = places[place]
                num_middles[pattern] += 1
    return num_arcs, arcs, num_middles, middles
