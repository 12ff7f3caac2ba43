"""Search of one tree in one thread."""

import contextlib
import functools
import math
import operator
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from rave_agents.compiler.arrays import NODE
from rave_agents.compiler.dispatch import JIT_DISABLED, records_of
from rave_agents.compiler.layout import address_of
from rave_agents.config.part_specs import call_part
from rave_agents.config.root_noise import NoNoise, noisy
from rave_agents.errors import FormulaError
from rave_agents.evaluators.linear_value import LinearValue
from rave_agents.evaluators.move_policy import MovePolicy
from rave_agents.kernel import loop
from rave_agents.kernel import tree as trees
from rave_agents.kernel.declarations import gives_weights, taking_part
from rave_agents.kernel.search import Search, Settings
from rave_agents.kernel.tree import ROOT
from rave_agents.kernel.utilities import HIGH, LOW, GameRange, ObservedRange
from rave_agents.results.root import Root, known_root
from rave_agents.searcher.evaluators import at_a_position, kind_of
from rave_agents.searcher.part_errors import (
    is_part_failure,
    no_scores,
    part_failed,
    raise_failure,
)
from rave_agents.searcher.playout_policy import PlayoutPolicy
from rave_agents.searcher.provider import action_numbers, make_simulator, new_frame, reweighed
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

SEEDED_AT_ONCE = 64
"""Searches whose playout streams are seeded at once: seeding takes as long as some simulations."""

_DONE, _EVEN_WEIGHTS = int(Status.DONE), int(Header.EVEN_WEIGHTS)

_BOUND = {
    **{"_keeps_provider": False, "_policy": None, "_run": None, "_bound_to": None},
    **dict.fromkeys(("_frame", "_flat_frame", "_simulator", "_set_root", "_slice", "_search")),
}
"""Attributes that are bound to memory addresses, and their values in a copy."""


@contextlib.contextmanager
def _interpreted(enter: Callable[[], AbstractContextManager[Any]]) -> Iterator[None]:
    """A slice in the interpreter, where NumPy warns of what compiled code ignores."""
    with np.errstate(all="ignore"), enter():
        yield


class TreeSearch:
    """Searches one tree in one thread; a ``Searcher`` owns one per thread.

    It owns the tree, its random streams and the provider of simulations. ``enter`` sets the root,
    ``open`` makes the provider, ``begin`` sets limits, and ``run_slice`` runs the loop for some
    milliseconds. Between slices the tree is consistent.
    """

    root: RootPosition
    """The root position; set by ``enter``."""
    _run: Any
    _bound_to: Any

    def __init__(self) -> None:
        self.tree: SearchTree | None = None
        """The tree; None before the first search."""
        self.solved: bool = False
        """True if the search ended because nothing is left to search."""
        self.provider: str = "python"
        """The provider's name, see ``SearchResult.provider``; set by ``open``."""
        self.in_python: bool = True
        """True if simulations run in Python, much slower than compiled code; set by ``open``."""
        self._stream: Stream = np.zeros(4, np.int64)
        self._numbers: ActionNumbers | None = None
        self._moves: list[int] | None = None
        """Moves from the root of the last provider to this one; None if they are not known."""
        self._is_behind = False
        self._before = 0
        self._slice_size = 1
        self._is_sensible = False
        vars(self).update(_BOUND)

    def __getstate__(self) -> dict[str, Any]:
        """The state for a copy: everything that is not bound to memory addresses."""
        return {**vars(self), **_BOUND}

    def reseed(
        self,
        stream_seed: np.random.SeedSequence,
        playout_seeds: np.random.SeedSequence,
        noise_seed: np.random.SeedSequence,
    ) -> None:
        """Restart all random streams from these seeds.

        Args:
            stream_seed: seed of tie-breaks and of chance nodes in the tree.
            playout_seeds: spawns seeds for the playouts of the searches.
            noise_seed: seed of the root's noise. Searches that share it have the same noise.
        """
        self._stream[:] = make_stream(stream_seed)  # In place: compiled code knows its address.
        self._playout_seeds = playout_seeds
        self._streams: list[Stream] = []
        self._noise = np.random.default_rng(noise_seed)

    def drop(self) -> None:
        """Drop all nodes but keep the memory, unless it is torn; the random streams continue."""
        self._is_behind = False
        if self.tree is not None and self.tree.storage.torn:
            self.tree = self._numbers = None
        elif self.tree is not None:
            self.tree.clear()

    def drop_torn(self, *, everything: bool = False) -> None:
        """After an exception, drop a tree in the middle of a change, and the provider.

        Args:
            everything: True to drop the tree in any case.
        """
        self._keeps_provider = False
        if everything or (self.tree is not None and self.tree.storage.torn):
            self.tree = self._numbers = None

    @property
    def has_root(self) -> bool:
        """True if the tree has a root node."""
        return self.tree is not None and self.tree.has_root

    def known_root(self) -> Root | None:
        """The statistics of the root; None if the tree has none yet."""
        return None if self.tree is None or not self.tree.has_root else known_root(self.tree)

    @property
    def memory_bytes(self) -> int:
        """Bytes of the tree."""
        return 0 if self.tree is None else self.tree.storage.bytes

    @property
    def memory_full(self) -> bool:
        """True if the tree has forgotten leaves, or stopped growing."""
        return self.tree is not None and (self.tree.full or self.tree.forgotten > 0)

    @property
    def nodes(self) -> int:
        """Nodes in the tree."""
        return 0 if self.tree is None else int(self.tree.arrays.used[NODE])

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

    def move(self, root: RootPosition, path: Sequence[int] | None) -> None:
        """Keep the subtree after actions and chance outcomes, which lead to another root.

        Statistics learned about another game are dropped. Where nodes are information sets, the
        tree stays behind until ``catch_up``, or ``open``. None if the tree is empty.
        """
        tree, self.root = self.tree, root
        self._moves = None if path is None or self._moves is None else [*self._moves, *path]
        if tree is not None:
            if path and root.game.recalls_all:
                self._is_behind = self._is_behind or tree.has_root
            elif path:
                tree.follow(path)
            if root.game is not tree.root.game and root.game.facts.key != tree.root.game.facts.key:
                tree.clear_learned()
            if not self._is_behind:
                tree.root = root

    def catch_up(self, simulator: Simulator | None = None) -> None:
        """Move a tree of information sets that has stayed behind to the root's set.

        It is found by what the player to move knows: moves that they have not seen do not matter.
        Nodes of another player's tree are dropped, since its worlds agree with what that one knows.

        Args:
            simulator: the provider for the root; None to make one.
        """
        tree, root = self.tree, self.root
        if tree is None or not self._is_behind:
            return
        self._is_behind = False
        if root.state.current_player() != tree.player or root.player != tree.player:
            tree.clear()
        else:
            if simulator is None:
                simulator, _ = self.new_simulator(root, make_stream(np.random.SeedSequence(0)))
            root_view = SimulatorAbilities(simulator).root_view
            tree.clear() if root_view is None else tree.move_to(root_view())
        tree.root = root
        self._before = int(tree.path.simulations[0])

    def enter(self, root: RootPosition, path: Sequence[int] | None = None) -> None:
        """Begin a search of a root position, to which ``path`` leads; None if the tree is empty."""
        self._keeps_provider = self._keeps_provider and root.game is self.root.game
        self.solved = False
        self.move(root, path)
        if self.tree is not None:
            self._before = int(self.tree.path.simulations[0])

    def open(self) -> None:
        """Make a provider of simulations for the root, or move the last one there."""
        if not self._streams:
            seed = self._playout_seeds.spawn(1)[0]
            words = seed.generate_state(4 * SEEDED_AT_ONCE, np.uint32).astype(np.int64)
            self._streams = list(words.reshape(-1, 4)[::-1])
        stream = self._streams.pop()
        game = self.root.game
        # Providers of determinizations draw them for one observation.
        keeps = self._keeps_provider and not game.determinizes
        goes_on = self._set_root if keeps else None
        moves, self._moves = self._moves, None
        if goes_on is not None and goes_on(self.root.state, moves):
            self._frame.playout_stream[:] = stream
            self._frame.action_weights.fill(1.0)
            self._frame.header[_EVEN_WEIGHTS] = game.even_weights
        else:
            self._make_simulator(stream.copy())
            self.catch_up(self._simulator)
        self._moves = []

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
        fits = tree is not None and tree.numbers is numbers and not tree.storage.torn
        if fits and tree is not None and tree.arrays.used[NODE] == 0:
            fits = tree.can_begin_anew(game, megabytes)
        if tree is None or not fits:
            self.tree = tree = SearchTree(
                self.root, megabytes=megabytes, frame=self._frame, numbers=numbers
            )
            self._before = 0
        if game.fixed_range:
            limits, bounds = game.facts.limits, tree.utility_range
            bounds[LOW], bounds[HIGH] = limits.low, limits.high  # Faster than a slice.
        if simulations == math.inf:
            game.config.check_simulations(simulations)
        tree.begin(self._frame, simulations, self._noise)
        now = time.perf_counter()
        self._deadline, self._is_extended = deadline, False
        if game.determinizes:
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
        game, tree = self.root.game, self.tree
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
            count = int(min(self._slice_size, remaining))
            if self._slice is None:
                status = self._run(count)
            else:
                with self._slice():
                    status = self._run(count)
        except BaseException as error:
            if is_part_failure(game.parts, error):
                raise part_failed(game.parts, error) from error
            # Compiled slices end before a signal handler runs; in the interpreter, a simulation was
            # interrupted in the middle of its updates.
            tree.storage.torn = tree.storage.torn or JIT_DISABLED
            raise
        if status != _DONE:
            self._handle_status(status, tree)
            if status in (Status.STOPPED, Status.SOLVED):
                self.solved = status == Status.SOLVED
                self._slice_started = time.perf_counter()
                return not self.solved and self._extended()
        if not tree.noised and not isinstance(game.config.root_noise, NoNoise):
            self._add_noise(tree)
        now, done = time.perf_counter(), int(tree.path.simulations[0]) - before
        if done > 0:
            per_second = done / max(now - self._slice_started, 1e-9)
            seconds = min(SLICE_SECONDS, max(self._deadline - now, 0.0))
            # At most fourfold growth per slice: one fast slice must not overshoot the deadline.
            self._slice_size = max(1, min(4 * self._slice_size, int(per_second * seconds)))
        self._slice_started = now
        return before + done < self._last

    def _handle_status(self, status: int, tree: SearchTree) -> None:
        """Remove the reason why a slice has ended early, or raise it."""
        if status == Status.FAILED:
            raise_failure(self.root.game.parts, self._policy, self._simulator)
        elif status == Status.NO_SCORE:
            raise no_scores(self.root.game.parts)
        elif status == Status.TREE_FULL:
            self._grow_tree(tree, self._frame)
        elif status == Status.FRAME_FULL and self._numbers and self._numbers.overflows:
            self._fit_actions(tree, self._frame)
        elif status == Status.FRAME_FULL:
            self._grow_frame(tree, self._frame)

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
        """Bind the loop to the current arrays and settings, unless nothing has changed."""
        game, player, limits = self.root.game, self.root.player, self.root.game.facts.limits
        forgets = tree.forgotten > 0
        # The provider, the arrays of tree and frame, and the stream stay where they are.
        address, version = self._simulator.address, tree.storage.version
        varying = version, address, player, tree.num_actions, tree.full, forgets
        owners, last = (game, self._frame, self._stream), self._bound_to
        if last is not None and varying == last[0] and all(map(operator.is_, owners, last[1])):
            return
        # None until all is done: after an exception in between, the old addresses may be invalid.
        self._bound_to = None
        settings = Settings(
            limits.players,
            tree.num_actions,
            player,
            limits.low,
            limits.high,
            limits.sum_of_two,
            game.config.first_play_urgency,
            max(game.expand_visits, AFTER_FORGETTING if forgets else 1),
            game.config.final_proven,
            not tree.full,
            address,
            self._header_address,
        )
        bounds = tree.utility_range
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
            self._policy = PlayoutPolicy(self._frame, self._search)
        # Records of arrays that have not been reallocated keep their layout.
        same_arrays = last is not None and last[0][0] == version
        self._lay_out(self._run if same_arrays else None)
        self._bound_to = varying, owners

    def _lay_out(self, before: Any) -> None:
        """Lay out the compiled record of the search.

        Args:
            before: the loop bound to the last record, if its arrays stay where they are.
        """
        self._run = loop.run.bound(self._search, before)

    def _make_simulator(self, playout_stream: Stream) -> None:
        """Make a frame and its provider of simulations."""
        game = self.root.game
        self._use_simulator(*self.new_simulator(self.root, playout_stream))
        known = None if self.tree is None else self.tree.numbers
        numbers = self._numbers = action_numbers(game, self._simulator, self._numbers, known)
        capacity = game.facts.num_actions if numbers is None else numbers.capacity
        weighed = reweighed(self._frame, capacity)
        if weighed is not self._frame:
            self._simulator.bind(weighed)
            self._use_frame(weighed)

    def new_simulator(self, root: RootPosition, playout_stream: Stream) -> tuple[Simulator, Frame]:
        """A new provider of simulations for a position, and its frame."""
        game = root.game
        cut = game.judging.playout_moves if kind_of(game.evaluator).positions else math.inf
        frame = new_frame(
            game,
            playout_stream,
            playouts=game.config.playout_count,
            playout_moves=-1 if cut == math.inf else int(cut),
        )
        asked = at_a_position(game.evaluator, root.state, cut)
        return make_simulator(root, frame, asked), frame

    def _use_simulator(self, simulator: Simulator, frame: Frame) -> None:
        self._simulator = simulator
        offers = SimulatorAbilities(simulator)
        self._slice = offers.slice
        if JIT_DISABLED:
            self._slice = functools.partial(_interpreted, offers.slice or contextlib.nullcontext)
        self._set_root, self._is_sensible = offers.set_root, offers.is_sensible
        self.provider = str(offers.provider)
        self.in_python = isinstance(simulator, PythonSimulator)
        self._use_frame(frame)
        self._keeps_provider = True

    def _use_frame(self, frame: Frame) -> None:
        self._frame, self._flat_frame = frame, flat_frame(frame)
        self._header_address = address_of(frame.header)

    def parts_that_took_part(self) -> tuple[str, ...]:
        """The parts that took part in simulations, see ``SearchResult.took_part``."""
        game, evaluator = self.root.game, self.root.game.evaluator
        kind = kind_of(evaluator)
        learned = isinstance(evaluator, LinearValue | MovePolicy)
        words = (
            [] if evaluator is None else [f"learned {evaluator.kind}" if learned else "evaluator"]
        )
        declared = [
            word for part in records_of(game.parts) if (word := call_part(taking_part, part))
        ]
        own = game.chooses_moves or call_part(gives_weights, game.parts.playouts)
        cut = game.judging.playout_moves if kind.positions else math.inf
        if not kind.leaves and cut > 0:
            if self._is_sensible:
                words.append("pattern playouts")
                declared = [word for word in declared if not word.endswith("playouts")]
            elif not any(word.endswith("playouts") for word in declared):
                words.append("playouts of your own" if own else "uniform playouts")
            words += ["cut playouts"] if cut < math.inf else []
        return tuple(dict.fromkeys(words + declared))

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
