"""The provider of simulations of ``Rules``; see ``rave_agents.simulate.simulator``."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.errors import GameError
from rave_agents.game.endless import endless_game
from rave_agents.games import machine, playing
from rave_agents.games.playing import (
    BAD_COUNT,
    BAD_VALUE,
    ENDLESS,
    MOVE_ROOT,
    RECORDS,
    ROOT,
    Buffers,
)
from rave_agents.games.rules import Rules
from rave_agents.simulate.frame import Frame, Header, Status, Step
from rave_agents.simulate.python_callback import PythonCallback
from rave_agents.simulate.simulator import simulated


class RulesSimulator:
    """A provider of simulations by compiled rules; interpreted with ``NUMBA_DISABLE_JIT=1``.

    Args:
        rules: the rules.
        root: the position, a record of shape [1], copied.
        frame: the buffers shared with the loop.
        moves: the moves that have led to the root from the game's start, chance included;
            None if they are not known, so that ``set_root`` cannot go on from there.
        weights: the value function's own numbers, where the rules are judged and it has any.
        interpreted: whether the rules run as plain Python.
    """

    def __init__(
        self,
        rules: Rules,
        root: NDArray[Any],
        frame: Frame,
        *,
        moves: Sequence[int] | None = None,
        weights: NDArray[np.float32] | None = None,
        interpreted: bool = JIT_DISABLED,
    ) -> None:
        self.outside_interpreter: bool = not interpreted
        self.provider: str = "interpreted rules" if interpreted else "compiled rules"
        self.deadline: float = math.inf  # No simulation takes long enough to be stopped half-way.
        self.rules = rules
        self._moves = None if moves is None else list(moves)
        own = RECORDS * rules.record_bytes
        # Words, so that each record and list begins at a whole one.
        cells = -(-rules.num_board_cells // 8)
        self._memory = np.zeros(own // 8 + 2 * rules.max_actions + cells, np.int64)
        memory = self._memory.view(np.uint8)
        size = rules.record.itemsize
        self._states = memory[: RECORDS * size].view(rules.record)
        lists = memory[own:]
        self._probabilities = lists[: 8 * rules.max_actions].view(np.float64)
        self._actions = lists[8 * rules.max_actions : 12 * rules.max_actions].view(np.int32)
        self._cells = lists[16 * rules.max_actions :][: rules.num_board_cells].view(np.int8)
        self._weights = np.zeros(0, np.float32) if weights is None else weights
        self._states[ROOT] = root[0]
        self._callback: PythonCallback | None = None
        if interpreted:
            self._callback = PythonCallback(self._interpreted, frame.header.data, Header.STATUS)
        self._compiled_address = 0 if interpreted else machine.loaded(rules).address
        self.bind(frame)

    @property
    def root(self) -> NDArray[Any]:
        """The position, a record of shape [1]."""
        return self._states[ROOT : ROOT + 1]

    @property
    def address(self) -> int:
        """See ``Simulator``."""
        return self._compiled_address if self._callback is None else self._callback.address

    def bind(self, frame: Frame) -> None:
        """Use this frame from now on."""
        self.frame = frame
        frame.header[Header.PROVIDER] = self._memory.ctypes.data
        frame.header[Header.WEIGHTS] = self._weights.ctypes.data
        if self._callback is not None:
            self._callback.memory = frame.header.data
            frame.header[Header.IN_PYTHON] = 1
        named = {name: getattr(frame, name, None) for name in Buffers._fields}
        self._buffers = Buffers(**named | {"cells": self._cells, "weights": self._weights})

    def make_sensible(self) -> None:
        """From now on playouts leave out moves that make no sense, see ``Rules.make_sensible``."""
        self.rules.make_sensible(self.root.view(np.recarray)[0])

    def set_root(self, root: Any) -> bool:
        """Go on to a later position of the same game: only the moves since the last are played.

        Args:
            root: the position, a GameState with ``history``.

        Returns:
            Whether it leads on from the last root, and to the same player and legal actions there
            as ``root`` has. Otherwise a new provider is to be made.
        """
        moves = list(root.history())
        path, header = self.frame.path, self.frame.header
        if self._moves is None or moves[: len(self._moves)] != self._moves:
            return False
        header[Header.STEP], header[Header.EXPAND] = MOVE_ROOT, 1
        header[Header.CHECK_CHILDREN] = 0
        status = int(Status.DONE)
        for start in range(len(self._moves), max(len(moves), len(self._moves) + 1), len(path)):
            part = moves[start : start + len(path)]
            path[: len(part)] = part
            header[Header.PATH_LENGTH] = len(part)
            status = simulated(self, self.frame)
        header[Header.STEP] = Step.WHOLE
        self._moves = moves
        if status == Status.FAILED:
            self.raise_pending()
        legal = self.frame.actions[: header[Header.NUM_ACTIONS]].tolist()
        told = header[Header.PLAYER], legal
        return status == Status.DONE and told == (root.current_player(), root.legal_actions())

    def raise_pending(self) -> None:
        """Raise what ended the last simulation: interpreted, the very error."""
        header, rules = self.frame.header, self.rules
        told = {
            BAD_VALUE: f"The value function of {rules} must give each player a number from "
            f"{rules.min_utility:g} to {rules.max_utility:g}, the game's utilities: "
            f"got {self.frame.returns[0].tolist()}.",
            BAD_COUNT: f"Where the game goes on, {rules} must have from 1 to max_actions, "
            f"{rules.max_actions}, legal actions or outcomes of chance: it has "
            f"{header[Header.NUM_ACTIONS]}.",
        }
        code, header[Header.REQUIRED_MOVES] = int(header[Header.REQUIRED_MOVES]), 0
        if code == ENDLESS:
            needed = "player() must give TERMINAL at some time, whatever is played"
            raise endless_game(str(rules), needed=needed)
        if code in told:
            raise GameError(told[code])
        if self._callback is not None:
            self._callback.raise_error()
        raise RuntimeError(
            f"The compiled rules of {self.rules} have raised an exception; NUMBA_DISABLE_JIT=1 "
            "shows where."
        )

    def _interpreted(self, address: int) -> int:
        with np.errstate(over="ignore"):
            states = self._states.view(np.recarray)
            lists = self._actions, self._probabilities
            return int(playing.simulate(self.rules, states, *lists, self._buffers))
