"""Tic-tac-toe, as OpenSpiel has it: ``tic_tac_toe``.

Players put crosses and noughts on a board of 3 rows and 3 columns; who first has three in a row
wins, and a full board is a draw (OpenSpiel, ``tic_tac_toe.h``).
"""

import json
from typing import Any

from rave_agents.games.alignment import AlignmentRules
from rave_agents.games.kit.rules import NO_ACTION

SIZE = 3
"""Rows, columns, and stones in a row that wins."""


class TicTacToe(AlignmentRules):
    """See the module."""

    name = "tic_tac_toe"
    exchange = "same"

    def setup(self) -> None:
        """Lay out the board."""
        self.lay_out((SIZE, SIZE), SIZE)

    def place_text(self, state: Any, text: str) -> None:
        """Set up a board in OpenSpiel's JSON, its cells in order."""
        owners = ["xo".find(sign) for sign in json.loads(text)["board"]]
        for player in range(2):
            for cell, owner in enumerate(owners):
                if owner == player:
                    state.to_move = player
                    winner = state.winner
                    self.play(state, cell)
                    state.winner = state.winner if winner == NO_ACTION else winner
        state.to_move = state.moves % 2
