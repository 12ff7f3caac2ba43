"""Searcher: owns the trees and searches them."""

import copy
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from rave_agents.compiler.edits import code_generation
from rave_agents.config.final_moves import RobustChild
from rave_agents.config.limit import Limit
from rave_agents.config.regrets import adapts_regrets
from rave_agents.config.search_config import SearchConfig
from rave_agents.environments.chance import ChanceMetError
from rave_agents.evaluators.levels import LEVELS, NO_LEVEL
from rave_agents.frameworks.adapters import as_game_state
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState
from rave_agents.game.validation import Seed, checked
from rave_agents.kernel.declarations import proven_nodes
from rave_agents.kernel.tree import Tree
from rave_agents.results.root import known_root, leading_tree
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.checks import check_decision, is_decision
from rave_agents.searcher.clock import Clock
from rave_agents.searcher.endgames import EndgameSolver
from rave_agents.searcher.equilibrium_search import chosen_regrets
from rave_agents.searcher.evaluators import as_evaluator, check_use, kind_of
from rave_agents.searcher.kept_trees import KeptTrees
from rave_agents.searcher.prepared import game_identity, prepare
from rave_agents.searcher.resuming import check_resumes
from rave_agents.searcher.slices import Between, periodically, run_slices
from rave_agents.searcher.timed_search import clocked_limit
from rave_agents.searcher.tree_search import TreeSearch
from rave_agents.searcher.watch import EarlyStop, Watch
from rave_agents.tree.composition import Prepared
from rave_agents.tree.root_position import RootPosition
from rave_agents.tree.search_tree import SearchTree

CLOCK_MOVES = 30.0
"""Moves among which a clock's time is thought to be shared, where the size of a game is judged."""

PROGRESS_SECONDS = 0.1
"""Approximate interval of a progress callback in seconds."""

Progress = Callable[[SearchResult], None]


class Searcher:
    """A search that keeps its tree between moves.

    ``search`` starts a new tree, unless ``advance`` has moved the kept tree to exactly the searched
    position. ``seed`` determines everything random: the same seed, configuration, state and number
    of simulations give the same tree. After an exception, including ``KeyboardInterrupt``,
    ``result`` returns what the complete slices of the search have found; a running compilation
    finishes first.

    With ``SearchConfig.threads`` it has several trees, and results merge all of them.

    A searcher must not be shared between threads; separate searchers may run in several.
    ``copy.copy`` returns a searcher that continues in the same way and shares only the evaluator.

    Args:
        config: the configuration; by default ``SearchConfig()``, plain UCT.
        seed: an integer of at least 0, or None for a seed drawn by the system.
        evaluator: an evaluator of positions, see ``rave_agents.as_evaluator``, such as a function
            of a state, a network, the path of a learned file, or ``"my_module:net"``. Values of a
            function of a state, a part or a file are used according to ``SearchConfig.judging``;
            other evaluators replace playouts. Values are utilities, and must be finite and within
            the game's bounds.

    Raises:
        TypeError, ValueError: for an argument that is not allowed.
    """

    def __init__(
        self,
        config: SearchConfig | None = None,
        *,
        seed: int | None = None,
        evaluator: Any = None,
    ) -> None:
        self._evaluator: Any = None if evaluator is None else as_evaluator(evaluator)
        self._prepared: dict[Any, Prepared] = {}
        self._use(SearchConfig() if config is None else config)
        self._trees = KeptTrees(_threads(self.config))
        self._busy = self._refused = False
        self.reseed(seed)

    @property
    def config(self) -> SearchConfig:
        """The configuration. An assigned configuration applies from the next search on."""
        return self._config

    @config.setter
    def config(self, config: SearchConfig) -> None:
        before = _threads(self._config)
        if _threads(checked("config", SearchConfig, config)) != before:
            raise ValueError(
                f"This searcher has {before} threads: make a new Searcher for "
                f"{_threads(config)}, as Searcher(config)."
            )
        self._check_idle()
        self._use(config)

    @property
    def evaluator(self) -> Any:
        """The evaluator of positions; None without one. Assigning one resets the searcher."""
        return self._evaluator

    @evaluator.setter
    def evaluator(self, evaluator: Any) -> None:
        evaluator = None if evaluator is None else as_evaluator(evaluator)
        if kind_of(evaluator).batched or kind_of(self._evaluator).batched:
            raise ValueError(
                "An evaluator of batches stays with its searcher: make a new Searcher, as "
                "Searcher(config, evaluator=...)."
            )
        check_use(evaluator, self._config)
        self.reset()
        self._evaluator = evaluator
        self._adapts_regrets = adapts_regrets(self._config.regrets) and evaluator is None
        self._prepared.clear()

    def _use(self, config: SearchConfig) -> None:
        """Use this configuration from the next search on."""
        config = checked("config", SearchConfig, config)
        check_use(self._evaluator, config)
        self._config = config
        self._prepared.clear()
        self._adapts_regrets = adapts_regrets(config.regrets) and self._evaluator is None
        self._limit = math.inf, math.inf
        solves = config.endgame_share > 0 and config.level in (NO_LEVEL, LEVELS)
        self._endgames = EndgameSolver(config.endgame_share) if solves else None

    def _check_idle(self) -> None:
        if self._busy:
            raise RuntimeError("This searcher is searching already; use one for each search.")

    def __copy__(self) -> Self:
        """An independent searcher with a copy of the tree; only the evaluator is shared."""
        self._check_idle()
        return copy.deepcopy(self, {id(self.evaluator): self.evaluator})

    @property
    def root(self) -> GameState | None:
        """The position searched last or advanced to, read-only; None before the first search."""
        root = self._trees.root
        return None if root is None else root.state

    @property
    def tree(self) -> Tree | None:
        """The arrays of the tree, read-only; None before the first search.

        Copy what you want to keep: the next search may reallocate the arrays and invalidate slices.
        With several threads this is the first thread's tree.
        """
        searches = self._trees.searches
        first = searches[0].tree if searches else None
        return first.arrays if first is not None and first.has_root else None

    def rooted_tree(self) -> SearchTree | None:
        """The tree with its root position and utility range, read-only; None if there is none yet.

        It belongs to this searcher, and the next search changes it. With several threads it is the
        tree that has proven the action of ``result`` or visited it most.
        """
        trees, root = self._trees.rooted(), self.root
        if root is None or len(trees) <= 1 or not is_decision(root):
            return trees[0] if trees else None
        roots = [known_root(tree) for tree in trees]
        return trees[leading_tree(roots, self.result().action)]

    def release_tree(self) -> SearchTree | None:
        """Hand over the tree of ``rooted_tree`` for good, and reset the searcher.

        Returns None if there is none.
        """
        self._check_idle()
        released = self.rooted_tree()
        self._trees.release()
        return released

    def reset(self) -> None:
        """Drop the tree and everything learned about the game.

        The memory is kept for the next tree, as long as the searcher lives.
        """
        self._check_idle()
        self._trees.drop(learned=True)
        if self._endgames is not None:
            self._endgames.forget()

    def reseed(self, seed: int | None) -> None:
        """Restart all random streams from this seed; the tree stays.

        Raises:
            TypeError, ValueError: for an invalid seed.
        """
        self._check_idle()
        self._trees.reseed(np.random.SeedSequence(checked("seed", Seed, seed)))

    def begin_anew(self, seed: int | None) -> None:
        """Become as if just made, with another seed: only the memory of the tree is kept."""
        self.reset()
        self._trees.begin_anew()
        self.reseed(seed)

    def prepare(self, state: Any) -> None:
        """Compile or load the code for a search of this state, so that no clock pays for it.

        Raises:
            TypeError: if no installed adapter knows ``state``.
        """
        state, game = self._prepare(as_game_state(state))
        player = state.current_player()
        if not 0 <= player < game.facts.num_players:
            return
        root = RootPosition(game, state, player)
        if StateAbilities(state).on_compiled_rules is not None:
            TreeSearch().new_simulator(root, np.ones(4, np.int64))
        if self._endgames is not None:
            self._endgames.prepare(root)

    def _prepare(self, state: GameState) -> tuple[GameState, Prepared]:
        """The state to search instead of a given one, and the preparation of its game."""
        key, regrets = game_identity(state, self._config), None
        if self._adapts_regrets:
            regrets = chosen_regrets(state, self._config, *self._limit)
        game = None if key is None else self._prepared.get((key, regrets))
        if game is None or game.generation != code_generation():
            state, game = prepare(state, self._config, self._evaluator, regrets)
            if key is not None:
                self._prepared[key, regrets] = game
        return state, game

    def search(
        self,
        state: Any,
        limit: Limit | None = None,
        *,
        player: int | None = None,
        clock: Clock | None = None,
        moves: Sequence[int] | None = None,
        resume: bool = False,
        reuse: bool = False,
        progress: Progress | None = None,
        watch: Watch | None = None,
    ) -> SearchResult:
        """Search a position and choose an action for the player to move.

        Args:
            state: a GameState, or a state of an installed framework such as ``pyspiel.State``; it
                is cloned and never changed.
            limit: when to stop; with a clock in addition to its time, or None.
            player: the player to choose for, from 0; required for simultaneous moves, otherwise it
                must be the player to move.
            clock: the player's clock; it determines the time, and is charged for it.
            moves: the actions and chance outcomes from the position searched last to this one, see
                ``follow``, if the caller is sure of them: the search continues from the kept tree.
                None if unknown, or after ``advance``.
            resume: True to continue the search of the same position: the limit counts anew, and the
                tree is kept.
            reuse: True to continue from the kept tree if the states say, by ``moves_to``, that the
                position follows from the one searched last. If they say that it does not,
                everything is dropped, including learned statistics.
            progress: called about ten times per second with the result so far.
            watch: may end the search early or extend it, see ``rave_agents.searcher.watch``;
                without one ``SearchConfig.early_stop`` applies. A clock brings its own.

        Raises:
            TypeError: if no installed adapter knows ``state``.
            ValueError: if no player is to move, or ``player`` is not; for a limit without
                simulations with ``rule=gumbel``; for ``resume`` if another position, or none, was
                searched last, or with ``moves`` or ``reuse``.
            UnsupportedGameError: for the solver or proof numbers in a game with simultaneous moves.
            GameError: if the game or the evaluator breaks the common interface.
            FormulaError: if a custom part raises or returns no score.
            Exception: any exception of the game's state, the evaluator or ``progress``, unchanged.
        """
        self.choose(
            state,
            limit,
            player=player,
            clock=clock,
            moves=moves,
            resume=resume,
            reuse=reuse,
            progress=progress,
            watch=watch,
        )
        result = self.last_result
        assert result is not None
        return result

    @property
    def has_searched(self) -> bool:
        """True after the first search."""
        return self._trees.has_searched

    @property
    def simulations(self) -> int:
        """Simulations of the last search."""
        return sum(search.simulations for search in self._trees.running)

    @property
    def seconds(self) -> float:
        """Duration of the last search."""
        return self._trees.seconds

    @property
    def last_result(self) -> SearchResult | None:
        """The result of the last search, made when it is first asked for; None before the first."""
        return self._trees.last_result()

    def choose(
        self,
        state: Any,
        limit: Limit | None = None,
        *,
        player: int | None = None,
        clock: Clock | None = None,
        moves: Sequence[int] | None = None,
        resume: bool = False,
        reuse: bool = False,
        progress: Progress | None = None,
        watch: Watch | None = None,
    ) -> int:
        """Search as ``search`` does, and return the action alone.

        ``last_result`` has the rest, for those who ask for it: to put the statistics of all actions
        together takes longer than a search of few simulations.
        """
        if not isinstance(limit, Limit) and (limit is not None or clock is None):
            example = "such as Limit(simulations=500)"
            raise TypeError(f"limit must be a Limit, {example}: got {limit!r}.")
        if progress is not None and not callable(progress):
            raise TypeError(f"progress must be a function of the result so far, got {progress!r}.")
        trees = self._trees
        if self._adapts_regrets:
            self._limit = _allowed(limit, clock)
        forced = self._config.search_forced_moves and clock is None
        root = self.begin(
            state, player=player, moves=moves, resume=resume, reuse=reuse, forced=forced
        )
        try:
            if clock is not None:
                limit, watch = clocked_limit(clock, root, limit)
            if watch is not None or self._config.early_stop or root.game.level is not None:
                limit, watch = self._limit_and_watch(root, limit, watch)
            assert limit is not None
            between = None if progress is None else self._reporting(progress)
            if self._endgames is None or not self._is_solved(self._endgames, root, limit):
                try:
                    run_slices(trees.running, limit, trees.started, watch=watch, between=between)
                except ChanceMetError:  # An environment has shown chance that nobody knew of.
                    self._begin_anew(root, player, forced=forced)
                    run_slices(trees.running, limit, trees.started, watch=watch, between=between)
            self._busy = False
            return trees.action()
        finally:
            self.stop()
            if clock is not None:
                clock.charge(trees.seconds)

    def _limit_and_watch(
        self, root: RootPosition, limit: Limit | None, watch: Watch | None
    ) -> tuple[Limit | None, Watch | None]:
        """The limit and the watch of a search: those given, unless a level decides them."""
        final, level = root.game.final, root.game.level
        if level is not None:
            return Limit(simulations=level.simulations), None
        if not isinstance(final.final_move, RobustChild) or final.temperature:
            return limit, None  # Watches compare visits, which may not decide the final move.
        return limit, EarlyStop() if watch is None and self._config.early_stop else watch

    def _reporting(self, progress: Progress) -> Between:
        """A function that calls ``progress`` with the result so far, about ten times per second."""

        def report() -> None:
            self._trees.note_time()
            progress(self.result())

        return periodically(report, self._trees.started, PROGRESS_SECONDS)

    def _begin_anew(self, root: RootPosition, player: int | None, *, forced: bool) -> None:
        """Enter a root again, whose facts have changed."""
        state, game = prepare(root.state, self._config, self._evaluator)
        self._trees.enter(state, game, player, None, forced=forced)

    def _is_solved(self, endgames: EndgameSolver, root: RootPosition, limit: Limit) -> bool:
        """Run the endgame solver on the root; True if nothing is left to search."""
        trees = self._trees
        if root.is_forced or not endgames.can_help(root, limit):
            return False
        if any(proven_nodes(tree.running.proofs, 1)[0] for tree in trees.rooted()):
            return False
        root.proof = endgames.solve(root, limit)
        trees.started += endgames.loading
        final = root.game.final
        draws = final.temperature > 0.0 or final.random_moves > 0.0
        return root.proof is not None and root.proof.decides and not draws

    def begin(
        self,
        state: Any,
        *,
        player: int | None = None,
        moves: Sequence[int] | None = None,
        resume: bool = False,
        reuse: bool = False,
        forced: bool,
    ) -> RootPosition:
        """Move all trees to a position and open their providers.

        The searcher is busy until ``end`` or ``stop``; ``running`` has the searches to run.
        ``forced`` is True to search even a single legal action; for the other arguments see
        ``search``.
        """
        trees = self._trees
        if self._busy:
            self._check_idle()
        if resume:
            check_resumes(trees, self._config, as_game_state(state), player, moves, reuse=reuse)
            moves = ()
        self._refused = True
        try:
            self._busy = True
            root, game = trees.entered, None
            # An adapter may compile code here, once, like the kernel: off the clock.
            known = root is not None and type(state) is type(root.state)
            state = state if known else as_game_state(state)
            moves = trees.moves_to(state, moves, reuse=reuse)
            if root is not None and known and moves is not None and not root.game.may_change:
                game = root.game if root.game.config is self._config else None
            if game is None:
                state, game = self._prepare(state)
            trees.started = time.perf_counter()
            root = trees.enter(state.clone(), game, player, moves, forced=forced)
        except BaseException:
            self.stop()
            raise
        if self._endgames is not None and moves is None:
            self._endgames.forget()
        self._refused = False
        return root

    @property
    def running(self) -> Sequence[TreeSearch]:
        """The running searches, or the last ones; empty if there was nothing to search."""
        return self._trees.running

    @property
    def started(self) -> float:
        """The ``time.perf_counter()`` start of the last search's clock."""
        return self._trees.started

    def end(self) -> SearchResult:
        """End a search that has run, and return its result."""
        self._busy = False
        self._trees.note_time()
        result = self._trees.last_result()
        assert result is not None
        return result

    def stop(self) -> None:
        """Note the time of a search; after an exception, only complete slices stay counted."""
        if self._busy:
            self._busy = False
            self._trees.drop_torn()
        self._trees.note_time()

    @property
    def keeps_regrets(self) -> bool:
        """True if the last search has left regrets, which the next one goes on with."""
        root = self._trees.root
        return root is not None and root.game.keeps_regrets

    def known(self, state: Any, *, player: int | None = None) -> SearchResult | None:
        """The result for a position by the regrets of the last search, without another one.

        None if the last search was one of its own position, so that it does not answer.

        Args:
            state: a position of the same game, see ``search``.
            player: the player to choose for, see ``search``.
        """
        game = None if self._trees.root is None else self._trees.root.game
        if game is None or not (game.keeps_regrets and game.facts.hidden):
            return None
        if game.regrets.targeting > 0.0:
            return None
        self.begin(state, player=player, forced=True)
        return self.end()

    def advance(self, action: int | Sequence[int], *, state: Any = None) -> None:
        """Play an action or chance outcome, keeping its subtree for the next search.

        Args:
            action: the action played at the root; for simultaneous moves one action per player, as
                for ``pyspiel.State.apply_actions``.
            state: the position where it was played, if the caller is not sure that this is the
                root. If it is another position, or cannot be compared, the tree is dropped.

        Raises:
            ValueError: if the action is not legal at the root.
        """
        self._check_idle()
        self._trees.advance(action, None if state is None else as_game_state(state))

    def follow(self, moves: Sequence[int]) -> None:
        """Play several actions and chance outcomes in order.

        Args:
            moves: the moves in the form of ``pyspiel.State.history()``: for simultaneous moves, one
                action per player.

        Raises:
            ValueError: if a move is not legal, or some players' actions are missing.
        """
        self._check_idle()
        self._trees.play(moves)

    def result(self) -> SearchResult:
        """The current result for the root; after an interrupted search, what was found so far.

        Raises:
            RuntimeError: if nothing has been searched yet, or the last search ended before it
                entered its position.
            ValueError: if ``advance`` has led to a position at which no player is to move.
        """
        trees = self._trees
        root = trees.root
        if root is None or self._refused:
            raise RuntimeError("Nothing has been searched yet.")
        if root.is_advanced:
            check_decision(root.state)  # A search has checked its own root already.
        trees.settle()
        return trees.result(root)


def _allowed(limit: Limit | None, clock: Clock | None) -> tuple[float, float]:
    """The simulations and the seconds that a search may take; infinity for no limit."""
    simulations = seconds = math.inf
    if limit is not None:
        simulations = math.inf if limit.simulations is None else float(limit.simulations)
        seconds = math.inf if limit.seconds is None else limit.seconds
    if clock is not None:
        seconds = min(seconds, clock.time_left()[0] / CLOCK_MOVES)
    return simulations, seconds


def _threads(config: SearchConfig) -> int:
    """Number of threads; a level uses one."""
    return config.threads if config.level == NO_LEVEL else 1
