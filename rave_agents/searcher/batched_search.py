"""Search of one tree with an evaluator that judges leaves in batches."""

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.config.root_noise import NoNoise
from rave_agents.errors import UnsupportedGameError
from rave_agents.evaluators import leaves
from rave_agents.evaluators.batch import BatchArrays
from rave_agents.evaluators.batch_evaluator import BatchEvaluator, evaluate
from rave_agents.evaluators.cache import EvaluationCache
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.utility_limits import UtilityLimits
from rave_agents.searcher.part_errors import is_part_failure, no_scores, part_failed
from rave_agents.searcher.provider import check_rows, make_simulator, new_frame
from rave_agents.searcher.slots import Slot, SlotSteps, separate_path
from rave_agents.searcher.tree_search import TreeSearch
from rave_agents.simulate.python_callback import CallbackFailedError
from rave_agents.simulate.simulator import Header, Status, flat_frame, grown_frame
from rave_agents.simulate.world_record import FEW
from rave_agents.tree.search_tree import SearchTree

SLICE_SECONDS = 0.02
"""Duration of evaluations between two checks of the clock, in seconds."""


MOST_RESERVED = 2**16
"""Maximum number of simulations whose memory is reserved before the search."""


class BatchedSearch(TreeSearch):
    """Searches one tree with simulations that wait for the evaluation of a batch.

    Its ``SearchConfig.leaves`` ``slots`` are simulations that may wait. ``run_slice`` runs them for
    this tree alone, ``searcher/multi_search.py`` for many trees, see ``Round``.

    Args:
        evaluator: judges leaves.
    """

    def __init__(self, evaluator: BatchEvaluator) -> None:
        super().__init__()
        self.batch_evaluator = evaluator
        self.slots: list[Slot] = []
        """The slots, each with its simulator; set by ``open``."""
        self.over: bool = False
        """True once the search has ended by a limit or a solved root."""
        self._expected = 0.0
        self._waiting = np.zeros(1, np.int64)
        self.is_bound: bool = False
        """True if the slots have the addresses of the current arrays."""
        self._batch: BatchArrays | None = None
        self._own_batch: BatchArrays | None = None
        self._own_needed: Any = None
        self.observation_shape: tuple[int, ...] = ()
        """The shape of one observation; set by ``open``."""

    def __getstate__(self) -> dict[str, Any]:
        """See ``TreeSearch``."""
        bound: dict[str, Any] = {"slots": [], "_batch": None, "_own_batch": None}
        return {**super().__getstate__(), **bound, "is_bound": False}

    def drop_torn(self, *, everything: bool = False) -> None:
        """See ``TreeSearch``; a tree whose simulations still wait is torn, too."""
        super().drop_torn(everything=everything or self.waits)
        if self.tree is None:
            self._stop_waiting()

    @property
    def runs_in_parallel(self) -> bool:
        """Always False: evaluators are called from one thread."""
        return False

    @property
    def waits(self) -> bool:
        """True if a simulation waits."""
        return bool(self._waiting[0] > 0)

    @property
    def has_ended(self) -> bool:
        """True if the search is over and no simulation waits."""
        return self.over and self._waiting[0] == 0

    @property
    def most_rows(self) -> int:
        """Maximum rows of a batch that it writes at once."""
        game = self.root.game
        return game.config.leaves * (game.facts.num_players if game.facts.simultaneous else 1)

    @property
    def limits(self) -> UtilityLimits:
        """The game's limits of utilities."""
        return self.root.game.facts.limits

    @property
    def batch_shape(self) -> tuple[tuple[int, ...], int, int]:
        """The required ``BatchArrays.shape``."""
        facts = self.root.game.facts
        return tuple(self.observation_shape), facts.num_actions, facts.num_players

    def new_cache(self) -> EvaluationCache:
        """Make a cache for the evaluator's answers."""
        _, _, num_players = self.batch_shape
        return EvaluationCache(num_players, keeps=self.batch_evaluator.cache)

    def new_batch(self, rows: int, cache: EvaluationCache) -> BatchArrays:
        """Make the arrays of a batch of this game's positions."""
        observation_shape, num_actions, num_players = self.batch_shape
        return BatchArrays(
            rows,
            observation_shape,
            num_actions=num_actions,
            num_players=num_players,
            logits=self.batch_evaluator.policy == "logits",
            cache=cache,
        )

    def use(self, batch: BatchArrays) -> None:
        """Write to this batch from now on, or from the next ``begin``."""
        if batch is not self._batch:
            self._batch = batch
            if self.is_bound:
                assert self.tree is not None
                self._bind(self.tree)

    def open(self) -> None:
        """See ``TreeSearch``; also makes the other slots' providers."""
        self.is_bound = False
        super().open()
        first, *others = self.slots
        for slot in others:
            if self.in_python:
                slot.simulator = make_simulator(self.root, slot.frame, None)
            else:
                slot.simulator = first.simulator
                slot.frame.header[Header.PROVIDER] = first.frame.header[Header.PROVIDER]

    def begin(self, *, simulations: float, deadline: float, memory_share: float) -> None:
        """See ``TreeSearch``."""
        self._expected = min(simulations, MOST_RESERVED)
        if self._own_batch is not None:
            self._own_batch.cache.clear()  # The network may have learned since the last search.
        super().begin(simulations=simulations, deadline=deadline, memory_share=memory_share)
        self.over = self._last <= self._begun
        for slot in self.slots:
            slot.simulator.deadline = deadline
            slot.control[leaves.LAST] = int(min(self._last, 2**62))

    def run_slice(self) -> bool:
        """Run for some milliseconds, at least one batch. Returns whether there is more to do.

        Raises:
            GameError: if the evaluator's answer is invalid.
            Exception: any exception of the game's state or the evaluator, unchanged.
        """
        evaluator = self.batch_evaluator
        needed = self.batch_shape, self.most_rows, evaluator.policy, evaluator.cache
        if self._own_batch is None or needed != self._own_needed:
            self._own_batch = self.new_batch(self.most_rows, self.new_cache())
            self._own_needed = needed
        batch = self._own_batch
        self.use(batch)
        ends = time.perf_counter() + SLICE_SECONDS
        alone = Round([self], batch)
        try:
            while not self.over and time.perf_counter() < ends:
                batch.clear()
                alone.seek()
                evaluate(self.batch_evaluator, batch, self.limits)
                alone.go_on()
        finally:
            alone.drop()  # After any exception: no simulation waits, and the tree is whole.
        return not self.over

    @property
    def _begun(self) -> int:
        """Simulations backed up in all searches of this tree."""
        return 0 if self.tree is None else int(self.tree.path.simulations[0])

    def called(self, function: Callable[[int], int]) -> int:
        """Call a kernel function, with errors of custom parts attributed to them."""
        game = self.root.game
        try:
            with np.errstate(all="ignore"), (self._slice or contextlib.nullcontext)():
                return function(0)
        except BaseException as error:
            if is_part_failure(game.parts, error):
                raise part_failed(game.parts, error) from error
            if JIT_DISABLED and self.tree is not None:
                self.tree.storage.torn = True  # Interrupted in the middle of a simulation.
            raise

    def _stop_waiting(self) -> None:
        """Cancel waiting simulations, whose nodes were dropped with the tree."""
        for slot in self.slots:
            slot.control[leaves.WAITING] = leaves.NOT_WAITING
        self._waiting[0] = 0

    def handle(self, slot: Slot, step: int, status: int) -> bool:
        """Handle a slot's status; returns whether to repeat the step.

        Raises:
            FormulaError, Exception: see ``TreeSearch.run_slice``.
        """
        tree = self.tree
        assert tree is not None
        if status == Status.FAILED:
            self._raise_failure(slot)
        if status == Status.NO_SCORE:
            raise no_scores(self.root.game.parts)
        if status == Status.FRAME_FULL:
            self._grow_slot(tree, slot)
        elif status == Status.TREE_FULL:
            self.is_bound = False
            self._grow_tree(tree, slot.frame, [each.path for each in self.slots if each.waits])
            return True
        if step != leaves.SEEK:
            return False
        if status == Status.DONE:
            waiting = int(self._waiting[0])
            self.over = waiting == 0 and self._begun >= self._last
            return False  # Many simulations needed no evaluation: it is the next member's turn.
        extended = status == Status.STOPPED and self._extended()
        ends = self._end()
        late = slot.simulator.deadline >= ends or time.perf_counter() >= ends
        if status == Status.STOPPED and (extended or not late):
            # Time is over, except for the few simulations without which no choice is possible.
            slot.simulator.deadline = ends
            least = self._begun - self.simulations + FEW
            slot.control[leaves.LAST] = self._last = min(self._last, least)
            return True
        if status in (Status.STOPPED, Status.SOLVED):
            self.solved = status == Status.SOLVED
            self.over = True
            return False
        return True

    def _raise_failure(self, slot: Slot) -> None:
        """Raise the error of a failed simulation: the provider's, or a part's."""
        try:
            slot.simulator.raise_pending()
        except CallbackFailedError:
            if slot.compiled is None:
                raise
            self.called(leaves.advance.bound(slot.record))
            raise

    def add_noise(self) -> None:
        """Mix noise into the root's priors, once there is a root."""
        tree = self.tree
        assert tree is not None
        if not tree.noised and not isinstance(self.root.game.config.root_noise, NoNoise):
            self._add_noise(tree)

    def _grow_slot(self, tree: SearchTree, slot: Slot) -> None:
        """Continue with larger buffers; the next search starts with small ones again."""
        provider = slot.frame.header[Header.PROVIDER]
        self.is_bound = self._keeps_provider = False
        slot.frame = grown_frame(slot.frame)
        slot.frame.header[Header.PROVIDER] = provider
        if self.in_python:
            slot.simulator.bind(slot.frame)
        if slot is self.slots[0]:
            self._use_frame(slot.frame)
        tree.fit_frame(slot.frame)
        self._bind(tree)

    def _make_simulator(self, playout_stream: Any) -> None:
        game, config = self.root.game, self.root.game.config
        check_rows(game, "An evaluator of batches")
        if config.leaves > 1 and not game.plain:
            raise UnsupportedGameError(
                f"leaves={config.leaves} is for games with alternating moves and perfect "
                "information: leave it at 1, and search several games at once."
            )
        observe = StateAbilities(self.root.state).observation
        if observe is None:
            raise UnsupportedGameError(
                f"{type(self.root.state).__name__} has no observation(player), which an evaluator "
                "of batches needs: an array with the player's view, of one shape in a whole game."
            )
        self.observation_shape = np.shape(observe(self.root.player))
        size = int(np.prod(self.observation_shape, dtype=np.int64))
        self._waiting[0] = 0
        self.slots = []
        for _ in range(config.leaves):
            frame = new_frame(game, playout_stream, playouts=0, observation=size)
            self.slots.append(Slot(self, frame, virtual=config.leaves > 1))
        first = self.slots[0]
        first.simulator = make_simulator(self.root, first.frame, None)
        self._use_simulator(first.simulator, first.frame)

    def _bind(self, tree: SearchTree) -> None:
        """See ``TreeSearch``; also reserves room for the node of each simulation."""
        self.is_bound = False
        if self._expected > 0 and self.root.game.plain:
            tree.reserve(int(self._expected), len(self.root.state.legal_actions()))
            self._expected = 0.0
        self._bound_to = None  # The batch and the slots may have changed, too.
        super()._bind(tree)
        self.is_bound = True

    def _lay_out(self, before: Any) -> None:
        """Lay out a record for each slot, once there is a batch."""
        search = self._search
        if self._batch is None:
            return
        answers = self._batch.answers()
        # An evaluated leaf always gets its node, since its priors come with its value.
        search = search._replace(settings=search.settings._replace(expand_visits=1))
        for slot in self.slots:
            if slot is not self.slots[0]:
                settings = search.settings._replace(
                    simulate_address=slot.simulator.address,
                    header_address=slot.frame.header.ctypes.data,
                )
                path = separate_path(search.path, slot)
                flat = flat_frame(slot.frame)
                search = search._replace(frame=flat, path=path, settings=settings)
            cache = self._batch.cache.arrays
            slot.bind(leaves.LeafSearch(search, answers, cache, self._waiting, slot.control))


class Round:
    """One round of searches that share a batch: write leaves, evaluate, back up.

    Args:
        searches: the searches.
        batch: the batch they write to, already set by ``BatchedSearch.use``.
    """

    def __init__(self, searches: Sequence[BatchedSearch], batch: BatchArrays) -> None:
        self.searches, self._batch = searches, batch
        self._steps = SlotSteps([slot for search in searches for slot in search.slots])
        self._several = len(self._steps.slots) > len(searches)
        self._without_noise = list(searches)

    def seek(self) -> bool:
        """Append leaves to the batch, after those already waiting.

        Returns whether a search may have ended.
        """
        for search in self._without_noise:
            search.add_noise()
        self._without_noise = [search for search in self._without_noise if not search.has_root]
        return self._steps.take(self._batch, leaves.SEEK)

    def go_on(self) -> None:
        """Finish the waiting simulations with the batch's answers."""
        if self._several:  # Remove virtual visits first: new nodes count real ones only.
            self._steps.take(self._batch, leaves.UNCOUNT)
        self._steps.take(self._batch, leaves.GO_ON)

    def drop(self) -> None:
        """Cancel the waiting simulations, as if they had not begun."""
        for search in self.searches:
            if not search.is_bound:  # An exception came in the middle of a change.
                search.drop_torn(everything=True)
        waiting = [search for search in self.searches if search.waits]
        steps = SlotSteps([slot for search in waiting for slot in search.slots])
        steps.take(self._batch, leaves.DROP)
