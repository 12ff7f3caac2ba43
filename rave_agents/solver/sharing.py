"""Threads that search one root with one table, compiled: what each does because of the others.

Every thread is a search of its own, and the table tells it what the others found. That they do not
all go the same way: a position that took some work is *taken* while a thread is below it, and
others go to another child that is about as near (as the virtual numbers of Kaneko 2010 do); and
where children are equally near, threads begin with other ranks. What one reads of the others may be
old or missing: it chooses the way, and never what is proven.
"""

from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.solver.carriers import leave_out, recall_child
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
"""The work of a position, see ``table.py``, from which on it is taken."""

PLACES = np.uint64(TAKEN - 1)


@kernel
def is_taken(search: Search, first: Any) -> bool:
    """True if another thread is below the position of a key, as far as is known."""
    return bool(search.shared.taken[np.int64(first & PLACES)] == first)


@kernel
def take(search: Search, depth: int, first: Any, word: Any) -> None:
    """Tell others that this thread goes to a position, if that has taken some work."""
    if word == NOTHING or work_of(word) < LEAST_WORK:
        search.stack.taken[depth] = 0
        return
    search.stack.taken[depth] = 1
    search.shared.taken[np.int64(first & PLACES)] = first


@kernel
def release(search: Search, depth: int) -> None:
    """Tell others that this thread has left a position."""
    if search.stack.taken[depth] != 0:
        first = search.stack.keys[2 * depth]
        if is_taken(search, first):
            search.shared.taken[np.int64(first & PLACES)] = NOTHING


@kernel
def takes_newer(search: Search, depth: int, at: int, word: Any) -> bool:
    """Write the table's numbers of an open child into the pool; returns whether they are others."""
    pool = search.pool
    phi, delta = pool.phi[at], pool.delta[at]
    if word == NOTHING:
        return False
    take_known(search, depth, at, word)
    return bool(pool.phi[at] != phi or pool.delta[at] != delta)


@kernel
def free_child(search: Search, depth: int, best: int) -> int:
    """The best child of a node that no other thread is below, if it is about as near as the best.

    It is the best one where there is no other.
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
    """Go up to above the highest position on the path that another thread has settled."""
    control, stack = search.control, search.stack
    deepest = control[DEPTH] - control[ENTERING]
    for depth in range(1, deepest + 1):
        chosen = stack.chosen[depth - 1]
        word = recall_child(search, chosen)
        if word != NOTHING and state_of(word) != OPEN:
            for below in range(control[DEPTH] - depth + 1):
                at = control[DEPTH] - below
                release(search, at)
                if at <= deepest:
                    shorten_path(search, at)
            control[TRAIL] = stack.trail[depth]
            search.pool.word[chosen] = word
            leave_out(search, depth - 1, chosen)
            control[DEPTH], control[ENTERING] = depth - 1, 0
            return
