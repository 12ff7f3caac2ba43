"""One tree and its search: what one thread of a Searcher works on."""

import contextlib
import math
import time
from collections.abc import Iterator, Sequence

import numpy as np

from rave_agents.checked_evaluator import CheckedEvaluator
from rave_agents.config import SearchConfig
from rave_agents.game import (
    GameState,
    draws_chance,
    has_simultaneous_moves,
    hides_information,
)
from rave_agents.grown_tree import GrownTree
from rave_agents.loop_parameters import loop_parameters
from rave_agents.options import Amaf, Hidden, Selection, UtilityRange
from rave_agents.root import RootedTree
from rave_agents.search import loop
from rave_agents.search import tree as trees
from rave_agents.search.amaf import allocate_tables
from rave_agents.search.backup import HIGH, LOW, Scratch, make_scratch
from rave_agents.search.compiler import JIT_DISABLED
from rave_agents.search.own_formula import (
    CompiledFormula,
    compiled_formula,
    no_scores,
    try_formula,
)
from rave_agents.search.parameters import Parameters
from rave_agents.search.playout_policy import allocate_playout_policy
from rave_agents.search.proofs import allocate_proofs
from rave_agents.search.python_simulator import Evaluator, PythonSimulator
from rave_agents.search.random_stream import make_stream
from rave_agents.search.simulator import Frame, Header, Simulator, Status, grown_frame, make_frame
from rave_agents.search.simultaneous import allocate_simultaneous, find_joint_child
from rave_agents.search.tree import NODES_USED, ROOT, UNEXPANDED
from rave_agents.search.world_record import FEW, WorldSample

SLICE_SECONDS = 0.02
"""How long the loop runs between two looks at the clock."""


class SearchTree:
    """A tree with the random streams that grow it: what one thread keeps between searches.

    Args:
        config: the search's tunables.
    """

    def __init__(self, config: SearchConfig) -> None:
        self._config = config
        self.grown: GrownTree | None = None
        """The arrays; None before the first search."""
        self.forget()

    def forget(self, *, release: bool = False) -> None:
        """Drop the tree; the streams go on.

        Args:
            release: let go of its arrays as well, which another tree would use otherwise.
        """
        if release:
            self.grown = None
        elif self.grown is not None:
            self.grown.clear()
        self.simulations = 0
        """Simulations of the last search."""
        self.utility_range = np.array([math.inf, -math.inf])
        """The utilities that are 0 and 1 on the scale of values."""
        self._noised = False

    def reseed(
        self,
        stream_seed: np.random.SeedSequence,
        playout_seeds: np.random.SeedSequence,
        noise_seed: np.random.SeedSequence,
    ) -> None:
        """Draw everything random from these seeds from now on.

        Args:
            stream_seed: of tie-breaks and of chance nodes in the tree.
            playout_seeds: spawns a seed for the playouts of each search.
            noise_seed: of the root's noise. Trees that share it have the same noise.
        """
        self.stream = make_stream(stream_seed)
        """Random numbers for tie-breaks and for chance nodes in the tree."""
        self._playout_seeds = playout_seeds
        self._noise = np.random.default_rng(noise_seed)

    def next_playout_seed(self) -> np.random.SeedSequence:
        """The seed of the next search's playouts."""
        return self._playout_seeds.spawn(1)[0]

    @property
    def has_root(self) -> bool:
        """Whether there is a root node yet."""
        return self.grown is not None and self.grown.has_root

    @property
    def root_visits(self) -> int:
        """Simulations in the tree."""
        if self.grown is None or not self.grown.has_root:
            return 0
        return int(self.grown.tree.node_visits[ROOT])

    @property
    def nodes(self) -> int:
        """Nodes in the tree."""
        return 0 if self.grown is None else int(self.grown.tree.used[NODES_USED])

    @property
    def memory_bytes(self) -> int:
        """Bytes that the tree takes."""
        return 0 if self.grown is None else self.grown.memory_bytes

    def keep(self, actions: Sequence[int]) -> None:
        """Keep the part of the tree below an action of its root, or below one of each mover."""
        if self.grown is not None and self.grown.has_root:
            child = find_joint_child(self.grown.tree, self.grown.simultaneous, ROOT, actions)
            if child == UNEXPANDED or self.grown.is_refuted(child):
                self.forget()
            else:
                self.grown.keep(child)
        self._noised = False

    def rooted(self, root: GameState, player: int) -> RootedTree:
        """The tree with its root position and utility range; without nodes if there are none.

        Args:
            root: the position.
            player: whose moves are looked at there.
        """
        low, high = self.utility_range.tolist()
        if self.grown is None:
            empty = trees.allocate(0, 0, amaf=False), allocate_tables(0, 0), allocate_proofs(0)
            beside = allocate_simultaneous(0)
            return RootedTree(*empty, beside, low, high, root.clone(), player)
        grown = self.grown
        arrays = grown.tree, grown.tables, grown.proofs, grown.simultaneous
        return RootedTree(*arrays, low, high, root.clone(), player)

    def add_noise(self) -> None:
        """Mix Dirichlet noise into the root's priors, once."""
        epsilon = self._config.dirichlet_epsilon
        if epsilon == 0.0 or self._noised or self.grown is None or not self.grown.has_root:
            return
        edges = trees.edge_rows(self.grown.tree, ROOT)
        priors = self.grown.tree.edge_prior[edges.start : edges.stop]
        noise = self._noise.dirichlet(np.full(len(priors), self._config.dirichlet_alpha))
        priors[:] = (1.0 - epsilon) * priors + epsilon * noise
        self._noised = True


class TreeSearch:
    """One search of one tree from one root, in slices of some milliseconds.

    Between two slices the tree is whole. One thread at a time may run it.

    Args:
        tree: the tree; it grows.
        root: the position at its root.
        player: whose move is searched for there.
        config: the search's tunables.
        evaluator: judges leaves in place of playouts; None for playouts.
    """

    def __init__(
        self,
        tree: SearchTree,
        root: GameState,
        player: int,
        config: SearchConfig,
        evaluator: Evaluator | None,
    ) -> None:
        self.tree = tree
        self.solved = False
        """Whether it ended because nothing is left to search."""
        self._root = root
        self._config = config
        movers = root.num_players() if has_simultaneous_moves(root) else 1
        steered = evaluator is None and config.playout_temperature < math.inf
        shape = root.num_players(), root.num_distinct_actions() if steered else 0
        self._policy = allocate_playout_policy(*shape)
        self._frame = make_frame(
            num_players=root.num_players(),
            playouts=config.playouts,
            playout_stream=make_stream(tree.next_playout_seed()),
            action_capacity=max(16, min(512, movers * root.num_distinct_actions())),
            action_weights=np.ones(shape, np.float64),
        )
        self._hidden = determinizes(root, config)
        checked = None if evaluator is None else CheckedEvaluator(evaluator, root)
        self._simulator = _make_simulator(
            root, self._frame, checked, player if self._hidden else None
        )
        self._slice = getattr(self._simulator, "slice", contextlib.nullcontext)
        self._formula = own_formula(config)
        self._player = player
        self._make_scratch()
        self._simultaneous = has_simultaneous_moves(root)
        self._simulations = math.inf
        self._deadline = math.inf
        self._slice_size = 1
        self._slice_started = 0.0

    @property
    def runs_in_parallel(self) -> bool:
        """Whether searches of other trees can run at the same time."""
        return bool(getattr(self._simulator, "outside_interpreter", False))

    @property
    def provider(self) -> str:
        """What runs the simulations, see ``SearchResult.provider``."""
        return str(getattr(self._simulator, "provider", "python"))

    def begin(self, *, simulations: float, deadline: float, memory_share: float) -> None:
        """Set the limits, before the first slice.

        Args:
            simulations: how many to run; infinity for no limit.
            deadline: ``time.perf_counter()`` time at which to end; infinity likewise.
            memory_share: the part of ``max_memory_mb`` that a new tree may take, in (0, 1].
        """
        self.tree.simulations = 0
        self._simulations = simulations
        self._deadline = deadline
        self._simulator.deadline = deadline
        if self._hidden:
            self._simulator.worlds.begin(simulations, deadline)  # type: ignore[attr-defined]
        self._slice_started = time.perf_counter()
        grown = self.tree.grown
        megabytes = self._config.max_memory_mb * memory_share
        num_players, num_actions = self._root.num_players(), self._root.num_distinct_actions()
        if grown is not None and (
            grown.has_root
            or grown.can_begin_anew(
                self._config,
                megabytes=megabytes,
                num_players=num_players,
                num_actions=num_actions,
                simultaneous=self._simultaneous,
                hidden=self._hidden,
            )
        ):
            return
        self.tree.grown = GrownTree(
            self._config,
            megabytes=megabytes,
            num_players=num_players,
            num_actions=num_actions,
            frame_actions=int(self._frame.header[Header.ACTION_CAPACITY]),
            simultaneous=self._simultaneous,
            hidden=self._hidden,
        )

    def run_slice(self) -> bool:
        """Run for some milliseconds. Returns whether there is more to do.

        Raises:
            FormulaError: if a selection formula of the user's own raises or gives no score.
            Exception: whatever the game's state or the evaluator raises, unchanged.
        """
        tree, grown = self.tree, self.tree.grown
        assert grown is not None
        remaining = self._simulations - tree.simulations
        late = self._slice_started >= self._deadline
        if remaining <= 0 or (late and not self._needs_worlds()):
            return False
        if late:
            # Time is over, but the few simulations that make a choice at all take none for worlds.
            self._simulator.deadline = math.inf
            remaining = min(remaining, FEW - tree.simulations)
        before = int(self._scratch.simulations[0])
        try:
            with _interpreted_arithmetic(), self._slice():
                status = loop.run(
                    grown.tree,
                    grown.tables,
                    grown.proofs if self._config.proves else None,
                    grown.simultaneous if self._simultaneous else None,
                    grown.hidden if self._hidden else None,
                    self._frame,
                    self._scratch,
                    self._parameters,
                    tree.stream,
                    self._simulator.address,
                    int(min(self._slice_size, remaining)),
                    not grown.full,
                )
        finally:
            # Ctrl-C comes out here where simulations run outside the interpreter.
            done = int(self._scratch.simulations[0]) - before
            tree.simulations += done
        if status == Status.FAILED:
            self._simulator.raise_pending()
        elif status == Status.NO_SCORE:
            assert self._formula is not None
            self._formula.raise_failure(self._scratch.formula_failure)
            raise no_scores(self._formula)
        elif status in (Status.STOPPED, Status.SOLVED):
            self.solved = status == Status.SOLVED
            self._slice_started = time.perf_counter()
            return not self.solved and self._needs_worlds()
        elif status == Status.TREE_FULL:
            header = self._frame.header
            grown.grow(int(max(header[Header.ACTION_CAPACITY], header[Header.REQUIRED_ACTIONS])))
        elif status == Status.FRAME_FULL:
            self._frame = grown_frame(self._frame)
            self._simulator.bind(self._frame)
            self._make_scratch()
        tree.add_noise()
        now = time.perf_counter()
        elapsed, left = now - self._slice_started, self._deadline - now
        self._slice_size = _next_slice(self._slice_size, done, elapsed, left)
        self._slice_started = now
        return True

    def _needs_worlds(self) -> bool:
        """Whether too few worlds have been simulated for any choice, whatever the deadline."""
        return self._hidden and self.tree.simulations < FEW

    def world_sample(self) -> WorldSample | None:
        """What worlds were drawn; None if nothing is hidden."""
        return self._simulator.worlds.sample() if self._hidden else None  # type: ignore[attr-defined]

    def _make_scratch(self) -> None:
        """Make the buffers that go with the frame, and what the loop reads."""
        if _has_fixed_range(self._config, self._root):
            self.tree.utility_range[LOW] = self._root.min_utility()
            self.tree.utility_range[HIGH] = self._root.max_utility()
        self._scratch: Scratch = make_scratch(
            self._frame,
            num_distinct_actions=self._root.num_distinct_actions(),
            utility_range=self.tree.utility_range,
            policy=self._policy,
        )
        failure = int(self._scratch.formula_failure.ctypes.data)
        self._parameters = _make_parameters(
            self._config, self._root, self._player, self._formula, failure
        )


def own_formula(config: SearchConfig) -> CompiledFormula | None:
    """The compiled selection formula of the user's own; None if there is none.

    Raises:
        ValueError: if it cannot be compiled.
    """
    return None if isinstance(config.selection, Selection) else compiled_formula(config.selection)


def try_own_formula(config: SearchConfig) -> None:
    """Compile the selection formula of the user's own, if there is one, and call it.

    Raises:
        ValueError: if it cannot be compiled.
        FormulaError: if it raises or gives NaN with arguments as searches have them.
    """
    formula = own_formula(config)
    if formula is not None:
        try_formula(
            formula,
            first_play_urgency=config.first_play_urgency,
            exploration=config.exploration,
            prior_visits=config.amaf_prior_visits,
            amaf=config.amaf is not Amaf.NONE,
        )


def determinizes(root: GameState, config: SearchConfig) -> bool:
    """Whether each simulation of a search of this state has a world of its own."""
    return draws_chance(root) or (hides_information(root) and config.hidden is Hidden.DETERMINIZE)


def _make_simulator(
    root: GameState, frame: Frame, evaluator: Evaluator | None, observer: int | None
) -> Simulator:
    make = getattr(root, "simulator" if observer is None else "world_simulator", None)
    if make is not None and observer is not None:
        return make(frame, evaluator, observer)  # type: ignore[no-any-return]
    if make is not None:
        return make(frame, evaluator)  # type: ignore[no-any-return]
    return PythonSimulator(
        root.clone(),
        frame,
        num_distinct_actions=root.num_distinct_actions(),
        evaluator=evaluator,
        observer=observer,
    )


def _make_parameters(
    config: SearchConfig,
    root: GameState,
    player: int,
    formula: CompiledFormula | None,
    formula_failure: int,
) -> Parameters:
    return loop_parameters(
        config,
        fixed_range=_has_fixed_range(config, root),
        formula=0 if formula is None else formula.address,
        formula_failure=formula_failure,
        searching_player=player,
        utilities=(float(root.min_utility()), float(root.max_utility())),
        utility_sum=_utility_sum(root),
    )


def _has_fixed_range(config: SearchConfig, root: GameState) -> bool:
    return (
        config.utility_range is UtilityRange.GAME
        and math.isfinite(root.min_utility())
        and math.isfinite(root.max_utility())
    )


def _utility_sum(state: GameState) -> float:
    """The sum of two players' utilities at every end; NaN if there are others, or it is unknown."""
    stated = getattr(state, "utility_sum", None)
    total = None if stated is None or state.num_players() != 2 else stated()
    return math.nan if total is None else float(total)


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
