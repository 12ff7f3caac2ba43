"""Running searches in slices: limits, early stops, time extensions, and what happens between."""

import contextlib
import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from rave_agents.compiler.progress import SLOW_SECONDS
from rave_agents.config.limit import Limit
from rave_agents.kernel import tree as trees
from rave_agents.kernel.backup import edge_sums
from rave_agents.kernel.tree import ROOT
from rave_agents.searcher.slow import SlowSearch
from rave_agents.searcher.threads import run_in_threads
from rave_agents.searcher.tree_search import TreeSearch
from rave_agents.searcher.watch import RootStatistics, Watch

FIRST_LOOK = 0.1
"""Share of the time after which the measured speed is trusted and a watch may end the search."""

Pause = Callable[[], contextlib.AbstractContextManager[None]]
"""A context manager that holds all threads between two slices."""

Between = Callable[[Pause], None] | None
"""Called between two slices; None for nothing."""


def run_slices(
    searches: Sequence[TreeSearch],
    limit: Limit,
    started: float,
    *,
    watch: Watch | None = None,
    between: Between = None,
) -> None:
    """Run searches until their limit, a watch's stop, or a solved root.

    Args:
        searches: one search per thread, with open providers.
        limit: when to end.
        started: the ``time.perf_counter()`` time at which the limit's seconds begin.
        watch: may end the run early or extend it; None for neither.
        between: called between slices of some milliseconds with a function that pauses all threads;
            None shows progress of a long search without time limit.

    Raises:
        Exception: any exception of a search or of ``between``, unchanged.
    """
    count = len(searches)
    deadline = math.inf if limit.seconds is None else started + limit.seconds
    left = math.inf if limit.simulations is None else float(limit.simulations)
    looks = between is not None or watch is not None
    shows = between is None and limit.seconds is None
    shown_from = started + SLOW_SECONDS if shows else math.inf
    slow: SlowSearch | None = None

    def look(pause: Pause) -> bool:
        nonlocal slow
        if between is not None:
            between(pause)
        elif time.perf_counter() > shown_from:
            slow = slow or SlowSearch(searches, limit, started)
            slow.update()
        if watch is None:
            return True
        with pause():
            return not is_enough(watch, searches, limit, started, deadline)

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
    finally:
        if slow is not None:
            slow.close()


def periodically(
    report: Callable[[], None], started: float, seconds: float
) -> Callable[[Pause], None]:
    """A callback that calls ``report`` about every ``seconds`` with all threads paused."""
    ends = started + seconds

    def between(pause: Pause) -> None:
        nonlocal ends
        if time.perf_counter() >= ends:
            with pause():
                report()
            ends = time.perf_counter() + seconds

    return between


def is_enough(
    watch: Watch, searches: Sequence[TreeSearch], limit: Limit, started: float, deadline: float
) -> bool:
    """True if a watch ends the search now."""
    now = time.perf_counter()
    left = simulations_left(searches, limit)
    if math.isfinite(deadline):
        if now - started < FIRST_LOOK * (deadline - started):
            return False
        done = sum(search.simulations for search in searches)
        speed = done / max(now - started, 1e-9)
        left = min(left, speed * max(deadline - now, 0.0))
    return watch.should_stop(watched_statistics(searches), now - started, left)


def simulations_left(searches: Sequence[TreeSearch], limit: Limit) -> float:
    """Simulations left until the limit, not counting those of earlier searches."""
    if limit.simulations is None:
        return math.inf
    return max(0.0, float(limit.simulations - sum(search.simulations for search in searches)))


def watched_statistics(searches: Sequence[TreeSearch]) -> RootStatistics:
    """Statistics of the root's moves over all trees, for a watch."""
    visits, sums = np.zeros(0), np.zeros(0)
    for search in searches:
        tree = search.tree
        if tree is not None and tree.has_root:
            edges = trees.edge_rows(tree.arrays, ROOT)
            own = tree.arrays.edge_visits[edges.start : edges.stop].astype(np.float64)
            values = edge_sums(tree.running.backup, tree.search(), ROOT, edges)
            visits, sums = (visits + own, sums + values) if len(visits) else (own, values.copy())
    return RootStatistics(visits.tolist(), (sums / np.maximum(visits, 1.0)).tolist())
