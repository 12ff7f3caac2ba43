"""The trees that a searcher keeps between moves, and their common root position."""

import contextlib
import dataclasses
import enum
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from rave_agents.compiler.dispatch import OpenFunction
from rave_agents.compiler.edits import WATCHED, code_generation
from rave_agents.compiler.progress import SLOW_SECONDS
from rave_agents.config.limit import Limit
from rave_agents.evaluators.linear_value import LinearValue
from rave_agents.evaluators.move_policy import MovePolicy
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import (
    GameState,
    is_simultaneous,
    legal_actions_of,
)
from rave_agents.results.world_statistics import WorldStatistics, world_statistics
from rave_agents.searcher.batched_search import BatchedSearch
from rave_agents.searcher.checks import (
    check_decision,
    checked_mover,
    checked_path,
    warn_one_thread,
)
from rave_agents.searcher.evaluators import kind_of
from rave_agents.searcher.looks import Pause, is_enough, simulations_left, watched_statistics
from rave_agents.searcher.preparing import take_turns
from rave_agents.searcher.slow import SlowSearch
from rave_agents.searcher.threads import run_in_threads
from rave_agents.searcher.tree_search import TreeSearch
from rave_agents.searcher.watch import Watch
from rave_agents.simulate.checked_answers import checked_actions
from rave_agents.tree.composition import SearchedGame
from rave_agents.tree.root_position import RootPosition
from rave_agents.tree.search_tree import SearchTree


@dataclasses.dataclass
class Run:
    """A running search, or several that run side by side."""

    over: bool = False
    """True once it has ended or was interrupted."""


class Stage(enum.Enum):
    """Stages of a searcher between its last root position and the next."""

    IDLE = enum.auto()
    """The trees and the root are consistent: ``result`` reports them."""
    ENTERING = enum.auto()
    """A search has begun or was refused; trees and root still belong to the previous position."""
    MOVING = enum.auto()
    """The trees and the root are being moved, and may belong to different positions."""
    SEARCHING = enum.auto()
    """The trees grow. After an interruption they must be repaired."""


class KeptTrees:
    """The trees of a searcher, one per thread, and their common root position.

    Decides what may be reused, and repairs the trees after an exception, which a signal handler may
    raise anywhere.

    Args:
        threads: the number of trees.
        evaluator: the evaluator of positions; None for playouts.
    """

    def __init__(self, threads: int, evaluator: Any) -> None:
        self._evaluator = evaluator
        self.searches: Sequence[TreeSearch]
        """The search of each tree."""
        if kind_of(evaluator).batched:
            self.searches = [BatchedSearch(evaluator)]
        else:
            self.searches = [TreeSearch(evaluator) for _ in range(threads)]
        self.known: str | None
        """The game on which the value or policy in use was learned; None without one."""
        self.learned: str | None
        """The kind of that knowledge, ``"value"`` or ``"policy"``; None without one."""
        self.other_size: bool
        """True if that game has a board of another size."""
        self._note_known(evaluator)
        self.root: RootPosition | None = None
        """The position searched last or advanced to; None before the first search."""
        self.stage: Stage = Stage.IDLE
        """The stage of the trees."""
        self.search_run: Run = Run(over=True)
        """The run that searches them, or the last one."""
        self.running: Sequence[TreeSearch] = ()
        """The running searches, or the last ones; empty if there was nothing to search."""
        self.started = self.seconds = 0.0
        """The ``time.perf_counter()`` start of the search's clock, and its duration in seconds."""
        self.worlds: WorldStatistics | None = None
        """Statistics of the determinizations drawn; None without hidden information."""

    def use_evaluator(self, evaluator: Any) -> None:
        """Use another evaluator of positions (or None) from the next provider on."""
        if evaluator is not self._evaluator:
            self._evaluator = evaluator
            self._note_known(evaluator)
            for search in self.searches:
                search.use_evaluator(evaluator)

    def _note_known(self, evaluator: Any) -> None:
        """Note the game on which an evaluator was learned."""
        learned = evaluator if isinstance(evaluator, LinearValue | MovePolicy) else None
        self.known = None if learned is None else learned.learned_on or learned.game
        self.learned = None if learned is None else learned.kind
        self.other_size = learned is not None and learned.learned_on is not None

    def fit_evaluator(self) -> None:
        """Switch to a search without batches if the evaluator turned out to return no values."""
        first = self.searches[0]
        if isinstance(first, BatchedSearch) and not kind_of(self._evaluator).batched:
            search = TreeSearch(self._evaluator)
            search.draw_as(first)
            self.searches = [search]

    def rooted(self) -> list[SearchTree]:
        """The trees that have a root node; empty before the first simulation."""
        return [search.tree for search in self.searches if search.tree and search.tree.has_root]

    def check_idle(self) -> None:
        """Refuse use during a search; repair the trees after an interrupted one."""
        if self.stage is not Stage.IDLE and not self.search_run.over:
            raise RuntimeError("This searcher is searching already; use one for each search.")
        self.mend()

    def mend(self) -> None:
        """Repair or drop the trees if a search or a move was interrupted."""
        if not self.search_run.over or self.stage not in (Stage.MOVING, Stage.SEARCHING):
            return
        if self.stage is Stage.MOVING:
            self._drop()
        for search in self.searches:
            search.mend()
        self.stage = Stage.IDLE

    def clear(self) -> None:
        """Drop the root and all nodes but keep the memory."""
        before, self.stage = self.stage, Stage.MOVING
        self._drop()
        self.stage = before

    def _drop(self) -> None:
        for search in self.searches:
            search.clear_tree()
        self.root = None

    def reset(self) -> None:
        """Drop all nodes and everything learned about the game."""
        self.clear()
        for search in self.searches:
            search.clear_learned()

    def detach(self) -> None:
        """Release the trees to another owner."""
        for search in self.searches:
            search.detach_tree()
        self.clear()

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
        root = self.root
        if root is None:
            return None
        if reuse:
            moves_to = StateAbilities(root.state).moves_to
            knows_moves = moves_to is not None and type(state) is type(root.state)
            moves = moves_to(state) if knows_moves else None  # type: ignore[misc]
            if moves is None and not root.in_turn and has_position_key(root.state):
                self.reset()
            moves = moves if moves and root.game.config.reuse_tree else None
        if root.game.determinizes:
            return None  # A new observation changes the possible determinizations.
        if WATCHED:
            code_generation()
        if root.game.generation != OpenFunction.generation:
            return None  # The trees belong to edited formulas or rules.
        if moves is None and root.is_advanced and is_same_position(state, root.state):
            return ()
        return moves

    def enter(
        self,
        state: GameState,
        game: SearchedGame,
        player: int | None,
        moves: Sequence[int] | None,
        *,
        forced: bool,
    ) -> None:
        """Move all trees to a root position, and open its providers of simulations.

        Args:
            state: the position.
            game: the facts of its game.
            player: the player to choose for, see ``Searcher.search``.
            moves: the moves from the previous root; None if the trees start anew.
            forced: True to search even if only one action is legal.

        Raises:
            TypeError, ValueError, GameError: if no player is to move there, or ``player`` is not to
                move.
        """
        root, kept = root_position(state, game, player), self.root
        if game.determinizes:
            take_turns(root, self._evaluator)
        self.running, self.stage = (), Stage.MOVING
        if kept is None or (game is not kept.game and not self._fit(game)):
            moves = None
        elif moves and kept.game.facts.simultaneous:
            self.play(moves)
            moves = None if self.root is None else ()
        if moves is None:
            self._drop()
        for search in self.searches:
            search.enter(root, moves or ())
        self.root, self.stage = root, Stage.SEARCHING
        self.seconds, self.worlds = 0.0, None
        if root.is_forced and not forced:
            return
        first, *others = self.searches
        first.open()
        if others and not first.runs_in_parallel:
            warn_one_thread()
            for search in others:
                search.clear_tree()
            others = []
        for search in others:
            search.open()
        self.running = (first, *others)

    def _fit(self, game: SearchedGame) -> bool:
        """True if the trees have the arrays that a search of this game needs."""
        trees = self.rooted()
        return len(trees) > 0 and all(tree.fits(game.parts) for tree in trees)

    def run(
        self, limit: Limit, *, watch: Watch | None, between: Callable[[Pause], None] | None
    ) -> None:
        """Run the searches until their limit, a watch's stop, or a solved root.

        Args:
            limit: when to end.
            watch: may end the run early or extend it; None for neither.
            between: called between slices of some milliseconds with a function that pauses all
                threads; None shows progress of a long search without time limit.

        Raises:
            Exception: any exception of a search or of ``between``, unchanged.
        """
        searches, count = self.running, len(self.running)
        deadline = self.started + (math.inf if limit.seconds is None else limit.seconds)
        left = math.inf if limit.simulations is None else float(limit.simulations)
        looks = between is not None or watch is not None
        shows = between is None and limit.seconds is None
        shown_from = self.started + SLOW_SECONDS if shows else math.inf
        slow: SlowSearch | None = None

        def look(pause: Pause) -> bool:
            nonlocal slow
            if between is not None:
                between(pause)
            elif time.perf_counter() > shown_from:
                slow = slow or SlowSearch(searches, limit, self.started)
                slow.update()
            if watch is None:
                return True
            with pause():
                return not is_enough(watch, searches, limit, self.started, deadline)

        try:
            while left > 0 and searches:
                for index, search in enumerate(searches):
                    # Split the simulations evenly: the first trees get the remainder.
                    share = left if math.isinf(left) else (left + count - 1 - index) // count
                    search.begin(simulations=share, deadline=deadline, memory_share=1 / count)
                if count > 1:
                    ended_itself = run_in_threads(searches, look)
                else:
                    ended_itself = True
                    while ended_itself and searches[0].run_slice():
                        if looks or time.perf_counter() > shown_from:
                            ended_itself = look(contextlib.nullcontext)
                if watch is None or limit.seconds is None or not ended_itself:
                    break
                if any(search.solved for search in searches):
                    break
                left = simulations_left(searches, limit)
                extension = watch.extension_seconds(watched_statistics(searches)) if left else 0.0
                if extension <= 0:
                    break
                deadline = time.perf_counter() + extension
            self.stage = Stage.IDLE
        finally:
            if slow is not None:
                slow.close()
            self.seconds = time.perf_counter() - self.started
            if searches and searches[0].root.game.determinizes:
                self.note()

    def note(self) -> None:
        """Note the duration of the search and the worlds it has drawn."""
        self.seconds = time.perf_counter() - self.started
        samples = [search.world_sample() for search in self.running]
        self.worlds = world_statistics([sample for sample in samples if sample is not None])

    def finish(self) -> None:
        """Mark the searches as finished, however they were run."""
        self.note()
        self.stage = Stage.IDLE

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

        With hidden information the trees are dropped, since the next observation changes the
        possible determinizations.
        """
        root = self.root
        if root is None:
            return
        if root.in_turn:
            self.clear()
            return
        if state is not None and not is_same_position(state, root.state):
            self.reset()
            return
        path = checked_path(root.state, action)
        if root.game.determinizes:
            self.clear()
            return
        before, self.stage = self.stage, Stage.MOVING
        try:
            root.advance(path)
            for search in self.searches:
                search.reroot(path)
        except BaseException:
            self._drop()  # The root and the trees may be of different positions.
            self.stage = before
            raise
        self.stage = before


def root_position(state: GameState, game: SearchedGame, player: int | None) -> RootPosition:
    """The root position of a search, after checking the player to move and the legal actions.

    Args:
        state: the position, owned by the searcher.
        game: what is known of its game.
        player: whose action is to be chosen, see ``Searcher.search``.
    """
    mover = state.current_player()
    fits = player is None or (type(player) is int and player == mover)
    if not (fits and type(mover) is int and 0 <= mover < game.facts.num_players):
        mover = checked_mover(state, player)
    actions = legal_actions_of(state, mover) if game.facts.simultaneous else state.legal_actions()
    count = len(actions) if hasattr(actions, "__len__") else 0
    if count <= 1:  # More are checked when the search lists them.
        if count == 0:
            check_decision(state)
        checked_actions(mover, actions, game.facts.num_players, game.facts.num_actions)
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
    key = keys[0]()
    return key is not None and key == keys[1]()
