"""The trees that a searcher keeps between moves, and their common root position."""

import time
from collections.abc import Sequence, Sized
from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import OpenFunction
from rave_agents.compiler.edits import WATCHED, code_generation
from rave_agents.compiler.progress import WAITED
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import (
    GameState,
    is_simultaneous,
    legal_actions_of,
    moves_between,
)
from rave_agents.results.search_result import SearchResult
from rave_agents.results.world_statistics import WorldStatistics, world_statistics
from rave_agents.searcher.batched_search import BatchedSearch
from rave_agents.searcher.checks import (
    check_decision,
    checked_mover,
    checked_path,
    warn_one_thread,
)
from rave_agents.searcher.equilibrium_search import EquilibriumSearch
from rave_agents.searcher.evaluators import kind_of
from rave_agents.searcher.prepared import in_turn
from rave_agents.searcher.report import chosen_action, search_result
from rave_agents.searcher.tree_search import TreeSearch
from rave_agents.simulate.checked_answers import checked_actions
from rave_agents.tree.composition import Prepared
from rave_agents.tree.root_position import RootPosition
from rave_agents.tree.search_tree import SearchTree

SMALL_TREE = 2**12
"""Up to this many nodes a tree moves to a new root only when something asks for it there: the next
search often begins anew instead, and moving takes as long as many simulations."""


class KeptTrees:
    """The trees of a searcher, one per thread, and their common root position.

    Args:
        threads: the number of trees.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._searches: list[Any] = []
        self._keep_regrets = False
        self.entered: RootPosition | None = None
        """The root of the trees; None before the first search."""
        self._is_dropped = self._unlearns = False
        """True if the trees' nodes, or what they learned about the game, are still to be dropped.
        """
        self._moves: list[int] = []
        """Moves from there to ``root``, which the trees have not followed yet."""
        self._root: RootPosition | None = None
        self.unit: float = 0.0
        """Uniform random number in [0, 1) that decides among the moves of the final policy."""
        self.running: Sequence[TreeSearch] = ()
        """The searches of the last position; empty if there was nothing to search."""
        self.started = self.seconds = 0.0
        """The ``time.perf_counter()`` start of the search's clock, and its duration in seconds."""
        self.worlds: WorldStatistics | None = None
        """Statistics of the determinizations drawn; None without hidden information."""
        self._last: SearchResult | None = None
        self._is_read = True

    def reseed(self, seeds: np.random.SeedSequence) -> None:
        """Restart all random streams from these seeds."""
        stream_seed, noise_seed, move_seed = seeds.spawn(3)
        # Trees of other threads draw everything from seeds of their own, except for the noise.
        others = stream_seed.spawn(self._threads - 1)
        self._seeds = [(stream_seed, seeds, noise_seed)]
        self._seeds += [(own, own, noise_seed) for own in others]
        for search, own in zip(self._searches, self._seeds, strict=False):
            search.reseed(*own)
        self._final_moves = np.random.default_rng(move_seed)
        self.unit = self._final_moves.random()

    @property
    def root(self) -> RootPosition | None:
        """The position searched last or advanced to; None before the first search."""
        if self._root is None and self.entered is not None:
            self._root = self._after(self.entered, self._moves)
        return self._root

    def _after(self, root: RootPosition, moves: Sequence[int]) -> RootPosition:
        """The position after moves; everything is dropped if the game cannot play them."""
        try:
            return root.after(moves)
        except BaseException:
            self.drop()  # Nobody knows which moves were played.
            raise

    @property
    def searches(self) -> Sequence[TreeSearch]:
        """The search of each tree, all at ``root``."""
        self.settle()
        return self._searches

    def rooted(self) -> list[SearchTree]:
        """The trees that have a root node; empty before the first simulation."""
        return [search.tree for search in self.searches if search.tree and search.tree.has_root]

    @property
    def has_searched(self) -> bool:
        """True after the first search."""
        return len(self._searches) > 0

    def last_result(self) -> SearchResult | None:
        """The result of the last search, made when first asked for; None before the first."""
        if not self._is_read and self._searches:
            self._last, self._is_read = self.result(self._searches[0].root), True
        return self._last

    def result(self, root: RootPosition) -> SearchResult:
        """The result of the trees at their root position."""
        return search_result(
            self._searches, root, unit=self.unit, seconds=self.seconds, worlds=self.worlds
        )

    def action(self) -> int:
        """The action to play after a search."""
        assert self.entered is not None
        return chosen_action(self._searches, self.entered, self.unit)

    def settle(self) -> None:
        """Follow the moves to ``root`` in the trees, or drop them, if that was left for later."""
        if self._is_dropped:
            self.last_result()
            self._drop()
        elif self._moves and (root := self.root) is not None:
            self.last_result()
            moves, self._moves, self.entered = self._moves, [], root
            try:
                for search in self._searches:
                    search.move(root, moves)
                    if root.game.recalls_all:
                        search.catch_up()
            except BaseException:
                self.drop_torn(everything=True)
                raise

    def drop(self, *, learned: bool = False) -> None:
        """Drop the root and all nodes, but keep the memory.

        Small trees keep their nodes until the next search begins or somebody asks: only
        ``last_result`` needs them, which takes longer to make than a search of few simulations.

        Args:
            learned: True to drop everything learned about the game, too.
        """
        self.entered, self._root, self._moves = None, None, []
        self._is_dropped, self._unlearns = True, self._unlearns or learned
        self._settle_large()

    def begin_anew(self) -> None:
        """Drop everything but the memory of trees."""
        self.drop(learned=True)
        if self._keep_regrets:  # They outlast a game.
            self._searches = []
        self._last, self._is_read, self.running = None, True, ()
        self.seconds, self.worlds = 0.0, None

    def _drop(self) -> None:
        self.entered, self._root, self._moves = None, None, []
        for search in self._searches:
            search.drop()
            if self._unlearns and search.tree is not None:
                search.tree.clear_learned()
        self._is_dropped = self._unlearns = False

    def _settle_large(self) -> None:
        """Change large trees at once, off the next search's clock."""
        for search in self._searches:
            if search.nodes > SMALL_TREE:
                self.settle()
                return

    def release(self) -> None:
        """Leave the trees to another owner."""
        self.last_result()
        self.drop_torn(everything=True)
        self._drop()

    def drop_torn(self, *, everything: bool = False) -> None:
        """After an exception, drop trees in the middle of a change; complete slices stay counted.

        Args:
            everything: True to drop all trees.
        """
        for search in self._searches:
            search.drop_torn(everything=everything)

    def moves_to(
        self, state: GameState, moves: Sequence[int] | None, *, reuse: bool
    ) -> Sequence[int] | None:
        """The moves from the root to a position, if its search continues from these trees.

        None if the trees start anew there.

        Args:
            state: the position.
            moves: the moves, if the caller knows them, else None.
            reuse: True to ask the states instead. If they say that one does not follow from the
                other, everything is dropped, including learned statistics.
        """
        entered = self.entered
        if entered is None:
            return None
        if reuse and (root := self.root) is not None:
            moves = moves_between(root.state, state)
            if moves is None and not root.in_turn and has_position_key(root.state):
                self.drop(learned=True)
                return None
            moves = moves if moves and root.game.config.reuse_tree else None
        if entered.game.keeps_regrets:
            return None  # The regrets belong to no position.
        if entered.game.determinizes and not entered.game.recalls_all:
            return None  # The keys of nodes count from the root.
        if WATCHED:
            code_generation()
        if entered.game.generation != OpenFunction.generation:
            return None  # The trees belong to edited formulas or rules.
        is_advanced = entered.is_advanced or len(self._moves) > 0
        return () if moves is None and is_advanced and self._is_at(state) else moves

    def _is_at(self, state: GameState) -> bool:
        """True if a state has the position of ``root``."""
        assert self.entered is not None
        # Where one player moves at a time, the moves say so: nothing needs to be played.
        if not self.entered.game.facts.simultaneous:
            moves = moves_between(self.entered.state, state)
            if moves is not None and list(moves) == self._moves:
                return True
        root = self.root
        return root is not None and is_same_position(state, root.state)

    def enter(
        self,
        state: GameState,
        game: Prepared,
        player: int | None,
        moves: Sequence[int] | None,
        *,
        forced: bool,
    ) -> RootPosition:
        """Move all trees to a root position, and open its providers of simulations.

        Args:
            state: the position, from now on owned by the searcher.
            game: the preparation of its game.
            player: the player to choose for, see ``Searcher.search``.
            moves: the moves from the previous root; None if the trees start anew.
            forced: True to search even if only one action is legal.

        Raises:
            TypeError, ValueError, GameError: if no player is to move there, or ``player`` is not to
                move.
        """
        waited = WAITED.seconds
        root, kept = root_position(state, game, player), self.entered
        if game.determinizes:
            root = in_turn(root)
        if kept is None or (game is not kept.game and not self._fits(game)):
            moves = None
        elif moves and kept.game.facts.simultaneous and not game.recalls_all:
            self.play(moves)
            moves = None if self.entered is None else ()
        try:
            self._last, self._is_read, self.running = None, True, ()
            if not self._searches or self._keep_regrets != game.keeps_regrets:
                self._make_searches(game)
            path = None if moves is None else [*self._moves, *moves]
            if moves is None:
                self._drop()
            self.entered, self._root, self._moves = root, root, []
            for search in self._searches:
                search.enter(root, path)
            self.unit = self._final_moves.random()
            self.seconds, self.worlds, self._is_read = 0.0, None, False
            if forced or not root.is_forced:
                self._open()
            elif root.game.recalls_all:
                for search in self._searches:
                    search.catch_up()
        except BaseException:
            self._drop()  # Root and trees may belong to different positions.
            raise
        self.started += WAITED.seconds - waited
        return root

    def _make_searches(self, game: Prepared) -> None:
        """Make the search of each tree, or the one that keeps regrets."""
        self._keep_regrets = game.keeps_regrets
        if game.keeps_regrets:
            self._searches = [EquilibriumSearch()]
        elif kind_of(game.evaluator).batched:
            self._searches = [BatchedSearch(game.evaluator)]
        else:
            self._searches = [TreeSearch() for _ in range(self._threads)]
        for search, own in zip(self._searches, self._seeds, strict=False):
            search.reseed(*own)

    def _open(self) -> None:
        """Open the providers of all trees, or of one if threads would wait for each other."""
        first, *others = self._searches
        first.open()
        if others and not first.runs_in_parallel:
            warn_one_thread()
            for search in others:
                search.drop()
            others = []
        for search in others:
            search.open()
        self.running = (first, *others)

    def _fits(self, game: Prepared) -> bool:
        """True if the trees have the arrays that a search of this game needs."""
        trees = [search.tree for search in self._searches if search.tree and search.tree.has_root]
        return len(trees) > 0 and all(tree.fits(game.parts) for tree in trees)

    def note_time(self) -> None:
        """Note the duration of the search and the determinizations it has drawn."""
        self.seconds = time.perf_counter() - self.started
        if self.running and self.running[0].root.game.determinizes:
            samples = [search.world_sample() for search in self.running]
            self.worlds = world_statistics([each for each in samples if each is not None])

    def play(self, moves: Sequence[int]) -> None:
        """Play actions and chance outcomes from the root on, see ``Searcher.follow``."""
        place = 0
        while place < len(moves) and self.root is not None:
            if is_simultaneous(self.root.state):
                count = self.root.state.num_players()
                self.advance(moves[place : place + count])
                place += count
            else:
                self.advance(moves[place])
                place += 1

    def advance(self, action: int | Sequence[int], state: GameState | None = None) -> None:
        """Play an action or a chance outcome at the root, see ``Searcher.advance``.

        Trees of information sets move on when their player is to move again; if their keys do not
        tell all that players have seen, the trees are dropped.
        """
        entered = self.entered
        if entered is None:
            return
        if entered.in_turn or entered.game.keeps_regrets:
            self.drop()
            return
        root = None
        if state is None:
            root = self.root
            assert root is not None
            state = root.state
        elif not self._is_at(state):
            self.drop(learned=True)
            return
        path = checked_path(state, action)
        if entered.game.determinizes and not entered.game.recalls_all:
            self.drop()
            return
        is_first, self._moves = not self._moves, self._moves + path
        # Where the caller has the position, nothing needs to be played here.
        self._root = None if root is None else self._after(root, path)
        if is_first and not entered.game.recalls_all:  # Trees do not grow between moves.
            self._settle_large()


def root_position(state: GameState, game: Prepared, player: int | None) -> RootPosition:
    """The root position of a search, after checking the player to move and the legal actions."""
    mover, facts = state.current_player(), game.facts
    fits = player is None or (type(player) is int and player == mover)
    if not (fits and type(mover) is int and 0 <= mover < facts.limits.players):
        mover = checked_mover(state, player)
    actions = legal_actions_of(state, mover) if facts.simultaneous else state.legal_actions()
    count = len(actions) if isinstance(actions, Sized) else 0
    if count <= 1:  # More are checked when the search lists them.
        if count == 0:
            check_decision(state)
        checked_actions(mover, actions, facts.num_players, facts.num_actions)
    return RootPosition(game, state, mover, is_forced=count <= 1)


def has_position_key(state: GameState) -> bool:
    """True if positions of a state's game have keys."""
    key = StateAbilities(state).position_key
    return key is not None and key() is not None


def is_same_position(one: GameState, other: GameState) -> bool:
    """True if two states have the same position; False without keys."""
    keys = [StateAbilities(state).position_key for state in (one, other)]
    if keys[0] is None or keys[1] is None:
        return False
    moves = moves_between(one, other)
    if moves is not None and len(moves) == 0:
        return True  # Comparing histories takes less time than making keys.
    key = keys[0]()
    return key is not None and key == keys[1]()
