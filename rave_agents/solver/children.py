"""Children of a node on the path of a search for a proof, as far as they are known, compiled."""

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
    NUM_PLAYERS,
    NUM_VALUES,
    RANKS,
    STRIDE,
    UNTOLD,
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
"""The numbers of a position that a value function calls even; how much others differ from them, in
natural logarithms, where it is certain."""

SHARED_BY = 8
"""Open children that add one more each where a value function gives numbers."""


@kernel
def weight_of_others(judges: int, num_open: int) -> int:
    """The numbers that open children add to the greatest one of them: 1 each.

    Beside the greater numbers that a value function gives that would be too little where there are
    many: one more for each ``SHARED_BY`` of them, at most ``JUDGED``.
    """
    each = 1
    if judges != 0:
        each = min(int(JUDGED), 1 + num_open // SHARED_BY)
    return each * (num_open - 1)


@kernel
def add_child(search: Search, depth: int, index: int, at: int) -> None:
    """Write what is known of a child into the pool."""
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
            if search.control[CELL_WORDS] == 0:  # Else it comes first, with its small carrier.
                distance = np.int64(min(expansion.moves[index], MOST_DISTANCE))
            copy_cells(search, expansion.carriers, index, pool.cells, at)
        pool.word[at] = packed_settled(state, place_of_value(search, value), 0, distance)
        return
    salt = np.uint64(statement.salt)
    first, second = expansion.keys[2 * index] ^ salt, expansion.keys[2 * index + 1] ^ salt
    pool.keys[2 * at], pool.keys[2 * at + 1] = first, second
    pool.image[at] = expansion.images[index]
    take_known(search, depth, at, recall_child(search, at))
    if pool.phi[at] == 0:
        begin_numbers(search, depth, index, at)
    if pool.word[at] == NOTHING and search.control[LOOPS] > 0:
        paths = search.stack.paths
        word = look_up(search.table, first ^ paths[2 * depth], second ^ paths[2 * depth + 1])
        if word != NOTHING:
            pool.word[at] = word
            pool.rests[at] = distance_of(word)


@kernel
def rank_place(search: Search, depth: int, action: int) -> int:
    """The place of the mover's action in ``decided``."""
    return int(search.stack.is_own[depth]) * RANKS + (action & (RANKS - 1))


@kernel
def take_known(search: Search, depth: int, at: int, word: Any) -> None:
    """Write what the table knows of a child into the pool; 0 for numbers that it does not know."""
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
    """1 if the positions after the path's end differ by two and more in how many moves they have.

    By one they also differ where a move is blocked, such as a column of Connect Four.
    """
    expansion, least, most = search.expansion, 2**31, 0
    for index in range(expansion.header[HEADER_COUNT]):
        if expansion.ends[index] == 0:
            least = min(least, expansion.moves[index])
            most = max(most, expansion.moves[index])
    return 1 if most > least + 1 else 0


@kernel
def begin_numbers(search: Search, depth: int, index: int, at: int) -> None:
    """Write the numbers with which a new position begins: 1, or more for who must answer all moves.

    That is their number; where it varies, a quarter of its square: it tells how near the end is.
    Where a value function tells what who moves there is to expect, both numbers are ``JUDGED``, and
    ``TRUST`` lowers the one of whoever it is for as much as it raises the other's.
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
    """The place of a value among those met; ``UNTOLD`` where there is no more room."""
    known = search.control[NUM_VALUES]
    for place in range(1, known):
        if search.values[place] == value:
            return int(place)
    if known > MOST_VALUES:
        return UNTOLD
    search.values[known] = value
    search.control[NUM_VALUES] = known + search.control[STRIDE]
    return int(known)


@kernel
def told_value(search: Search, word: Any) -> float:
    """The value of a settled position, as far as it is told."""
    place = value_of(word)
    return search.statement.at_least if place == UNTOLD else float(search.values[place])


@kernel
def is_better(search: Search, one: int, other: int, sign: float) -> bool:
    """True if a settled child is better for the mover than another; sign is -1 where others move.

    What rests on no loop comes first, then the value, then the shorter way.
    """
    pool = search.pool
    if (pool.rests[one] == NO_DEPTH) != (pool.rests[other] == NO_DEPTH):
        return bool(pool.rests[one] == NO_DEPTH)
    first = sign * told_value(search, pool.word[one])
    second = sign * told_value(search, pool.word[other])
    if first != second:
        return first > second
    return bool(distance_of(pool.word[one]) < distance_of(pool.word[other]))
