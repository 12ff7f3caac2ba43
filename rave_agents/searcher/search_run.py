"""One run of all trees of a search: to its limit, or to where a watch ends it."""

import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from rave_agents.config.limit import Limit
from rave_agents.kernel import tree as trees
from rave_agents.kernel.tree import ROOT
from rave_agents.searcher.thread_team import ThreadTeam
from rave_agents.searcher.tree_search import SearchTree, TreeSearch
from rave_agents.searcher.watch import Thoughts, Watch

FIRST_LOOK = 0.1
"""The part of its time after which a search's speed is believed, and a watch may end it."""


class _EnoughError(Exception):
    """Ends a run before its limit."""


class SearchRun:
    """Runs the searches of several trees until their limit.

    Args:
        searches: one for each thread.
        all_trees: the trees that hold what is known of the root, those not searched included.
        limit: when to end.
        started: ``time.perf_counter()`` time at which the search began.
        watch: ends the run before, or gives it more time; None for neither.
    """

    def __init__(
        self,
        searches: Sequence[TreeSearch],
        all_trees: Sequence[SearchTree],
        limit: Limit,
        started: float,
        watch: Watch | None,
    ) -> None:
        self._searches = searches
        self._trees = all_trees
        self._limit = limit
        self._started = started
        self._watch = watch
        self._deadline = started + (math.inf if limit.seconds is None else limit.seconds)

    def run(self, between: Callable[[ThreadTeam], None]) -> None:
        """Search until the limit, the watch's word or a solved root.

        Args:
            between: called between two slices of some milliseconds, with the team, which it may
                pause.

        Raises:
            Exception: what a search or ``between`` raises, unchanged.
        """
        try:
            self._run_to_deadline(between)
            while self._watch is not None and self._limit.seconds is not None:
                if self._visits_left() == 0 or any(search.solved for search in self._searches):
                    return
                extension = self._watch.more(root_thoughts(self._trees))
                if extension <= 0:
                    return
                self._deadline = time.perf_counter() + extension
                self._run_to_deadline(between)
        except _EnoughError:
            pass

    def _run_to_deadline(self, between: Callable[[ThreadTeam], None]) -> None:
        before = [search.tree.simulations for search in self._searches]
        for search, share in zip(self._searches, self._shares(), strict=True):
            search.begin(
                simulations=share, deadline=self._deadline, memory_share=1 / len(self._searches)
            )
        team = ThreadTeam(self._searches)

        def look() -> None:
            between(team)
            if self._watch is not None:
                with team.paused():
                    self._heed(self._watch, before)

        try:
            team.run(look)
        finally:
            for search, count in zip(self._searches, before, strict=True):
                search.tree.simulations += count

    def _heed(self, watch: Watch, before: Sequence[int]) -> None:
        now = time.perf_counter()
        done = sum(before) + sum(search.tree.simulations for search in self._searches)
        left = self._visits_left()
        if math.isfinite(self._deadline):
            if now - self._started < FIRST_LOOK * (self._deadline - self._started):
                return
            speed = done / max(now - self._started, 1e-9)
            left = min(left, speed * max(self._deadline - now, 0.0))
        if watch.enough(root_thoughts(self._trees), now - self._started, left):
            raise _EnoughError

    def _visits_left(self) -> float:
        if self._limit.simulations is None:
            return math.inf
        return max(0.0, self._limit.simulations - sum(tree.root_visits for tree in self._trees))

    def _shares(self) -> list[float]:
        """How many simulations each thread adds, so that all trees together have the limit's."""
        left, count = self._visits_left(), len(self._searches)
        if math.isinf(left):
            return [math.inf] * count
        whole, rest = divmod(int(left), count)
        return [float(whole + (index < rest)) for index in range(count)]


def root_thoughts(all_trees: Sequence[SearchTree]) -> Thoughts:
    """What all trees together know of the root's moves, as a watch looks at it."""
    visits, sums = np.zeros(0), np.zeros(0)
    for tree in all_trees:
        if tree.grown is not None and tree.has_root:
            arrays = tree.grown.tree
            edges = trees.edge_rows(arrays, ROOT)
            own = arrays.edge_visits[edges.start : edges.stop].astype(np.float64)
            values = arrays.edge_value_sum[edges.start : edges.stop]
            visits, sums = (visits + own, sums + values) if len(visits) else (own, values.copy())
    return Thoughts(visits.tolist(), (sums / np.maximum(visits, 1.0)).tolist())
