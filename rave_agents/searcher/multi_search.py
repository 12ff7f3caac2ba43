"""Many searches side by side that share the batches of one evaluator."""

import concurrent.futures
import contextlib
import math
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rave_agents.config.limit import Limit
from rave_agents.config.search_config import SearchConfig
from rave_agents.evaluators.batch import BatchArrays
from rave_agents.evaluators.batch_evaluator import BatchEvaluator, evaluate
from rave_agents.evaluators.cache import EvaluationCache
from rave_agents.game.utility_limits import UtilityLimits
from rave_agents.game.validation import Count, Natural, Seed, validated
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.batched_search import BatchedSearch, Round
from rave_agents.searcher.evaluators import as_evaluator
from rave_agents.searcher.searcher import Searcher

SIDE_BY_SIDE = 64
"""Default number of searches that run at the same time."""

WORTH_A_THREAD = 0.0005
"""Minimum seconds of a step for which another thread pays off."""

WORTH_TWO_BATCHES = 256
"""With at least this many waiting simulations of compiled games, overlapping two half-size batches
pays off."""


class Task(NamedTuple):
    """A search to be run with others."""

    searcher: Searcher
    """The searcher; all share one evaluator."""
    state: Any
    """The position."""
    limit: Limit
    """The limit of the search."""
    player: int | None = None
    """The player to choose for, see ``Searcher.search``."""
    moves: Sequence[int] | None = None
    """Moves from its last position to this one, see ``Searcher.search``."""


@validated
def search_many(
    states: Sequence[Any],
    limit: Limit,
    *,
    evaluator: Any,
    config: SearchConfig | None = None,
    seed: Seed = None,
    player: Natural | None = None,
    side_by_side: Count = SIDE_BY_SIDE,
    overlap: bool = True,
) -> list[SearchResult]:
    """Search many positions, evaluating their leaves in common batches.

    Each position has its own tree and random numbers, so its result does not depend on the other
    positions, provided that the evaluator's answers do not depend on the batch size; with several
    ``leaves`` only if the evaluator has ``cache=False``.

    Args:
        states: positions, see ``Searcher.search``, of one game, or of games with the same shape of
            observations, numbers of actions and players, and utilities.
        limit: when each search ends.
        evaluator: evaluates their leaves: a ``BatchEvaluator`` or a model, see ``as_evaluator``.
        config: the configuration of all searches; ``SearchConfig.preset("puct")`` by default.
        seed: seeds everything random; None for a seed drawn by the system.
        player: the player to choose for, if moves are simultaneous.
        side_by_side: the number of searches that run at the same time, at least 1; when one ends,
            the next begins.
        overlap: True to let half of them simulate in another thread while the evaluator, in this
            thread, handles a batch of the other half. This is done if simulations take long: in
            Python states, or with 256 simulations of compiled games at a time. Batches then have
            half the size.

    Returns:
        The results, in the order of the states.

    Raises:
        TypeError, ValueError: for an invalid argument, see ``Searcher``.
        GameError: if a game or the evaluator breaks the common interface.
        Exception: any exception of a game's state or the evaluator, unchanged.
    """
    evaluator = as_evaluator(evaluator)
    if not isinstance(evaluator, BatchEvaluator):
        raise TypeError(
            "search_many needs an evaluator of batches, such as a network or a BatchEvaluator: got "
            f"{evaluator!r}. Use Searcher.search for one position after the other instead."
        )
    try:
        states = list(states)
    except TypeError:
        raise TypeError(f"states must be positions in a list, got {states!r}.") from None
    config = SearchConfig.preset("puct") if config is None else config
    seeds = np.random.SeedSequence(seed).generate_state(len(states), np.uint64)
    searchers = [Searcher(config, seed=int(own), evaluator=evaluator) for own in seeds]
    tasks = [
        Task(searcher, state, limit, player)
        for searcher, state in zip(searchers, states, strict=True)
    ]
    return search_together(tasks, side_by_side=side_by_side, overlap=overlap)


@validated
def search_together(
    tasks: Sequence[Task],
    *,
    side_by_side: Count = SIDE_BY_SIDE,
    overlap: bool = True,
    cache: EvaluationCache | None = None,
) -> list[SearchResult]:
    """Run searches of searchers that share one evaluator, see ``search_many``.

    Searchers with kept trees continue from them. ``cache`` holds answers of earlier calls; None for
    no answers.

    Raises:
        ValueError: if two searchers are the same, or have different evaluators.
    """
    check_together(tasks)
    if not tasks:
        return []
    results: list[SearchResult | None] = [None] * len(tasks)
    try:
        with contextlib.ExitStack() as stack:
            size = min(side_by_side, len(tasks))
            waiting = iter(enumerate(tasks))
            group = _Group(tasks[0].searcher.evaluator, size, waiting, results, cache)
            stack.callback(group.abort)
            groups = [group]
            group.start()
            if overlap and group.is_worth_splitting:
                groups.append(group.split())
                stack.callback(groups[1].abort)
            worker = stack.enter_context(concurrent.futures.ThreadPoolExecutor(1))
            _take_turns(groups, worker)
    finally:
        for task in tasks:
            task.searcher.stop()
    return results  # type: ignore[return-value]


def check_together(tasks: Sequence[Task]) -> None:
    """Refuse searches that cannot run together."""
    searchers = [task.searcher for task in tasks]
    for task in tasks:
        config = task.searcher.config
        config.check_simulations(task.limit.simulations)
        if config.level:
            raise ValueError(
                f"level={config.level} decides the simulations of each search, and searches that "
                "are run together have a limit: leave the level out."
            )
    if len({id(searcher) for searcher in searchers}) < len(searchers):
        raise ValueError("Each search needs its own searcher: one was given twice.")
    if any(searcher.evaluator is not searchers[0].evaluator for searcher in searchers):
        raise ValueError("Searches that run together must share one evaluator.")
    if searchers and not isinstance(searchers[0].evaluator, BatchEvaluator):
        raise ValueError("Searches can run together only with a BatchEvaluator.")


class _Running(NamedTuple):
    place: int
    searcher: Searcher
    search: BatchedSearch


def _take_turns(groups: "Sequence[_Group]", worker: concurrent.futures.Executor) -> None:
    """Evaluate the batch of one group while the other group simulates.

    The evaluator always runs in this thread, since its library may have per-thread settings. Steps
    shorter than starting a thread run here, too.
    """
    groups[0].simulate()
    turn = 0
    while any(group.is_running for group in groups):
        asked = groups[turn]
        turn = (turn + 1) % len(groups)
        other = groups[turn]
        if other is not asked and min(asked.judging, other.simulating) > WORTH_A_THREAD:
            future = worker.submit(other.simulate)
            try:
                asked.judge()
            finally:
                concurrent.futures.wait([future])
            future.result()
        else:
            asked.judge()
            other.simulate()


class _Group:
    """Searches that share a sequence of batches."""

    def __init__(
        self,
        evaluator: Any,
        size: int,
        waiting: Iterator[tuple[int, Task]],
        results: list[SearchResult | None],
        cache: EvaluationCache | None,
    ) -> None:
        self._cache = cache
        self._limits: UtilityLimits
        self._most_rows: int
        self._evaluator: BatchEvaluator = evaluator
        self._size, self._waiting, self._results = size, waiting, results
        self._running: list[_Running] = []
        self._batch: BatchArrays | None = None
        self._round: Round | None = None
        self.judging = self.simulating = 0.0
        """Seconds of the last evaluation and of the last simulations."""

    @property
    def is_running(self) -> bool:
        """True if there is more to do."""
        return len(self._running) > 0

    def judge(self) -> None:
        """Evaluate the batch."""
        started = time.perf_counter()
        if self._running and self._batch is not None:
            evaluate(self._evaluator, self._batch, self._limits)
        self.judging = time.perf_counter() - started

    def simulate(self) -> None:
        """Back up the last batch's answers, and fill the next batch."""
        started = time.perf_counter()
        if self._round is not None:
            self._round.go_on()
        self._fill()
        self.simulating = time.perf_counter() - started

    def _fill(self) -> None:
        """Let each search write its leaves; finished searches make room for others."""
        if self._batch is not None:
            self._batch.clear()
        while True:
            self.start()
            if self._batch is None or not self._running:
                return
            if self._round is None:
                self._round = self._round_of_all()
            if not self._round.seek():
                return
            ended = [running for running in self._running if running.search.has_ended]
            if not ended:
                return
            for running in ended:
                self._running.remove(running)
                self._results[running.place] = running.searcher.end()
            self._round = None

    def _round_of_all(self) -> Round:
        assert self._batch is not None
        return Round([running.search for running in self._running], self._batch)

    def start(self) -> None:
        """Start searches until the group is full."""
        while len(self._running) < self._size and self._start_next():
            self._round = None

    @property
    def is_worth_splitting(self) -> bool:
        """True if simulating half of its searches takes longer than starting a thread."""
        searches = [running.search for running in self._running]
        waiting = sum(len(search.slots) for search in searches)
        in_python = any(search.in_python for search in searches)
        return len(searches) > 1 and (in_python or waiting >= WORTH_TWO_BATCHES)

    def split(self) -> "_Group":
        """Move half of the searches, none of which waits yet, to another group."""
        half = self._size // 2
        other = _Group(self._evaluator, half, self._waiting, self._results, self._cache)
        self._size -= other._size
        other._running = self._running[self._size :]
        del self._running[self._size :]
        for running in other._running:
            other._use_batch(running.search)
        return other

    def _start_next(self) -> bool:
        """Start the next search; returns False if none is left to run."""
        return any(self._start(place, task) for place, task in self._waiting)

    def _start(self, place: int, task: Task) -> bool:
        """Start a search; returns False if it had nothing to search and is already finished."""
        searcher, limit = task.searcher, task.limit
        forced = searcher.config.search_forced_moves
        try:
            searcher.begin(task.state, player=task.player, moves=task.moves, forced=forced)
        except Exception as error:
            error.add_note(f"It is the state at place {place}, from 0.")
            raise
        if not searcher.running:
            self._results[place] = searcher.end()
            return False
        search = searcher.running[0]
        if not isinstance(search, BatchedSearch):
            raise TypeError(
                f"{self._evaluator.name} gives no values, which searches in batches need."
            )
        if self._batch is not None:
            search.use(self._batch)
        seconds = math.inf if limit.seconds is None else limit.seconds
        search.begin(
            simulations=math.inf if limit.simulations is None else limit.simulations,
            deadline=searcher.started + seconds,
            memory_share=1.0,
        )
        self._running.append(_Running(place, searcher, search))
        self._use_batch(search)
        return True

    def _use_batch(self, search: BatchedSearch) -> None:
        """Let a search write to the group's batch."""
        if self._batch is None:
            self._cache = self._cache or search.new_cache()
            self._batch = search.new_batch(self._size * search.most_rows, self._cache)
            self._limits, self._most_rows = search.limits, search.most_rows
        if search.most_rows != self._most_rows:
            raise ValueError(
                "Either one player moves at a time in all states, or several do in all, to share "
                "batches. Search states of other games in another call."
            )
        if search.limits != self._limits:
            raise ValueError(
                "All states must have the same utilities, to share batches: "
                f"{self._limits} and {search.limits}. Search states of other games in "
                "another call."
            )
        if search.batch_shape != self._batch.shape:
            raise ValueError(
                "All states must have observations of one shape, and as many actions and players, "
                f"to share batches: {self._batch.shape} and {search.batch_shape}. Search states of "
                "other games in another call."
            )
        search.use(self._batch)

    def abort(self) -> None:
        """Cancel waiting simulations, so that all trees are whole."""
        if self._batch is not None:
            self._round_of_all().drop()
        self._running.clear()
