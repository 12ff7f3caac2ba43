"""Playout moves chosen by the search's policy, for states that Python plays."""

import time
from collections.abc import Sequence
from typing import Any, Protocol

from rave_agents.compiler.layout import call_address
from rave_agents.simulate.frame import LOSES, WINS, Frame, Header
from rave_agents.simulate.simulator import DeadlinePassed, FrameTooSmall, PolicyFailed


class Player(Protocol):
    """A provider of playouts, as its policy's choices need it."""

    deadline: float
    """Time at which a simulation is dropped."""

    def child(self, state: Any, action: int) -> Any:
        """The position after an action."""

    def checked_returns(self, returns: Any) -> Sequence[float]:
        """A finished game's returns, checked."""


class MoveChoice:
    """Asks the policy of a frame for the moves of one playout.

    Args:
        frame: the frame, which names the policy.
        player: plays the playout.
        start: place of its first move in the frame.
    """

    def __init__(self, frame: Frame, player: Player, start: int) -> None:
        self._frame, self._header = frame, frame.header.data
        self._player = player
        # Moves before ``_written`` are in the frame already: each is written once.
        self._start = self._written = start
        self._header[Header.PLAYOUT_START] = start
        self._lookahead = int(self._header[Header.LOOKAHEAD])

    def choose(
        self,
        state: Any,
        player: int,
        actions: Sequence[int],
        players: Sequence[int],
        moves: Sequence[int],
    ) -> int:
        """The action that the policy chooses.

        Args:
            state: the position; None where players move at the same time.
            player: who moves.
            actions: the legal actions.
            players: who made the moves of the playout so far.
            moves: these moves.
        """
        header, (choices, known) = self._header, self._frame.choices
        self._write(players, moves)
        count = len(actions)
        if count > header[Header.ACTION_CAPACITY]:
            header[Header.REQUIRED_ACTIONS] = 2 * count
            raise FrameTooSmall
        choices[:count] = actions
        known[:count] = 0
        # Where players move at the same time, no position follows from one player's action.
        looks = 0 if state is None else self._lookahead
        if looks > 0:
            known[:count] = [WINS * self._wins(state, player, action) for action in actions]
        header[Header.CHOICE_PLAYER], header[Header.NUM_CHOICES] = player, count
        while True:
            header[Header.CHOSEN] = 0
            call_address(header[Header.CHOOSE], header[Header.CHOOSE_RECORD])
            place = header[Header.CHOSEN] - 1
            if not 0 <= place < count:
                raise PolicyFailed
            # A second look costs a position for each reply: only the chosen action gets it, and a
            # losing one is chosen again only if all others lose, too.
            if looks < 2 or known[place] != 0 or not self._loses(state, player, actions[place]):
                return actions[place]
            known[place] = LOSES  # Never cleared in this loop, so it ends after ``count`` rounds.

    def _write(self, players: Sequence[int], moves: Sequence[int]) -> None:
        """Write the moves so far to the frame."""
        header, frame, end = self._header, self._frame, self._start + len(moves)
        if end > header[Header.MOVE_CAPACITY]:
            header[Header.REQUIRED_MOVES] = 2 * end
            raise FrameTooSmall
        for place in range(self._written, end):
            frame.move_players[place] = players[place - self._start]
            frame.move_actions[place] = moves[place - self._start]
        self._written = header[Header.PLAYOUT_END] = end

    def _wins(self, state: Any, player: int, action: int) -> bool:
        """True if an action ends the game with more for the player than for any other."""
        if time.perf_counter() > self._player.deadline:
            raise DeadlinePassed
        child = self._player.child(state, action)
        if not child.is_terminal():
            return False
        returns = list(self._player.checked_returns(child.returns()))
        own = returns.pop(player)
        return len(returns) > 0 and own > max(returns)

    def _loses(self, state: Any, player: int, action: int) -> bool:
        """True if another player can win at once after an action."""
        child = self._player.child(state, action)
        other = child.current_player()
        if other < 0 or other == player:
            return False
        return any(self._wins(child, other, reply) for reply in child.legal_actions())
