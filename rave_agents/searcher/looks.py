"""Polling of a running search: the remaining budget, and a watch's decision to stop."""

import contextlib
import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from rave_agents.config.limit import Limit
from rave_agents.kernel import tree as trees
from rave_agents.kernel.backup import edge_sums
from rave_agents.kernel.tree import ROOT
from rave_agents.searcher.tree_search import TreeSearch
from rave_agents.searcher.watch import RootStatistics, Watch

FIRST_LOOK = 0.1
"""Share of the time after which the measured speed is trusted and a watch may end the search."""


Pause = Callable[[], contextlib.AbstractContextManager[None]]
"""A context manager that holds all threads between two slices."""


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
    left = limit.simulations
    for search in searches:
        left -= search.simulations
    return max(0.0, float(left))


def watched_statistics(searches: Sequence[TreeSearch]) -> RootStatistics:
    """Statistics of the root's moves over all trees, for a watch."""
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
