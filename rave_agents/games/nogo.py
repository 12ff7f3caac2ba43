"""NoGo as a GameState."""

from collections.abc import Hashable, Sequence
from typing import Self

import numpy as np

from rave_agents.game.arguments import is_integer
from rave_agents.game.game_state import PlayerId
from rave_agents.games import nogo_rules as rules
from rave_agents.games.coordinates import point_name, point_number
from rave_agents.games.nogo_simulator import NoGoSimulator, prepare
from rave_agents.simulate.python_simulator import Evaluator, PythonSimulator
from rave_agents.simulate.simulator import Frame, Simulator

DEFAULT_SIZE = 9
"""The size of the board where none is given."""

_SYMBOLS = {rules.BLACK: "X", rules.WHITE: "O", rules.EMPTY: "."}


class NoGoState:
    """A position of NoGo: Go's stones, but captures and suicide are not legal, and nobody passes.

    Player 0 has the black stones and begins. A player who has to move and has no legal move
    loses: the returns are 1 for the winner and -1 for the loser. Action 0 is the point a1, at the
    lower left; actions go to the right and then upwards.

    Args:
        board_size: points on a side, from 2 to 19.

    Raises:
        TypeError, ValueError: for a size that is not allowed.
    """

    def __init__(self, board_size: int = DEFAULT_SIZE) -> None:
        if not is_integer(board_size):
            raise TypeError(f"board_size must be an integer, got {board_size!r}.")
        if not rules.SMALLEST <= board_size <= rules.LARGEST:
            raise ValueError(
                f"board_size must be from {rules.SMALLEST} to {rules.LARGEST}, got {board_size!r}."
            )
        prepare()
        self.board_size: int = int(board_size)
        """Points on a side."""
        self._board = rules.empty_board(self.board_size)
        self._history: list[int] = []
        self._legal: list[int] | None = None

    def clone(self) -> Self:
        """A copy that shares nothing that can change with this state."""
        copied = type(self).__new__(type(self))
        copied.board_size = self.board_size
        copied._board = self._board.copy()
        copied._history = self._history.copy()
        copied._legal = self._legal
        return copied

    def current_player(self) -> int:
        """0 for Black, 1 for White, or ``PlayerId.TERMINAL``."""
        return int(PlayerId.TERMINAL) if self.is_terminal() else self._mover

    @property
    def _mover(self) -> int:
        return int(self._board[rules.INFO, rules.PLAYER])

    def is_terminal(self) -> bool:
        """Whether the player to move has no legal move."""
        return not self.legal_actions()

    def is_chance_node(self) -> bool:
        """There is no chance in NoGo: False."""
        return False

    def legal_actions(self) -> list[int]:
        """The points where the player to move may play, in ascending order."""
        if self._legal is None:
            actions = np.empty(self.num_distinct_actions(), np.int32)
            self._legal = actions[: rules.list_moves(self._board, actions)].tolist()
        return self._legal.copy()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """None: there is no chance in NoGo."""
        return []

    def apply_action(self, action: int) -> None:
        """Put a stone of the player to move on a point.

        Raises:
            ValueError: if that is not legal.
        """
        if action not in self.legal_actions():
            raise ValueError(f"Action {action} is not legal; legal are {self.legal_actions()}.")
        rules.play(self._board, rules.cell_of(self._board, int(action)))
        self._history.append(int(action))
        self._legal = None

    def returns(self) -> list[float]:
        """1 for the winner and -1 for the loser; 0 for both while the game goes on."""
        if not self.is_terminal():
            return [0.0, 0.0]
        return [-1.0, 1.0] if self._mover == rules.BLACK else [1.0, -1.0]

    def num_players(self) -> int:
        """Two."""
        return 2

    def num_distinct_actions(self) -> int:
        """The number of points."""
        return self.board_size**2

    def min_utility(self) -> float:
        """A loss: -1."""
        return -1.0

    def max_utility(self) -> float:
        """A win: 1."""
        return 1.0

    def utility_sum(self) -> float:
        """0: what one player wins the other loses."""
        return 0.0

    def action_to_string(self, player: int, action: int) -> str:
        """The point in Go's coordinates: a column's letter without i, and a row's number."""
        return point_name(action % self.board_size, action // self.board_size)

    def string_to_action(self, text: str) -> int:
        """The action that plays at this point.

        Raises:
            ValueError: if there is no such point.
        """
        column, row = point_number(text)
        if max(column, row) >= self.board_size:
            raise ValueError(f"There is no point {text!r} on a board of size {self.board_size}.")
        return row * self.board_size + column

    def position_key(self) -> Hashable:
        """The size of the board and the moves so far."""
        return self.board_size, tuple(self._history)

    def history(self) -> list[int]:
        """The moves so far."""
        return self._history.copy()

    def colours(self) -> Sequence[int]:
        """For each action the colour of its point: 0 black, 1 white, 2 empty."""
        inside = self._board[rules.COLOUR] != rules.EDGE
        return self._board[rules.COLOUR, inside].tolist()

    def simulator(self, frame: Frame, evaluator: Evaluator | None) -> Simulator:
        """The provider of simulations: compiled, unless an evaluator judges the leaves."""
        if evaluator is None:
            return NoGoSimulator(self._board, frame)
        actions = self.num_distinct_actions()
        return PythonSimulator(
            self.clone(), frame, num_distinct_actions=actions, evaluator=evaluator
        )

    def __str__(self) -> str:
        colours = self.colours()
        lines = []
        for row in reversed(range(self.board_size)):
            stones = colours[row * self.board_size : (row + 1) * self.board_size]
            lines.append(f"{row + 1:2} " + " ".join(_SYMBOLS[stone] for stone in stones))
        letters = [point_name(column, 0)[0].upper() for column in range(self.board_size)]
        return "\n".join([*lines, "   " + " ".join(letters)])
