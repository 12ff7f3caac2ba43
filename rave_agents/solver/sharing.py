"""Threads that search one root with a shared table: their coordination, compiled.

Every thread runs its own search and sees the others' results in the table. To spread them out, a
position with some work is marked *taken* while a thread is below it, and others prefer another
child that is about as good (compare the virtual numbers of Kaneko 2010); in addition, threads break
ties by different initial ranks. Marks may be stale or missing without harm: they affect the order
of search, never its results.
"""

from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.solver.carriers import prune_outside, recall_child
from rave_agents.solver.children import take_known
from rave_agents.solver.path import shorten_path
from rave_agents.solver.records import (
    DEPTH,
    ENTERING,
    NO_CHILD,
    TAKEN,
    TRAIL,
    Search,
)
from rave_agents.solver.table import NOTHING, OPEN, state_of, work_of

LEAST_WORK = 10
"""Minimum work of a position, see ``table.py``, for it to be marked."""

PLACES = np.uint64(TAKEN - 1)


@kernel
def is_taken(search: Search, first: Any) -> bool:
    """True if the position of a key is marked as taken."""
    return bool(search.shared.taken[np.int64(first & PLACES)] == first)


@kernel
def take(search: Search, depth: int, first: Any, word: Any) -> None:
    """Mark a position as taken by this thread, if it has enough work."""
    if word == NOTHING or work_of(word) < LEAST_WORK:
        search.stack.taken[depth] = 0
        return
    search.stack.taken[depth] = 1
    # One slot per hash: a later mark replaces an earlier one. No lock is needed.
    search.shared.taken[np.int64(first & PLACES)] = first


@kernel
def release(search: Search, depth: int) -> None:
    """Remove this thread's mark from a position."""
    if search.stack.taken[depth] != 0:
        first = search.stack.keys[2 * depth]
        if is_taken(search, first):
            search.shared.taken[np.int64(first & PLACES)] = NOTHING


@kernel
def takes_newer(search: Search, depth: int, at: int, word: Any) -> bool:
    """Update an open child's numbers from the table; returns whether they changed."""
    pool = search.pool
    phi, delta = pool.phi[at], pool.delta[at]
    if word == NOTHING:
        return False
    take_known(search, depth, at, word)
    return bool(pool.phi[at] != phi or pool.delta[at] != delta)


@kernel
def free_child(search: Search, depth: int, best: int) -> int:
    """The best child that no other thread has taken, if it is about as good as the best.

    The best child if there is no such child.
    """
    stack, pool = search.stack, search.pool
    if not is_taken(search, pool.keys[2 * best]):
        return best
    least = min(2 * pool.phi[best] + 2, stack.most_phi[depth])
    chosen, rank = NO_CHILD, 0
    for at in range(stack.first[depth], stack.first[depth] + stack.size[depth]):
        if pool.word[at] != NOTHING or pool.phi[at] > least or at == best:
            continue
        nearer = pool.phi[at] < least or pool.rank[at] > rank
        if (nearer or chosen == NO_CHILD) and not is_taken(search, pool.keys[2 * at]):
            chosen, rank, least = at, pool.rank[at], pool.phi[at]
    if chosen == NO_CHILD or pool.phi[chosen] >= stack.most_phi[depth]:
        return best
    return int(chosen)


@kernel
def leave_settled(search: Search) -> None:
    """Go up to the parent of the highest position on the path that another thread has settled."""
    control, stack = search.control, search.stack
    deepest = control[DEPTH] - control[ENTERING]
    for depth in range(1, deepest + 1):
        chosen = stack.chosen[depth - 1]
        word = recall_child(search, chosen)
        if word != NOTHING and state_of(word) != OPEN:
            for below in range(control[DEPTH] - depth + 1):
                at = control[DEPTH] - below
                release(search, at)
                # The last position may not be expanded yet, and then is not in the path's hash
                # table.
                if at <= deepest:
                    shorten_path(search, at)
            control[TRAIL] = stack.trail[depth]
            search.pool.word[chosen] = word
            prune_outside(search, depth - 1, chosen)
            control[DEPTH], control[ENTERING] = depth - 1, 0
            return
