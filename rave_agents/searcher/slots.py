"""Slots: simulations of one tree that may wait for a batch, and the steps they take together."""

import ctypes
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rave_agents.compiler.arrays import Array, Axis
from rave_agents.evaluators import leaves
from rave_agents.evaluators.batch import BatchArrays
from rave_agents.evaluators.cache import EvaluationCache
from rave_agents.kernel.search import Path, Search
from rave_agents.simulate.simulator import Frame, Header, Simulator, SimulatorAbilities, Status
from rave_agents.tree.pruning import WaitingPath
from rave_agents.tree.storage import allocated

_versions = itertools.count(1)


class Slot:
    """A simulation that may wait: its frame, its provider and its path.

    Args:
        owner: the ``BatchedSearch`` that it belongs to.
        frame: the buffers shared with its provider.
        virtual: True to count a virtual visit on its path while it waits.
    """

    simulator: Simulator
    record: leaves.LeafSearch
    bound: Callable[[int], int]
    compiled: tuple[int, Any] | None
    """Addresses of its ``advance`` and record; None if it must be called from Python."""

    def __init__(self, owner: Any, frame: Frame, *, virtual: bool) -> None:
        self.owner: Any = owner
        self.frame: Frame = frame
        self.control: Array = leaves.new_control(virtual=virtual)
        self.version: int = 0
        """Changes whenever ``compiled`` changes."""

    def bind(self, record: leaves.LeafSearch) -> None:
        """Use this record from now on."""
        self.record = record
        self.version = next(_versions)
        in_slices = SimulatorAbilities(self.simulator).slice is not None
        self.compiled = None if in_slices else leaves.advance.placed(record)
        if self.compiled is None:
            self.bound = leaves.advance.bound(record)

    @property
    def waits(self) -> bool:
        """True if its simulation waits for an answer."""
        return bool(self.control[leaves.WAITING] != leaves.NOT_WAITING)

    @property
    def path(self) -> WaitingPath:
        """The rows on the path of its simulation."""
        path, depth = self.record.search.path, int(self.frame.header[Header.PATH_LENGTH])
        rows = path.nodes, path.edges, path.entries, self.frame.path_nodes
        return WaitingPath(*(array[:depth] for array in rows))


class SlotSteps:
    """Lets slots of one or many trees take their steps in one compiled call.

    Args:
        slots: the slots, in the order of their steps.
    """

    def __init__(self, slots: Sequence[Slot]) -> None:
        self.slots = slots
        """The slots."""
        self._versions: list[int] = []
        self._record: Any = None
        self._run: Callable[[int], int] | None = None

    def take(self, batch: BatchArrays, step: int) -> bool:
        """Let each slot take a step, see ``evaluators/leaves.py``.

        Returns:
            Whether any slot had to be handled by its owner.

        Raises:
            Exception: any exception of a game, an evaluator or a custom part.
        """
        batch.begin(step)
        handled = False
        expected = int(Status.PENDING if step == leaves.SEEK else Status.DONE)
        place, end = 0, len(self.slots)
        while place < end:
            if self.slots[place].compiled is not None:
                place, status = self._run_compiled(place, expected)
                if place == end:
                    break
            slot = self.slots[place]
            if slot.compiled is None:
                status = slot.owner.called(slot.bound)
            if status != expected:
                handled = True
                if slot.owner.handle(slot, step, status):
                    continue
            place += 1
        return handled

    def _run_compiled(self, first: int, expected: int) -> tuple[int, int]:
        """Run slots from ``first`` on until one has another status; returns its place and status.

        Slots that must be called from Python have the address 0, which stops the compiled loop.
        """
        versions = [slot.version for slot in self.slots]
        if self._run is None or versions != self._versions:
            self._versions = versions
            found = [slot.compiled or (0, None) for slot in self.slots]
            records = [0 if record is None else ctypes.addressof(record) for _, record in found]
            self._record = leaves.StepTable(
                np.array([address for address, _ in found], np.int64),
                np.array(records, np.int64),
                np.zeros(2, np.int64),
            )
            self._run = leaves.advance_all.bound(self._record)
        self._record.expected[0] = expected
        place = self._run(leaves.from_to(first, len(self.slots)))
        return place, int(self._record.expected[1])


def bind_leaves(search: Search) -> None:
    """Compile the functions of a search with an evaluator of batches, see ``compile_search``."""
    cache = EvaluationCache(1, keeps=False)
    batch = BatchArrays(1, (), num_actions=1, num_players=1, logits=True, cache=cache)
    control = leaves.new_control(virtual=False)
    waiting = np.zeros(1, np.int64)
    record = leaves.LeafSearch(search, batch.answers(), cache.arrays, waiting, control)
    if leaves.advance.placed(record) is None:
        leaves.advance.bound(record)
    table = leaves.StepTable(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(2, np.int64))
    leaves.advance_all.bound(table)
    batch.bind()


def separate_path(shared: Path, slot: Slot) -> Path:
    """A separate path for a slot, keeping its content; the count of simulations is shared."""
    header = slot.frame.header
    size = int(header[Header.PATH_CAPACITY] + header[Header.NUM_PLAYERS])
    sizes = {Axis.PATH: size, Axis.PLAYER: int(header[Header.NUM_PLAYERS]), Axis.ONE: 1}
    path: Path = allocated(Path, sizes)
    if hasattr(slot, "record"):
        for new, old in zip(path, slot.record.search.path, strict=True):
            new[: len(old)] = old
    return path._replace(simulations=shared.simulations)
