"""The trees that a searcher keeps, and the position that they have at their root."""

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
from rave_agents.game.game_state import (
    GameState,
    determinizes,
    is_simultaneous,
    legal_actions_of,
)
from rave_agents.knowledge.linear_value import LinearValue
from rave_agents.knowledge.move_policy import MovePolicy
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
    """A search that runs, or several that run side by side."""

    over: bool = False
    """True once it has come to its end, or was broken off."""


class Stage(enum.Enum):
    """Stages of a searcher between its last root position and the next."""

    IDLE = enum.auto()
    """The trees and the root are whole: ``result`` tells of them."""
    ENTERING = enum.auto()
    """A search has begun or was refused; trees and root are whole, of the position before."""
    MOVING = enum.auto()
    """The trees and the root are led elsewhere, and may be of different positions."""
    SEARCHING = enum.auto()
    """The trees grow. If that was broken off, they are to be mended."""


class KeptTrees:
    """The trees of a searcher, one for each thread, and the position that all have at their root.

    What may be reused is decided here, and what an exception has left is mended here: one that a
    signal handler raises may come at any place.

    Args:
        threads: how many trees there are.
        evaluator: evaluates positions; None for playouts.
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
        """The game that the value or policy in use was learned on; None without one."""
        self.learned: str | None
        """The kind of what was learned: ``"value"`` or ``"policy"``; None likewise."""
        self.other_size: bool
        """True if that game has a board of another size."""
        self._note_known(evaluator)
        self.root: RootPosition | None = None
        """The position searched last or advanced to; None before the first search."""
        self.stage: Stage = Stage.IDLE
        """The stage of the trees."""
        self.search_run: Run = Run(over=True)
        """The run that searches them, or did last."""
        self.running: Sequence[TreeSearch] = ()
        """The searches that run, or ran last; none where there was nothing to search."""
        self.started = self.seconds = 0.0
        """``time.perf_counter()`` time at which the clock of the search began to run, and for how
        long it ran."""
        self.worlds: WorldStatistics | None = None
        """The worlds that were drawn; None where nothing is hidden."""

    def use_evaluator(self, evaluator: Any) -> None:
        """Search with another evaluator from the next provider on: None, or one of positions."""
        if evaluator is not self._evaluator:
            self._evaluator = evaluator
            self._note_known(evaluator)
            for search in self.searches:
                search.use_evaluator(evaluator)

    def _note_known(self, evaluator: Any) -> None:
        """Note on which game an evaluator was learned."""
        learned = evaluator if isinstance(evaluator, LinearValue | MovePolicy) else None
        self.known = None if learned is None else learned.learned_on or learned.game
        self.learned = None if learned is None else learned.kind
        self.other_size = learned is not None and learned.learned_on is not None

    def fit_evaluator(self) -> None:
        """Search without batches if the evaluator has turned out to give no values."""
        first = self.searches[0]
        if isinstance(first, BatchedSearch) and not kind_of(self._evaluator).batched:
            search = TreeSearch(self._evaluator)
            search.draw_as(first)
            self.searches = [search]

    def rooted(self) -> list[SearchTree]:
        """The trees that have a root node; none before the first simulation."""
        return [search.tree for search in self.searches if search.tree and search.tree.has_root]

    def check_idle(self) -> None:
        """Refuse to be used while a search runs; mend what one that was broken off has left."""
        if self.stage is not Stage.IDLE and not self.search_run.over:
            raise RuntimeError("This searcher is searching already; use one for each search.")
        self.mend()

    def mend(self) -> None:
        """Make the trees whole, or drop them, if a search or a move was broken off."""
        if not self.search_run.over or self.stage not in (Stage.MOVING, Stage.SEARCHING):
            return
        if self.stage is Stage.MOVING:
            self._drop()
        for search in self.searches:
            search.mend()
        self.stage = Stage.IDLE

    def clear(self) -> None:
        """Drop the root and all nodes below it, but not the memory."""
        before, self.stage = self.stage, Stage.MOVING
        self._drop()
        self.stage = before

    def _drop(self) -> None:
        for search in self.searches:
            search.clear_tree()
        self.root = None

    def reset(self) -> None:
        """Drop all nodes, and what was learned with them."""
        self.clear()
        for search in self.searches:
            search.clear_learned()

    def detach(self) -> None:
        """Let go of the trees, which are somebody else's from now on."""
        for search in self.searches:
            search.detach_tree()
        self.clear()

    def moves_to(
        self, state: GameState, moves: Sequence[int] | None, *, reuse: bool
    ) -> Sequence[int] | None:
        """The moves from the root to a position, whose search goes on from these trees.

        None if the trees begin anew there.

        Args:
            state: the position.
            moves: what the caller says of them; None if that is unknown.
            reuse: whether the states are to tell instead. If they tell that one does not follow
                from the other, all is dropped, what was learned too.
        """
        root = self.root
        if root is None:
            return None
        if reuse:
            told = type(state) is type(root.state) and hasattr(state, "moves_to")
            moves = root.state.moves_to(state) if told else None  # type: ignore[attr-defined]
            if moves is None and not root.in_turn and can_be_told(root.state):
                self.reset()
            moves = moves if moves and root.game.config.reuse_tree else None
        if root.game.determinizes:
            return None  # What a player sees changes which worlds there are.
        if WATCHED:
            code_generation()
        if root.game.generation != OpenFunction.generation:
            return None  # The trees are those of other formulas, or of other rules.
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
        """Have a position at the root of all trees, and get what simulates it.

        Args:
            state: the position.
            game: what is known of its game.
            player: whose action is to be chosen, see ``Searcher.search``.
            moves: what has led there from the root before; None if the trees begin anew.
            forced: whether a single legal action is searched, too.

        Raises:
            TypeError, ValueError, GameError: if no player is to move there, or ``player`` is not
                one who is.
        """
        root, kept = root_position(state, game, player), self.root
        if game.determinizes:
            take_turns(root, self._evaluator)
        self.running, self.stage = (), Stage.MOVING
        if kept is None or (game is not kept.game and not self._fit(game)):
            moves = None
        elif moves and kept.game.simultaneous:
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
        """True if the trees keep what a search of this game reads and writes."""
        trees = self.rooted()
        return len(trees) > 0 and all(tree.fits(game.parts) for tree in trees)

    def run(
        self, limit: Limit, *, watch: Watch | None, between: Callable[[Pause], None] | None
    ) -> None:
        """Run the searches to their limit, to where a watch ends them, or to a solved root.

        Args:
            limit: when to end.
            watch: ends the run before, or gives it more time; None for neither.
            between: called between two slices of some milliseconds, with what pauses all threads;
                None to show how far a search without a time limit is that takes long.

        Raises:
            Exception: what a search or ``between`` raises, unchanged.
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
        """Note the time that the search has taken, and what worlds it has drawn."""
        self.seconds = time.perf_counter() - self.started
        samples = [search.world_sample() for search in self.running]
        self.worlds = world_statistics([sample for sample in samples if sample is not None])

    def finish(self) -> None:
        """The searches have come to their end, whoever ran them."""
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

        Where something is hidden the trees are dropped: what the player sees next changes which
        worlds there are.
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
        if determinizes(root.state, root.game.config.hidden):
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
    """The root position of a search, checked: whose move it is, and that there is one.

    Args:
        state: the position, the searcher's own.
        game: what is known of its game.
        player: whose action is to be chosen, see ``Searcher.search``.
    """
    mover = state.current_player()
    told = player is None or (type(player) is int and player == mover)
    if not (told and type(mover) is int and 0 <= mover < game.num_players):
        mover = checked_mover(state, player)
    actions = legal_actions_of(state, mover) if game.simultaneous else state.legal_actions()
    count = len(actions) if hasattr(actions, "__len__") else 0
    if count <= 1:  # More are looked at where the search lists them.
        if count == 0:
            check_decision(state)
        checked_actions(mover, actions, game.num_players, game.num_actions)
    return RootPosition(game, state, mover, is_forced=count <= 1)


def can_be_told(state: GameState) -> bool:
    """True if positions of a state's game can be told apart."""
    key = getattr(state, "position_key", None)
    return key is not None and key() is not None


def is_same_position(one: GameState, other: GameState) -> bool:
    """True if two states are the same position; False where their adapter cannot tell."""
    keys = [getattr(state, "position_key", None) for state in (one, other)]
    if None in keys:
        return False
    key = keys[0]()  # type: ignore[misc]
    return key is not None and key == keys[1]()  # type: ignore[misc]
