"""One tree and its search: what one thread of a Searcher works on."""

import contextlib
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rave_agents.compiler.arrays import NODE
from rave_agents.compiler.dispatch import JIT_DISABLED, OpenFunction, classes_of, records_of
from rave_agents.compiler.part_fields import part_name
from rave_agents.compiler.progress import shortened
from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.config.part_specs import call_part, own_parts
from rave_agents.config.root_noise import NoNoise, noisy
from rave_agents.errors import FormulaError, UnsupportedGameError
from rave_agents.game.game_state import GameState
from rave_agents.kernel import loop
from rave_agents.kernel import tree as trees
from rave_agents.kernel.declarations import asks_rules, draws_by_weights, needs_observations
from rave_agents.kernel.move_policies import choose_move, chooses_moves, draws_moves
from rave_agents.kernel.playouts import is_uniform
from rave_agents.kernel.search import Search, Settings
from rave_agents.kernel.tree import ROOT
from rave_agents.kernel.utilities import GameRange, ObservedRange
from rave_agents.kernel.values.online import MOST_SAMPLES
from rave_agents.searcher.move_policy import MovePolicy
from rave_agents.simulate.action_numbers import MOST_DENSE, MOST_ROWS, ActionNumbers
from rave_agents.simulate.evaluator import Evaluator
from rave_agents.simulate.python_simulator import PythonSimulator
from rave_agents.simulate.random_stream import Stream, make_stream
from rave_agents.simulate.simulator import (
    Frame,
    Header,
    Simulator,
    Status,
    flat_frame,
    grown_frame,
    make_frame,
    reweighted_frame,
)
from rave_agents.simulate.value import PositionValue
from rave_agents.simulate.world_record import FEW, WorldSample
from rave_agents.tree.composition import Parts, SearchedGame
from rave_agents.tree.search_tree import SearchTree

SLICE_SECONDS = 0.02
"""How long the loop runs between two looks at the clock."""

OVERRUN, LEAST_OVERRUN = 0.1, 0.05
"""How long a search that has too few worlds for any choice may go on after its deadline: a part of
its time, or so many seconds if these are more."""

_NOTHING = contextlib.nullcontext()


class TreeSearch:
    """The search of one tree, by one thread: what a ``Searcher`` has one of for each thread.

    It has the tree, the random streams that grow it and the provider of simulations. ``enter``
    begins a search from a root, ``begin`` sets its limits, and ``run_slice`` runs the loop for some
    milliseconds. Between two slices the tree is whole.

    Args:
        evaluator: judges leaves in place of playouts; None for playouts.
        value: judges positions as ``SearchConfig.judging`` says; None for nothing.
    """

    _entry: Any = loop.run
    """What ``bound`` compiles for a search's record."""

    def __init__(self, evaluator: Evaluator | None, value: Any = None) -> None:
        self._evaluator = evaluator
        self._value = value
        self.tree: SearchTree | None = None
        """The tree; None before the first search."""
        self.solved = False
        """Whether the search ended because nothing is left to search."""
        self._game: SearchedGame | None = None
        self._frame: Frame | None = None
        self._numbers: ActionNumbers | None = None
        self._policy: MovePolicy | None = None
        self._counted = 0
        self._frame_grown = False
        self._is_open = False
        self.is_cut = False
        """Whether the last search has not come to its end: then the next has a new provider."""
        self.provider = "python"
        """What runs the simulations, see ``SearchResult.provider``; known once it is open."""

    def __getstate__(self) -> dict[str, Any]:
        """What a copy goes on with: all but what is bound to places in memory."""
        bound = ("_flat_frame", "_simulator", "_slice", "_run", "_search", "_policy")
        kept = {name: value for name, value in vars(self).items() if name not in bound}
        return {**kept, "_frame": None, "_policy": None}

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
            noise_seed: of the root's noise. Searches that share it have the same noise.
        """
        self._stream = make_stream(stream_seed)
        self._playout_seeds = playout_seeds
        self._noise = np.random.default_rng(noise_seed)

    def mend(self) -> None:
        """Make the tree whole, if an exception of a signal handler came while it was changed."""
        if self.tree is not None:
            self.tree.mend()

    def clear_tree(self) -> None:
        """Drop the tree, but not its memory; the random streams go on."""
        if self.tree is not None:
            self.tree.clear()

    def clear_learned(self) -> None:
        """Forget what was seen of the game, too, as a new search has."""
        if self.tree is not None:
            self.tree.clear_learned()

    def detach_tree(self) -> None:
        """Let go of the tree, which is somebody else's from now on."""
        self.tree = self._frame = self._numbers = None

    @property
    def has_root(self) -> bool:
        """Whether there is a root node yet."""
        return self.tree is not None and self.tree.has_root

    @property
    def simulations(self) -> int:
        """Simulations of this search; the loop counts them."""
        if self.tree is None or self.tree.arrays.used[NODE] == 0:
            return 0
        return int(self.tree.path.simulations[0]) - self._counted

    @property
    def runs_in_parallel(self) -> bool:
        """Whether searches of other trees can run at the same time; known once it is open."""
        return bool(getattr(self._simulator, "outside_interpreter", False))

    def enter(self, game: SearchedGame, root: GameState, player: int) -> None:
        """Search this position from now on; the tree is empty or has it as its root.

        Args:
            game: what is known of its game. The very object that it was entered with before says
                that the game goes on.
            root: the position, which is shared.
            player: whose move is searched for there.
        """
        if game is not self._game:
            self._game, self._frame = game, None
        self._root, self._player = root, player
        self._is_open = False
        self.solved = False
        if self.tree is not None:
            self.tree.state, self.tree.player = root, player
            self._counted = int(self.tree.path.simulations[0])

    def open(self) -> None:
        """Get the provider of simulations of this position; ``begin`` does so otherwise."""
        game = self._game
        assert game is not None
        words = self._playout_seeds.spawn(1)[0].generate_state(4, np.uint32)
        frame = None if self._frame_grown or self.is_cut else self._frame
        self.is_cut = True  # Should an exception come now, another provider is made.
        goes_on = None if frame is None else getattr(self._simulator, "set_root", None)
        if goes_on is None or not goes_on(self._root):
            self._make_simulator(game, words.astype(np.int64))
        elif frame is not None:
            frame.playout_stream[:] = words
            frame.action_weights.fill(1.0)
            frame.header[Header.EVEN_WEIGHTS] = is_uniform(game.config.playouts, 0.0)
        self._is_open, self.is_cut = True, False

    def begin(self, *, simulations: float, deadline: float, memory_share: float) -> None:
        """Set the limits, before the first slice.

        Args:
            simulations: how many to run; infinity for no limit.
            deadline: ``time.perf_counter()`` time at which to end; infinity likewise.
            memory_share: the part of ``max_memory_mb`` that a new tree may take, in (0, 1].
        """
        game, tree = self._game, self.tree
        assert game is not None
        if not self._is_open:
            self.open()
        assert self._frame is not None
        self.is_cut = True
        self._simulator.deadline = deadline
        if game.determinizes:
            self._simulator.worlds.begin(simulations, deadline)  # type: ignore[attr-defined]
        megabytes = game.config.max_memory_mb * memory_share
        numbers = self._numbers
        kept = tree is not None and tree.numbers is numbers
        if tree is None or not (kept and (tree.has_root or tree.can_begin_anew(game, megabytes))):
            self.tree = tree = SearchTree(
                game,
                self._root,
                self._player,
                megabytes=megabytes,
                frame=self._frame,
                numbers=numbers,
            )
            self._counted = 0
        if game.fixed_range:
            tree.utility_range[:] = game.limits.low, game.limits.high
        game.config.check_simulations(simulations)
        tree.begin(self._frame, simulations, self._noise)
        now = time.perf_counter()
        self._deadline, self._is_extended = deadline, False
        self._latest = deadline + max(LEAST_OVERRUN, OVERRUN * (deadline - now))
        self._last = int(tree.path.simulations[0]) + simulations
        self._slice_size = 1
        self._slice_started = now
        self._bind(game, tree)

    def run_slice(self) -> bool:
        """Run for some milliseconds. Returns whether there is more to do.

        Raises:
            FormulaError: if a selection formula of the user's own raises or gives no score.
            Exception: whatever the game's state or the evaluator raises, unchanged.
        """
        game, tree, frame = self._game, self.tree, self._frame
        assert game is not None
        assert tree is not None
        assert frame is not None
        before = int(tree.path.simulations[0])
        remaining = self._last - before
        ends = self._deadline
        if game.determinizes:
            ends = self._simulator.deadline = self._end(game)
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
                tree.clear()  # It may be torn: there is no such place in compiled code.
            raise
        if status == Status.FAILED:
            self._raise_error(game)
        elif status == Status.NO_SCORE:
            raise no_scores(game.parts)
        elif status in (Status.STOPPED, Status.SOLVED):
            self.solved = status == Status.SOLVED
            self._slice_started = time.perf_counter()
            return not self.solved and self._extended()
        elif status == Status.TREE_FULL:
            header = frame.header
            tree.grow(int(max(header[Header.ACTION_CAPACITY], header[Header.REQUIRED_ACTIONS])))
            self._bind(game, tree)
        elif status == Status.FRAME_FULL:
            self._make_room(game, tree, frame)
        if not tree.noised and not isinstance(game.config.root_noise, NoNoise):
            self._add_noise(game, tree)
        now = time.perf_counter()
        done = int(tree.path.simulations[0]) - before
        if done > 0:
            per_second = done / max(now - self._slice_started, 1e-9)
            seconds = min(SLICE_SECONDS, max(self._deadline - now, 0.0))
            self._slice_size = max(1, min(4 * self._slice_size, int(per_second * seconds)))
        self._slice_started = now
        return True

    def _raise_error(self, game: SearchedGame) -> None:
        """Raise what has ended a simulation: the playout policy's error, or the provider's."""
        if self._policy is not None:
            try:
                self._policy.raise_error()
            except Exception as error:
                with contextlib.suppress(Exception):
                    self._simulator.raise_pending()
                raise part_failed(game.parts, error) from error
        self._simulator.raise_pending()

    def world_sample(self) -> WorldSample | None:
        """What worlds were drawn; None if nothing is hidden, or no search has begun here."""
        if self._game is None or not self._game.determinizes or not self._is_open:
            return None
        return self._simulator.worlds.sample()  # type: ignore[attr-defined,no-any-return]

    def _extended(self) -> bool:
        """Give some more time, once, to what is to be simulated in a world that took it all."""
        sample = None if self._is_extended or self.simulations > 0 else self.world_sample()
        if sample is None or sample.drawn == 0:
            return False
        self._is_extended = True
        self._latest = time.perf_counter() + LEAST_OVERRUN
        return True

    def _end(self, game: SearchedGame) -> float:
        """When simulations stop; later as long as too few worlds for any choice have been seen."""
        few = game.determinizes and self.simulations < FEW
        return self._latest if few else self._deadline

    def _bind(self, game: SearchedGame, tree: SearchTree) -> None:
        """Let the loop work on the arrays as they are now; those that grew lie elsewhere."""
        assert self._frame is not None
        bounds = tree.utility_range
        settings = Settings(
            num_players=game.num_players,
            num_actions=tree.num_actions,
            searching_player=self._player,
            least_utility=game.limits.low,
            greatest_utility=game.limits.high,
            utility_sum=game.limits.sum_of_two,
            first_play_urgency=game.config.first_play_urgency,
            expand_visits=game.config.expand_visits,
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
        if draws_moves(tree.running.playouts):
            self._policy = MovePolicy(self._frame, self._search)
        self._run = self._entry.bound(self._search)

    def _make_simulator(self, game: SearchedGame, playout_stream: Stream) -> None:
        """A frame, and what runs simulations in it."""
        cut = self._cut(game)
        frame = new_frame(
            game,
            playout_stream,
            playouts=game.config.playout_count,
            playout_moves=-1 if cut == math.inf else int(cut),
        )
        simulator = self._provider(game, frame)
        self._numbers = self._numbered(game, simulator)
        numbers = self._numbers
        weighed = reweighed(frame, game.num_actions if numbers is None else numbers.capacity)
        if weighed is not frame:
            simulator.bind(weighed)
        self._use_simulator(simulator, weighed)

    def _numbered(self, game: SearchedGame, simulator: Simulator) -> ActionNumbers | None:
        """The numbers by which a provider tells actions; None where it tells them themselves."""
        rows = game.num_players * game.num_actions
        if rows <= MOST_DENSE:
            return None
        if chooses_moves(game.parts.playouts):
            raise UnsupportedGameError(
                f"playouts={part_name(type(game.parts.playouts))} keep a number for each action: "
                f"num_distinct_actions() is {game.num_actions}, and may be at most "
                f"{MOST_DENSE // game.num_players} there with {game.num_players} players."
            )
        if not hasattr(simulator, "number_actions"):
            check_rows(game, f"The provider {self.provider!r} of simulations")
            return None
        numbers = self._numbers or ActionNumbers(game.num_players)
        if self.tree is None or self.tree.numbers is not numbers:
            numbers.clear()
        simulator.number_actions(numbers)
        return numbers

    def _cut(self, game: SearchedGame) -> float:
        """Moves after which a playout is cut and judged."""
        return math.inf if self._value is None else game.config.judging.playout_moves

    def _provider(self, game: SearchedGame, frame: Frame) -> Simulator:
        """What runs simulations of this root in a frame."""
        root = self._root
        checked: Evaluator | None = None
        if self._evaluator is not None:
            checked = self._evaluator
        elif self._value is not None:
            checked = PositionValue(self._value, root, self._cut(game))
        observer = self._player if game.determinizes else None
        simulator = _make_simulator(root, frame, checked, observer)
        if asks_rules(game.config.playouts) and hasattr(simulator, "make_sensible"):
            simulator.make_sensible()
        return simulator

    def _use_simulator(self, simulator: Simulator, frame: Frame) -> None:
        self._simulator = simulator
        self._slice = getattr(simulator, "slice", contextlib.nullcontext)
        self.provider = str(getattr(simulator, "provider", "python"))
        self._frame, self._flat_frame, self._frame_grown = frame, flat_frame(frame), False

    def _make_room(self, game: SearchedGame, tree: SearchTree, frame: Frame) -> None:
        """Make room for what a simulation could not write, in the frame or for its actions."""
        if self._numbers is not None and self._numbers.overflows:
            self._fit_actions(game, tree, frame)
        else:
            self._grow_frame(game, tree, frame)

    def _grow_frame(self, game: SearchedGame, tree: SearchTree, frame: Frame) -> None:
        """Go on with larger buffers; the next search begins with small ones again."""
        grown = grown_frame(frame)
        self._frame, self._flat_frame, self._frame_grown = grown, flat_frame(grown), True
        self._simulator.bind(grown)
        tree.fit_frame(grown)
        self._bind(game, tree)

    def _fit_actions(self, game: SearchedGame, tree: SearchTree, frame: Frame) -> None:
        """Go on with room for the actions that have occurred, or without the latest."""
        before = tree.num_actions
        tree.fit_actions(self._noise)
        if tree.num_actions > before:
            self._frame = frame = reweighed(frame, tree.num_actions)
            self._flat_frame = flat_frame(frame)
            self._simulator.bind(frame)
        self._bind(game, tree)

    def _add_noise(self, game: SearchedGame, tree: SearchTree) -> None:
        """Mix the noise into the root's priors, as soon as there is a root."""
        if not tree.has_root:
            return
        edges = trees.edge_rows(tree.arrays, ROOT)
        priors = tree.arrays.edge_prior[edges.start : edges.stop]
        noise = game.config.root_noise
        noised = np.asarray(call_part(noisy, noise, priors.copy(), self._noise))
        if noised.shape != priors.shape or not (np.isfinite(noised) & (noised >= 0.0)).all():
            raise FormulaError(
                f"{type(noise).__name__} must give {len(priors)} numbers of at "
                f"least 0, one for each of the root's actions, got {noised!r}."
            )
        priors[:] = noised
        tree.noised = True


def new_frame(
    game: SearchedGame,
    playout_stream: Stream,
    *,
    playouts: int,
    playout_moves: int = -1,
    observation: int = 0,
) -> Frame:
    """A frame for a search of a game.

    Args:
        game: what the search knows of it.
        playout_stream: what the provider draws from.
        playouts: those of each simulation; 0 if leaves are judged in batches.
        playout_moves: moves after which a value function judges them; -1 for none.
        observation: numbers of a player's observation, where leaves are judged in batches.
    """
    # A provider may give numbers to actions of many ids: their weights are made after it.
    weights = game.num_actions if game.num_players * game.num_actions <= MOST_DENSE else 1
    weighted = draws_by_weights(game.parts.playouts)
    learns = any(map(needs_observations, records_of(game.parts)))
    movers = game.num_players if game.simultaneous else 1
    frame = make_frame(
        num_players=game.num_players,
        playouts=playouts,
        playout_stream=playout_stream,
        action_capacity=max(16, min(512, movers * game.num_actions)),
        action_weights=np.ones((game.num_players, weights if weighted else 0)),
        playout_moves=playout_moves,
        observation=game.observation if learns else observation,
        samples=MOST_SAMPLES if learns else 0,
        even_weights=is_uniform(game.config.playouts, 0.0),
    )
    frame.header[Header.CHOOSE] = chooses_moves(game.parts.playouts)
    return frame


def reweighed(frame: Frame, actions: int) -> Frame:
    """A frame with weights of so many actions of each player, if it has any."""
    old = frame.action_weights
    if old.shape[1] in (0, actions):
        return frame
    weights = np.ones((len(old), actions))
    kept = min(actions, old.shape[1])
    weights[:, :kept] = old[:, :kept]
    return reweighted_frame(frame, weights)


def check_rows(game: SearchedGame, what: str) -> None:
    """Refuse a game with so many distinct actions that tables of all of them are too large."""
    if game.num_players * game.num_actions > MOST_ROWS:
        raise UnsupportedGameError(
            f"{what} needs tables of all actions of all players: num_distinct_actions() is "
            f"{game.num_actions}, and may be at most {MOST_ROWS // game.num_players} there with "
            f"{game.num_players} players. A search of states that Python simulates has no such "
            "bound."
        )


def no_scores(parts: Parts) -> FormulaError:
    """The error of parts of the user's own by which no edge has a score."""
    names = " or ".join(own_parts(parts)) or type(parts.rule).__name__
    return FormulaError(
        f"{names} gave NaN for every action of a position: there must be "
        "a number for at least one of a position's actions. Mind 0 / 0 and infinity - infinity "
        "where n or n_amaf is 0."
    )


def is_part_failure(parts: Parts, error: BaseException) -> bool:
    """Whether parts of the user's own may have raised what the loop has ended with."""
    own = len(own_parts(parts)) > 0
    return own and isinstance(error, Exception) and not is_raised_by_handler(error)


def part_failed(parts: Parts, error: BaseException) -> FormulaError:
    """The error of parts of the user's own, one of which has raised."""
    names = " or ".join(own_parts(parts))
    return FormulaError(f"{names}: the search raised {type(error).__name__}: {error}")


_compiled: set[tuple[Any, ...]] = set()


def compile_search(
    game: SearchedGame, state: GameState, bind: Callable[[Search], object] = loop.run.bound
) -> None:
    """Compile what a search of a game needs, or load it, so that no search's clock pays for it.

    Args:
        game: what the search knows of it.
        state: a position of it.
        bind: compiles what is called with the record of a search.
    """
    parts = game.parts
    utilities = GameRange if game.fixed_range else ObservedRange
    classes = (bind, OpenFunction.generation, utilities, *classes_of(parts))
    if JIT_DISABLED or classes in _compiled:
        return
    frame = make_frame(num_players=2, playouts=1, playout_stream=np.zeros(4, np.int64))
    small = game._replace(num_players=2, num_actions=1)
    search = SearchTree(small, state, 0, megabytes=1.0, frame=frame).search(
        frame=flat_frame(frame),
        stream=np.zeros(4, np.int64),
        utilities=utilities(np.zeros(2)),
    )
    try:
        bind(search)
        if draws_moves(search.playouts):
            choose_move.placed(search)
    except Exception as error:
        if own_parts(parts):
            raise ValueError(
                f"Numba cannot compile the search with {' and '.join(own_parts(parts))}: "
                f"{shortened(error)}"
            ) from None  # Numba's own message has hundreds of lines.
        raise
    _compiled.add(classes)


def _make_simulator(
    root: GameState, frame: Frame, evaluator: Any, observer: int | None
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
