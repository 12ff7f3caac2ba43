"""The expander of ``Rules``; see ``rave_agents.simulate.expansion``."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.compiler.layout import call_address
from rave_agents.errors import GameError
from rave_agents.game.game_state import compiled_form
from rave_agents.games.kit import expanding, machine
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.games.kit.refusals import GUARD
from rave_agents.games.kit.values import JudgedRules
from rave_agents.simulate.expansion import Expansion, Place
from rave_agents.simulate.python_callback import PythonCallback

DEPTHS = 64
"""Positions that there is room for at first."""


class RulesExpander:
    """Expands positions by compiled rules; interpreted with ``NUMBA_DISABLE_JIT=1``.

    Args:
        state: the root, a ``RulesState``.
        expansion: the buffers shared with the solver.
        judged: the rules with a value function, which is asked of each position after a move.
        interpreted: whether the rules run as plain Python.
    """

    def __init__(
        self,
        state: Any,
        expansion: Expansion,
        judged: JudgedRules | None = None,
        *,
        interpreted: bool = JIT_DISABLED,
    ) -> None:
        self._game: BaseRules = state.rules
        self.rules: BaseRules = self._game if judged is None else judged.rules
        self._weights = np.zeros(0, np.float32) if judged is None else judged.weights
        self._make_state = type(state)
        self.outside_interpreter: bool = not interpreted
        room, players = self.rules.list_room, self.rules.num_players
        images = self.rules.num_images
        cells = self.rules.num_board_cells + self.rules.judging_room
        words = 2 * room + 2 * GUARD + players + 2 * images + cells // 8 + 1
        words += self.rules.foresight_room // 4 + 1
        self._lists = np.zeros(words, np.int64)
        bytes_of = self._lists.view(np.uint8)
        self._probabilities = bytes_of[: 8 * room].view(np.float64)
        self._listed = bytes_of[8 * room : 12 * room].view(np.int32)
        begin = 16 * room + 8 * GUARD
        self._scratch = bytes_of[begin : begin + 8 * players].view(np.float64)
        begin += 8 * (players + GUARD)
        self._sums = bytes_of[begin : begin + 16 * images].view(np.uint64)
        begin += 16 * images
        self._cells = bytes_of[begin : begin + cells].view(np.int8)
        begin += 8 * (cells // 8 + 1)
        self._room = bytes_of[begin : begin + 2 * self.rules.foresight_room].view(np.int16)
        self._words: NDArray[np.uint64] = np.zeros(0, np.uint64)
        self._callback: PythonCallback | None = None
        if interpreted:
            self._callback = PythonCallback(
                self._interpreted, expansion.header.data, int(Place.STATUS)
            )
        self._compiled = 0 if interpreted else machine.loaded(self.rules, expanding).address
        self._expansion = expansion
        self.reserve(DEPTHS)
        self.bind(expansion)
        self.set_root(state)

    @property
    def address(self) -> int:
        """See ``Expander``."""
        return self._compiled if self._callback is None else self._callback.address

    def bind(self, expansion: Expansion) -> None:
        """See ``Expander``."""
        self._expansion = expansion
        header = expansion.header
        header[Place.PROVIDER] = self._lists.ctypes.data
        header[Place.STACK] = self._words.ctypes.data
        header[Place.DEPTHS] = self._depths
        header[Place.JUDGES] = self.rules.is_judged
        header[Place.WEIGHTS] = self._weights.ctypes.data
        if self._callback is not None:
            self._callback.memory = header.data
            header[Place.IN_PYTHON] = 1
        lists = self._listed, self._probabilities, self._scratch, self._sums
        own = *lists, self._cells, self._room, self._weights
        self._listing = expanding.Listing(*expansion, *own)

    def reserve(self, depths: int) -> None:
        """See ``Expander``; there is room for one position more, to try moves in."""
        size = self.rules.record_bytes // 8
        words = np.zeros((depths + 1) * size, np.uint64)
        words[: len(self._words)] = self._words
        self._words, self._depths = words, depths
        self._states = words.view(np.uint8).view(self.rules.record).view(np.recarray)
        header = self._expansion.header
        header[Place.STACK], header[Place.DEPTHS] = words.ctypes.data, depths

    def set_root(self, state: Any) -> bool:
        """See ``Expander``."""
        found = compiled_form(state)
        if found is None or found.rules != self._game:
            return False
        self._states[0] = found.root[0]
        return True

    def root_key(self) -> tuple[int, int]:
        """See ``Expander``."""
        header = self._expansion.header
        before = header[Place.DEPTH]
        header[Place.DEPTH] = expanding.ROOT_KEY
        call_address(self.address, header.ctypes.data)
        header[Place.DEPTH] = before
        first, second = self._expansion.keys[:2].tolist()
        return first, second

    def raise_pending(self) -> None:
        """See ``Expander``: the rules are asked again as a state is, which tells what is wrong."""
        header = self._expansion.header
        depth = int(header[Place.DEPTH])
        state = self._make_state(self._game)
        state.change(lambda record: self._write(record, max(0, depth - 1)))
        if depth > 0:
            state.apply_action(int(header[Place.ACTION]))
        for action in state.legal_actions():
            state.clone().apply_action(action)
        if self._callback is not None:
            self._callback.raise_error()
        code, given = header[Place.REQUIRED_MOVES], header[Place.REQUIRED_ACTIONS]
        raise GameError(
            f"The rules of {self.rules} cannot be used by the solver (refusal {code}, {given})."
        )

    def _write(self, record: Any, depth: int) -> None:
        for name in self.rules.record.names or ():
            record[name] = self._states[depth][name]

    def _interpreted(self, address: int) -> int:
        with np.errstate(over="ignore"):
            return int(expanding.answer(self.rules, self._states, self._words, self._listing))
