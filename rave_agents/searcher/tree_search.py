"""Search of one tree in one thread."""

import contextlib
import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from rave_agents.compiler.arrays import NODE
from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.compiler.progress import seconds_waited
from rave_agents.config.part_specs import call_part
from rave_agents.config.root_noise import NoNoise, noisy
from rave_agents.errors import FormulaError
from rave_agents.kernel import loop
from rave_agents.kernel import tree as trees
from rave_agents.kernel.search import Search, Settings
from rave_agents.kernel.tree import ROOT
from rave_agents.kernel.utilities import GameRange, ObservedRange
from rave_agents.searcher.evaluators import at_a_position, is_value_function
from rave_agents.searcher.move_policy import MovePolicy
from rave_agents.searcher.part_errors import (
    is_part_failure,
    no_scores,
    part_failed,
    raise_failure,
)
from rave_agents.searcher.provider import action_numbers, make_simulator, new_frame, reweighed
from rave_agents.searcher.taking_part import parts_that_took_part
from rave_agents.simulate.action_numbers import ActionNumbers
from rave_agents.simulate.python_simulator import PythonSimulator
from rave_agents.simulate.random_stream import Stream, make_stream
from rave_agents.simulate.simulator import (
    Frame,
    Header,
    Simulator,
    SimulatorAbilities,
    Status,
    flat_frame,
    grown_frame,
)
from rave_agents.simulate.world_record import FEW, WorldSample
from rave_agents.tree.pruning import WaitingPath
from rave_agents.tree.root_position import RootPosition
from rave_agents.tree.search_tree import SearchTree

SLICE_SECONDS = 0.02
"""Duration of the loop between two checks of the clock, in seconds."""

OVERRUN, LEAST_OVERRUN = 0.1, 0.05
"""Overrun allowed to a search with too few worlds for any choice: a share of its time, but at least
this many seconds."""

AFTER_FORGETTING = 2
"""Once the memory was full, a child gets a node on this visit at the earliest: most nodes with one
visit would be forgotten again."""

_NOTHING = contextlib.nullcontext()


class TreeSearch:
    """Searches one tree in one thread; a ``Searcher`` owns one per thread.

    It owns the tree, its random streams and the provider of simulations. ``enter`` sets the root,
    ``open`` makes the provider, ``begin`` sets limits, and ``run_slice`` runs the loop for some
    milliseconds. Between slices the tree is consistent.

    Args:
        evaluator: the evaluator of positions, see ``as_evaluator``; None for playouts.
    """

    root: RootPosition
    """The root position; set by ``enter``."""

    def __init__(self, evaluator: Any) -> None:
        self._evaluator = evaluator
        self.tree: SearchTree | None = None
        """The tree; None before the first search."""
        self.solved: bool = False
        """True if the search ended because nothing is left to search."""
        self._numbers: ActionNumbers | None = None
        self._policy: MovePolicy | None = None
        self._before = 0
        self._keeps_provider = False
        self._run: Any = None
        self._laid_out = 0  # The version of the storage for which _run was laid out.
        self._slice_size = 1
        self.loading = 0.0
        """Seconds spent on compiling or loading the last provider."""
        self.provider: str = "python"
        """The provider's name, see ``SearchResult.provider``; set by ``open``."""
        self.took_part: tuple[str, ...] = ()
        """The parts that take part in simulations, see ``SearchResult.took_part``; set by
        ``open``."""
        self.in_python: bool = True
        """True if simulations run in Python, much slower than compiled code; set by ``open``."""

    def __getstate__(self) -> dict[str, Any]:
        """The state for a copy: everything that is not bound to memory addresses."""
        bound = ("_frame", "_flat_frame", "_simulator", "_slice", "_run", "_search", "_policy")
        kept = {name: value for name, value in vars(self).items() if name not in bound}
        return {**kept, "_keeps_provider": False, "_policy": None, "_run": None, "_laid_out": 0}

    def reseed(
        self,
        stream_seed: np.random.SeedSequence,
        playout_seeds: np.random.SeedSequence,
        noise_seed: np.random.SeedSequence,
    ) -> None:
        """Restart all random streams from these seeds.

        Args:
            stream_seed: seed of tie-breaks and of chance nodes in the tree.
            playout_seeds: spawns a seed for the playouts of each search.
            noise_seed: seed of the root's noise. Searches that share it have the same noise.
        """
        self._stream = make_stream(stream_seed)
        self._playout_seeds = playout_seeds
        self._noise = np.random.default_rng(noise_seed)

    def use_evaluator(self, evaluator: Any) -> None:
        """Use another evaluator from the next provider on."""
        self._evaluator = evaluator
        self._keeps_provider = False

    def draw_as(self, other: "TreeSearch") -> None:
        """Continue with the random streams of another search."""
        self._stream, self._noise = other._stream, other._noise
        self._playout_seeds = other._playout_seeds

    def mend(self) -> None:
        """Repair the tree after an interrupted search; the next search gets a new provider."""
        self._keeps_provider = False
        if self.tree is not None:
            self.tree.mend()

    def clear_tree(self) -> None:
        """Drop all nodes but keep the memory; the random streams continue."""
        if self.tree is not None:
            self.tree.clear()

    def clear_learned(self) -> None:
        """Also forget what was learned about the game."""
        if self.tree is not None:
            self.tree.clear_learned()

    def detach_tree(self) -> None:
        """Release the tree to another owner."""
        self.tree = self._numbers = None
        self._keeps_provider = False

    def reroot(self, path: Sequence[int]) -> None:
        """Keep the subtree after these actions and chance outcomes, see ``SearchTree.follow``."""
        if self.tree is not None:
            self.tree.follow(path)

    @property
    def has_root(self) -> bool:
        """True if the tree has a root node."""
        return self.tree is not None and self.tree.has_root

    @property
    def simulations(self) -> int:
        """Simulations of this search, counted by the loop."""
        if self.tree is None or self.tree.arrays.used[NODE] == 0:
            return 0
        return int(self.tree.path.simulations[0]) - self._before

    @property
    def runs_in_parallel(self) -> bool:
        """True if other trees can be searched in parallel; valid after ``open``."""
        return SimulatorAbilities(self._simulator).outside_interpreter

    def enter(self, root: RootPosition, path: Sequence[int] = ()) -> None:
        """Set the root position; statistics learned about another game are dropped.

        Args:
            root: the position. The tree is empty, or was led here by ``path``.
            path: actions and chance outcomes from the previous root, see ``SearchTree.follow``.
        """
        self._keeps_provider = self._keeps_provider and root.game is self.root.game
        self.root = root
        self.solved = False
        tree = self.tree
        if tree is not None:
            if path:
                tree.follow(path)
            if tree.root.game.facts.key != root.game.facts.key:
                tree.clear_learned()
            tree.root = root
            self._before = int(tree.path.simulations[0])

    def open(self) -> None:
        """Make a provider of simulations for the root, or move the last one there."""
        words = self._playout_seeds.spawn(1)[0].generate_state(4, np.uint32)
        goes_on = SimulatorAbilities(self._simulator).set_root if self._keeps_provider else None
        if goes_on is None or not goes_on(self.root.state):
            self._make_simulator(words.astype(np.int64))
            return
        self._frame.playout_stream[:] = words
        self._frame.action_weights.fill(1.0)
        self._frame.header[Header.EVEN_WEIGHTS] = self.root.game.even_weights

    def begin(self, *, simulations: float, deadline: float, memory_share: float) -> None:
        """Set the limits, before the first slice.

        Args:
            simulations: the number to run; infinity for no limit.
            deadline: the ``time.perf_counter()`` time to stop at; infinity for no limit.
            memory_share: the share of ``max_memory_mb`` for a new tree, in (0, 1].
        """
        game, tree = self.root.game, self.tree
        self._simulator.deadline = deadline
        if game.determinizes:
            self._simulator.worlds.begin(simulations, deadline)  # type: ignore[attr-defined]
        megabytes = game.config.max_memory_mb * memory_share
        numbers = self._numbers
        kept = tree is not None and tree.numbers is numbers
        grown = kept and tree is not None and tree.arrays.used[NODE] > 0
        if tree is None or not (grown or (kept and tree.can_begin_anew(game, megabytes))):
            self.tree = tree = SearchTree(
                self.root, megabytes=megabytes, frame=self._frame, numbers=numbers
            )
            self._before = 0
        if game.fixed_range:
            tree.utility_range[:] = game.facts.limits.low, game.facts.limits.high
        if simulations == math.inf:
            game.config.check_simulations(simulations)
        tree.begin(self._frame, simulations, self._noise)
        now = time.perf_counter()
        self._deadline, self._is_extended = deadline, False
        self._latest = deadline + max(LEAST_OVERRUN, OVERRUN * (deadline - now))
        self._last = int(tree.path.simulations[0]) + simulations
        # Noise is added to the root after the first slice, which is one simulation then. Else the
        # first slice is a quarter of the last one: this position may be slower.
        is_ready = tree.noised or isinstance(game.config.root_noise, NoNoise)
        self._slice_size = max(1, self._slice_size // 4) if is_ready else 1
        self._slice_started = now
        self._bind(tree)

    def run_slice(self) -> bool:
        """Run for some milliseconds. Returns whether there is more to do.

        Raises:
            FormulaError: if a custom selection formula raises or returns no score.
            Exception: any exception of the game's state or the evaluator, unchanged.
        """
        game, tree, frame = self.root.game, self.tree, self._frame
        assert tree is not None
        before = int(tree.path.simulations[0])
        remaining = self._last - before
        ends = self._deadline
        if game.determinizes:
            ends = self._simulator.deadline = self._end()
            few = FEW - self.simulations
            remaining = min(remaining, few) if few > 0 else remaining
        if remaining <= 0 or self._slice_started >= ends:
            return False
        try:
            with np.errstate(all="ignore") if JIT_DISABLED else _NOTHING, self._slice():
                status = self._run(int(min(self._slice_size, remaining)))
        except BaseException as error:
            if is_part_failure(game.parts, error):
                raise part_failed(game.parts, error) from error
            if JIT_DISABLED:
                tree.clear()  # Interrupted mid-update (interpreter only): discard the tree.
            raise
        if status == Status.FAILED:
            raise_failure(game.parts, self._policy, self._simulator)
        elif status == Status.NO_SCORE:
            raise no_scores(game.parts)
        elif status in (Status.STOPPED, Status.SOLVED):
            self.solved = status == Status.SOLVED
            self._slice_started = time.perf_counter()
            return not self.solved and self._extended()
        elif status == Status.TREE_FULL:
            self._grow_tree(tree, frame)
        elif status == Status.FRAME_FULL:
            self._make_room(tree, frame)
        if not tree.noised and not isinstance(game.config.root_noise, NoNoise):
            self._add_noise(tree)
        now = time.perf_counter()
        done = int(tree.path.simulations[0]) - before
        if done > 0:
            per_second = done / max(now - self._slice_started, 1e-9)
            seconds = min(SLICE_SECONDS, max(self._deadline - now, 0.0))
            # At most fourfold growth per slice: one fast slice must not overshoot the deadline.
            self._slice_size = max(1, min(4 * self._slice_size, int(per_second * seconds)))
        self._slice_started = now
        return True

    def world_sample(self) -> WorldSample | None:
        """The determinizations drawn; None without hidden information."""
        if not self.root.game.determinizes:
            return None
        return self._simulator.worlds.sample()  # type: ignore[attr-defined,no-any-return]

    def _extended(self) -> bool:
        """Extend the time once, if drawing the first determinization has used it all."""
        sample = None if self._is_extended or self.simulations > 0 else self.world_sample()
        if sample is None or sample.drawn == 0:
            return False
        self._is_extended = True
        self._latest = time.perf_counter() + LEAST_OVERRUN
        return True

    def _end(self) -> float:
        """The time to stop; later while too few determinizations for any choice were searched."""
        few = self.root.game.determinizes and self.simulations < FEW
        return self._latest if few else self._deadline

    def _bind(self, tree: SearchTree) -> None:
        """Bind the loop to the current arrays, which may have been reallocated."""
        game, bounds = self.root.game, tree.utility_range
        limits = game.facts.limits
        settings = Settings(
            num_players=game.facts.num_players,
            num_actions=tree.num_actions,
            searching_player=self.root.player,
            least_utility=limits.low,
            greatest_utility=limits.high,
            utility_sum=limits.sum_of_two,
            first_play_urgency=game.config.first_play_urgency,
            expand_visits=max(game.expand_visits, AFTER_FORGETTING if tree.forgotten else 1),
            ends_when_proven=game.config.final_proven,
            may_expand=not tree.full,
            simulate_address=self._simulator.address,
            header_address=self._frame.header.ctypes.data,
        )
        utilities = GameRange(bounds) if game.fixed_range else ObservedRange(bounds)
        self._search = Search(
            tree.arrays,
            self._flat_frame,
            tree.path,
            self._stream,
            settings,
            utilities,
            *tree.running,
        )
        if game.chooses_moves:
            self._policy = MovePolicy(self._frame, self._search)
        self._lay_out(tree)

    def _lay_out(self, tree: SearchTree) -> None:
        """Lay out the compiled record of the search, unless the arrays are unchanged."""
        version = tree.storage.version
        before = self._run if version == self._laid_out else None
        self._run = loop.run.bound(self._search, before)
        self._laid_out = version

    def _make_simulator(self, playout_stream: Stream) -> None:
        """Make a frame and its provider of simulations."""
        game, before = self.root.game, seconds_waited()
        self._use_simulator(*self.new_simulator(self.root, playout_stream))
        self.loading = seconds_waited() - before
        known = None if self.tree is None else self.tree.numbers
        numbers = self._numbers = action_numbers(game, self._simulator, self._numbers, known)
        capacity = game.facts.num_actions if numbers is None else numbers.capacity
        weighed = reweighed(self._frame, capacity)
        if weighed is not self._frame:
            self._simulator.bind(weighed)
            self._use_frame(weighed)

    def new_simulator(self, root: RootPosition, playout_stream: Stream) -> tuple[Simulator, Frame]:
        """A new provider of simulations for a position, and its frame."""
        game, evaluator = root.game, self._evaluator
        cut = game.judging.playout_moves if is_value_function(evaluator) else math.inf
        frame = new_frame(
            game,
            playout_stream,
            playouts=game.config.playout_count,
            playout_moves=-1 if cut == math.inf else int(cut),
        )
        asked = at_a_position(evaluator, root.state, cut)
        return make_simulator(root, frame, asked), frame

    def _use_simulator(self, simulator: Simulator, frame: Frame) -> None:
        self._simulator = simulator
        offers = SimulatorAbilities(simulator)
        self._slice = offers.slice or contextlib.nullcontext
        self.provider = str(offers.provider)
        self.took_part = parts_that_took_part(
            self.root.game, self._evaluator, patterns=offers.is_sensible
        )
        self.in_python = isinstance(simulator, PythonSimulator)
        self._use_frame(frame)
        self._keeps_provider = True

    def _use_frame(self, frame: Frame) -> None:
        self._frame, self._flat_frame = frame, flat_frame(frame)

    def _make_room(self, tree: SearchTree, frame: Frame) -> None:
        """Make room in the frame, or for new actions, after a simulation overflowed."""
        if self._numbers is not None and self._numbers.overflows:
            self._fit_actions(tree, frame)
        else:
            self._grow_frame(tree, frame)

    def _grow_tree(self, tree: SearchTree, frame: Frame, paths: Sequence[WaitingPath] = ()) -> None:
        """Make room for another node, see ``SearchTree.grow``."""
        header = frame.header
        needed = max(header[Header.ACTION_CAPACITY], header[Header.REQUIRED_ACTIONS])
        if tree.grow(int(needed), paths, self._deadline - time.perf_counter()):
            SimulatorAbilities(self._simulator).forget_positions()
        self._bind(tree)

    def _grow_frame(self, tree: SearchTree, frame: Frame) -> None:
        """Continue with larger buffers; the next search starts with small ones again."""
        grown = grown_frame(frame)
        self._keeps_provider = False
        self._use_frame(grown)
        self._simulator.bind(grown)
        tree.fit_frame(grown)
        self._bind(tree)

    def _fit_actions(self, tree: SearchTree, frame: Frame) -> None:
        """Make room for the actions met so far, or continue without the latest ones."""
        before = tree.num_actions
        tree.fit_actions(self._noise)
        if tree.num_actions > before:
            self._use_frame(reweighed(frame, tree.num_actions))
            self._simulator.bind(self._frame)
        self._bind(tree)

    def _add_noise(self, tree: SearchTree) -> None:
        """Mix noise into the root's priors, once there is a root."""
        if not tree.has_root:
            return
        edges = trees.edge_rows(tree.arrays, ROOT)
        priors = tree.arrays.edge_prior[edges.start : edges.stop]
        noise = self.root.game.config.root_noise
        noised = np.asarray(call_part(noisy, noise, priors.copy(), self._noise))
        if noised.shape != priors.shape or not (np.isfinite(noised) & (noised >= 0.0)).all():
            raise FormulaError(
                f"{type(noise).__name__} must return {len(priors)} numbers of at "
                f"least 0, one for each of the root's actions, got {noised!r}."
            )
        priors[:] = noised
        tree.noised = True
