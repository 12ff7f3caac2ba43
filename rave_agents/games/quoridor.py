"""Quoridor of two, as OpenSpiel has it: ``quoridor(board_size=9,wall_count=10)``.

Pawns start in the middle of opposite sides; the first to reach the other side wins. In a turn the
pawn steps to an adjacent square, jumping over the other pawn if it is there, or the player builds a
wall of the length of two squares; nobody may be cut off from their goal. A game is drawn after
4 * board_size² moves. Without ``wall_count`` a player has board_size² // 8 walls;
``ansi_color_output`` colours the text (OpenSpiel, ``quoridor.cc``). With more ``players`` OpenSpiel
lists some actions twice, and fails where one cannot move: such games are refused.

Actions number the places of a grid of 2 * board_size - 1 rows and columns, with squares at even
coordinates and walls between them. A wall is its left or upper half. A pawn's move is where it
would lead from (2, 2), and a jump straight ahead has the action of the step.

Walls: each is stored with the square at the upper left of its middle. A horizontal wall lies below
that square and the next one, a vertical one to the right of it and of the one below. Each row of
squares has a word of bits for each kind, and rows of horizontal walls close the board above and
below. Corners of squares that walls join form a group, and those around the board are one: only a
wall that joins corners of one group can enclose anything, so only then are paths looked for.

Pawns: a move is a code of four bits, ``5 + 3 * down + right``, and all moves of a pawn are one
word.
"""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from rave_agents.game.board import Board, Place
from rave_agents.games.coordinates import cell_name
from rave_agents.games.drawing import Content, drawn_grid
from rave_agents.games.kit.rules import DRAWN, NO_ACTION, WinnerRules, insert
from rave_agents.simulate.random_stream import random_below

HORIZONTAL, VERTICAL = 0, 1
"""The two kinds of walls."""


RIGHT, DOWN = np.array([1, 0, -1, 0]), np.array([0, 1, 0, -1])
"""Columns and rows of a step in each direction."""

CODE_BITS, CODE = 4, 15
"""Bits of a code, and all of them set."""


PLAIN = [""] * 4, [" 0 ", " @ ", " # ", " % "], ""
"""Colours of coordinates (below, above, left, right), pawns, and the end of a colour."""

COLOURS = [f"\033[1;{number}m" for number in range(33, 37)]

RESET = "\033[0m"

COLOURED = COLOURS, [f"{COLOURS[at]} {'O@#%'[at]} {RESET}" for at in range(4)], RESET
"""The same for terminals."""


def board_text(cells: Any, walls: Sequence[int], *, coloured: bool) -> str:
    """A grid of squares and walls, with its coordinates, under the numbers of walls left.

    Args:
        cells: [rows, columns] 0 for an empty place, one more than the pawn's player, or a wall.
        walls: how many walls each player has left, in the order of turns.
        coloured: write control characters for a terminal's colours.
    """
    colours, pawns, end = COLOURED if coloured else PLAIN
    size = (len(cells) + 1) // 2
    below, above = (
        "".join(f"   {colour}{cell_name(column, 0)[0]}" for column in range(size)) + end
        for colour in colours[:2]
    )
    lines = [f"Board size: {size}, walls: {', '.join(map(str, walls))}", above]
    for line, row in enumerate(cells.tolist()):
        signs = "".join(_sign(line, place, kind, pawns) for place, kind in enumerate(row))
        number = str(line // 2 + 1)
        sides = [f"{' ' * (2 - len(number))}{colour}{number}{end}" for colour in colours[2:]]
        lines.append(signs.join(sides if line % 2 == 0 else ["  ", "  "]))
    return "\n".join([*lines, below, ""])


def _sign(line: int, place: int, kind: int, pawns: Sequence[str]) -> str:
    """The text of one place of the grid."""
    if line % 2 == 0 and place % 2 == 0:
        return pawns[kind - 1] if kind > 0 else " . "
    wall = "+" if line % 2 == place % 2 else "|" if place % 2 == 1 else "---"
    return wall if kind > 0 else " " * len(wall)


# The grid of places:
#
#   s | s | s      s: squares
#   - + - + -      |: right of a square, place of a vertical wall
#   s | s | s      -: below a square, place of a horizontal wall
#   - + - + -      +: middle of a wall
#   s | s | s


class Quoridor(WinnerRules):
    """See the module."""

    name = "quoridor"
    uncovered = "more than 2 players, or board_size above 25"
    aside = ("groups", "reached")
    cell_kinds = 4
    board_size: Annotated[int, Ge(3), Le(25)] = 9
    wall_count: int = 10
    players: int = 2
    ansi_color_output: bool = False
    diameter: int
    """The length of a row of the grid of squares and walls."""

    def setup(self) -> None:
        """Lay out the board."""
        size = self.board_size
        if self.players != self.num_players:
            raise ValueError(f"players must be {self.num_players}, got {self.players}.")
        self.diameter = diameter = 2 * size - 1
        self.num_distinct_actions: int = diameter**2
        self.num_walls: int = 2 * (size - 1) ** 2
        self.max_actions: int = self.num_walls + 8
        self.max_game_length: int = 4 * size**2
        self.board_shape: tuple[int, int] = diameter, diameter
        # [kind] from a square's place in the grid to the first half of its wall.
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

    def lay_out(self, size: int) -> dict[str, Any]:
        """Number the corners; returns the fields that walls need.

        Player 0's goal is row 0, player 1's the last one.
        """
        self.size, self.row = size, (1 << size) - 1
        self.side: int = size + 1
        corners = np.arange(self.side**2).reshape(self.side, self.side)
        joined = np.zeros_like(corners)
        joined[1:-1, 1:-1] = corners[1:-1, 1:-1]
        self.corners = joined.ravel()
        # From the middle of a wall to its ends; corners have ``side`` columns.
        self.ends = np.array([1, self.side])
        return {
            "walls": (np.int32, (2, self.side)),
            "groups": (np.int16, self.side**2),
            "reached": (np.int32, size),
        }

    def build_border(self, state: Any) -> None:
        """Close the board above and below."""
        state.walls[HORIZONTAL, 0] = state.walls[HORIZONTAL, self.size] = self.row
        state.groups[:] = self.corners

    def passages(self, state: Any, row: int) -> Any:
        """A bit for each square of a row from which a step to the right is free."""
        # Row r of squares has word r + 1; a vertical wall reaches from its own row to the next.
        walls = state.walls[VERTICAL, row] | state.walls[VERTICAL, row + 1]
        return ~walls & (self.row >> 1)

    def doors(self, state: Any, row: int) -> Any:
        """A bit for each square of a row from which a step up is free."""
        # Word r holds the walls above row r; each covers its own square and the next one.
        walls = state.walls[HORIZONTAL, row]
        return ~(walls | walls << 1) & self.row

    def is_free(self, state: Any, row: int, column: int, direction: int) -> bool:
        """True if no wall is in the way to the right (0), down (1), to the left (2) or up (3)."""
        # Down is up from the row below, and left is right from the square before: shift by one.
        if direction & 1 == 1:
            return self.doors(state, row + (direction == 1)) >> column & 1 == 1
        return self.passages(state, row) << (direction >> 1) >> column & 1 == 1

    def build(self, state: Any, kind: int, row: int, column: int) -> None:
        """Add a wall, and make one group of the corners that it joins."""
        state.walls[kind, row + 1] |= 1 << column
        middle, end = (row + 1) * self.side + column + 1, self.ends[kind]
        groups = state.groups
        one, two, three = groups[middle - end], groups[middle], groups[middle + end]
        joined = min(one, two, three)
        for corner in range(self.side**2):
            group = groups[corner]
            if (group == one) | (group == two) | (group == three):
                groups[corner] = joined

    def free_places(self, state: Any, kind: int, row: int) -> Any:
        """A bit for each wall in a row of squares that would not cross or cover another."""
        walls, line = state.walls, row + 1
        taken = walls[HORIZONTAL, line] | walls[VERTICAL, line]
        if kind == HORIZONTAL:
            taken |= walls[kind, line] << 1 | walls[kind, line] >> 1
        else:
            taken |= walls[kind, line - 1] | walls[kind, line + 1]
        return ~taken & (self.row >> 1)

    def leaves_ways(self, state: Any, kind: int, row: int, column: int) -> bool:
        """True if both players have a path to their goal after a wall is built."""
        walls, line = state.walls, row + 1
        middle, end = line * self.side + column + 1, self.ends[kind]
        groups = state.groups
        joins = groups[middle - end] == groups[middle + end]
        joins |= groups[middle] in (groups[middle - end], groups[middle + end])
        if not joins:
            return True
        walls[kind, line] ^= 1 << column
        legal = self.has_way(state, 0) and self.has_way(state, 1)
        walls[kind, line] ^= 1 << column
        return legal

    def spread(self, state: Any, row: int, squares: Any) -> Any:
        """All squares of a row connected with the given ones, by doubled steps (Kogge-Stone)."""
        before = self.passages(state, row)
        after = before << 1
        left = right = squares
        step = 1
        while step < self.size:
            right |= after & right << step
            after &= after << step
            left |= before & left >> step
            before &= before >> step
            step *= 2
        return left | right

    def has_way(self, state: Any, player: int) -> bool:
        """True if a player's goal can be reached: rows are filled until none changes."""
        row, goal = state.rows[player], player * (self.size - 1)
        state.reached[row] = self.spread(state, row, np.int64(1) << state.columns[player])
        changed = np.int64(1) << row
        found = False
        while changed != 0 and not found:
            row = 0
            while changed >> row & 1 == 0:
                row += 1
            changed ^= np.int64(1) << row
            found = row == goal
            for down in (-1, 1):
                other = row + down
                if 0 <= other < self.size:
                    doors = self.doors(state, max(row, other))
                    new = state.reached[row] & doors & ~state.reached[other]
                    if new != 0:
                        state.reached[other] |= self.spread(state, other, new)
                        changed |= np.int64(1) << other
        state.reached[:] = 0
        return found

    def pawn_moves(self, state: Any) -> Any:
        """A word of all moves of the pawn of the player to move."""
        player = state.to_move
        row, column = state.rows[player], state.columns[player]
        other_row, other_column = state.rows[1 - player], state.columns[1 - player]
        moves = np.int64(0)
        for ahead in range(4):
            if self.is_free(state, row, column, ahead):
                right, down = RIGHT[ahead], DOWN[ahead]
                if row + down == other_row and column + right == other_column:
                    moves = self.add_jumps(state, other_row, other_column, ahead, moves)
                else:
                    moves = moves << CODE_BITS | 5 + 3 * down + right
        return moves

    def add_jumps(self, state: Any, row: int, column: int, ahead: int, moves: Any) -> Any:
        """Add the jumps over the other pawn: straight ahead, or to both sides if a wall blocks."""
        right, down = RIGHT[ahead], DOWN[ahead]
        if self.is_free(state, row, column, ahead):
            return moves << CODE_BITS | 5 + 3 * down + right
        for turn in (1, 3):
            aside = ahead + turn & 3
            if self.is_free(state, row, column, aside):
                code = 5 + 3 * (down + DOWN[aside]) + right + RIGHT[aside]
                moves = moves << CODE_BITS | code
        return moves

    def action_of(self, code: int) -> int:
        """The action of a pawn's move."""
        return (code - 1) // 3 * 2 * self.diameter + (code - 1) % 3 * 2

    def target(self, state: Any, down: int, right: int) -> Any:
        """The row and column that a pawn reaches: twice as far if the other pawn is there."""
        player = state.to_move
        row, column = state.rows[player] + down, state.columns[player] + right
        if row == state.rows[1 - player] and column == state.columns[1 - player]:
            return row + down, column + right
        return row, column

    def __init__(self, **parameters: Any) -> None:
        size = parameters.get("board_size")
        if isinstance(size, (int, np.integer)):  # The default depends on it.
            parameters = {"wall_count": size * size // 8, **parameters}
        super().__init__(**parameters)

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
        """A pawn's move or a place of a wall, drawn until it is legal."""
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
        cells = self.board_cells(state)
        return board_text(cells, state.left.tolist(), coloured=self.ansi_color_output)

    def drawn_board(self, state: Any, legal: Sequence[int]) -> Board:
        """Squares and the places of walls between them."""
        kinds: list[Content | None] = [None, ("pawn", 0), ("pawn", 1), ("wall", None)]
        cells = self.board_cells(state).ravel()
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
