"""The game of Y, as OpenSpiel has it: ``y(board_size=19)``.

Players put stones on the empty cells of a triangle of hexagons; who first connects all three sides,
corners belonging to both of theirs, wins, and nobody draws (OpenSpiel, ``y.h``; Schensted and
Titus, "Mudcrack Y and Poly-Y"). Action ``row * board_size + column`` is a cell if row and column
are less than the size together.

Who has won is found by reduction (van Rijswijck, "Search and Evaluation in Hex", 2002): of each
three cells beside one another, the colour of two or three goes to one cell of a board that is one
smaller, on which the same player has won; the last board is one cell. Empty cells count for the
opponent. A row's stones are bits of a word, so that each row is reduced at once.
"""

from typing import Any

import numpy as np

from rave_agents.games.bridge_playouts import BridgePlayouts
from rave_agents.games.coordinates import cell_name
from rave_agents.games.hexagons import owners

LARGEST = 62
"""The greatest size."""


class Y(BridgePlayouts):
    """See the module."""

    name = "y"
    exchange = "same"
    board_size: int = 19

    def setup(self) -> None:
        """Lay out the rows."""
        size = self.board_size
        if not 1 <= size <= LARGEST:
            raise ValueError(f"board_size must be from 1 to {LARGEST}, got {size}.")
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
        """True if a player's stones are those that reduction leaves."""
        for row in range(self.board_size):
            state.reduced[row] = state.lines[player, row]
        for size in range(self.board_size - 1, 0, -1):
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
        size, owned = self.board_size, owners(state.lines, self.board_size)
        rows = ([".O@"[owner] for owner in owned[row, : size - row]] for row in range(size))
        return "\n".join(" " * row + " ".join(signs) for row, signs in enumerate(rows))

    def observation(self, state: Any) -> Any:
        """Planes of empty cells, stones of player 0, stones of player 1."""
        owned = owners(state.lines, self.board_size)
        rows, columns = np.indices(owned.shape)
        on_board = rows + columns < self.board_size
        return np.array([(owned == owner) & on_board for owner in range(3)], np.float32)
