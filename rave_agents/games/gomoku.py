"""Gomoku, as OpenSpiel has it: ``gomoku(size=15,dims=2,connect=5,anti=False,wrap=False)``.

Players put stones on a grid of ``dims`` dimensions with ``size`` cells a side. The first row of
``connect`` or more wins, or loses with ``anti``, and a full grid is a draw. With ``wrap`` lines go
on at the opposite side (OpenSpiel, ``gomoku.h``). Actions count the cells, the last dimension
first.
"""

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from rave_agents.games.alignment import AlignmentRules
from rave_agents.games.kit.rules import DRAWN


class Gomoku(AlignmentRules):
    """See the module."""

    name = "gomoku"
    uncovered = "dims above 4, size above 62 (31 with wrap) or 4096 cells"
    exchange = "same"
    size: int = 15
    dims: Annotated[int, Ge(1), Le(4)] = 2
    connect: int = 5
    anti: bool = False
    wrap: bool = False

    def setup(self) -> None:
        """Lay out the grid."""
        self.lay_out((self.size,) * self.dims, self.connect, wrap=self.wrap)

    def returns(self, state: Any, returns: Any) -> None:
        """1 for the winner, -1 for the other."""
        reverse = self.anti and state.winner != DRAWN
        self.write_winner(returns, 1 - state.winner if reverse else state.winner)

    def action_to_string(self, player: int, action: int) -> str:
        """The cell's coordinates."""
        return ",".join(map(str, np.unravel_index(action, (self.size,) * self.dims)))

    def string_of(self, state: Any) -> str:
        """The player to move, and the cells; in two dimensions row by row."""
        mover, rows = "BW"[state.to_move], self.board_rows(state, ".bw")
        return "\n".join([mover, *rows, ""]) if self.dims == 2 else mover + "".join(rows)

    def observation(self, state: Any) -> Any:
        """Planes of black stones, white stones, and whether Black is to move."""
        owned = self.board_planes(state, (1, 2)).reshape(2, self.num_cells)
        moves = np.full((1, self.num_cells), self.player(state) == 0, np.float32)
        return np.concatenate([owned, moves])
