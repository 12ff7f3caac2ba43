"""The playout policy of a search, as a C function for providers of simulations."""

import ctypes
from typing import Any

from rave_agents.errors import FormulaError
from rave_agents.kernel.move_policies import choose_move, lookahead
from rave_agents.kernel.search import Search
from rave_agents.simulate.frame import Frame, Header
from rave_agents.simulate.python_callback import PythonCallback


class PlayoutPolicy:
    """Registers the policy in a frame's header; must be kept alive as long as the frame is used.

    Args:
        frame: the frame.
        search: the record of the search, whose arrays must not be reallocated meanwhile.
    """

    def __init__(self, frame: Frame, search: Search) -> None:
        header = frame.header
        self._header = header
        self._callback: PythonCallback | None = None
        placed = choose_move.placed(search)
        self._record: Any = None
        if placed is None:
            self._callback = PythonCallback(
                lambda _: choose_move.function(search, 0), header.data, Header.CHOSEN
            )
            header[Header.CHOOSE] = self._callback.address
        else:
            header[Header.CHOOSE], self._record = placed
            header[Header.CHOOSE_RECORD] = ctypes.addressof(self._record)
        header[Header.LOOKAHEAD] = lookahead(search.playouts.own)
        header[Header.CHOSEN] = 1

    def raise_error(self) -> None:
        """Raise the policy's exception, if it has ended a simulation."""
        if self._header[Header.CHOSEN] != 0:
            return
        if self._callback is not None:
            self._callback.raise_error()
        raise FormulaError("move_weight must return a number of at least 0.")
