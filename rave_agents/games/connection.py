"""Base of games in which somebody is connected as soon as the board is full.

Players put stones on empty cells in turn, and who connects first wins: on a full board exactly one
player is connected. So a playout draws stones for all empty cells, and finds by halving with which
stone the winner was.
"""

from typing import Any

import numpy as np

from rave_agents.games.kit.rules import NO_ACTION
from rave_agents.games.winner import WinnerRules
from rave_agents.simulate.random_stream import random_below


class ConnectionRules(WinnerRules):
    """The common part; a game has ``points``, ``toggle``, ``is_empty`` and ``is_connected``."""

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
        state.winner = NO_ACTION

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
        state.moves += 1
        state.to_move = 1 - player

    def playout(self, state: Any, players: Any, actions: Any, end: int, stream: Any) -> int:
        """Draw stones for all empty cells, and keep those up to the winning one."""
        count = self.legal_actions(state, state.empty)
        if end + count > players.shape[0]:
            return -1
        first = state.to_move
        for place in range(count):
            drawn = place + random_below(stream, count - place)
            action: Any = np.int64(state.empty[drawn])
            state.empty[drawn] = state.empty[place]
            state.empty[place] = action
            player = (first + place) & 1
            self.toggle(state, player, action)
            players[end + place] = player
            actions[end + place] = action
        state.winner = 0 if self.is_connected(state, 0) else 1
        return end + self.winning_place(state, count, first ^ state.winner) + 1

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
