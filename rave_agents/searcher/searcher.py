"""Searcher: owns the trees and searches them."""

import copy
import functools
import logging
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self

import numpy as np

from rave_agents.config.final_moves import RobustChild
from rave_agents.config.limit import Limit
from rave_agents.config.search_config import SearchConfig
from rave_agents.environments.chance import ChanceMetError
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
from rave_agents.kernel.tree import Tree
from rave_agents.results.final_move import drawn_action, root_statistics
from rave_agents.results.payoff_matrix import joint_table
from rave_agents.results.root import (
    Root,
    RootedTree,
    known_root,
    leading_tree,
    merged_root,
    principal_variation,
)
from rave_agents.results.search_result import SearchResult
from rave_agents.results.world_statistics import WorldStatistics, world_statistics
from rave_agents.searcher.checks import (
    check_decision,
    check_hidden,
    check_moves,
    checked_mover,
    checked_path,
    is_decision,
)
from rave_agents.searcher.search_run import SearchRun
from rave_agents.searcher.thread_team import ThreadTeam
from rave_agents.searcher.tree_search import (
    SearchTree,
    TreeSearch,
    compile_search,
    determinizes,
    search_parts,
)
from rave_agents.searcher.watch import EarlyStop, Watch
from rave_agents.simulate.python_simulator import Evaluator

PROGRESS_SECONDS = 0.1
"""How often a progress callback is called, about."""

Progress = Callable[[SearchResult], None]

_log = logging.getLogger("rave_agents")


class Searcher:
    """A search that keeps its tree between moves.

    ``search`` starts a new tree, unless ``advance`` has led the kept one to the very position that
    is searched. Everything random comes from ``seed``: the same seed, configuration, state and
    number of simulations give the same tree. A search that an exception ends, ``KeyboardInterrupt``
    included, leaves the tree whole: ``result`` tells what was found until then.

    With ``SearchConfig.threads`` it has several trees, and results tell of all of them.

    Not to be shared between threads; searchers of their own may run in several. ``copy.copy`` gives
    one that goes on as this one does and shares nothing but the evaluator.

    Args:
        config: the tunables; by default those of ``SearchConfig()``, plain UCT.
        seed: an integer of at least 0, or None for one that the system draws.
        evaluator: judges leaves in place of playouts; any object with
            ``open_spiel.python.algorithms.mcts.Evaluator``'s ``evaluate`` and ``prior``. A search
            refuses values that are not one finite number within the utilities for each player.

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
        if evaluator is not None and (
            isinstance(evaluator, type) or not isinstance(evaluator, Evaluator)
        ):
            raise TypeError(
                "evaluator must have evaluate(state) and prior(state), and be an object, no class: "
                f"got {evaluator!r}."
            )
        if evaluator is not None and self.config.playout_count > 1:
            raise ValueError(
                "playout_count must be 1 with an evaluator, which stands for playouts."
            )
        self.evaluator = evaluator
        self._trees = [SearchTree(self.config) for _ in range(self.config.threads)]
        self._running = False
        self.reseed(seed)
        self._forget()

    def __copy__(self) -> Self:
        """An independent searcher with a copy of the tree; it shares the evaluator alone."""
        self._check_idle()
        return copy.deepcopy(self, {id(self.evaluator): self.evaluator})

    def reset(self) -> None:
        """Drop the tree. Its memory is kept for the next one, as long as the searcher lives."""
        self._check_idle()
        self._forget()

    def _forget(self, *, release: bool = False) -> None:
        for tree in self._trees:
            tree.forget(release=release)
        self._root: GameState | None = None
        self._player = 0
        self._root_key: Hashable = None
        self._advanced = False
        self._seconds = 0.0
        self._provider: str | None = None
        self._worlds: WorldStatistics | None = None
        self._in_turn = False

    @property
    def tree(self) -> Tree | None:
        """The arrays of the tree, to look at; None before the first search.

        Copy what you want to keep: the next search moves the arrays, and a slice of them is then
        no longer valid. Of several threads' trees it is the first thread's.
        """
        first = self._trees[0]
        return first.grown.tree if first.grown is not None and first.has_root else None

    def rooted_tree(self) -> RootedTree | None:
        """Show the tree with its root position and utility range; None if there is none yet.

        The arrays are shared with this searcher, whose next search changes them. Of several
        threads' trees it is the one that has most visits of the action that ``result`` tells, or
        has proven it.
        """
        if self._root is None or not any(tree.has_root for tree in self._trees):
            return None
        if len(self._trees) == 1 or not is_decision(self._root):
            rooted = self._trees[0].rooted(self._root, self._player)
        else:
            rooted = self._leading(self._known_roots(), self.result().action)
        return rooted if rooted.has_root else None

    def release_tree(self) -> RootedTree | None:
        """Hand over the tree of ``rooted_tree``, and forget all: it is never changed again.

        Returns None if there is none.
        """
        released = self.rooted_tree()
        self._check_idle()
        self._forget(release=True)
        return released

    def reseed(self, seed: int | None) -> None:
        """Draw everything random from this seed from now on; the tree stays.

        Raises:
            TypeError, ValueError: for a seed that is not allowed.
        """
        self._check_idle()
        self._seeds = np.random.SeedSequence(checked_seed(seed))
        stream_seed, noise_seed, move_seed = self._seeds.spawn(3)
        first, *others = self._trees
        first.reseed(stream_seed, self._seeds, noise_seed)
        for tree, own_seed in zip(others, stream_seed.spawn(len(others)), strict=True):
            tree.reseed(own_seed, own_seed, noise_seed)
        self._moves = np.random.default_rng(move_seed)
        self._move_unit = float(self._moves.random())

    def prepare(self, state: Any) -> None:
        """Compile or load what a search of this state needs, so that no clock pays for it.

        Raises:
            TypeError: if ``state`` is no state that any installed adapter knows.
        """
        self._prepared(state)

    def _prepared(self, state: Any) -> GameState:
        game_state = as_game_state(state)
        simultaneous = has_simultaneous_moves(game_state) and not self._plays_in_turn(game_state)
        check_moves(self.config, simultaneous=simultaneous)
        if hides_information(game_state) and self.config.hidden == "see":
            _say_it_sees()
            seeing = getattr(game_state, "seeing", None)
            game_state = game_state if seeing is None else seeing()
        if determinizes(game_state, self.config):
            check_hidden(self.config, simultaneous=simultaneous)
        compile_search(self.config, game_state, self.evaluator)
        return game_state

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
        limit: Limit,
        *,
        player: int | None = None,
        progress: Progress | None = None,
        watch: Watch | None = None,
    ) -> SearchResult:
        """Search a position and choose an action for the player to move.

        Args:
            state: a GameState, or a state of an installed framework such as ``pyspiel.State``;
                it is cloned and never changed.
            limit: when to end.
            player: whose action is to be chosen, from 0; needed where players move at the same
                time, elsewhere it must be the player to move.
            progress: called about ten times a second with the result so far.
            watch: ends the search before its limit or gives it more time, see
                ``rave_agents.searcher.watch``; without one ``SearchConfig.early_stop`` counts.

        Raises:
            TypeError: if ``state`` is no state that any installed adapter knows.
            ValueError: if no player is to move there, or ``player`` is not one who is.
            UnsupportedGameError: for the solver or proof numbers in a game in which players move
                at the same time.
            GameError: if the game or the evaluator breaks the common interface.
            FormulaError: if a part of the user's own raises or gives no score.
            Exception: whatever the game's state, the evaluator or ``progress`` raises, unchanged.
        """
        if not isinstance(limit, Limit):
            raise TypeError(
                f"limit must be a Limit, such as Limit(simulations=500): got {limit!r}."
            )
        self._check_idle()
        # Here an adapter may compile what it needs, once, as the kernel is compiled: off the clock.
        given = self._prepared(state)
        started = time.perf_counter()
        root = given.clone()
        player = checked_mover(root, player)
        self._running = True
        try:
            self._begin(root, player)
            if self._plays_in_turn(root):
                self._root = root = root.one_at_a_time(player)  # type: ignore[attr-defined]
                self._in_turn = True
            if self.config.search_forced_moves or len(legal_actions_of(root, player)) > 1:
                try:
                    self._run(limit, started, progress, self._chosen_watch(watch))
                except ChanceMetError:
                    # Now that the state knows of its chance, it is searched as a game of chance.
                    self._forget()
                    self._prepared(root)
                    self._begin(root, player)
                    self._run(limit, started, progress, self._chosen_watch(watch))
        finally:
            self._seconds = time.perf_counter() - started
            self._running = False
            self._advanced = False
        return self.result()

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
        if self._root is None:
            return
        if self._in_turn:
            self._forget()  # No tree is kept where something is hidden.
            return
        if state is not None:
            key = _position_key(as_game_state(state))
            if key is None or key != self._root_key:
                self.reset()
                return
        path = checked_path(self._root, action)
        if determinizes(self._root, self.config):
            # What the player sees next changes which worlds there are: the tree begins anew.
            self._forget()
            return
        try:
            apply_path(self._root, path)
            self._root_key = _position_key(self._root)
            for tree in self._trees:
                tree.keep(path)
            self._advanced = True
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
        while place < len(moves) and self._root is not None:
            if is_simultaneous(self._root):
                count = self._root.num_players()
                self.advance(moves[place : place + count])
                place += count
            else:
                self.advance(moves[place])
                place += 1

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
        check_decision(self._root)
        roots = self._known_roots()
        root = merged_root(roots)
        statistics = root_statistics(root, self.config)
        action = drawn_action(statistics, self._move_unit)
        visits = sum(row.visits for row in statistics)
        total = sum(row.visits * row.value for row in statistics if row.value is not None)
        return SearchResult(
            player=self._player,
            action=action,
            actions=statistics,
            value=total / visits if visits > 0 else None,
            outcome=root.outcome,
            proof_number=root.proof_number,
            disproof_number=root.disproof_number,
            principal_variation=principal_variation(self._leading(roots, action), action),
            simulations=sum(tree.simulations for tree in self._trees),
            joint=joint_table(root, self._root, self._player),
            root_visits=self._root_visits(),
            seconds=self._seconds,
            nodes=sum(tree.nodes for tree in self._trees),
            memory_bytes=sum(tree.memory_bytes for tree in self._trees),
            memory_full=self._memory_full(),
            provider=self._provider if any(tree.simulations for tree in self._trees) else None,
            worlds=self._worlds,
            state=self._root.clone(),
        )

    def _memory_full(self) -> bool:
        grown = [tree.grown for tree in self._trees if tree.grown is not None]
        return len(grown) > 0 and all(arrays.full for arrays in grown)

    def _known_roots(self) -> list[Root]:
        assert self._root is not None
        return [known_root(tree.rooted(self._root, self._player)) for tree in self._trees]

    def _leading(self, roots: Sequence[Root], action: int) -> RootedTree:
        """The tree that speaks for the choice of an action."""
        assert self._root is not None
        return self._trees[leading_tree(roots, action)].rooted(self._root, self._player)

    def _begin(self, root: GameState, player: int) -> None:
        key = _position_key(root)
        grown = [tree.grown for tree in self._trees if tree.grown is not None and tree.has_root]
        kept = self._advanced and grown and key == self._root_key
        parts = search_parts(self.config, root, self.evaluator)
        if not kept or not all(arrays.fits(parts) for arrays in grown):
            self._forget()
        self._root = root
        self._root_key = key
        self._player = player
        self._worlds = None
        self._in_turn = False
        for tree in self._trees:
            tree.simulations = 0
        self._move_unit = float(self._moves.random())

    def _chosen_watch(self, watch: Watch | None) -> Watch | None:
        """The watch to heed: none where the final move is not simply that of most visits."""
        if not isinstance(self.config.final_move, RobustChild) or self.config.temperature > 0:
            return None
        return EarlyStop() if watch is None and self.config.early_stop else watch

    def _run(
        self, limit: Limit, started: float, progress: Progress | None, watch: Watch | None
    ) -> None:
        assert self._root is not None
        searches = self._make_searches(self._root)
        self._provider = searches[0].provider
        next_progress = started + PROGRESS_SECONDS

        def note_worlds() -> None:
            samples = [search.world_sample() for search in searches]
            self._worlds = world_statistics([sample for sample in samples if sample is not None])

        def tell(team: ThreadTeam) -> None:
            nonlocal next_progress
            now = time.perf_counter()
            if progress is not None and now >= next_progress:
                self._seconds = now - started
                with team.paused():
                    note_worlds()
                    progress(self.result())
                next_progress = time.perf_counter() + PROGRESS_SECONDS

        try:
            SearchRun(searches, self._trees, limit, started, watch).run(tell)
        finally:
            note_worlds()

    def _make_searches(self, root: GameState) -> list[TreeSearch]:
        """A search for each thread, or for one where the game cannot be played in several."""
        first, *others = self._trees
        shared = (root, self._player, self.config, self.evaluator)
        searches = [TreeSearch(first, *shared)]
        if others and not searches[0].runs_in_parallel:
            _say_one_thread()
            for tree in others:
                tree.forget()
            return searches
        return searches + [TreeSearch(tree, *shared) for tree in others]

    def _root_visits(self) -> int:
        return sum(tree.root_visits for tree in self._trees)


def _position_key(state: GameState) -> Hashable:
    key = getattr(state, "position_key", None)
    return None if key is None else key()


@functools.cache
def _say_it_sees() -> None:
    _log.warning(
        "rave_agents: hidden='see' searches the true state of a game with hidden information: it "
        "SEES WHAT IS HIDDEN from the player, which is cheating. hidden='determinize' does not."
    )


@functools.cache
def _say_one_thread() -> None:
    _log.warning(
        "rave_agents: this game or evaluator runs in the Python interpreter, where threads would "
        "only wait for each other: it is searched by one thread."
    )
