"""Races to the last row: who has won though no piece has arrived yet.

A *runner* is a piece with a way to the last row that is safe whichever pieces the opponent moves:
no square of it can be captured when the runner is there, nor, where it goes straight, have a piece
on it, and the opponent arrives later (a race pattern, Saffidine, Jouandeau & Cazenave 2012).
"""

from typing import Any

import numpy as np

from rave_agents.games.bits import NONE
from rave_agents.games.winner import WinnerRules


class RaceRules(WinnerRules):
    """The common part of games with pieces that go one row ahead, as those of Breakthrough.

    A position has ``pieces``, a bitboard for each player: bit ``row * columns + column``. Rules
    call ``lay_rows`` when they are set up.
    """

    def lay_rows(self, rows: int, columns: int) -> None:
        """Find each player's last row, and from where a piece can go to each side."""
        squares = rows * columns
        every, last = (1 << squares) - 1, (1 << columns) - 1
        self.goals = np.array([last << squares - columns, last], np.uint64)
        edges = [sum(1 << row * columns + side for row in range(rows)) for side in (0, columns - 1)]
        self.inner = np.array([every & ~edges[0], every, every & ~edges[1]], np.uint64)
        self.ahead = np.array([columns - 1, columns, columns + 1], np.uint64)

    def after_step(self, pieces: Any, player: int, direction: int) -> Any:
        """The squares that pieces are on after a step in a direction, whatever stands there."""
        pieces &= self.inner[direction]
        if player == 0:
            return pieces << self.ahead[direction]
        return pieces >> self.ahead[2 - direction]

    def after_aslant(self, pieces: Any, player: int) -> Any:
        """The squares that pieces are on after a step aslant."""
        return self.after_step(pieces, player, 0) | self.after_step(pieces, player, 2)

    def foresee_end(self, state: Any, player: int, carrier: Any, room: Any) -> int:
        """The moves until a piece that nothing can stop is in the last row, of whoever has one."""
        other = 1 - player
        moves = self.moves_to_run(other, state.pieces[other], state.pieces[player], True)
        if moves != 0:
            return -moves
        return self.moves_to_run(player, state.pieces[player], state.pieces[other], False)

    def moves_to_run(self, player: int, own: Any, others: Any, first: bool) -> int:
        """The moves of both until a piece of a player's is in the last row for certain; else 0.

        Args:
            player: whose piece.
            own: the player's pieces.
            others: the opponent's.
            first: whether the player is to move.
        """
        runners, reached = own, others
        for step in range(self.board_shape[0]):
            if step > 0 or not first:
                # Where any of the opponent's pieces may be by now, each having made all moves.
                captures = self.after_aslant(reached, 1 - player)
                runners &= ~captures
                reached |= captures | self.after_step(reached, 1 - player, 1)
                if reached & self.goals[1 - player] != NONE:
                    return 0
            straight = self.after_step(runners, player, 1) & ~reached
            runners = ~own & (self.after_aslant(runners, player) | straight)
            if runners & self.goals[player] != NONE:
                return 2 * step + (1 if first else 2)
            if runners == NONE:
                return 0
        return 0
