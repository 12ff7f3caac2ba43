"""Searcher: owns the trees and searches them."""

import copy
import functools
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self

import numpy as np

from rave_agents.compiler.arrays import NODE
from rave_agents.compiler.changes import WATCHED, code_generation
from rave_agents.compiler.dispatch import OpenFunction
from rave_agents.config.final_moves import RobustChild
from rave_agents.config.limit import Limit
from rave_agents.config.search_config import SearchConfig
from rave_agents.environments.chance import ChanceMetError
from rave_agents.evaluators.batch_evaluator import BatchEvaluator
from rave_agents.frameworks.adapters import as_game_state
from rave_agents.game.arguments import checked_seed
from rave_agents.game.game_state import (
    GameState,
    apply_path,
    has_simultaneous_moves,
    hides_information,
    is_simultaneous,
    legal_actions_of,
)
from rave_agents.kernel import loop
from rave_agents.kernel.tree import Tree
from rave_agents.results.final_move import drawn_action, root_statistics
from rave_agents.results.payoff_matrix import joint_table
from rave_agents.results.root import (
    known_root,
    leading_tree,
    merged_root,
    principal_variation,
    unknown_root,
)
from rave_agents.results.search_result import SearchResult
from rave_agents.results.world_statistics import WorldStatistics, world_statistics
from rave_agents.searcher.batched_search import BatchedSearch, bind_leaves
from rave_agents.searcher.checks import (
    check_decision,
    check_evaluator,
    check_hidden,
    check_moves,
    checked_mover,
    checked_path,
    is_decision,
    warn_cheating,
    warn_one_thread,
)
from rave_agents.searcher.clock import Clock
from rave_agents.searcher.run_to_limit import Pause, run_to_limit
from rave_agents.searcher.timed_search import clocked_limit
from rave_agents.searcher.tree_search import TreeSearch, compile_search
from rave_agents.searcher.values import checked_value
from rave_agents.searcher.watch import EarlyStop, Watch
from rave_agents.simulate.checked_answers import checked_actions
from rave_agents.simulate.evaluator import Evaluator
from rave_agents.tree.composition import SearchedGame, determinizes, searched_game
from rave_agents.tree.search_tree import SearchTree

PROGRESS_SECONDS = 0.1
"""How often a progress callback is called, about."""

Progress = Callable[[SearchResult], None]


class Run:
    """A search that runs, or several together."""

    over = False
    """Whether it has come to its end, or was broken off."""


class Searcher:
    """A search that keeps its tree between moves.

    ``search`` starts a new tree, unless ``advance`` has led the kept one to the very position that
    is searched. Everything random comes from ``seed``: the same seed, configuration, state and
    number of simulations give the same tree. A search that an exception ends, ``KeyboardInterrupt``
    included, leaves the tree whole: ``result`` tells what was found until then. So does one that a
    signal handler raises, at whatever place; code that is being compiled is finished before.

    With ``SearchConfig.threads`` it has several trees, and results tell of all of them.

    Not to be shared between threads; searchers of their own may run in several. ``copy.copy`` gives
    one that goes on as this one does and shares nothing but the evaluator.

    Args:
        config: the tunables; by default those of ``SearchConfig()``, plain UCT.
        seed: an integer of at least 0, or None for one that the system draws.
        evaluator: judges leaves in place of playouts; a ``BatchEvaluator``, or any object with
            ``open_spiel.python.algorithms.mcts.Evaluator``'s ``evaluate`` and ``prior``. A search
            refuses values that are not one finite number within the utilities for each player.
        value: judges positions, as ``SearchConfig.judging`` says: a callable that takes a state and
            returns what the player to move may still expect, a number, or what every player may;
            for games of compiled rules also a part that implements
            ``rave_agents.games.position_value``; a learned ``LinearValue``, or the path of its
            file; or the spec of a part, ``"my_module.Material(weight=0.1)"``. Values are utilities,
            and refused if they are not finite or not within those that the game states.

    Raises:
        TypeError, ValueError: for an argument that is not allowed.
    """

    def __init__(
        self,
        config: SearchConfig | None = None,
        *,
        seed: int | None = None,
        evaluator: Evaluator | BatchEvaluator | None = None,
        value: Any = None,
    ) -> None:
        self.config = SearchConfig() if config is None else config
        if not isinstance(self.config, SearchConfig):
            raise TypeError(f"config must be a SearchConfig, got {config!r}.")
        check_evaluator(evaluator, self.config)
        self.evaluator = evaluator
        self.value = checked_value(value, self.config, evaluator)
        """What judges positions; None without a value function."""
        if isinstance(evaluator, BatchEvaluator):
            self._searches: list[TreeSearch] = [BatchedSearch(evaluator)]
        else:
            self._searches = [TreeSearch(evaluator, self.value) for _ in range(self.config.threads)]
        self._game: SearchedGame | None = None
        self._game_key: Hashable = None
        self._run: Run | None = None
        self._entered = self._torn = False
        self._whole = True
        self.reseed(seed)
        self._forget()

    def __copy__(self) -> Self:
        """An independent searcher with a copy of the tree; it shares the evaluator alone."""
        self._check_idle()
        shared = (self.evaluator, self.value)
        return copy.deepcopy(self, {id(given): given for given in shared})

    def reset(self) -> None:
        """Drop the tree, and all that was learned with it.

        The memory is kept for the next one, as long as the searcher lives.
        """
        self._check_idle()
        self._forget()
        for search in self._searches:
            search.clear_learned()

    def _clear_learned_elsewhere(self, game_key: Hashable) -> None:
        """Forget what was learned, unless in the same game."""
        if game_key != self._game_key:
            for search in self._searches:
                search.clear_learned()
        self._game_key = game_key

    def _forget(self) -> None:
        self._torn = True
        for search in self._searches:
            search.clear_tree()
        self.root: GameState | None = None
        """The position searched last or advanced to, to look at; None before the first search."""
        self._player = 0
        self._advanced = False
        self._seconds = 0.0
        self._worlds: WorldStatistics | None = None
        self._in_turn = self._torn = False

    def _mend(self) -> None:
        """Undo what an exception of a signal handler has left: trees are whole, or dropped."""
        if self._torn:
            self._forget()
        for search in self._searches:
            search.mend()
        self._whole = True

    @property
    def tree(self) -> Tree | None:
        """The arrays of the tree, to look at; None before the first search.

        Copy what you want to keep: the next search moves the arrays, and a slice of them is then
        no longer valid. Of several threads' trees it is the first thread's.
        """
        first = self._searches[0].tree
        return None if first is None or not first.has_root else first.arrays

    def rooted_tree(self) -> SearchTree | None:
        """The tree with its root position and utility range, to look at; None if there is none yet.

        It is this searcher's own, which the next search changes. Of several threads' trees it is
        the one that has most visits of the action that ``result`` tells, or has proven it.
        """
        if self._run is None or self._run.over:
            self._check_idle()
        trees = self._rooted_trees()
        if self.root is None or len(trees) <= 1 or not is_decision(self.root):
            return trees[0] if trees else None
        roots = [known_root(tree) for tree in trees]
        return trees[leading_tree(roots, self.result().action)]

    def release_tree(self) -> SearchTree | None:
        """Hand over the tree of ``rooted_tree``, and forget all: it is never changed again.

        Returns None if there is none.
        """
        released = self.rooted_tree()
        self._check_idle()
        for search in self._searches:
            search.detach_tree()
        self._forget()
        return released

    def _rooted_trees(self) -> list[SearchTree]:
        """The trees that have a root node; none before the first simulation."""
        return [search.tree for search in self._searches if search.tree and search.tree.has_root]

    def reseed(self, seed: int | None) -> None:
        """Draw everything random from this seed from now on; the tree stays.

        Raises:
            TypeError, ValueError: for a seed that is not allowed.
        """
        self._check_idle()
        self._seeds = np.random.SeedSequence(checked_seed(seed))
        stream_seed, noise_seed, move_seed = self._seeds.spawn(3)
        first, *others = self._searches
        first.reseed(stream_seed, self._seeds, noise_seed)
        for search, own_seed in zip(others, stream_seed.spawn(len(others)), strict=True):
            search.reseed(own_seed, own_seed, noise_seed)
        self._moves = np.random.default_rng(move_seed)
        self._move_unit = float(self._moves.random())

    def prepare(self, state: Any) -> None:
        """Compile or load what a search of this state needs, so that no clock pays for it.

        Raises:
            TypeError: if ``state`` is no state that any installed adapter knows.
        """
        self._prepared(state)

    def _prepared(self, state: Any) -> tuple[GameState, SearchedGame]:
        """The state as a GameState, and what is known of its game; the search is compiled."""
        game_state = as_game_state(state)
        simultaneous = has_simultaneous_moves(game_state) and not self._plays_in_turn(game_state)
        check_moves(self.config, simultaneous=simultaneous)
        if hides_information(game_state) and self.config.hidden == "see":
            warn_cheating()
            seeing = getattr(game_state, "seeing", None)
            game_state = game_state if seeing is None else seeing()
        game = self._searched(game_state)
        if game.determinizes:
            check_hidden(self.config, simultaneous=simultaneous)
        batched = isinstance(self.evaluator, BatchEvaluator)
        compile_search(game, game_state, bind_leaves if batched else loop.run.bound)
        return game_state, game

    def _searched(self, state: GameState) -> SearchedGame:
        judged, valued = self.evaluator is not None, self.value is not None
        return searched_game(state, self.config, judged=judged, valued=valued)

    def _plays_in_turn(self, state: GameState) -> bool:
        """Whether those who move at the same time are taken to move in turn: with worlds alone."""
        return (
            determinizes(state, self.config)
            and has_simultaneous_moves(state)
            and hasattr(state, "one_at_a_time")
        )

    def search(
        self,
        state: Any,
        limit: Limit | None = None,
        *,
        player: int | None = None,
        clock: Clock | None = None,
        moves: Sequence[int] | None = None,
        progress: Progress | None = None,
        watch: Watch | None = None,
    ) -> SearchResult:
        """Search a position and choose an action for the player to move.

        Args:
            state: a GameState, or a state of an installed framework such as ``pyspiel.State``;
                it is cloned and never changed.
            limit: when to end; with a clock in addition to its time, or None.
            player: whose action is to be chosen, from 0; needed where players move at the same
                time, elsewhere it must be the player to move.
            clock: of the player; it decides the time, and is charged with it.
            moves: the actions and chance outcomes that have led here from the position searched
                last, as ``follow`` takes them, if the caller is sure of them: the search goes on
                from the kept tree. None if that is unknown, or the tree was led by ``advance``.
            progress: called about ten times a second with the result so far.
            watch: ends the search before its limit or gives it more time, see
                ``rave_agents.searcher.watch``; without one ``SearchConfig.early_stop`` counts. A
                clock has one of its own.

        Raises:
            TypeError: if ``state`` is no state that any installed adapter knows.
            ValueError: if no player is to move there, or ``player`` is not one who is; for a limit
                without simulations with ``rule=gumbel``.
            UnsupportedGameError: for the solver or proof numbers in a game in which players move
                at the same time.
            GameError: if the game or the evaluator breaks the common interface.
            FormulaError: if a part of the user's own raises or gives no score.
            Exception: whatever the game's state, the evaluator or ``progress`` raises, unchanged.
        """
        if not isinstance(limit, Limit) and (limit is not None or clock is None):
            raise TypeError(
                f"limit must be a Limit, such as Limit(simulations=500): got {limit!r}."
            )
        if self._run is not None or self._torn or not self._whole:
            self._check_idle()
        self._entered = False
        # Here an adapter may compile what it needs, once, as the kernel is compiled: off the clock.
        goes_on, game = self._led_to(state, moves)
        if game is None:
            state, game = self._prepared(state)
        started = time.perf_counter()
        root = state.clone()
        self._run, self._whole = Run(), False
        try:
            if clock is not None:
                limit, watch = clocked_limit(clock, root, player, limit)
            if not isinstance(self.config.final_move, RobustChild) or self.config.temperature > 0:
                watch = None  # They look at visits, and the final move is not simply that of most.
            elif watch is None and self.config.early_stop:
                watch = EarlyStop()
            assert limit is not None
            run_searches = functools.partial(
                run_to_limit,
                limit=limit,
                started=started,
                watch=watch,
                between=None if progress is None else self._teller(progress, started),
            )
            try:
                forced = self.config.search_forced_moves and clock is None
                searches = self._begin(game, root, player, goes_on=goes_on, forced=forced)
                try:
                    run_searches(searches)
                except ChanceMetError:
                    # Now that the state knows of its chance, it is searched as a game of chance.
                    state, game = self._prepared(self.root)
                    run_searches(self._begin(game, state, player, goes_on=False, forced=forced))
            finally:
                self._seconds = time.perf_counter() - started
                if game.determinizes:
                    self._note_worlds()
            for search in self._searches:
                search.is_cut = False
            self._whole = True
            return self._found()
        finally:
            self._run = None
            if clock is not None:
                clock.charge(time.perf_counter() - started)

    def begin_together(
        self, state: Any, player: int | None, moves: Sequence[int] | None, run: Run
    ) -> BatchedSearch | None:
        """Enter a position as ``search`` does, for ``searcher/multi_search.py`` to run the search.

        Returns None if there is nothing to search. ``end_together`` follows, or the end of ``run``.
        """
        self._check_idle()
        self._entered = False
        goes_on, game = self._led_to(state, moves)
        if game is None:
            state, game = self._prepared(state)
        root = state.clone()
        forced = self.config.search_forced_moves
        self._whole = False
        searches = self._begin(game, root, player, goes_on=goes_on, forced=forced)
        self._run = run
        return searches[0] if searches else None  # type: ignore[return-value]

    def end_together(self, started: float) -> SearchResult:
        """The result of a search that has come to its end."""
        self._seconds = time.perf_counter() - started
        self._note_worlds()
        for search in self._searches:
            search.is_cut = False
        self._run, self._whole = None, True
        return self._found()

    def _led_to(self, state: Any, moves: Sequence[int] | None) -> tuple[bool, SearchedGame | None]:
        """Whether the trees are those of a state, which moves may lead them to.

        Returns also what is known of its game, or None if that has to be asked anew.
        """
        root, game = self.root, self._game
        if root is None or game is None or game.determinizes or self._in_turn:
            return False, None
        if any(WATCHED):
            code_generation()
        if game.generation != OpenFunction.generation:
            return False, None  # The tree is that of other formulas, or of other rules.
        same_kind = type(state) is type(root)
        state = state if same_kind else as_game_state(state)
        if moves is None:
            goes_on = self._advanced and _is_same_position(state, root)
        elif game.simultaneous:
            self.follow(moves)
            goes_on = self._advanced
        else:
            goes_on = True
            self._torn = True  # Until ``_begin`` has the position that the trees are led to.
            for search in self._searches:
                if search.tree is not None:
                    search.tree.follow(moves)
        # It may have met chance meanwhile, or has to be looked at anew each time to see all.
        learns = hasattr(state, "draws_chance") or hasattr(state, "seeing")
        same = game.config is self.config
        return goes_on, game if goes_on and same and same_kind and not learns else None

    def _begin(
        self,
        game: SearchedGame,
        root: GameState,
        player: int | None,
        *,
        goes_on: bool,
        forced: bool,
    ) -> Sequence[TreeSearch]:
        """Enter a position with all trees; returns the searches that are to run there.

        ``forced`` is whether a single legal action is searched, too.
        """
        mover = root.current_player()
        told = player is None or (type(player) is int and player == mover)
        if not (told and type(mover) is int and 0 <= mover < game.num_players):
            mover = checked_mover(root, player)
        actions = legal_actions_of(root, mover) if game.simultaneous else root.legal_actions()
        count = len(actions) if hasattr(actions, "__len__") else 0
        if count <= 1:  # More are looked at where the search lists them.
            if count == 0:
                check_decision(root)
            checked_actions(mover, actions, game.num_players, game.num_actions)
        if not goes_on or (game is not self._game and not self._fit(game)):
            self._forget()
            self._clear_learned_elsewhere(_game_key(root))
        if game.determinizes and self._plays_in_turn(root):
            root = root.one_at_a_time(mover)  # type: ignore[attr-defined]
            game = self._searched(root)
            self._in_turn = True
        self._torn = True
        for search in self._searches:
            search.enter(game, root, mover)
        self._game, self.root, self._player, self._worlds = game, root, mover, None
        self._entered, self._torn, self._advanced = True, False, False
        self._move_unit = float(self._moves.random())
        if count <= 1 and not forced:
            return ()
        first, *others = self._searches
        if others:
            first.open()
        if others and not first.runs_in_parallel:
            warn_one_thread()
            for search in others:
                search.clear_tree()
            others = []
        return (first, *others)

    def _fit(self, game: SearchedGame) -> bool:
        """Whether the trees keep what a search of this game reads and writes."""
        trees = self._rooted_trees()
        return len(trees) > 0 and all(tree.fits(game.parts) for tree in trees)

    def _teller(self, progress: Progress, started: float) -> Callable[[Pause], None]:
        """What calls ``progress`` between two slices, when it is time."""
        next_progress = started + PROGRESS_SECONDS

        def tell(pause: Pause) -> None:
            nonlocal next_progress
            now = time.perf_counter()
            if now >= next_progress:
                self._seconds = now - started
                with pause():
                    self._note_worlds()
                    progress(self._found())
                next_progress = time.perf_counter() + PROGRESS_SECONDS

        return tell

    def _note_worlds(self) -> None:
        samples = [search.world_sample() for search in self._searches]
        self._worlds = world_statistics([sample for sample in samples if sample is not None])

    def advance(self, action: int | Sequence[int], *, state: Any = None) -> None:
        """Play an action or a chance outcome: keep its subtree for the next search.

        Args:
            action: what was played at the root; where players move at the same time, one action of
                each player, as ``pyspiel.State.apply_actions`` takes them.
            state: where it was played, if the caller cannot be sure that this is the root. If it
                is another position, or one whose adapter cannot tell, the tree is dropped.

        Raises:
            ValueError: if the action is not legal at the root.
        """
        self._check_idle()
        if self.root is None:
            return
        if self._in_turn:
            self._forget()  # No tree is kept where something is hidden.
            return
        if state is not None and not _is_same_position(as_game_state(state), self.root):
            self.reset()
            return
        path = checked_path(self.root, action)
        if determinizes(self.root, self.config):
            # What the player sees next changes which worlds there are: the tree begins anew.
            self._forget()
            return
        try:
            self._torn = True
            apply_path(self.root, path)
            for tree in self._rooted_trees():
                tree.follow(path)
            self._torn, self._advanced = False, True
        except BaseException:
            # The root and the tree may be of different positions.
            self._forget()
            raise

    def follow(self, moves: Sequence[int]) -> None:
        """Play several actions and chance outcomes, one after the other.

        Args:
            moves: as ``pyspiel.State.history()`` lists them: where players move at the same time,
                one action of each player.

        Raises:
            ValueError: if one is not legal, or the actions of some players are missing.
        """
        place = 0
        while place < len(moves) and self.root is not None:
            if is_simultaneous(self.root):
                count = self.root.num_players()
                self.advance(moves[place : place + count])
                place += count
            else:
                self.advance(moves[place])
                place += 1

    def _check_idle(self) -> None:
        """Refuse a searcher that searches; mend one whose last search was broken off."""
        if self._run is not None and not self._run.over:
            raise RuntimeError("This searcher is searching already; use one for each search.")
        self._run = None
        if self._torn or not self._whole:
            self._mend()

    def result(self) -> SearchResult:
        """What is known of the root now; after an interrupted search, what was found until then.

        Raises:
            RuntimeError: if nothing has been searched yet, "Nothing has been searched yet."; also
                if the last search was ended before it had entered its position.
            ValueError: if ``advance`` has led to a position where no player is to move.
        """
        if self._run is None or self._run.over:
            self._check_idle()
        if self.root is None or not self._entered:
            raise RuntimeError("Nothing has been searched yet.")
        check_decision(self.root)
        return self._found()

    def _found(self) -> SearchResult:
        """What is known of the root, where a player is to move."""
        assert self.root is not None
        trees, roots = [], []
        simulations = nodes = memory_bytes = 0
        full = []
        for search in self._searches:
            tree = search.tree
            if tree is None:
                continue
            full.append(tree.full)
            memory_bytes += tree.storage.bytes
            if tree.arrays.used[NODE] > 0:
                nodes += int(tree.arrays.used[NODE])
                simulations += search.simulations
                trees.append(tree)
                roots.append(known_root(tree))
        if not trees:
            roots.append(unknown_root(self.root, self._player))
        root = roots[0] if len(roots) == 1 else merged_root(roots)
        statistics = root_statistics(root, self.config)
        action = drawn_action(statistics, self._move_unit)
        visits, total = 0, 0.0
        for row in statistics:
            visits += row.visits
            total += 0.0 if row.value is None else row.visits * row.value
        leading = 0 if len(roots) == 1 else leading_tree(roots, action)
        return SearchResult(
            player=self._player,
            action=action,
            actions=statistics,
            value=total / visits if visits > 0 else None,
            outcome=root.outcome,
            proof_number=root.proof_number,
            disproof_number=root.disproof_number,
            principal_variation=principal_variation(trees[leading], action) if trees else (action,),
            simulations=simulations,
            joint=joint_table(root, self.root, self._player) if root.joint else None,
            root_visits=root.visits,
            amaf_trust=root.amaf_trust,
            proof_trust=root.proof_trust,
            value_trust=root.value_trust,
            reports=root.reports,
            action_reports=root.action_reports,
            seconds=self._seconds,
            nodes=nodes,
            memory_bytes=memory_bytes,
            memory_full=len(full) > 0 and all(full),
            provider=self._searches[0].provider if simulations > 0 else None,
            worlds=self._worlds,
            state=self.root.clone(),
        )


def _game_key(state: GameState) -> Hashable:
    key = getattr(state, "game_key", None)
    return type(state) if key is None else key()


def _is_same_position(one: GameState, other: GameState) -> bool:
    """Whether two states are the same position; False where their adapter cannot tell."""
    keys = [getattr(state, "position_key", None) for state in (one, other)]
    if None in keys:
        return False
    key = keys[0]()  # type: ignore[misc]
    return key is not None and key == keys[1]()  # type: ignore[misc]
