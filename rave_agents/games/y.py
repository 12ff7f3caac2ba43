"""The game of Y, as OpenSpiel has it: ``y(board_size=19)``.

Players put stones on the empty cells of a triangle of hexagons. The first to connect all three
sides wins; a corner belongs to both of its sides, and nobody draws (OpenSpiel, ``y.h``; Schensted
and Titus, "Mudcrack Y and Poly-Y"). Action ``row * board_size + column`` is a cell if row + column
is less than the size.

The winner is found by reduction (van Rijswijck, "Search and Evaluation in Hex", 2002): the majority
colour of each triangle of three cells becomes one cell of a smaller board, which the same player
wins; the last board is one cell. Empty cells count for the opponent. A row's stones are bits of a
word, so that a row is reduced at once.
"""

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from rave_agents.games.bridges import BridgeRules
from rave_agents.games.coordinates import cell_name

# The cells of size 3:
#
#   0 1 2
#    3 4
#     6


class Y(BridgeRules):
    """See the module."""

    name = "y"
    uncovered = "board_size above 62"
    exchange = "same"
    board_size: Annotated[int, Ge(1), Le(62)] = 19  # A row must fit into a word.

    def setup(self) -> None:
        """Lay out the rows."""
        size = self.board_size
        self.num_distinct_actions: int = size * size
        cells = [row * size + column for row in range(size) for column in range(size - row)]
        self.points = np.array(cells)
        self.max_actions = self.max_game_length = len(cells)
        self.placement = self.more_stones_never_hurt = True
        self.board_shape: tuple[int, int] = size, size
        rows, columns = np.indices((size, size))
        sides = np.array([rows == 0, columns == 0, rows + columns == size - 1])
        self.lay_bridges(rows + columns < size, sides, (0b111, 0b111))
        self.fields: dict[str, Any] = {
            **self.board_fields(size),
            **self.answer_fields,
            "reduced": (np.int64, size),
        }
        self.aside = (*self.aside, *self.answer_fields, "reduced")

    def toggle(self, state: Any, player: int, action: int) -> None:
        """Put a player's stone on a cell, or take it away."""
        state.lines[player, action // self.board_size] ^= np.int64(1) << action % self.board_size

    def is_empty(self, state: Any, action: int) -> bool:
        """True if a cell has no stone."""
        row = action // self.board_size
        return (state.lines[0, row] | state.lines[1, row]) >> action % self.board_size & 1 == 0

    def owns(self, state: Any, player: int, action: int) -> bool:
        """True if a cell has a player's stone."""
        row, column = action // self.board_size, action % self.board_size
        return bool(state.lines[player, row] >> column & 1 == 1)

    def is_connected(self, state: Any, player: int) -> bool:
        """True if reduction leaves a player's stone."""
        for row in range(self.board_size):
            state.reduced[row] = state.lines[player, row]
        for size in range(self.board_size - 1, 0, -1):
            # The majority of bits b and b + 1 of a row and bit b of the next one.
            one = state.reduced[0]
            for row in range(size):
                next_row = state.reduced[row + 1]
                state.reduced[row] = (one & (one >> 1)) | (next_row & (one | (one >> 1)))
                one = next_row
        return state.reduced[0] & 1 == 1

    def action_to_string(self, player: int, action: int) -> str:
        """The column's letter and the row's number."""
        return cell_name(action % self.board_size, action // self.board_size)

    def string_of(self, state: Any) -> str:
        """The board, each row half a cell further to the right."""
        rows = enumerate(self.board_rows(state, ".O@"))
        return "\n".join(" " * row + " ".join(signs[: len(signs) - row]) for row, signs in rows)

    def observation(self, state: Any) -> Any:
        """Planes of empty cells, stones of player 0, stones of player 1."""
        rows, columns = np.indices(self.board_shape)
        return self.board_planes(state, range(3)) * (rows + columns < self.board_size)
