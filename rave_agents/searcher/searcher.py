"""Searcher: owns the trees and searches them."""

import copy
import functools
import time
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from rave_agents.compiler.arrays import NODE
from rave_agents.config.final_moves import RobustChild
from rave_agents.config.limit import Limit
from rave_agents.config.search_config import SearchConfig, checked_config
from rave_agents.environments.chance import ChanceMetError
from rave_agents.evaluators.levels import LEVELS, NO_LEVEL, Level, level_of
from rave_agents.evaluators.shipped import rules_of, value_for
from rave_agents.frameworks.adapters import as_game_state
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState
from rave_agents.game.validation import Seed, checked
from rave_agents.kernel.declarations import proven_nodes
from rave_agents.kernel.tree import Tree
from rave_agents.results.final_move import drawn_action, root_statistics
from rave_agents.results.payoff_matrix import joint_table
from rave_agents.results.root import (
    known_root,
    leading_tree,
    merged_root,
    principal_variation,
    unknown_root,
    with_proof,
)
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.checks import check_decision, is_decision
from rave_agents.searcher.clock import Clock
from rave_agents.searcher.endgames import EndgameSolver
from rave_agents.searcher.evaluators import as_evaluator, check_use, kind_of
from rave_agents.searcher.kept_trees import KeptTrees, Run, Stage
from rave_agents.searcher.looks import periodically
from rave_agents.searcher.preparing import prepared
from rave_agents.searcher.resuming import check_resumes
from rave_agents.searcher.timed_search import clocked_limit
from rave_agents.searcher.tree_search import TreeSearch
from rave_agents.searcher.watch import EarlyStop, Watch
from rave_agents.tree.root_position import RootPosition
from rave_agents.tree.search_tree import SearchTree

PROGRESS_SECONDS = 0.1
"""Approximate interval of a progress callback in seconds."""

Progress = Callable[[SearchResult], None]


class Searcher:
    """A search that keeps its tree between moves.

    ``search`` starts a new tree, unless ``advance`` has moved the kept tree to exactly the searched
    position. ``seed`` determines everything random: the same seed, configuration, state and number
    of simulations give the same tree. After an exception, including ``KeyboardInterrupt`` or one
    raised by a signal handler anywhere, the tree is intact and ``result`` returns what was found so
    far; a running compilation finishes first.

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
        self._use(SearchConfig() if config is None else config)
        self._trees = KeptTrees(_threads(self.config), self.evaluator)
        self.reseed(seed)

    @property
    def config(self) -> SearchConfig:
        """The configuration. An assigned configuration applies from the next search on."""
        return self._config

    @config.setter
    def config(self, config: SearchConfig) -> None:
        before = _threads(self._config)
        if _threads(checked_config(config)) != before:
            raise ValueError(
                f"This searcher has {before} threads: make a new Searcher for "
                f"{_threads(config)}, as Searcher(config)."
            )
        self._trees.check_idle()
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

    def _use(self, config: SearchConfig) -> None:
        """Use this configuration from the next search on."""
        config = checked_config(config)
        check_use(self._evaluator, config)
        self._config = config
        self._level: Level | None = None
        self._shown_config = config
        """The configuration that chooses the move, including a level's random choices."""
        solves = config.endgame_share > 0 and config.level in (NO_LEVEL, LEVELS)
        self._endgames = EndgameSolver(config.endgame_share) if solves else None

    def __copy__(self) -> Self:
        """An independent searcher with a copy of the tree; only the evaluator is shared."""
        self._trees.check_idle()
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
        first = self._trees.searches[0]
        return first.tree.arrays if first.tree is not None and first.has_root else None

    def rooted_tree(self) -> SearchTree | None:
        """The tree with its root position and utility range, read-only; None if there is none yet.

        It belongs to this searcher, and the next search changes it. With several threads it is the
        tree that has proven the action of ``result`` or visited it most.
        """
        self._trees.mend()
        trees, root = self._trees.rooted(), self.root
        if root is None or len(trees) <= 1 or not is_decision(root):
            return trees[0] if trees else None
        roots = [known_root(tree) for tree in trees]
        return trees[leading_tree(roots, self.result().action)]

    def release_tree(self) -> SearchTree | None:
        """Hand over the tree of ``rooted_tree`` for good, and reset the searcher.

        Returns None if there is none.
        """
        released = self.rooted_tree()
        self._trees.check_idle()
        self._trees.detach()
        return released

    def reset(self) -> None:
        """Drop the tree and everything learned about the game.

        The memory is kept for the next tree, as long as the searcher lives.
        """
        self._trees.check_idle()
        self._trees.reset()
        if self._endgames is not None:
            self._endgames.forget()

    def reseed(self, seed: int | None) -> None:
        """Restart all random streams from this seed; the tree stays.

        Raises:
            TypeError, ValueError: for an invalid seed.
        """
        self._trees.check_idle()
        self._seeds = np.random.SeedSequence(checked("seed", Seed, seed))
        stream_seed, noise_seed, move_seed = self._seeds.spawn(3)
        first, *others = self._trees.searches
        first.reseed(stream_seed, self._seeds, noise_seed)
        for search, own_seed in zip(others, stream_seed.spawn(len(others)), strict=True):
            search.reseed(own_seed, own_seed, noise_seed)
        self._moves = np.random.default_rng(move_seed)
        self._move_unit = float(self._moves.random())

    def prepare(self, state: Any) -> None:
        """Compile or load the code for a search of this state, so that no clock pays for it.

        Raises:
            TypeError: if no installed adapter knows ``state``.
        """
        state = as_game_state(state)
        state, game = prepared(state, self.config, self._fit(state))
        player = state.current_player()
        if not 0 <= player < game.facts.num_players:
            return
        root = RootPosition(game, state, player)
        if StateAbilities(state).on_compiled_rules is not None:
            self._trees.searches[0].new_simulator(root, np.ones(4, np.int64))
        if self._endgames is not None:
            self._endgames.prepare(root)

    def _fit(self, state: GameState) -> Any:
        """Select the shipped value and the level for a state's game. Returns the evaluator to use.

        That is the searcher's own evaluator if it has one, or without ``known``.
        """
        config = self.config
        knows = self.evaluator is None and config.known
        rules = rules_of(state) if knows or config.level != NO_LEVEL else None
        self._level, self._shown_config = None, config
        if config.level != NO_LEVEL:
            self._level = level = level_of(config.level, rules)
            self._shown_config = _at_level(config, level)
        evaluator = value_for(rules) if knows and rules is not None else self.evaluator
        self._trees.use_evaluator(evaluator)
        if self._endgames is not None:
            self._endgames.use_value(evaluator)
        return evaluator

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
        if not isinstance(limit, Limit) and (limit is not None or clock is None):
            example = "such as Limit(simulations=500)"
            raise TypeError(f"limit must be a Limit, {example}: got {limit!r}.")
        if progress is not None and not callable(progress):
            raise TypeError(f"progress must be a function of the result so far, got {progress!r}.")
        run, trees = Run(), self._trees
        forced = self._config.search_forced_moves and clock is None
        try:
            self.start(
                state, run, player=player, moves=moves, resume=resume, reuse=reuse, forced=forced
            )
            assert trees.root is not None
            try:
                if clock is not None:
                    limit, watch = clocked_limit(clock, trees.root, limit)
                assert limit is not None
                if self._level is not None:
                    limit, watch = Limit(simulations=self._level.simulations), None
                shown = self._shown_config
                if not isinstance(shown.final_move, RobustChild) or shown.temperature:
                    watch = None  # Watches compare visits, which may not decide the final move.
                elif watch is None and self._config.early_stop:
                    watch = EarlyStop()
                between = None
                if progress is not None:
                    report = functools.partial(self._report, progress)
                    between = periodically(report, trees.started, PROGRESS_SECONDS)
                endgames = self._endgames
                if (
                    endgames is not None
                    and endgames.refused is not trees.root.game
                    and self._is_solved(endgames, limit)
                ):
                    trees.finish()
                    return self.result()
                try:
                    trees.run(limit, watch=watch, between=between)
                except ChanceMetError:
                    # The environment has shown chance: search it anew as a game of chance.
                    evaluator = self._fit(trees.root.state)
                    anew = prepared(trees.root.state, self._config, evaluator)
                    trees.enter(*anew, player, None, forced=forced)
                    self._move_unit = float(self._moves.random())
                    trees.run(limit, watch=watch, between=between)
                return self.result()
            finally:
                if clock is not None:
                    clock.charge(time.perf_counter() - trees.started)
        finally:
            run.over = True

    def _is_solved(self, endgames: EndgameSolver, limit: Limit) -> bool:
        """Run the endgame solver on the root; True if nothing is left to search."""
        trees = self._trees
        root = trees.root
        assert root is not None
        if root.is_forced or any(
            proven_nodes(tree.running.proofs, 1)[0] for tree in trees.rooted()
        ):
            return False
        root.proof = endgames.solve(root, limit)
        trees.started += endgames.loading
        shown = self._shown_config
        draws = shown.temperature > 0.0 or shown.random_moves > 0.0
        return root.proof is not None and root.proof.decides and not draws

    def _report(self, progress: Progress) -> None:
        """Call ``progress`` with the result so far."""
        self._trees.note()
        progress(self.result())

    def start(
        self,
        state: Any,
        run: Run,
        *,
        player: int | None = None,
        moves: Sequence[int] | None = None,
        resume: bool = False,
        reuse: bool = False,
        forced: bool,
    ) -> Sequence[TreeSearch]:
        """Move all trees to a position; ``finish`` or the end of the run must follow.

        Until the run is over, the searcher is busy. ``forced`` is True to search even a single
        legal action; for the other arguments see ``search``.

        Returns:
            The searches to run, with their providers open; empty if there is nothing to search.
        """
        trees = self._trees
        if trees.stage is not Stage.IDLE:
            trees.check_idle()
        if resume:
            check_resumes(trees, self._config, as_game_state(state), player, moves, reuse=reuse)
            moves = ()
        trees.search_run, trees.stage = run, Stage.ENTERING
        root, game = trees.root, None
        # An adapter may compile code here, once, like the kernel: off the clock.
        known = root is not None and type(state) is type(root.state)
        state = state if known else as_game_state(state)
        moves = trees.moves_to(state, moves, reuse=reuse)
        if root is not None and known and moves is not None:
            # A state may have met chance meanwhile, or may need another view to see everything.
            learns = hasattr(state, "draws_chance") or hasattr(state, "seeing")
            game = None if learns else root.game
        if game is None or game.config is not self._config:
            state, game = prepared(state, self._config, self._fit(state))
            trees.fit_evaluator()
        trees.started, first = time.perf_counter(), trees.searches[0]
        first.loading = 0.0
        trees.enter(state.clone(), game, player, moves, forced=forced)
        trees.started += first.loading
        self._move_unit = float(self._moves.random())
        if self._endgames is not None and moves is None:
            self._endgames.forget()
        return trees.running

    @property
    def started(self) -> float:
        """The ``time.perf_counter()`` start of the last search's clock."""
        return self._trees.started

    def finish(self) -> SearchResult:
        """Finish a search and return its result."""
        self._trees.finish()
        return self.result()

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
        self._trees.check_idle()
        self._trees.advance(action, None if state is None else as_game_state(state))

    def follow(self, moves: Sequence[int]) -> None:
        """Play several actions and chance outcomes in order.

        Args:
            moves: the moves in the form of ``pyspiel.State.history()``: for simultaneous moves, one
                action per player.

        Raises:
            ValueError: if a move is not legal, or some players' actions are missing.
        """
        self._trees.check_idle()
        self._trees.play(moves)

    def result(self) -> SearchResult:
        """The current result for the root; after an interrupted search, what was found so far.

        Raises:
            RuntimeError: if nothing has been searched yet, or the last search ended before it
                entered its position.
            ValueError: if ``advance`` has led to a position at which no player is to move.
        """
        trees = self._trees
        if trees.stage is not Stage.IDLE:
            trees.mend()
        root = trees.root
        if root is None or trees.stage is Stage.ENTERING:
            raise RuntimeError("Nothing has been searched yet.")
        if root.is_advanced:
            check_decision(root.state)  # A search has checked its own root already.
        simulations = nodes = memory_bytes = 0
        begun, known, full = [], [], []
        for search in trees.searches:
            tree = search.tree
            if tree is None:
                continue
            full.append(tree.full or tree.forgotten > 0)
            memory_bytes += tree.storage.bytes
            if (grown := int(tree.arrays.used[NODE])) > 0:
                simulations += search.simulations
                nodes += grown
                begun.append(tree)
                known.append(known_root(tree))
        if not known:
            known.append(unknown_root(root.state, root.player))
        found = known[0] if len(known) == 1 else merged_root(known)
        proof = root.proof
        if proof is not None:
            found = with_proof(found, proof, root.game.facts.limits.sum_of_two)
        statistics = root_statistics(found, self._shown_config)
        action = drawn_action(statistics, self._move_unit)
        value, visits, total = None if proof is None else proof.value, 0, 0.0
        state = root.state.clone()
        position = state, root.player
        for row in statistics:
            row.position = position
            visits += row.visits
            total += 0.0 if row.value is None else row.visits * row.value
        line = () if proof is None else proof.line_after(action)
        if begun and not line:
            leading = 0 if len(known) == 1 else leading_tree(known, action)
            line = principal_variation(begun[leading], action)
        return SearchResult(
            player=root.player,
            action=action,
            actions=statistics,
            value=total / visits if visits > 0 else value,
            outcome=found.outcome,
            expected=found.expected,
            proof_number=found.proof_number,
            disproof_number=found.disproof_number,
            principal_variation=line or (action,),
            simulations=simulations,
            joint=joint_table(found, root.state, root.player) if found.joint else None,
            root_visits=found.visits,
            amaf_trust=found.amaf_trust,
            proof_trust=found.proof_trust,
            value_trust=found.value_trust,
            reports=found.reports,
            action_reports=found.action_reports,
            seconds=trees.seconds,
            nodes=nodes,
            memory_bytes=memory_bytes,
            memory_full=len(full) > 0 and all(full),
            provider=trees.searches[0].provider if simulations > 0 else None,
            known=trees.known,
            learned=trees.learned,
            other_size=trees.other_size,
            minimax=root.game.minimax,
            solver_positions=0 if proof is None else proof.positions,
            took_part=(
                *(() if proof is None else ("endgame solver",)),
                *(trees.searches[0].took_part if simulations else ()),
            ),
            worlds=trees.worlds,
            state=state,
        )


def _threads(config: SearchConfig) -> int:
    """Number of threads; a level uses one."""
    return config.threads if config.level == NO_LEVEL else 1


@functools.lru_cache(maxsize=64)
def _at_level(config: SearchConfig, level: Level) -> SearchConfig:
    return config.replace(temperature=level.temperature, random_moves=level.random_moves)
