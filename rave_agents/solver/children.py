"""Children of a node on the path of a proof search, compiled."""

from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.simulate.expansion import FORESEEN
from rave_agents.solver.carriers import copy_cells, forget_cells, recall_child
from rave_agents.solver.records import (
    CELL_WORDS,
    HEADER_COUNT,
    HEADER_JUDGES,
    HEADER_PLAYER,
    LOOPS,
    MOST_DISTANCE,
    MOST_VALUES,
    NO_DEPTH,
    NO_VALUE,
    NUM_PLAYERS,
    NUM_VALUES,
    RANKS,
    STRIDE,
    VARIES,
    Search,
)
from rave_agents.solver.table import (
    INFINITE,
    MOST,
    NOTHING,
    OPEN,
    PROVEN,
    REFUTED,
    disproof_of,
    distance_of,
    look_up,
    packed_settled,
    proof_of,
    state_of,
    value_of,
)

JUDGED, TRUST = 16.0, 1.5
"""The initial numbers of a position judged even, and the natural logarithm of their largest factor,
for a position judged certain."""

SHARED_BY = 8
"""With a value function, delta's share of each open child grows by 1 per this many open
children."""


@kernel
def weight_of_others(judges: int, num_open: int) -> int:
    """The sum that open children add to the greatest delta: 1 each.

    With the larger numbers of a value function that would be too little for many children: one more
    per ``SHARED_BY`` of them, at most ``JUDGED`` each.
    """
    each = 1
    if judges != 0:
        each = min(int(JUDGED), 1 + num_open // SHARED_BY)
    return each * (num_open - 1)


@kernel
def add_child(search: Search, depth: int, index: int, at: int) -> None:
    """Write a child and its known results to the pool."""
    pool, expansion, statement = search.pool, search.expansion, search.statement
    action: Any = np.int64(expansion.actions[index])
    pool.action[at] = action
    pool.rank[at] = search.decided[rank_place(search, depth, action)]
    pool.word[at] = NOTHING
    pool.rests[at] = NO_DEPTH
    if expansion.ends[index] != 0:
        value = expansion.returns[index * expansion.header[NUM_PLAYERS] + statement.player]
        state = PROVEN if value >= statement.at_least else REFUTED
        distance: Any = np.int64(0)
        forget_cells(search, at)
        if expansion.ends[index] == FORESEEN:
            # With carriers it keeps distance 0 and so comes first, having a small carrier.
            if search.control[CELL_WORDS] == 0:
                distance = np.int64(min(expansion.moves[index], MOST_DISTANCE))
            copy_cells(search, expansion.carriers, index, pool.cells, at)
        pool.word[at] = packed_settled(state, place_of_value(search, value), 0, distance)
        return
    # One table holds entries of several statements: the salt separates their keys.
    salt = np.uint64(statement.salt)
    first, second = expansion.keys[2 * index] ^ salt, expansion.keys[2 * index + 1] ^ salt
    pool.keys[2 * at], pool.keys[2 * at + 1] = first, second
    pool.image[at] = expansion.images[index]
    take_known(search, depth, at, recall_child(search, at))
    # Not in the table.
    if pool.phi[at] == 0:
        begin_numbers(search, depth, index, at)
    # A twin entry: a result that holds only for this path (Kishimoto & Müller 2004).
    if pool.word[at] == NOTHING and search.control[LOOPS] > 0:
        paths = search.stack.paths
        word = look_up(search.table, first ^ paths[2 * depth], second ^ paths[2 * depth + 1])
        if word != NOTHING:
            pool.word[at] = word
            pool.rests[at] = distance_of(word)


@kernel
def rank_place(search: Search, depth: int, action: int) -> int:
    """Index of the mover's action in ``decided``."""
    # `& (RANKS - 1)` is modulo a power of two; collisions only blur the ordering.
    return int(search.stack.is_own[depth]) * RANKS + (action & (RANKS - 1))


@kernel
def take_known(search: Search, depth: int, at: int, word: Any) -> None:
    """Write a child's table entry to the pool; numbers are 0 without an entry."""
    pool = search.pool
    pool.phi[at] = pool.delta[at] = 0
    if word == NOTHING:
        return
    if state_of(word) != OPEN:
        pool.word[at] = word
        pool.phi[at] = INFINITE
    elif search.stack.is_own[depth] != 0:
        pool.phi[at], pool.delta[at] = proof_of(word), disproof_of(word)
    else:
        pool.phi[at], pool.delta[at] = disproof_of(word), proof_of(word)


@kernel
def has_varying_moves(search: Search) -> int:
    """1 if the numbers of moves of the children differ by two or more.

    They differ by one wherever a move is blocked, such as a full column in Connect Four.
    """
    expansion, least, most = search.expansion, 2**31, 0
    for index in range(expansion.header[HEADER_COUNT]):
        if expansion.ends[index] == 0:
            least = min(least, expansion.moves[index])
            most = max(most, expansion.moves[index])
    return 1 if most > least + 1 else 0


@kernel
def begin_numbers(search: Search, depth: int, index: int, at: int) -> None:
    """Write the initial numbers of a new position: 1 for its mover, more for the other side.

    The other side must answer all moves, so its number is their count; if the count varies between
    siblings it indicates the distance from the end, and a quarter of its square is used. With a
    value function both start from ``JUDGED``, divided for the side it favours and multiplied for
    the other by up to ``exp(TRUST)``.
    """
    pool, expansion = search.pool, search.expansion
    weight: Any = np.int64(expansion.moves[index])
    if search.control[VARIES] != 0:
        weight = min(1 + weight * weight // 4, MOST)
    for_mover: Any = 1
    if expansion.header[HEADER_JUDGES] != 0:
        lean = np.exp(TRUST * (2.0 * expansion.values[index] - 1.0))
        for_mover = np.int64(JUDGED / lean)
        weight = min(np.int64(JUDGED * lean * weight), MOST)
    if expansion.movers[index] == expansion.header[HEADER_PLAYER]:
        pool.phi[at], pool.delta[at] = for_mover, weight
    else:
        pool.phi[at], pool.delta[at] = weight, for_mover


@kernel
def place_of_value(search: Search, value: float) -> int:
    """Index of a value among those met; ``NO_VALUE`` if there is no more room."""
    known = search.control[NUM_VALUES]
    for place in range(1, known):
        if search.values[place] == value:
            return int(place)
    if known > MOST_VALUES:
        return NO_VALUE
    search.values[known] = value
    # Threads write disjoint places: each has its own residue modulo the number of threads.
    search.control[NUM_VALUES] = known + search.control[STRIDE]
    return int(known)


@kernel
def settled_value(search: Search, word: Any) -> float:
    """The value of a settled position; the statement's return if none is stored."""
    place = value_of(word)
    return search.statement.at_least if place == NO_VALUE else float(search.values[place])


@kernel
def is_better(search: Search, one: int, other: int, sign: float) -> bool:
    """True if a settled child is better for the mover; ``sign`` is -1 where others move.

    A result that depends on no loop comes first, then the value, then the shorter way.
    """
    pool = search.pool
    if (pool.rests[one] == NO_DEPTH) != (pool.rests[other] == NO_DEPTH):
        return bool(pool.rests[one] == NO_DEPTH)
    first = sign * settled_value(search, pool.word[one])
    second = sign * settled_value(search, pool.word[other])
    if first != second:
        return first > second
    return bool(distance_of(pool.word[one]) < distance_of(pool.word[other]))
