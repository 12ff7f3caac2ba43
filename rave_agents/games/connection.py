"""Base of games in which somebody is connected as soon as the board is full.

Players put stones on empty cells in turn, and who connects first wins: on a full board exactly one
player is connected. So a playout draws stones for all empty cells, and finds by halving with which
stone the winner was, see ``bridge_playouts.py``.
"""

from typing import Any

import numpy as np

from rave_agents.games.kit.rules import NO_ACTION
from rave_agents.games.winner import WinnerRules


class ConnectionRules(WinnerRules):
    """The common part; a game has ``points``, ``toggle``, ``is_empty`` and ``is_connected``.

    Its record has ``board_fields``, and those of ``HexagonStones``.
    """

    aside: tuple[str, ...] = ("empty",)

    points: Any
    """int array: the actions that are cells, in ascending order."""

    def board_fields(self, *lines: int) -> dict[str, Any]:
        """The fields of a board whose stones lie in such an array of words for each player."""
        return {
            "lines": (np.int64, (2, *lines)),
            "empty": (np.int16, len(self.points)),
            "to_move": np.int64,
            "moves": np.int64,
            "winner": np.int64,
        }

    def begin(self, state: Any) -> None:
        """The board is empty, and nobody has won."""
        state.winner = state.last = NO_ACTION

    def toggle(self, state: Any, player: int, action: int) -> None:
        """Put a player's stone on a cell, or take it away."""
        raise NotImplementedError

    def is_empty(self, state: Any, action: int) -> bool:
        """True if a cell has no stone."""
        raise NotImplementedError

    def is_connected(self, state: Any, player: int) -> bool:
        """True if a player has won."""
        raise NotImplementedError

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty cell."""
        return self.list_empty(state, actions)

    def list_empty(self, state: Any, actions: Any) -> int:
        """Write the empty cells, without a branch; returns how many there are."""
        count = 0
        for action in self.points:
            actions[count] = action
            count += self.is_empty(state, action)
        return count

    def play(self, state: Any, action: int) -> None:
        """Put a stone of the player to move."""
        player = state.to_move
        self.toggle(state, player, action)
        if self.is_connected(state, player):
            state.winner = player
        state.last = action
        state.moves += 1
        state.to_move = 1 - player

    def winning_place(self, state: Any, count: int, first: int) -> int:
        """The place of the stone that connects the winner, whose first one is at ``first``."""
        low, high = 0, (count - 1 - first) // 2
        now = high
        while low < high:
            middle = (low + high) // 2
            for stone in range(min(now, middle) + 1, max(now, middle) + 1):
                action: Any = np.int64(state.empty[first + 2 * stone])
                self.toggle(state, state.winner, action)
            now = middle
            if self.is_connected(state, state.winner):
                high = middle
            else:
                low = middle + 1
        return first + 2 * low
