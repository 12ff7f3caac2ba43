"""One tree and its search: what one thread of a Searcher works on."""

import contextlib
import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rave_agents.compiler.arrays import NODE
from rave_agents.compiler.dispatch import JIT_DISABLED, OpenFunction, classes_of
from rave_agents.config.part_specs import call_part, own_parts
from rave_agents.config.root_noise import noisy
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import FormulaError
from rave_agents.game.game_state import (
    GameState,
    draws_chance,
    has_simultaneous_moves,
    hides_information,
)
from rave_agents.kernel import loop
from rave_agents.kernel import tree as trees
from rave_agents.kernel.hooks import on_abort
from rave_agents.kernel.playouts import SensiblePlayouts
from rave_agents.kernel.search import Search, Settings
from rave_agents.kernel.tree import ROOT, UNEXPANDED
from rave_agents.kernel.utilities import HIGH, LOW, GameRange, ObservedRange
from rave_agents.results.root import RootedTree
from rave_agents.searcher.checked_evaluator import CheckedEvaluator
from rave_agents.simulate.python_simulator import Evaluator, PythonSimulator
from rave_agents.simulate.random_stream import make_stream
from rave_agents.simulate.simulator import (
    Frame,
    Header,
    Simulator,
    Status,
    flat_frame,
    grown_frame,
    make_frame,
)
from rave_agents.simulate.world_record import FEW, WorldSample
from rave_agents.tree.composition import Parts, compose, draws_by_weights
from rave_agents.tree.grown_tree import GrownTree
from rave_agents.tree.joint_positions import find_joint_child

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
        return 0 if self.grown is None else int(self.grown.tree.used[NODE])

    @property
    def memory_bytes(self) -> int:
        """Bytes that the tree takes."""
        return 0 if self.grown is None else self.grown.memory_bytes

    def keep(self, actions: Sequence[int]) -> None:
        """Keep the part of the tree below an action of its root, or below one of each mover."""
        if self.grown is not None and self.grown.has_root:
            child = find_joint_child(self.grown.tree, self.grown.running.moves, ROOT, actions)
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
        return RootedTree(self.grown, low, high, root.clone(), player)

    def add_noise(self) -> None:
        """Mix the noise into the root's priors, once."""
        if self._noised or self.grown is None or not self.grown.has_root:
            return
        edges = trees.edge_rows(self.grown.tree, ROOT)
        priors = self.grown.tree.edge_prior[edges.start : edges.stop]
        noised = np.asarray(call_part(noisy, self._config.root_noise, priors.copy(), self._noise))
        if noised.shape != priors.shape or not (np.isfinite(noised) & (noised >= 0.0)).all():
            raise FormulaError(
                f"{type(self._config.root_noise).__name__} must give {len(priors)} numbers of at "
                f"least 0, one for each of the root's actions, got {noised!r}."
            )
        priors[:] = noised
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
        self._simultaneous = has_simultaneous_moves(root)
        movers = root.num_players() if self._simultaneous else 1
        self.parts = search_parts(config, root, evaluator)
        weighted = draws_by_weights(self.parts)
        shape = root.num_players(), root.num_distinct_actions() if weighted else 0
        self._frame = make_frame(
            num_players=root.num_players(),
            playouts=config.playout_count,
            playout_stream=make_stream(tree.next_playout_seed()),
            action_capacity=max(16, min(512, movers * root.num_distinct_actions())),
            action_weights=np.ones(shape, np.float64),
        )
        self._hidden = determinizes(root, config)
        checked = None if evaluator is None else CheckedEvaluator(evaluator, root)
        if isinstance(config.playouts, SensiblePlayouts) and hasattr(root, "sensible"):
            root = root.sensible()
        self._simulator = _make_simulator(
            root, self._frame, checked, player if self._hidden else None
        )
        self._slice = getattr(self._simulator, "slice", contextlib.nullcontext)
        self._player = player
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
        if grown is None or not (
            grown.has_root
            or grown.can_begin_anew(
                self.parts, megabytes=megabytes, num_players=num_players, num_actions=num_actions
            )
        ):
            grown = self.tree.grown = GrownTree(
                self.parts,
                megabytes=megabytes,
                num_players=num_players,
                num_actions=num_actions,
                frame=self._frame,
            )
        grown.begin(self._frame)
        self._set_range()
        self._bind(grown)

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
        before = int(grown.path.simulations[0])
        try:
            with _interpreted_arithmetic(), self._slice():
                status = self._run(int(min(self._slice_size, remaining)))
        except Exception as error:
            on_abort(self._search.moves, self._search)
            if own_parts(self.parts):
                raise part_failed(self.parts, error) from error
            raise
        finally:
            # Ctrl-C comes out here where simulations run outside the interpreter.
            done = int(grown.path.simulations[0]) - before
            tree.simulations += done
        if status == Status.FAILED:
            self._simulator.raise_pending()
        elif status == Status.NO_SCORE:
            on_abort(self._search.moves, self._search)
            raise no_scores(self.parts)
        elif status in (Status.STOPPED, Status.SOLVED):
            self.solved = status == Status.SOLVED
            self._slice_started = time.perf_counter()
            return not self.solved and self._needs_worlds()
        elif status == Status.TREE_FULL:
            header = self._frame.header
            grown.grow(int(max(header[Header.ACTION_CAPACITY], header[Header.REQUIRED_ACTIONS])))
            self._bind(grown)
        elif status == Status.FRAME_FULL:
            self._frame = grown_frame(self._frame)
            self._simulator.bind(self._frame)
            grown.fit_frame(self._frame)
            self._bind(grown)
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

    def _set_range(self) -> None:
        if _has_fixed_range(self._config, self._root):
            self.tree.utility_range[LOW] = self._root.min_utility()
            self.tree.utility_range[HIGH] = self._root.max_utility()

    def _bind(self, grown: GrownTree) -> None:
        """Let the loop work on the arrays as they are now; those that grew lie elsewhere."""
        self._search = self._make_search(grown)
        self._run = loop.run.bound(self._search)

    def _make_search(self, grown: GrownTree) -> Search:
        """The record that the loop works on."""
        root, config, bounds = self._root, self._config, self.tree.utility_range
        fixed = _has_fixed_range(config, root)
        settings = Settings(
            num_players=int(root.num_players()),
            num_actions=int(root.num_distinct_actions()),
            searching_player=self._player,
            least_utility=float(root.min_utility()),
            greatest_utility=float(root.max_utility()),
            utility_sum=_utility_sum(root),
            first_play_urgency=config.first_play_urgency,
            expand_visits=config.expand_visits,
            ends_when_proven=config.final_proven,
            may_expand=not grown.full,
            simulate_address=self._simulator.address,
            header_address=self._frame.header.ctypes.data,
        )
        return grown.search(
            frame=flat_frame(self._frame),
            stream=self.tree.stream,
            settings=settings,
            utilities=GameRange(bounds) if fixed else ObservedRange(bounds),
        )


def search_parts(config: SearchConfig, state: GameState, evaluator: Evaluator | None) -> Parts:
    """The parts of a search of a state."""
    return compose(
        config,
        simultaneous=has_simultaneous_moves(state),
        hidden=determinizes(state, config),
        judged=evaluator is not None,
    )


def no_scores(parts: Parts) -> FormulaError:
    """The error of parts of the user's own by which no edge has a score."""
    names = " or ".join(own_parts(parts)) or type(parts.rule).__name__
    return FormulaError(
        f"{names} gave NaN for every action of a position: there must be "
        "a number for at least one of a position's actions. Mind 0 / 0 and infinity - infinity "
        "where n or n_amaf is 0."
    )


def part_failed(parts: Parts, error: Exception) -> FormulaError:
    """The error of parts of the user's own, one of which has raised."""
    names = " or ".join(own_parts(parts))
    return FormulaError(f"{names}: the search raised {type(error).__name__}: {error}")


_compiled: set[tuple[Any, ...]] = set()


def compile_search(config: SearchConfig, state: GameState, evaluator: Evaluator | None) -> None:
    """Compile what a search of a state needs, or load it, so that no search's clock pays for it."""
    parts = search_parts(config, state, evaluator)
    fixed = _has_fixed_range(config, state)
    kind = GameRange if fixed else ObservedRange
    classes = (OpenFunction.generation, kind, *classes_of(parts))
    if JIT_DISABLED or classes in _compiled:
        return
    frame = make_frame(num_players=2, playouts=1, playout_stream=np.zeros(4, np.int64))
    grown = GrownTree(parts, megabytes=1.0, num_players=2, num_actions=1, frame=frame)
    search = grown.search(
        frame=flat_frame(frame),
        stream=np.zeros(4, np.int64),
        settings=Settings(2, 1, 0, 0.0, 1.0, math.nan, math.inf, 1, True, True, 0, 0),
        utilities=kind(np.zeros(2)),
    )
    try:
        loop.run.bound(search)
    except Exception as error:
        if own_parts(parts):
            from rave_agents.compiler.progress import shortened  # noqa: PLC0415  (imports Numba)

            raise ValueError(
                f"Numba cannot compile the search with {' and '.join(own_parts(parts))}: "
                f"{shortened(error)}"
            ) from None  # Numba's own message has hundreds of lines.
        raise
    _compiled.add(classes)


def determinizes(root: GameState, config: SearchConfig) -> bool:
    """Whether each simulation of a search of this state has a world of its own."""
    return draws_chance(root) or (hides_information(root) and config.hidden == "determinize")


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


def _has_fixed_range(config: SearchConfig, root: GameState) -> bool:
    return (
        config.utility_range == "game"
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
