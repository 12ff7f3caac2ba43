"""Searcher: owns a tree and runs the loop on it."""

import contextlib
import functools
import math
import time
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np

from rave_agents.config import Limit, SearchConfig
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks import as_game_state
from rave_agents.game import GameState, PlayerId
from rave_agents.grown_tree import GrownTree
from rave_agents.loop_parameters import loop_parameters
from rave_agents.options import Amaf, Selection, UtilityRange
from rave_agents.proven import solved_outcome, win_numbers
from rave_agents.result import SearchResult
from rave_agents.root import RootedTree, drawn_action, principal_variation, root_statistics
from rave_agents.search import loop
from rave_agents.search import tree as trees
from rave_agents.search.amaf import allocate_tables
from rave_agents.search.backup import HIGH, LOW, Scratch, make_scratch
from rave_agents.search.compiler import JIT_DISABLED, announce_compilation, note_compilation
from rave_agents.search.own_formula import compiled_formula, formula_address
from rave_agents.search.proofs import allocate_proofs
from rave_agents.search.python_simulator import Evaluator, PythonSimulator
from rave_agents.search.random_stream import make_stream
from rave_agents.search.simulator import (
    Frame,
    Header,
    Simulator,
    Status,
    grown_frame,
    make_frame,
)
from rave_agents.search.tree import NODES_USED, ROOT, UNEXPANDED, Tree

SLICE_SECONDS = 0.02
"""How long the loop runs between two looks at the clock."""

PROGRESS_SECONDS = 0.1
"""How often a progress callback is called, about."""

Progress = Callable[[SearchResult], None]


class Searcher:
    """A search that keeps its tree between moves.

    ``search`` starts a new tree, unless ``advance`` has led the kept one to the very position that
    is searched. Everything random comes from ``seed``: the same seed, configuration, state and
    number of simulations give the same tree. A search that an exception ends, ``KeyboardInterrupt``
    included, leaves the tree whole: ``result`` tells what was found until then.

    Not to be shared between threads; searchers of their own may run in several.

    Args:
        config: the tunables; by default those of ``SearchConfig()``, plain UCT.
        seed: an integer of at least 0, or None for one that the system draws.
        evaluator: judges leaves in place of playouts; any object with
            ``open_spiel.python.algorithms.mcts.Evaluator``'s ``evaluate`` and ``prior``.

    Raises:
        TypeError, ValueError: for an argument that is not allowed.
    """

    def __init__(
        self,
        config: SearchConfig | None = None,
        *,
        seed: int | None = None,
        evaluator: Evaluator | None = None,
    ) -> None:
        self.config = SearchConfig() if config is None else config
        if not isinstance(self.config, SearchConfig):
            raise TypeError(f"config must be a SearchConfig, got {config!r}.")
        if evaluator is not None and not isinstance(evaluator, Evaluator):
            raise TypeError(f"evaluator must have evaluate(state) and prior(state): {evaluator!r}.")
        if evaluator is not None and self.config.playouts > 1:
            raise ValueError("playouts must be 1 with an evaluator, which stands in for playouts.")
        self.evaluator = evaluator
        prepare(self.config.proves)
        _compiled_formula(self.config)
        self._running = False
        self.reseed(seed)
        self._forget()

    def reset(self) -> None:
        """Drop the tree."""
        self._check_idle()
        self._forget()

    def _forget(self) -> None:
        self._grown: GrownTree | None = None
        self._root: GameState | None = None
        self._root_key: Hashable = None
        self._advanced = False
        self._noised = False
        self._simulations = 0
        self._seconds = 0.0
        self._utility_range = np.array([math.inf, -math.inf])

    @property
    def tree(self) -> Tree | None:
        """The arrays of the tree, to look at; None before the first search.

        Copy what you want to keep: the next search moves the arrays, and a slice of them is then
        no longer valid.
        """
        return None if self._grown is None else self._grown.tree

    def rooted_tree(self) -> RootedTree | None:
        """Show the tree with its root position and utility range; None if there is none yet.

        The arrays are shared with this searcher, whose next search changes them.
        """
        if self._root is None or self._grown is None or not self._grown.has_root:
            return None
        return self._rooted()

    def release_tree(self) -> RootedTree | None:
        """Hand over the tree, which this searcher then forgets and never changes again.

        Returns None if there is none.
        """
        released = self.rooted_tree()
        self.reset()
        return released

    def reseed(self, seed: int | None) -> None:
        """Draw everything random from this seed from now on; the tree stays.

        Raises:
            TypeError, ValueError: for a seed that is not allowed.
        """
        self._check_idle()
        self._seeds = np.random.SeedSequence(checked_seed(seed))
        stream_seed, noise_seed, move_seed = self._seeds.spawn(3)
        self._tree_stream = make_stream(stream_seed)
        self._noise = np.random.default_rng(noise_seed)
        self._moves = np.random.default_rng(move_seed)
        self._move_unit = float(self._moves.random())

    def search(self, state: Any, limit: Limit, *, progress: Progress | None = None) -> SearchResult:
        """Search a position and choose an action for the player to move.

        Args:
            state: a GameState, or a state of an installed framework such as ``pyspiel.State``;
                it is cloned and never changed.
            limit: when to end.
            progress: called about ten times a second with the result so far.

        Raises:
            TypeError: if ``state`` is no state that any installed adapter knows.
            ValueError: if no player is to move there.
            UnsupportedGameError: if players move at the same time there.
            GameError: if the game breaks the common interface.
            Exception: whatever the game's state, the evaluator or ``progress`` raises, unchanged.
        """
        if not isinstance(limit, Limit):
            raise TypeError(
                f"limit must be a Limit, such as Limit(simulations=500): got {limit!r}."
            )
        self._check_idle()
        # Here an adapter may compile what it needs, once, as the kernel is compiled: off the clock.
        given = as_game_state(state)
        started = time.perf_counter()
        root = given.clone()
        _check_decision(root)
        self._running = True
        try:
            self._begin(root)
            if self.config.search_forced_moves or len(root.legal_actions()) > 1:
                self._run(limit, started, progress)
        finally:
            self._seconds = time.perf_counter() - started
            self._running = False
            self._advanced = False
        return self.result()

    def advance(self, action: int, *, state: Any = None) -> None:
        """Play an action or a chance outcome: keep its subtree for the next search.

        Args:
            action: what was played at the root.
            state: where it was played, if the caller cannot be sure that this is the root. If it
                is another position, or one whose adapter cannot tell, the tree is dropped.

        Raises:
            ValueError: if the action is not legal at the root.
        """
        self._check_idle()
        if self._root is None:
            return
        if state is not None:
            key = _position_key(as_game_state(state))
            if key is None or key != self._root_key:
                self.reset()
                return
        chance = self._root.is_chance_node()
        outcomes = [a for a, _ in self._root.chance_outcomes()] if chance else []
        legal = outcomes if chance else self._root.legal_actions()
        if action not in legal:
            raise ValueError(f"Action {action} is not legal at the root; legal are {list(legal)}.")
        try:
            self._root.apply_action(action)
            self._root_key = _position_key(self._root)
            self._keep(action)
        except BaseException:
            # The root and the tree may be of different positions.
            self._forget()
            raise

    def _keep(self, action: int) -> None:
        """Keep the part of the tree below an action of its root."""
        if self._grown is not None and self._grown.has_root:
            child = trees.find_child(self._grown.tree, ROOT, action)
            if child == UNEXPANDED:
                self._grown = None
            else:
                self._grown.keep(child)
        self._noised = False
        self._advanced = True

    def _check_idle(self) -> None:
        if self._running:
            raise RuntimeError("This searcher is searching already; use one for each search.")

    def result(self) -> SearchResult:
        """What is known of the root now; after an interrupted search, what was found until then.

        Raises:
            RuntimeError: if nothing has been searched yet.
            ValueError: if ``advance`` has led to a position where no player is to move.
        """
        if self._root is None:
            raise RuntimeError("Nothing has been searched yet.")
        _check_decision(self._root)
        rooted = self._rooted()
        statistics = root_statistics(rooted, self.config)
        action = drawn_action(statistics, self._move_unit)
        visits = sum(row.visits for row in statistics)
        total = sum(row.visits * row.value for row in statistics if row.value is not None)
        player = int(self._root.current_player())
        numbers = win_numbers(rooted.proofs, player) if rooted.has_root else (None, None)
        return SearchResult(
            player=player,
            action=action,
            actions=statistics,
            value=total / visits if visits > 0 else None,
            outcome=solved_outcome(rooted.proofs) if rooted.has_root else None,
            proof_number=numbers[0],
            disproof_number=numbers[1],
            principal_variation=principal_variation(rooted, action),
            simulations=self._simulations,
            root_visits=self._root_visits(),
            seconds=self._seconds,
            nodes=0 if self._grown is None else int(self._grown.tree.used[NODES_USED]),
            memory_bytes=0 if self._grown is None else self._grown.memory_bytes,
            memory_full=self._grown is not None and self._grown.full,
            state=rooted.state,
        )

    def _rooted(self) -> RootedTree:
        assert self._root is not None
        low, high = self._utility_range.tolist()
        if self._grown is None:
            empty = trees.allocate(0, 0, amaf=False), allocate_tables(0, 0), allocate_proofs(0)
            return RootedTree(*empty, low, high, self._root.clone())
        grown = self._grown
        arrays = grown.tree, grown.tables, grown.proofs
        return RootedTree(*arrays, low, high, self._root.clone())

    def _begin(self, root: GameState) -> None:
        key = _position_key(root)
        kept = self._advanced and self._grown is not None and key == self._root_key
        if not kept or self._grown is None or not self._grown.fits(self.config):
            self._forget()
        self._root = root
        self._root_key = key
        self._simulations = 0
        self._move_unit = float(self._moves.random())

    def _run(self, limit: Limit, started: float, progress: Progress | None) -> None:
        assert self._root is not None
        frame = self._make_frame(self._root)
        simulator = self._make_simulator(self._root, frame)
        scratch = self._make_scratch(self._root, frame)
        formula = _compiled_formula(self.config)
        parameters = loop_parameters(
            self.config,
            fixed_range=self._has_fixed_range(self._root),
            formula=0 if formula is None else formula_address(formula),
            searching_player=self._root.current_player(),
            utilities=(float(self._root.min_utility()), float(self._root.max_utility())),
            utility_sum=_utility_sum(self._root),
        )
        target = math.inf if limit.simulations is None else limit.simulations
        deadline = started + (math.inf if limit.seconds is None else limit.seconds)
        simulator.deadline = deadline
        if self._grown is None:
            self._grown = GrownTree(
                self.config,
                num_players=self._root.num_players(),
                num_actions=self._root.num_distinct_actions(),
                frame_actions=int(frame.header[Header.ACTION_CAPACITY]),
            )
        next_progress = started + PROGRESS_SECONDS
        slice_size, slice_started = 1, time.perf_counter()
        while self._root_visits() < target and slice_started < deadline:
            remaining = target - self._root_visits()
            before = int(scratch.simulations[0])
            try:
                with _interpreted_arithmetic():
                    status = loop.run(
                        self._grown.tree,
                        self._grown.tables,
                        self._grown.proofs if self.config.proves else None,
                        frame,
                        scratch,
                        parameters,
                        self._tree_stream,
                        simulator.address,
                        int(min(slice_size, remaining)),
                        not self._grown.full,
                    )
            finally:
                # Ctrl-C comes out here where simulations run outside the interpreter.
                done = int(scratch.simulations[0]) - before
                self._simulations += done
            if status == Status.FAILED:
                simulator.raise_pending()
            elif status in (Status.STOPPED, Status.SOLVED):
                break
            elif status == Status.TREE_FULL:
                self._grown.grow(int(frame.header[Header.ACTION_CAPACITY]))
            elif status == Status.FRAME_FULL:
                frame = grown_frame(frame)
                simulator.bind(frame)
                scratch = self._make_scratch(self._root, frame)
            self._add_noise()
            now = time.perf_counter()
            slice_size = _next_slice(slice_size, done, now - slice_started, deadline - now)
            slice_started = now
            if progress is not None and now >= next_progress:
                self._seconds = now - started
                progress(self.result())
                next_progress = time.perf_counter() + PROGRESS_SECONDS

    def _make_frame(self, root: GameState) -> Frame:
        return make_frame(
            num_players=root.num_players(),
            playouts=self.config.playouts,
            playout_stream=make_stream(self._seeds.spawn(1)[0]),
            action_capacity=max(16, min(512, root.num_distinct_actions())),
        )

    def _make_simulator(self, root: GameState, frame: Frame) -> Simulator:
        make = getattr(root, "simulator", None)
        if make is not None:
            return make(frame, self.evaluator)  # type: ignore[no-any-return]
        return PythonSimulator(
            root.clone(),
            frame,
            num_distinct_actions=root.num_distinct_actions(),
            evaluator=self.evaluator,
        )

    def _make_scratch(self, root: GameState, frame: Frame) -> Scratch:
        if self._has_fixed_range(root):
            self._utility_range[LOW] = root.min_utility()
            self._utility_range[HIGH] = root.max_utility()
        return make_scratch(
            frame,
            num_distinct_actions=root.num_distinct_actions(),
            utility_range=self._utility_range,
        )

    def _has_fixed_range(self, root: GameState) -> bool:
        return (
            self.config.utility_range is UtilityRange.GAME
            and math.isfinite(root.min_utility())
            and math.isfinite(root.max_utility())
        )

    def _add_noise(self) -> None:
        """Mix Dirichlet noise into the root's priors, once."""
        epsilon = self.config.dirichlet_epsilon
        if epsilon == 0.0 or self._noised or self._grown is None or not self._grown.has_root:
            return
        edges = trees.edge_rows(self._grown.tree, ROOT)
        priors = self._grown.tree.edge_prior[edges.start : edges.stop]
        noise = self._noise.dirichlet(np.full(len(priors), self.config.dirichlet_alpha))
        priors[:] = (1.0 - epsilon) * priors + epsilon * noise
        self._noised = True

    def _root_visits(self) -> int:
        if self._grown is None or not self._grown.has_root:
            return 0
        return int(self._grown.tree.node_visits[ROOT])


@functools.cache
def prepare(proves: bool) -> None:
    """Compile the kernel, or load it from the cache, so that no search's clock pays for it."""
    announce_compilation(proves=proves)
    frame = make_frame(num_players=2, playouts=1, playout_stream=np.zeros(4, np.int64))
    scratch = make_scratch(frame, num_distinct_actions=1, utility_range=np.zeros(2))
    parameters = loop_parameters(
        SearchConfig(),
        fixed_range=True,
        formula=0,
        searching_player=0,
        utilities=(0.0, 1.0),
        utility_sum=math.nan,
    )
    grown = GrownTree(SearchConfig(amaf=Amaf.GRAVE), num_players=1, num_actions=1, frame_actions=1)
    proofs = grown.proofs if proves else None
    stream = np.zeros(4, np.int64)
    loop.run(grown.tree, grown.tables, proofs, frame, scratch, parameters, stream, 0, 0, True)
    note_compilation(proves=proves)


def checked_seed(seed: int | None) -> int | None:
    """The seed, refused if it is neither None nor an integer of at least 0."""
    if seed is None:
        return None
    if isinstance(seed, bool) or not hasattr(seed, "__index__"):
        raise TypeError(f"seed must be an integer or None, got {seed!r}.")
    if int(seed) < 0:
        raise ValueError(f"seed must be at least 0, got {seed!r}.")
    return int(seed)


def _check_decision(state: GameState) -> None:
    player = state.current_player()
    if player == PlayerId.SIMULTANEOUS:
        raise UnsupportedGameError("Players move at the same time here, which is not supported.")
    if state.is_terminal():
        raise ValueError("The game is over at this state: there is nothing to search.")
    if player == PlayerId.CHANCE:
        raise ValueError("Chance moves at this state: apply an outcome, then search.")
    if not 0 <= player < state.num_players():
        raise ValueError(f"No player is to move at this state: current_player() is {player}.")


def _position_key(state: GameState) -> Hashable:
    key = getattr(state, "position_key", None)
    return None if key is None else key()


def _utility_sum(state: GameState) -> float:
    """The sum of two players' utilities at every end; NaN if there are others, or it is unknown."""
    stated = getattr(state, "utility_sum", None)
    total = None if stated is None or state.num_players() != 2 else stated()
    return math.nan if total is None else float(total)


def _compiled_formula(config: SearchConfig) -> Any:
    return None if isinstance(config.selection, Selection) else compiled_formula(config.selection)


def _next_slice(size: int, done: int, elapsed: float, remaining: float) -> int:
    """How many simulations to run before the next look at the clock."""
    if done == 0:
        return size
    per_second = done / max(elapsed, 1e-9)
    return max(1, min(4 * size, int(per_second * min(SLICE_SECONDS, max(remaining, 0.0)))))


@contextlib.contextmanager
def _interpreted_arithmetic() -> Iterator[None]:
    """Quiet NumPy where the kernel runs in the interpreter: infinite scores are meant."""
    if not JIT_DISABLED:
        yield
        return
    with np.errstate(all="ignore"):
        yield
