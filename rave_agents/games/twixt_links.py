"""Pegs and links of TwixT, on a board with two cells more at each side.

All that a link can cross is inside, and each link marks what it crosses. Linked pegs are sets of a
disjoint-set forest whose representatives know the border rows that are reached.
"""

from typing import Any

import numpy as np

from rave_agents.games.bits import lowest_bit
from rave_agents.games.winner import WinnerRules

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


class LinkRules(WinnerRules):
    """The pegs and links. Cells are numbered by columns, from the left, and rows, from below."""

    def lay_out(self, size: int) -> dict[str, Any]:
        """Number the cells; returns the fields that pegs and links need."""
        self.width = width = size + 2 * MARGIN
        columns, rows = np.divmod(np.arange(size * size), size)
        # The cell of an action.
        self.cells = (columns + MARGIN) * width + rows + MARGIN
        # Bit 0 if it is open to player 0, bit 1 if to player 1.
        inner_column, inner_row = ((at > 0) & (at < size - 1) for at in (columns, rows))
        self.open_to = inner_column + 2 * inner_row
        self.contents = np.full(width**2, OUTSIDE, np.int8)
        self.contents[self.cells[self.open_to > 0]] = EMPTY
        # Bit 0 for the first border row of who may play there, bit 1 for the last.
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
        """Link a new peg with others; returns the border rows that it is joined with."""
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
        """The representative of a peg's set; the way there is made shorter."""
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


def crossed_links(direction: int) -> list[tuple[int, int, int]]:
    """The links that one from (0, 0) crosses: from where, and their direction; from both ends."""
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
