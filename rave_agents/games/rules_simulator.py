"""The provider of simulations of ``Rules``; see ``rave_agents.simulate.simulator``."""

import ctypes
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.games import machine, playing
from rave_agents.games.playing import RECORDS, ROOT
from rave_agents.games.rules import Rules
from rave_agents.simulate.frame import Frame, Header


class RulesSimulator:
    """A provider of simulations by compiled rules; interpreted with ``NUMBA_DISABLE_JIT=1``.

    Args:
        rules: the rules.
        root: the position, a record of shape [1], copied.
        frame: the buffers shared with the loop.
        interpreted: whether the rules run as plain Python.
    """

    def __init__(
        self,
        rules: Rules,
        root: NDArray[Any],
        frame: Frame,
        *,
        interpreted: bool = JIT_DISABLED,
    ) -> None:
        self.outside_interpreter: bool = not interpreted
        self.provider: str = "interpreted rules" if interpreted else "compiled rules"
        self.deadline: float = math.inf  # No simulation takes long enough to be stopped half-way.
        self.rules = rules
        own = RECORDS * rules.record_bytes
        # Words, so that each record and list begins at a whole one.
        self._memory = np.zeros(own // 8 + 2 * rules.max_actions, np.int64)
        memory = self._memory.view(np.uint8)
        size = rules.record.itemsize
        self._states = memory[: RECORDS * size].view(rules.record)
        lists = memory[own:]
        self._probabilities = lists[: 8 * rules.max_actions].view(np.float64)
        self._actions = lists[8 * rules.max_actions :].view(np.int32)
        self._states[ROOT] = root[0]
        self._error: BaseException | None = None
        if interpreted:
            self._callback = machine.CALLBACK(self._interpreted)
            self.address: int = ctypes.cast(self._callback, ctypes.c_void_p).value or 0
        else:
            self.address = machine.loaded(rules).address
        self.bind(frame)

    @property
    def root(self) -> NDArray[Any]:
        """The position, a record of shape [1]."""
        return self._states[ROOT : ROOT + 1]

    def bind(self, frame: Frame) -> None:
        """Use this frame from now on."""
        self.frame = frame
        frame.header[Header.PROVIDER] = self._memory.ctypes.data

    def raise_pending(self) -> None:
        """Raise what ended the last simulation: interpreted, the very error."""
        error, self._error = self._error, None
        raise error or RuntimeError(
            f"The compiled rules of {self.rules} have raised an exception; NUMBA_DISABLE_JIT=1 "
            "shows where."
        )

    def _interpreted(self, address: int) -> int:
        try:
            with np.errstate(over="ignore"):
                states = self._states.view(np.recarray)
                lists = self._actions, self._probabilities
                return int(playing.simulate(self.rules, states, *lists, self.frame))
        except BaseException as error:  # The search raises it.
            self._error = error
            return 0
