"""One tree and its search, where an evaluator judges leaves in batches."""

import time
from typing import Any, NamedTuple

import numpy as np

from rave_agents.compiler.arrays import Axis
from rave_agents.config.root_noise import NoNoise
from rave_agents.errors import UnsupportedGameError
from rave_agents.evaluators import leaves
from rave_agents.evaluators.batch import BatchArrays
from rave_agents.evaluators.batch_evaluator import BatchEvaluator, Judged, judge
from rave_agents.kernel.alternating import Alternating
from rave_agents.kernel.search import Path, Search
from rave_agents.kernel.tree import ROOT
from rave_agents.searcher.tree_search import TreeSearch, new_frame
from rave_agents.simulate.python_simulator import PythonSimulator
from rave_agents.simulate.simulator import (
    Frame,
    Header,
    Simulator,
    Status,
    flat_frame,
    grown_frame,
)
from rave_agents.tree.composition import SearchedGame
from rave_agents.tree.search_tree import SearchTree
from rave_agents.tree.storage import allocated

SLICE_SECONDS = 0.02
"""How long batches are evaluated between two looks at the clock."""


class _Slot:
    """A simulation of its own that may wait: its frame, its provider and its path."""

    simulator: Simulator
    bound: "_Bound | None" = None

    def __init__(self, frame: Frame, *, logits: bool, virtual: bool) -> None:
        self.frame = frame
        self.control = leaves.new_control(logits=logits, virtual=virtual)
        self.row = 0
        """Where its rows begin in the batch, while it waits."""


class _Bound(NamedTuple):
    """The compiled functions for a slot, and what they work on."""

    record: leaves.LeafSearch
    seek: Any
    go_on: Any
    take_back: Any


class BatchedSearch(TreeSearch):
    """The search of one tree by simulations that wait for a batch to be evaluated.

    ``seek`` runs simulations until ``SearchConfig.leaves`` of them wait, and writes their positions
    to a batch. Once that is judged, ``go_on`` ends them. ``run_slice`` does both for this tree
    alone; ``searcher/together.py`` for many trees. Whoever calls ``seek`` calls ``go_on`` or
    ``take_back`` afterwards, so that the tree is whole.

    Args:
        evaluator: judges leaves.
    """

    def __init__(self, evaluator: BatchEvaluator) -> None:
        super().__init__(None)
        self.batch_evaluator = evaluator
        self._slots: list[_Slot] = []
        self._waiting: list[_Slot] = []
        self._batch: BatchArrays | None = None
        self._own_batch: BatchArrays | None = None
        self.observation_shape: tuple[int, ...] = ()
        """The shape of one observation; known once it is open."""

    def __getstate__(self) -> dict[str, Any]:
        """See ``TreeSearch``."""
        bound = {"_slots": [], "_waiting": [], "_batch": None, "_own_batch": None}
        return {**super().__getstate__(), **bound}

    @property
    def runs_in_parallel(self) -> bool:
        """Never: evaluators are asked by one thread."""
        return False

    @property
    def root_visits(self) -> int:
        """Simulations through the root, those of earlier searches included."""
        return int(self.tree.arrays.node_visits[ROOT]) if self.tree and self.has_root else 0

    @property
    def most_rows(self) -> int:
        """How many rows of a batch it may write at once."""
        game = self._game
        assert game is not None
        return game.config.leaves * (game.num_players if game.simultaneous else 1)

    @property
    def judged(self) -> Judged:
        """What the game says of values."""
        game = self._game
        assert game is not None
        return Judged(game.num_players, game.least_utility, game.greatest_utility, game.utility_sum)

    def new_batch(self, rows: int) -> BatchArrays:
        """Room for so many of this game's positions."""
        game = self._game
        assert game is not None
        return BatchArrays(
            rows,
            self.observation_shape,
            num_actions=game.num_actions,
            num_players=game.num_players,
        )

    def use(self, batch: BatchArrays) -> None:
        """Write to this batch from now on, after ``begin``."""
        if batch is not self._batch:
            self._batch = batch
            assert self._game is not None
            assert self.tree is not None
            self._bind(self._game, self.tree)

    def open(self) -> None:
        """See ``TreeSearch``; the other slots' providers are made here, too."""
        super().open()
        assert self._game is not None
        first, *others = self._slots
        for slot in others:
            if isinstance(first.simulator, PythonSimulator):
                slot.simulator = self._provider(self._game, slot.frame)
            else:
                slot.simulator = first.simulator
                slot.frame.header[Header.PROVIDER] = first.frame.header[Header.PROVIDER]

    def begin(self, *, simulations: float, deadline: float, memory_share: float) -> None:
        """See ``TreeSearch``."""
        super().begin(simulations=simulations, deadline=deadline, memory_share=memory_share)
        for slot in self._slots:
            slot.simulator.deadline = deadline

    def run_slice(self) -> bool:
        """Run for some milliseconds, at least one batch. Returns whether there is more to do.

        Raises:
            GameError: if the evaluator's answer is of no use.
            Exception: whatever the game's state or the evaluator raises, unchanged.
        """
        if self._own_batch is None or self._own_batch.rows != self.most_rows:
            self._own_batch = self.new_batch(self.most_rows)
        batch = self._own_batch
        self.use(batch)
        ends = time.perf_counter() + SLICE_SECONDS
        more = True
        while more and time.perf_counter() < ends:
            batch.count = 0
            try:
                more = self.seek()
                judge(self.batch_evaluator, batch, self.judged)
                self.go_on()
            finally:
                self.take_back()
        return more

    def seek(self) -> bool:
        """Run simulations until all slots wait or the search is over, and fill the batch.

        Returns:
            Whether there is more to do, with or without any that waits.

        Raises:
            FormulaError, Exception: see ``TreeSearch.run_slice``.
        """
        game, tree, batch = self._game, self.tree, self._batch
        assert game is not None
        assert tree is not None
        assert batch is not None
        room = game.num_players if game.simultaneous else 1
        for slot in self._slots:
            left = self._last - int(tree.path.simulations[0]) - len(self._waiting)
            if left <= 0 or batch.count + room > batch.rows or self._is_late(game):
                break
            if self._waiting and not tree.has_root:
                break  # The root is judged alone.
            status = self._seek_in(slot, left)
            if status == Status.PENDING:
                slot.row = batch.count
                batch.count += int(slot.control[leaves.ROWS])
                self._waiting.append(slot)
            elif status in (Status.STOPPED, Status.SOLVED):
                self.solved = status == Status.SOLVED
                return not self.solved and self._needs_worlds(game)
        return bool(self._waiting) or (
            self._last > int(tree.path.simulations[0]) and not self._is_late(game)
        )

    def _is_late(self, game: SearchedGame) -> bool:
        return time.perf_counter() >= self._deadline and not self._needs_worlds(game)

    def _seek_in(self, slot: _Slot, left: float) -> int:
        """Run a slot's simulations until one waits, and make room where it is needed."""
        game, tree, batch = self._game, self.tree, self._batch
        assert game is not None
        assert tree is not None
        assert batch is not None
        count = int(min(left, 2**62)) + int(tree.path.simulations[0])
        slot.control[leaves.LAST] = count
        while True:
            assert slot.bound is not None
            status = int(self._called(game, slot.bound.seek, batch.count))
            if status == Status.FAILED:
                slot.simulator.raise_pending()
            elif status == Status.FRAME_FULL:
                self._grow_slot(game, tree, slot)
            elif status == Status.TREE_FULL:
                self._grow_tree(game, tree, slot)
            else:
                return status

    def go_on(self) -> None:
        """End the simulations that wait, with the answers in the batch.

        Raises:
            FormulaError, Exception: see ``TreeSearch.run_slice``.
        """
        game, tree = self._game, self.tree
        assert game is not None
        assert tree is not None
        if len(self._waiting) > 1:
            for slot in self._waiting:  # New nodes and scales take visits that have a value.
                self._take_back(slot)
        while self._waiting:
            slot = self._waiting[0]
            assert slot.bound is not None
            status = self._called(game, slot.bound.go_on, slot.row)
            if status == Status.TREE_FULL:
                self._grow_tree(game, tree, slot)
                continue
            self._waiting.pop(0)
            if status == Status.FAILED:
                slot.simulator.raise_pending()
            elif status == Status.FRAME_FULL:
                self._grow_slot(game, tree, slot)
        if not tree.noised and not isinstance(game.config.root_noise, NoNoise):
            self._add_noise(game, tree)

    def take_back(self) -> None:
        """Drop the simulations that wait, as if they had not begun."""
        for slot in self._waiting:
            self._take_back(slot)
        self._waiting.clear()

    def _take_back(self, slot: _Slot) -> None:
        assert slot.bound is not None
        slot.bound.take_back(0)

    def _grow_tree(self, game: SearchedGame, tree: SearchTree, slot: _Slot) -> None:
        header = slot.frame.header
        tree.grow(int(max(header[Header.ACTION_CAPACITY], header[Header.REQUIRED_ACTIONS])))
        self._bind(game, tree)

    def _grow_slot(self, game: SearchedGame, tree: SearchTree, slot: _Slot) -> None:
        """Go on with larger buffers; the next search begins with small ones again."""
        provider = slot.frame.header[Header.PROVIDER]
        slot.frame = grown_frame(slot.frame)
        slot.frame.header[Header.PROVIDER] = provider
        if isinstance(slot.simulator, PythonSimulator):
            slot.simulator.bind(slot.frame)
        if slot is self._slots[0]:
            self._frame, self._flat_frame = slot.frame, flat_frame(slot.frame)
        self._frame_grown = True
        tree.fit_frame(slot.frame)
        self._bind(game, tree)

    def _make_simulator(self, game: SearchedGame, playout_stream: Any) -> None:
        config = game.config
        if config.leaves > 1 and not isinstance(game.parts.moves, Alternating):
            raise UnsupportedGameError(
                f"leaves={config.leaves} is for games in which one player moves at a time and "
                "nothing is hidden: leave it at 1, and search several games at once."
            )
        observe = getattr(self._root, "observation", None)
        if observe is None:
            raise UnsupportedGameError(
                f"{type(self._root).__name__} has no observation(player), which an evaluator of "
                "batches needs: an array of what the player sees, of one shape throughout a game."
            )
        self.observation_shape = np.shape(observe(self._player))
        size = int(np.prod(self.observation_shape, dtype=np.int64))
        logits, virtual = self.batch_evaluator.policy == "logits", config.leaves > 1
        self._slots, self._waiting = [], []
        for _ in range(config.leaves):
            frame = new_frame(game, playout_stream, playouts=0, observation=size)
            self._slots.append(_Slot(frame, logits=logits, virtual=virtual))
        first = self._slots[0]
        first.simulator = self._provider(game, first.frame)
        self._use_simulator(first.simulator, first.frame)

    def _bind_search(self, search: Search) -> None:
        """See ``TreeSearch``: the same for each slot."""
        if self._batch is None:
            return
        answers = self._batch.answers()
        # What has been judged gets its node: its priors come with its value.
        search = search._replace(settings=search.settings._replace(expand_visits=1))
        for slot in self._slots:
            if slot is not self._slots[0]:
                settings = search.settings._replace(
                    simulate_address=slot.simulator.address,
                    header_address=slot.frame.header.ctypes.data,
                )
                path = _path_beside(search.path, slot)
                flat = flat_frame(slot.frame)
                search = search._replace(frame=flat, path=path, settings=settings)
            slot.control[leaves.FIRST_ROW] = self._batch.address
            slot.bound = bound_leaf(leaves.LeafSearch(search, answers, slot.control))


def bound_leaf(record: leaves.LeafSearch) -> _Bound:
    """The compiled functions for a record."""
    return _Bound(
        record,
        leaves.seek.bound(record),
        leaves.go_on.bound(record),
        leaves.take_back.bound(record),
    )


def bind_leaves(search: Search) -> None:
    """Compile what a search with an evaluator of batches calls, see ``compile_search``."""
    answers = BatchArrays(1, (), num_actions=1, num_players=1).answers()
    bound_leaf(leaves.LeafSearch(search, answers, leaves.new_control(logits=True, virtual=False)))


def _path_beside(shared: Path, slot: _Slot) -> Path:
    """A path of a slot's own; what it holds already is kept. The count of simulations is shared."""
    header = slot.frame.header
    size = int(header[Header.PATH_CAPACITY] + header[Header.NUM_PLAYERS])
    sizes = {Axis.PATH: size, Axis.PLAYER: int(header[Header.NUM_PLAYERS]), Axis.ONE: 1}
    path: Path = allocated(Path, sizes)
    if slot.bound is not None:
        for new, old in zip(path, slot.bound.record.search.path, strict=True):
            new[: len(old)] = old
    return path._replace(simulations=shared.simulations)
