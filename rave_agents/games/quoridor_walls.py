"""The walls of Quoridor, and the ways that they leave.

A wall is told by the square at whose lower right corner its middle is: a horizontal one lies below
that square and the next one, a vertical one on the right of it and of the one below. Each row of
squares has a word of bits for each kind; rows of horizontal ones lie above and below the board.

Corners of squares that walls join are a group, and those around the board are one: only a wall
between corners of one group encloses anything, so that only then a way to each goal is looked for.
"""

from typing import Any

import numpy as np

from rave_agents.games.winner import WinnerRules

HORIZONTAL, VERTICAL = 0, 1
"""The two kinds of walls."""


class WallRules(WinnerRules):
    """The walls; the record has ``rows`` and ``columns`` of the pawns.

    Player 0 goes to row 0, player 1 to the last one.
    """

    def lay_out(self, size: int) -> dict[str, Any]:
        """Number the corners; returns the fields that walls need."""
        self.size, self.row = size, (1 << size) - 1
        self.side: int = size + 1
        corners = np.arange(self.side**2).reshape(self.side, self.side)
        joined = np.zeros_like(corners)
        joined[1:-1, 1:-1] = corners[1:-1, 1:-1]
        self.corners = joined.ravel()
        # From the middle of a wall to its ends.
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
        walls = state.walls[VERTICAL, row] | state.walls[VERTICAL, row + 1]
        return ~walls & (self.row >> 1)

    def doors(self, state: Any, row: int) -> Any:
        """A bit for each square of a row from which a step up is free."""
        walls = state.walls[HORIZONTAL, row]
        return ~(walls | walls << 1) & self.row

    def is_free(self, state: Any, row: int, column: int, direction: int) -> bool:
        """True if nothing is in the way to the right, down, to the left or up: 0 to 3."""
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
        """A bit for each wall in a row of squares that would cross and cover no other."""
        walls, line = state.walls, row + 1
        taken = walls[HORIZONTAL, line] | walls[VERTICAL, line]
        if kind == HORIZONTAL:
            taken |= walls[kind, line] << 1 | walls[kind, line] >> 1
        else:
            taken |= walls[kind, line - 1] | walls[kind, line + 1]
        return ~taken & (self.row >> 1)

    def leaves_ways(self, state: Any, kind: int, row: int, column: int) -> bool:
        """True if both players have a way to their goal after a wall is built."""
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
        """All squares of a row that are joined with some, by doubled steps (Kogge-Stone)."""
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
        """True if a player's goal can be reached; a row whose squares are more is looked at."""
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
