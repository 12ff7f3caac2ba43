"""Steps the waiting simulations of one or many trees in one compiled call."""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from rave_agents.evaluators import leaves
from rave_agents.evaluators.batch import BatchArrays
from rave_agents.simulate.simulator import Status


class Member(Protocol):
    """A simulation that may wait, and its search."""

    compiled: tuple[int, Any] | None
    """Addresses of its ``advance`` and record; None if it must be called from Python."""
    version: int
    """Changes whenever ``compiled`` changes."""

    def call(self) -> int:
        """Take the step from Python; returns its ``Status``."""

    def handle(self, step: int, status: int) -> bool:
        """Handle the status of a step; returns whether to repeat the step."""


def bind_step(batch: BatchArrays) -> None:
    """Compile the functions that a ``LeafStepper`` calls."""
    table = leaves.StepTable(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(2, np.int64))
    leaves.advance_all.bound(table)
    batch.bind()


class LeafStepper:
    """Lets simulations take their steps together.

    Args:
        members: the simulations, in the order of their steps.
    """

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = members
        """The members."""
        self._versions: list[int] = []
        self._record: Any = None
        self._run: Callable[[int], int] | None = None

    def take_step(self, batch: BatchArrays, step: int) -> bool:
        """Let each member take a step, see ``evaluators/leaves.py``.

        Returns:
            Whether any member had to be handled.

        Raises:
            Exception: any exception of a member's ``call`` or ``handle``.
        """
        batch.begin(step)
        handled = False
        expected = int(Status.PENDING if step == leaves.SEEK else Status.DONE)
        place, end = 0, len(self.members)
        while place < end:
            if self.members[place].compiled is not None:
                place, status = self._run_compiled(place, expected)
                if place == end:
                    break
            if self.members[place].compiled is None:
                status = self.members[place].call()
            if status != expected:
                handled = True
                if self.members[place].handle(step, status):
                    continue
            place += 1
        return handled

    def _run_compiled(self, first: int, expected: int) -> tuple[int, int]:
        """Run members from ``first`` on until one has another status; returns its place and status.

        Members that must be called from Python have the address 0, which stops the compiled loop.
        """
        versions = [member.version for member in self.members]
        if self._run is None or versions != self._versions:
            self._versions = versions
            found = [member.compiled or (0, None) for member in self.members]
            records = [0 if record is None else ctypes.addressof(record) for _, record in found]
            self._record = leaves.StepTable(
                np.array([address for address, _ in found], np.int64),
                np.array(records, np.int64),
                np.zeros(2, np.int64),
            )
            self._run = leaves.advance_all.bound(self._record)
        self._record.expected[0] = expected
        place = self._run(leaves.from_to(first, len(self.members)))
        return place, int(self._record.expected[1])
