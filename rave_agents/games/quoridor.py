"""Quoridor of two, as OpenSpiel has it: ``quoridor(board_size=9,wall_count=10)``.

Pawns start in the middle of opposite sides, and who first reaches the other's side wins. In a turn
the pawn steps to a square beside it, over the other pawn if that is there, or the player builds a
wall of the length of two squares; nobody may be cut off from their goal. A game is drawn after
4 * board_size² moves. Without ``wall_count`` a player has board_size² // 8 walls;
``ansi_color_output`` colours the text (OpenSpiel, ``quoridor.cc``). Of more ``players`` OpenSpiel
lists some actions twice, and fails where one cannot move: such games are refused.

Actions number the places of a grid of 2 * board_size - 1 rows and columns, with squares at even
coordinates and walls between them. A wall is its left or upper half; a pawn's move is where it
would lead from (2, 2), and that of a jump straight ahead is the one of the step.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rave_agents.game.board import Board, Place
from rave_agents.games.coordinates import cell_name
from rave_agents.games.drawing import Content, drawn_grid
from rave_agents.games.kit.rules import DRAWN, NO_ACTION
from rave_agents.games.ordered import insert
from rave_agents.games.quoridor_pawns import CODE, CODE_BITS, PawnRules
from rave_agents.games.quoridor_text import board_text
from rave_agents.games.quoridor_walls import HORIZONTAL, VERTICAL
from rave_agents.simulate.random_stream import random_below

SMALLEST, LARGEST = 3, 25
"""The least and the greatest size."""


class Quoridor(PawnRules):
    """See the module."""

    name = "quoridor"
    aside = ("groups", "reached")
    cell_kinds = 4
    board_size: int = 9
    wall_count: int = 10
    players: int = 2
    ansi_color_output: bool = False

    def __init__(self, **parameters: Any) -> None:
        size = parameters.get("board_size")
        if isinstance(size, (int, np.integer)):  # The default depends on it.
            parameters = {"wall_count": size * size // 8, **parameters}
        super().__init__(**parameters)

    def setup(self) -> None:
        """Lay out the board."""
        size = self.board_size
        if not SMALLEST <= size <= LARGEST:
            raise ValueError(f"board_size must be from {SMALLEST} to {LARGEST}, got {size}.")
        if self.players != self.num_players:
            raise ValueError(f"players must be {self.num_players}, got {self.players}.")
        self.diameter = diameter = 2 * size - 1
        self.num_distinct_actions: int = diameter**2
        self.num_walls: int = 2 * (size - 1) ** 2
        self.max_actions: int = self.num_walls + 8
        self.max_game_length: int = 4 * size**2
        self.board_shape: tuple[int, int] = diameter, diameter
        # From a square to the walls below and on its right.
        self.firsts = np.array([diameter, 1])
        self.last: int = size - 1
        self.fields: dict[str, Any] = {
            **self.lay_out(size),
            **dict.fromkeys(("rows", "columns", "left"), (np.int64, 2)),
            **dict.fromkeys(("to_move", "moves", "winner"), np.int64),
        }

    def begin(self, state: Any) -> None:
        """Pawns in the middle of their sides, player 0's below."""
        self.build_border(state)
        state.rows[0] = self.last
        state.columns[:] = self.board_size // 2
        state.left[:] = self.wall_count
        state.winner = NO_ACTION

    def legal_actions(self, state: Any, actions: Any) -> int:
        """The pawn's moves, and every wall that can be built."""
        count, codes = 0, self.pawn_moves(state)
        while codes != 0:
            count = insert(actions, 0, count, self.action_of(codes & CODE))
            codes >>= CODE_BITS
        if state.left[state.to_move] <= 0:
            return count
        for line in range(2 * self.last):
            kind = HORIZONTAL if line & 1 == 1 else VERTICAL
            free = self.free_places(state, kind, line // 2)
            for column in range(self.last):
                if free >> column & 1 == 1 and self.leaves_ways(state, kind, line // 2, column):
                    action = line * self.diameter + 2 * column + (kind == VERTICAL)
                    count = insert(actions, 0, count, action)
        return count

    def play(self, state: Any, action: int) -> None:
        """Move the pawn, or build a wall."""
        player = state.to_move
        line, place = action // self.diameter, action % self.diameter
        if (line | place) & 1 == 1:
            kind = HORIZONTAL if line & 1 == 1 else VERTICAL
            self.build(state, kind, line // 2, place // 2)
            state.left[player] -= 1
        else:
            row, column = self.target(state, line // 2 - 1, place // 2 - 1)
            state.rows[player], state.columns[player] = row, column
            if row == player * self.last:
                state.winner = player
        state.moves += 1
        if state.moves >= self.max_game_length:
            state.winner = DRAWN
        state.to_move = 1 - player

    def draw(self, state: Any, stream: Any) -> int:
        """A pawn's move or a place for a wall, until that is legal."""
        codes = self.pawn_moves(state)
        count, rest = 0, codes
        while rest != 0:
            count += 1
            rest >>= CODE_BITS
        places = self.num_walls if state.left[state.to_move] > 0 else 0
        while True:
            drawn = random_below(stream, count + places)
            if drawn < count:
                return self.action_of(codes >> drawn * CODE_BITS & CODE)
            place, kind = (drawn - count) // 2, (drawn - count) & 1
            row, column = place // self.last, place % self.last
            free = self.free_places(state, kind, row) >> column & 1 == 1
            if free and self.leaves_ways(state, kind, row, column):
                return 2 * (row * self.diameter + column) + self.firsts[kind]

    def action_to_string_at(self, state: Any, player: int, action: int) -> str:
        """The square that a pawn gets to, or that a wall is at, and its kind."""
        line, place = divmod(action, self.diameter)
        kind = "v" if place % 2 == 1 else "h" if line % 2 == 1 else ""
        row, column = line // 2, place // 2
        if not kind:
            row, column = self.target(state, row - 1, column - 1)
        return cell_name(column, row) + kind

    def string_of(self, state: Any) -> str:
        """The board."""
        cells = self.board_planes(state, range(self.cell_kinds)).argmax(axis=0)
        return board_text(cells, state.left.tolist(), coloured=self.ansi_color_output)

    def drawn_board(self, state: Any, legal: Sequence[int]) -> Board:
        """Squares and the places of walls between them."""
        kinds: list[Content | None] = [None, ("pawn", 0), ("pawn", 1), ("wall", None)]
        cells = self.board_planes(state, range(self.cell_kinds)).argmax(axis=0).ravel()
        pawn = self.square(state.rows[state.to_move], state.columns[state.to_move])
        places: dict[int, int | Place] = {}
        for action in legal:
            line, place = divmod(action, self.diameter)
            is_wall = (line | place) & 1 == 1
            to = (0, 0) if is_wall else self.target(state, line // 2 - 1, place // 2 - 1)
            places[action] = action if is_wall else Place(self.square(*to), pawn)
        contents = [kinds[kind] for kind in cells.tolist()]
        return drawn_grid(contents, self.diameter, places, wide=0.8, first_is_wide=True)

    def square(self, row: int, column: int) -> int:
        """The place of a square in the grid."""
        return 2 * (int(row) * self.diameter + int(column))

    def describe_board(self, state: Any, cells: Any) -> None:
        """0 for an empty place of the grid, 1 and 2 for the pawns, and 3 for walls."""
        cells[:] = 0
        for row in range(self.last):
            for column in range(self.last):
                place = 2 * (row * self.diameter + column)
                for kind in range(2):
                    first, step = self.firsts[kind], self.firsts[1 - kind]
                    if state.walls[kind, row + 1] >> column & 1 == 1:
                        for part in range(3):
                            cells[place + first + part * step] = 3
        for player in range(2):
            cells[2 * (state.rows[player] * self.diameter + state.columns[player])] = 1 + player

    def observation(self, state: Any) -> Any:
        """Planes of both pawns, of nothing, and of how many walls each player has left."""
        planes = np.zeros((5, *self.board_shape), np.float32)
        planes[:2] = self.board_planes(state, (1, 2))
        planes[3:] = state.left[:, None, None]
        return planes
