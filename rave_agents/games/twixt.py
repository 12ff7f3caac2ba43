"""TwixT, as OpenSpiel has it: ``twixt(board_size=8,ansi_color_output=True)``.

Players put pegs on empty cells, but neither on the opponent's border rows nor on corners. A new peg
is linked with the player's others a knight's move away, unless a link is in between. The first to
join the own border rows by links wins: player 0 from below to above, player 1 from the left to the
right. The game is drawn if the player to move has no cell left. The second player may take the
first peg over, by playing onto it: it goes where a quarter turn of the board brings it (OpenSpiel,
``twixtboard.cc``).

Action ``column * board_size + row`` is a cell, with rows counted from below. The board is stored
with a margin of two cells, which no link can leave. Each link marks the links that it would cross.
Linked pegs are a disjoint-set forest whose representatives know the border rows they reach.
"""

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from rave_agents.games.bits import lowest_bit
from rave_agents.games.coordinates import cell_name
from rave_agents.games.kit.rules import DRAWN, NO_ACTION, WinnerRules
from rave_agents.simulate.random_stream import random_below

DIRECTIONS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
"""Columns to the right and rows up of a link, clockwise."""

HALF = 4
"""Half a turn: link ``d`` from one peg is link ``d ^ HALF`` from the other."""

MARGIN = 2
"""Cells beyond each side of the board."""

EMPTY, OUTSIDE = 0, 3
"""Contents of a cell without a peg; pegs are one more than their player."""

JOINED = 3
"""Bits of both border rows of a player."""


def crossed_links(direction: int) -> list[tuple[int, int, int]]:
    """The links that one from (0, 0) crosses: column, row and direction, from both ends."""
    near = range(-3, 4)
    return [
        (column, row, other)
        for column in near
        for row in near
        for other, (right, up) in enumerate(DIRECTIONS)
        if _cross((0, 0), DIRECTIONS[direction], (column, row), (column + right, row + up))
    ]


def _cross(one: Any, two: Any, three: Any, four: Any) -> bool:
    """True if the ends of each of two lines lie on different sides of the other."""

    def side(a: Any, b: Any, c: Any) -> int:
        return int(np.sign((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])))

    first = side(one, two, three) * side(one, two, four)
    return first < 0 and side(three, four, one) * side(three, four, two) < 0


def link_planes(contents: Any, links: Any) -> Any:
    """For each player planes of pegs without links, of links to the right, and of pegs without one.

    Args:
        contents: [columns, rows] one more than the player where a peg is.
        links: [columns, rows] bits of the links.

    Returns:
        [players, 6, columns, rows] bools: pegs that have no links; those that have one in each of
        the first four directions; and those that lack one to a peg there, since it was crossed.
    """
    found = []
    for player in range(2):
        pegs = contents == player + 1
        to_right = [pegs & (links >> direction & 1 == 1) for direction in range(HALF)]
        lacks = np.zeros_like(pegs)
        for linked, (right, up) in zip(to_right, DIRECTIONS, strict=False):
            lacks |= pegs & np.roll(pegs, (-right, -up), (0, 1)) & ~linked
        found.append([pegs & (links == 0), *to_right, lacks])
    return np.array(found)


RED, BLUE, DEFAULT = "\033[91m", "\033[94m", "\033[0m"
"""Colours of player 0, of player 1, and of other text."""

NNE, ENE, ESE, SSE, SSW, WSW, WNW, NNW = range(8)
"""Directions of links."""

BEFORE = (
    ((-1, 0, ENE, "/"), (-1, -1, NNE, "/"), (0, 0, WNW, "_")),
    ((0, 0, NNE, "|"), (0, 0, NNW, "|")),
    ((1, 0, WNW, "\\"), (1, -1, NNW, "\\"), (0, 0, ENE, "_")),
)
"""Marks above a cell, on the left, in the middle and on the right: those of links of cells so many
columns and rows away, in a direction."""

BESIDE = (
    ((-1, -1, NNE, "|"), (0, 0, WSW, "_")),
    ((1, -1, NNW, "|"), (0, 0, ESE, "_")),
)
"""Marks on the left and on the right of a cell."""

AFTER = (
    ((1, -1, WNW, "\\"), (0, -1, NNW, "\\")),
    ((-1, -1, ENE, "_"), (1, -1, WNW, "_"), (0, 0, SSW, "|"), (0, 0, SSE, "|")),
    ((-1, -1, ENE, "/"), (0, -1, NNE, "/")),
)
"""Marks below a cell."""

INSTEAD = {(0, 0, NNW, "|"), (0, 0, SSE, "|")}
"""Marks that are left out beside others."""

# Directions of links, clockwise; link d from one peg is link d ^ 4 from the other:
#
#     7   0
#   6       1
#       .
#   5       2
#     4   3


class BoardText:
    """The text of one position.

    Args:
        owners: [columns, rows] 0 for an empty cell, else one more than the peg's player.
        links: [columns + 2, rows + 2] bits of the links of each cell, with an empty border.
        coloured: write control characters for a terminal's colours.
    """

    def __init__(self, owners: Any, links: Any, *, coloured: bool) -> None:
        self._owners, self._links, self._coloured = owners, links, coloured

    def lines(self) -> list[str]:
        """The board from above, with its coordinates; three lines for each row."""
        size = len(self._owners)
        letters = [self._in(RED, f"{chr(ord('a') + column)}  ") for column in range(size)]
        lines = ["     " + "".join(letters)]
        for row in reversed(range(size)):
            cells = [(column, row) for column in range(size)]
            number = str(size - row)
            start = " " * (3 - len(number)) + self._in(BLUE, number + " ")
            beside = [
                self._marks(cell, BESIDE[0]) + self._peg(*cell) + self._marks(cell, BESIDE[1])
                for cell in cells
            ]
            before, after = (
                "".join(self._marks(cell, place) for cell in cells for place in places)
                for places in (BEFORE, AFTER)
            )
            lines += ["    " + before, start + "".join(beside), "    " + after]
        return lines

    def _in(self, colour: str, text: str) -> str:
        return f"{colour}{text}{DEFAULT}" if self._coloured else text

    def _marks(self, cell: tuple[int, int], marks: Any) -> str:
        """The marks of one place beside a cell, or a space."""
        text = ""
        for mark in marks:
            column, row = cell[0] + mark[0], cell[1] + mark[1]
            if self._links[column + 1, row + 1] >> mark[2] & 1 and not (text and mark in INSTEAD):
                text += self._in((RED, BLUE)[self._owners[column, row] - 1], mark[3])
        return text or " "

    def _peg(self, column: int, row: int) -> str:
        """The text of a cell."""
        ends = 0, len(self._owners) - 1
        if self._owners[column, row] > 0:
            owner = self._owners[column, row] - 1
            return self._in((RED, BLUE)[owner], "xo"[owner])
        if column in ends:
            return " " if row in ends else self._in(BLUE, ".")
        return self._in(RED, ".") if row in ends else "."


BOTH = 2
"""The kind of cells that are open to both players; kinds 0 and 1 are open to one alone."""


class Twixt(WinnerRules):
    """See the module."""

    name = "twixt"
    aside = ("parents", "empty")
    board_size: Annotated[int, Ge(5), Le(24)] = 8
    ansi_color_output: bool = True

    def setup(self) -> None:
        """Lay out the board."""
        size = self.board_size
        self.num_distinct_actions: int = size * size
        self.max_actions: int = size * (size - 2)
        self.max_game_length: int = size * size - 3
        self.board_shape: tuple[int, int] = size, size
        fields = self.lay_out(size)
        self.playable = np.array([np.flatnonzero(self.open_to >> at & 1) for at in range(2)])
        inner = (size - 2) ** 2
        # Where the cells open to player 0 alone, to player 1 alone and to both begin in the list.
        self.firsts = np.array([inner, inner + 2 * (size - 2), 0])
        self.fields: dict[str, Any] = {
            **fields,
            "empty": (np.int16, size * size),
            "listed": (np.int64, 3),
            "left": (np.int64, 2),
            **dict.fromkeys(("to_move", "moves", "first", "swapped", "winner"), np.int64),
        }

    def begin(self, state: Any) -> None:
        """No pegs are there."""
        self.clear(state)
        state.left[:] = self.max_actions
        state.winner = NO_ACTION

    def lay_out(self, size: int) -> dict[str, Any]:
        """Number the cells; returns the fields that pegs and links need."""
        self.width = width = size + 2 * MARGIN
        columns, rows = np.divmod(np.arange(size * size), size)
        # [action] its cell on the board with margins.
        self.cells = (columns + MARGIN) * width + rows + MARGIN
        # [action] bit 0 if it is open to player 0, bit 1 if to player 1; corners are open to
        # nobody.
        inner_column, inner_row = ((at > 0) & (at < size - 1) for at in (columns, rows))
        self.open_to = inner_column + 2 * inner_row
        self.contents = np.full(width**2, OUTSIDE, np.int8)
        self.contents[self.cells[self.open_to > 0]] = EMPTY
        # [cell] bit 0 on the first border row of the player who may play there, bit 1 on the last.
        along = np.where(inner_column, rows, columns)
        self.borders = np.zeros(width**2, np.int8)
        self.borders[self.cells] = (along == 0) + 2 * (along == size - 1)
        self.steps = np.array([right * width + up for right, up in DIRECTIONS])
        crossed = [crossed_links(direction) for direction in range(len(DIRECTIONS))]
        self.crossed_cells = np.array([[x * width + y for x, y, _ in links] for links in crossed])
        self.crossed_bits = np.array([[1 << at for *_, at in links] for links in crossed], np.uint8)
        return {
            **dict.fromkeys(("contents", "borders"), (np.int8, width**2)),
            **dict.fromkeys(("links", "crossed"), (np.uint8, width**2)),
            "parents": (np.int16, width**2),
        }

    def clear(self, state: Any) -> None:
        """Make the board empty."""
        state.contents[:] = self.contents
        state.borders[:] = self.borders
        state.parents[:] = np.arange(self.width**2)

    def link(self, state: Any, cell: int) -> int:
        """Link a new peg with others; returns the bits of the border rows its set reaches."""
        own, linked = state.contents[cell], np.int64(0)
        for direction in range(len(DIRECTIONS)):
            other = state.contents[cell + self.steps[direction]]
            linked |= (1 if other == own else 0) << direction
        linked &= ~np.int64(state.crossed[cell])
        state.links[cell] = linked
        root: Any = np.int64(cell)
        while linked != 0:
            direction = lowest_bit(np.uint64(linked))
            linked &= linked - 1
            other = cell + self.steps[direction]
            state.links[other] |= 1 << (direction ^ HALF)
            for at in range(self.crossed_cells.shape[1]):
                crossed = cell + self.crossed_cells[direction, at]
                state.crossed[crossed] |= self.crossed_bits[direction, at]
            joined = self.root(state, other)
            if joined != root:
                state.parents[root] = joined
                state.borders[joined] |= state.borders[root]
                root = joined
        return state.borders[root]

    def root(self, state: Any, cell: int) -> Any:
        """The representative of a peg's set; halves the path there."""
        found: Any = np.int64(cell)
        while state.parents[found] != found:
            state.parents[found] = state.parents[state.parents[found]]
            found = np.int64(state.parents[found])
        return found

    def grid(self, values: Any) -> Any:
        """The cells with their margins, columns × rows."""
        return np.array(values).reshape(self.width, self.width)

    def observation(self, state: Any) -> Any:
        """Six planes for each player, seen from the own border rows, see ``link_planes``."""
        inside = slice(MARGIN, -MARGIN)
        planes = link_planes(self.grid(state.contents), self.grid(state.links))
        first, second = planes[:, :, inside, inside]
        turned = first[:, 1:-1, ::-1].transpose(0, 2, 1), second[:, ::-1, -2:0:-1]
        return np.concatenate(turned).astype(np.float32)

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty cell off the opponent's border rows; and at first the one to take over."""
        first = state.first if state.moves == 1 else NO_ACTION
        count = 0
        for action in self.playable[state.to_move]:
            actions[count] = action
            is_empty = state.contents[self.cells[action]] == EMPTY
            count += 1 if is_empty or action == first else 0
        return count

    def play(self, state: Any, action: int) -> None:
        """Put a peg, or take the first one over, and see whether the game is over."""
        player = state.to_move
        if state.moves == 0:
            state.first = action
        elif state.moves == 1 and action == state.first:
            state.swapped = 1
            self.change(state, action, EMPTY)
            column, row = action // self.board_size, action % self.board_size
            action = row * self.board_size + self.board_size - 1 - column
        self.change(state, action, 1 + player)
        if self.link(state, self.cells[action]) == JOINED:
            state.winner = player
        elif state.left[1 - player] == 0:
            state.winner = DRAWN
        state.moves += 1
        state.to_move = 1 - player

    def change(self, state: Any, action: int, content: int) -> None:
        """Put a peg onto a cell, or take one away, and count the cells that are left."""
        state.contents[self.cells[action]] = content
        for player in range(2):
            opened = self.open_to[action] >> player & 1
            state.left[player] += opened if content == EMPTY else -opened

    def playout(self, state: Any, players: Any, actions: Any, end: int, stream: Any) -> int:
        """Draw from lists of the empty cells."""
        listed = False
        while state.winner == NO_ACTION:
            if end == players.shape[0]:
                return -1
            if state.moves < 2:  # The second player may take the first peg over.
                count = self.legal_actions(state, state.empty)
                action: Any = np.int64(state.empty[random_below(stream, count)])
            else:
                if not listed:
                    self.list_empty(state)
                    listed = True
                action = self.drawn(state, stream)
            players[end] = state.to_move
            actions[end] = action
            end += 1
            self.play(state, action)
        return end

    def list_empty(self, state: Any) -> None:
        """List the empty cells: those open to player 0 alone, to player 1 alone, and to both."""
        state.listed[:] = 0
        for action in range(self.num_distinct_actions):
            if state.contents[self.cells[action]] == EMPTY:
                kind = self.open_to[action] - 1
                state.empty[self.firsts[kind] + state.listed[kind]] = action
                state.listed[kind] += 1

    def drawn(self, state: Any, stream: Any) -> int:
        """Draw one of the listed cells that are open to the player to move, and take it out."""
        both = state.listed[BOTH]
        place = random_below(stream, both + state.listed[state.to_move])
        kind = BOTH if place < both else state.to_move
        place += self.firsts[kind] - (0 if place < both else both)
        action: Any = np.int64(state.empty[place])
        state.listed[kind] -= 1
        state.empty[place] = state.empty[self.firsts[kind] + state.listed[kind]]
        return action

    def action_to_string(self, player: int, action: int) -> str:
        """The player's sign, the column's letter, and the row's number, from above."""
        column, row = divmod(action, self.board_size)
        return "xo"[player != 0] + cell_name(column, self.board_size - 1 - row)

    def string_of(self, state: Any) -> str:
        """The board, and below it whether the first peg was swapped and who has won."""
        around = slice(MARGIN - 1, 1 - MARGIN)
        owners = self.board_cells(state)
        links = self.grid(state.links)[around, around]
        lines = BoardText(owners, links, coloured=self.ansi_color_output).lines()
        ends = {NO_ACTION: "", 0: "[x has won]", 1: "[o has won]", DRAWN: "[draw]"}
        swapped = "[swapped]" if state.swapped else ""
        return "\n".join([*lines, "", swapped + ends[int(state.winner)]])

    def describe_board(self, state: Any, cells: Any) -> None:
        """0 for an empty cell or a corner, else one more than the peg's owner."""
        for action in range(cells.shape[0]):
            content = state.contents[self.cells[action]]
            cells[action] = EMPTY if content == OUTSIDE else content
