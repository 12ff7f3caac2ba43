"""Slots: simulations of one tree that may wait for a batch, each with its own frame."""

import itertools
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from rave_agents.compiler.arrays import Axis
from rave_agents.evaluators import leaves
from rave_agents.evaluators.batch import BatchArrays
from rave_agents.evaluators.cache import EvaluationCache
from rave_agents.kernel.search import Path, Search
from rave_agents.searcher.leaf_stepper import bind_step
from rave_agents.simulate.simulator import Frame, Header, Simulator, SimulatorAbilities
from rave_agents.tree.pruning import WaitingPath
from rave_agents.tree.storage import allocated


class SlotOwner(Protocol):
    """The search that owns a slot and handles the results of its steps."""

    def called(self, function: Callable[[int], int]) -> int:
        """Call a kernel function."""

    def handle(self, slot: "Slot", step: int, status: int) -> bool:
        """Handle the status of a step; returns whether to repeat the step."""


_versions = itertools.count(1)


class Slot:
    """A simulation that may wait: its frame, its provider and its path.

    It is a ``Member`` of a ``LeafStepper``.
    """

    simulator: Simulator
    record: leaves.LeafSearch
    compiled: tuple[int, Any] | None
    bound: Callable[[int], int]

    def __init__(self, owner: SlotOwner, frame: Frame, *, virtual: bool) -> None:
        self.owner, self.frame = owner, frame
        self.control = leaves.new_control(virtual=virtual)
        self.version: int = 0

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

    def call(self) -> int:
        """Take a step from Python."""
        return self.owner.called(self.bound)

    def handle(self, step: int, status: int) -> bool:
        """Handle the status of a step; returns whether to repeat the step."""
        return self.owner.handle(self, step, status)


def bind_leaves(search: Search) -> None:
    """Compile the functions of a search with an evaluator of batches, see ``compile_search``."""
    cache = EvaluationCache(1, keeps=False)
    batch = BatchArrays(1, (), num_actions=1, num_players=1, logits=True, cache=cache)
    control = leaves.new_control(virtual=False)
    waiting = np.zeros(1, np.int64)
    record = leaves.LeafSearch(search, batch.answers(), cache.arrays, waiting, control)
    if leaves.advance.placed(record) is None:
        leaves.advance.bound(record)
    bind_step(batch)


def path_beside(shared: Path, slot: Slot) -> Path:
    """A separate path for a slot, keeping its content; the count of simulations is shared."""
    header = slot.frame.header
    size = int(header[Header.PATH_CAPACITY] + header[Header.NUM_PLAYERS])
    sizes = {Axis.PATH: size, Axis.PLAYER: int(header[Header.NUM_PLAYERS]), Axis.ONE: 1}
    path: Path = allocated(Path, sizes)
    if hasattr(slot, "record"):
        for new, old in zip(path, slot.record.search.path, strict=True):
            new[: len(old)] = old
    return path._replace(simulations=shared.simulations)
