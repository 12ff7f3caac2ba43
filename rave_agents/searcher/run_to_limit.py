"""A search runs: all its trees, to its limit, or to where a watch ends it."""

import contextlib
import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from rave_agents.config.limit import Limit
from rave_agents.kernel import tree as trees
from rave_agents.kernel.backup import edge_sums
from rave_agents.kernel.tree import ROOT
from rave_agents.searcher.threads import run_in_threads
from rave_agents.searcher.tree_search import TreeSearch
from rave_agents.searcher.watch import RootStatistics, Watch

FIRST_LOOK = 0.1
"""The part of its time after which a search's speed is believed, and a watch may end it."""


Pause = Callable[[], contextlib.AbstractContextManager[None]]
"""Holds all threads between two slices for the time of a ``with`` statement."""


def run_to_limit(
    searches: Sequence[TreeSearch],
    limit: Limit,
    *,
    started: float,
    watch: Watch | None,
    between: Callable[[Pause], None] | None,
) -> None:
    """Run the searches of one or several trees until their limit, a watch's word or a solved root.

    Args:
        searches: one for each thread; the first runs in the calling thread. Without any it is
            over at once.
        limit: when to end.
        started: ``time.perf_counter()`` time at which the search began.
        watch: ends the run before, or gives it more time; None for neither.
        between: called between two slices of some milliseconds, with what pauses all threads;
            None for nothing.

    Raises:
        Exception: what a search or ``between`` raises, unchanged.
    """
    deadline = started + (math.inf if limit.seconds is None else limit.seconds)

    looks = between is not None or watch is not None

    def look(pause: Pause) -> bool:
        if between is not None:
            between(pause)
        if watch is None:
            return True
        with pause():
            return not _is_enough(watch, searches, limit, started, deadline)

    while searches:
        left, count = _simulations_left(searches, limit), len(searches)
        for index, search in enumerate(searches):
            share = left if math.isinf(left) else (left + count - 1 - index) // count
            search.begin(simulations=share, deadline=deadline, memory_share=1 / count)
        if count > 1:
            ended_itself = run_in_threads(searches, look)
        else:
            ended_itself = True
            while ended_itself and searches[0].run_slice():
                ended_itself = not looks or look(contextlib.nullcontext)
        if watch is None or limit.seconds is None or not ended_itself:
            return
        if _simulations_left(searches, limit) == 0 or any(search.solved for search in searches):
            return
        extension = watch.extension_seconds(watched_statistics(searches))
        if extension <= 0:
            return
        deadline = time.perf_counter() + extension


def _is_enough(
    watch: Watch, searches: Sequence[TreeSearch], limit: Limit, started: float, deadline: float
) -> bool:
    """True if a watch ends the search now."""
    now = time.perf_counter()
    left = _simulations_left(searches, limit)
    if math.isfinite(deadline):
        if now - started < FIRST_LOOK * (deadline - started):
            return False
        done = sum(search.simulations for search in searches)
        speed = done / max(now - started, 1e-9)
        left = min(left, speed * max(deadline - now, 0.0))
    return watch.should_stop(watched_statistics(searches), now - started, left)


def _simulations_left(searches: Sequence[TreeSearch], limit: Limit) -> float:
    """Simulations until the limit, which does not count those in the kept trees."""
    if limit.simulations is None:
        return math.inf
    left = limit.simulations
    for search in searches:
        left -= search.simulations
    return max(0.0, float(left))


def watched_statistics(searches: Sequence[TreeSearch]) -> RootStatistics:
    """Statistics of the root's moves by all trees together, as a watch looks at them."""
    visits, sums = np.zeros(0), np.zeros(0)
    for search in searches:
        if search.tree is not None and search.has_root:
            arrays = search.tree.arrays
            edges = trees.edge_rows(arrays, ROOT)
            own = arrays.edge_visits[edges.start : edges.stop].astype(np.float64)
            tree = search.tree
            values = edge_sums(tree.running.backup, tree.search(), ROOT, edges)
            visits, sums = (visits + own, sums + values) if len(visits) else (own, values.copy())
    return RootStatistics(visits.tolist(), (sums / np.maximum(visits, 1.0)).tolist())
