"""Depth-first proof-number search (df-pn; Nagai 2002), compiled, with an explicit stack.

A statement says that one player can force at least a given return against all others. OR node (that
player moves): proven if it is proven after one move. AND node: proven if it is proven after all
moves. The search descends to the most-proving child and stays below it until its proof or disproof
number reaches a threshold: the second-best child's number times 1 + ε, so that small changes do not
cause leaving and re-entering (Pawlewicz & Lew 2007).

Seen from the mover, both kinds of nodes have the same formulas: *phi*, the effort to decide the
node as the mover wishes, is the minimum over the children; *delta*, the effort for the opponents,
is the maximum plus one for each other open child. The maximum replaces the sum, which counts
transpositions several times (weak proof numbers; Ueda, Hashimoto, Hashimoto & Iida 2008). For the
initial numbers of a position see ``begin_numbers``; ties go to the action that has decided the most
work elsewhere.

A child that is already on the path is a loop (the graph-history interaction problem). The statement
defines the result of a loop; the side it favours is the *looping* side. Results for the looping
side that use loops to positions further up hold on this path only. They carry the least depth they
depend on and wait on a trail. Once the position at that depth is settled the same way, nothing
depends on the path any more, and all waiting results below it are correct by coinduction: they are
stored in the table with the value of that position. If it is left otherwise, the waiting results
are dropped, except for entries keyed by position and path (the twins of Kishimoto & Müller 2004).
Results for the other side never depend on loops.
"""

from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.entry import entry
from rave_agents.solver.carriers import (
    LEFT,
    copy_cells,
    entry_move,
    prune_outside,
    recall_child,
    store_cells,
    use_lost,
    use_won,
)
from rave_agents.solver.children import (
    add_child,
    has_varying_moves,
    is_better,
    rank_place,
    settled_value,
    take_known,
    weight_of_others,
)
from rave_agents.solver.path import depth_on_path, expand_next, lengthen_path, shorten_path
from rave_agents.solver.records import (
    BEST,
    CELL_WORDS,
    DECIDED,
    DELTA,
    DEPTH,
    ENTERING,
    FARTHEST,
    GOES_ON,
    HEADER_COUNT,
    HEADER_JUDGES,
    HEADER_PLAYER,
    IDLE,
    LOOPS,
    LOST,
    MAY_LOOP,
    MOST_DISTANCE,
    MOST_RANK,
    NO_CHILD,
    NO_DEPTH,
    NO_TURNS,
    NODES,
    OTHERS,
    PHI,
    RANKS,
    RESTS,
    ROOM,
    SECOND,
    SETTLED,
    SHARES,
    TABLE_FULL,
    TRAIL,
    VARIES,
    WAITING,
    WIDENING,
    Search,
)
from rave_agents.solver.sharing import free_child, leave_settled, release, take, takes_newer
from rave_agents.solver.table import (
    INFINITE,
    MOST,
    NOTHING,
    NUM_USED,
    OPEN,
    PROVEN,
    REFUTED,
    distance_of,
    move_of,
    packed_open,
    packed_settled,
    quantised,
    state_of,
    store,
    value_of,
    with_value,
    with_work,
    work_of,
)

LOOKS_UP = 256
"""Steps between checks whether another thread has settled a position on the path."""


@entry("the solver")
def run(search: Search, steps: int) -> int:
    """Take ``steps`` steps down or up; returns the reason why the search stopped."""
    control = search.control
    shares = control[SHARES] != 0
    for step in range(steps):
        if shares and search.shared.ended[0] != 0:
            return GOES_ON
        if shares and step % LOOKS_UP == 0:
            leave_settled(search)
        status = enter(search) if control[ENTERING] != 0 else decide(search)
        if status != GOES_ON:
            return status
    return GOES_ON


@kernel
def enter(search: Search) -> int:
    """Expand the position at the end of the path, and look up its children."""
    control, stack, header = search.control, search.stack, search.expansion.header
    depth = control[DEPTH]
    if search.table.counts[NUM_USED] > control[ROOM]:
        return TABLE_FULL
    status = expand_next(search)
    if status != GOES_ON:
        return status
    if header[HEADER_PLAYER] < 0:
        return NO_TURNS
    begin: Any = np.int64(stack.first[depth])
    own = 1 if header[HEADER_PLAYER] == search.statement.player else 0
    stack.is_own[depth], stack.trail[depth] = own, control[TRAIL]
    if depth > 0 and own != stack.is_own[depth - 1]:
        # The parent's thresholds are written from its mover's view: swap them if the mover changes.
        most = stack.most_phi[depth]
        stack.most_phi[depth] = stack.most_delta[depth]
        stack.most_delta[depth] = most
    lengthen_path(search, depth)
    if control[VARIES] == 0:
        control[VARIES] = has_varying_moves(search)
    for index in range(header[HEADER_COUNT]):
        add_child(search, depth, index, begin + index)
    if control[CELL_WORDS] != 0:
        for index in range(header[HEADER_COUNT]):
            prune_outside(search, depth, begin + index)
    control[NODES] += 1
    control[IDLE] += 1
    control[ENTERING] = 0
    return GOES_ON


@kernel
def weigh(search: Search, depth: int) -> None:
    """Compute a node's numbers and its relevant children."""
    stack, pool, weighed = search.stack, search.pool, search.weighed
    first, own = stack.first[depth], stack.is_own[depth] != 0
    wins, sign = (PROVEN, 1.0) if own else (REFUTED, -1.0)
    # phi is the minimum over open children, delta the maximum plus a share of each other one.
    phi = second = INFINITE
    num_open, most, best_rank = 0, 0, 0
    best = decided = lost = NO_CHILD
    rests, farthest = NO_DEPTH, 0
    for at in range(first, first + stack.size[depth]):
        word = pool.word[at]
        if word == NOTHING:
            num_open += 1
            most = max(most, pool.delta[at])
            # Ties go to the action that has decided the most work elsewhere.
            if pool.phi[at] < phi or (pool.phi[at] == phi and pool.rank[at] > best_rank):
                second = phi
                phi, best_rank, best = pool.phi[at], pool.rank[at], at
            else:
                second = min(second, pool.phi[at])
        elif state_of(word) == wins:
            if decided == NO_CHILD or is_better(search, at, decided, sign):
                decided = at
        else:
            rests = min(rests, pool.rests[at])
            farthest = max(farthest, distance_of(word))
            higher = lost == NO_CHILD
            if not higher:
                value = sign * settled_value(search, word)
                higher = value > sign * settled_value(search, pool.word[lost])
            lost = at if higher else lost
    others = weight_of_others(search.expansion.header[HEADER_JUDGES], num_open)
    weighed[PHI], weighed[DELTA] = phi, min(most + others, MOST)
    weighed[BEST], weighed[SECOND], weighed[OTHERS] = best, second, others
    weighed[DECIDED], weighed[LOST] = decided, lost
    weighed[RESTS], weighed[FARTHEST] = rests, farthest


@kernel
def decide(search: Search) -> int:
    """Leave the node at the end of the path if its numbers allow, or go down to the best child."""
    control, stack, pool, weighed = search.control, search.stack, search.pool, search.weighed
    depth = control[DEPTH]
    weigh(search, depth)
    own, decided = stack.is_own[depth] != 0, weighed[DECIDED]
    if decided != NO_CHILD:
        word = pool.word[decided]
        distance = min(distance_of(word) + 1, MOST_DISTANCE)
        note_decided(search, depth, decided)
        move = entry_move(search, depth, decided)
        use_won(search, decided)
        state = PROVEN if own else REFUTED
        return settle(
            search, packed_settled(state, value_of(word), move, distance), pool.rests[decided]
        )
    if weighed[BEST] == NO_CHILD:
        value = value_of(pool.word[weighed[LOST]])
        distance = min(weighed[FARTHEST] + 1, MOST_DISTANCE)
        state = REFUTED if own else PROVEN
        use_lost(search, depth)
        return settle(search, packed_settled(state, value, 0, distance), weighed[RESTS])
    if weighed[PHI] >= stack.most_phi[depth] or weighed[DELTA] >= stack.most_delta[depth]:
        return leave_open(search, min(weighed[PHI], MOST), min(weighed[DELTA], MOST))
    go_down(search, depth)
    return GOES_ON


@kernel
def note_decided(search: Search, depth: int, at: int) -> None:
    """Credit an action that decides a node with the node's work."""
    action: Any = np.int64(search.pool.action[at])
    place = rank_place(search, depth, action)
    worth = quantised(search.control[NODES] - search.stack.begin[depth]) + 1
    search.decided[place] += worth
    if search.decided[place] > MOST_RANK:
        for other in range(2 * RANKS):
            # Halving all counts keeps their order and lets old ones fade.
            search.decided[other] >>= 1


@kernel
def go_down(search: Search, depth: int) -> None:
    """Extend the path to the best child, unless it is settled or a loop."""
    control, stack, pool, weighed = search.control, search.stack, search.pool, search.weighed
    statement, best, second_phi = search.statement, weighed[BEST], weighed[SECOND]
    if control[SHARES] != 0:
        best = free_child(search, depth, best)
        second_phi = max(second_phi, pool.phi[best])
    first, second = pool.keys[2 * best], pool.keys[2 * best + 1]
    # Another path, or thread, may have settled the child since this node was entered.
    word = recall_child(search, best)
    if word != NOTHING and state_of(word) != OPEN:
        pool.word[best] = word
        prune_outside(search, depth, best)
        return
    met = depth_on_path(search, first, second) if control[MAY_LOOP] != 0 else NO_DEPTH
    if met != NO_DEPTH:
        control[LOOPS] += 1
        pool.word[best] = packed_settled(statement.loop_state, statement.loop_value, 0, 0)
        pool.rests[best] = met
        return
    if control[SHARES] != 0:
        if takes_newer(search, depth, best, word):
            return
        take(search, depth + 1, first, word)
    wide = second_phi + int(second_phi * statement.widening) + 1
    # Without progress thresholds double again and again, which guarantees termination.
    wide = wide << min(control[IDLE] // WIDENING, 24)
    stack.most_phi[depth + 1] = min(stack.most_phi[depth], wide, INFINITE)
    stack.most_delta[depth + 1] = (
        INFINITE
        if stack.most_delta[depth] >= INFINITE
        else stack.most_delta[depth] - weighed[OTHERS]
    )
    stack.keys[2 * depth + 2], stack.keys[2 * depth + 3] = first, second
    stack.chosen[depth] = best
    stack.image[depth + 1] = pool.image[best]
    control[DEPTH] = depth + 1
    control[ENTERING] = 1


@kernel
def settle(search: Search, word: Any, rests: int) -> int:
    """Leave a proven or refuted node."""
    control, stack, waiting = search.control, search.stack, search.waiting
    depth = control[DEPTH]
    first, second = stack.keys[2 * depth], stack.keys[2 * depth + 1]
    known = with_work(word, quantised(control[NODES] - stack.begin[depth]))
    # The result depends on no position above this one: it holds on every path.
    if rests >= depth:
        store_cells(search, first, second, known, stack.image[depth], search.used, LEFT)
        control[IDLE] = 0
        if state_of(word) == search.statement.loop_state:
            for at in range(stack.trail[depth], control[TRAIL]):
                keys = waiting.keys
                # A waiting position can loop to this one, so it has this one's value.
                entry_word = with_value(waiting.word[at], value_of(word))
                store(search.table, keys[2 * at], keys[2 * at + 1], entry_word)
        control[TRAIL] = stack.trail[depth]
        rests = NO_DEPTH
    else:
        at = control[TRAIL]
        if at < control[WAITING]:
            waiting.keys[2 * at], waiting.keys[2 * at + 1] = first, second
            waiting.word[at] = known
            control[TRAIL] = at + 1
        paths = stack.paths
        # The twin holds for this path only; its distance field keeps the depth it depends on.
        twin = packed_settled(
            state_of(word), value_of(word), move_of(word), min(rests, MOST_DISTANCE)
        )
        twin = with_work(twin, work_of(known))
        store(search.table, first ^ paths[2 * depth - 2], second ^ paths[2 * depth - 1], twin)
    shorten_path(search, depth)
    if depth == 0:
        return SETTLED
    release(search, depth)
    at = stack.chosen[depth - 1]
    search.pool.word[at], search.pool.rests[at] = word, rests
    copy_cells(search, search.used, LEFT, search.pool.cells, at)
    prune_outside(search, depth - 1, at)
    control[DEPTH] = depth - 1
    return GOES_ON


@kernel
def leave_open(search: Search, phi: int, delta: int) -> int:
    """Leave an unsettled node after a number reached its threshold."""
    control, stack = search.control, search.stack
    depth = control[DEPTH]
    proof, disproof = (phi, delta) if stack.is_own[depth] != 0 else (delta, phi)
    word = packed_open(proof, disproof, quantised(control[NODES] - stack.begin[depth]))
    # A new entry is progress.
    if store(search.table, stack.keys[2 * depth], stack.keys[2 * depth + 1], word):
        control[IDLE] = 0
    control[TRAIL] = stack.trail[depth]
    shorten_path(search, depth)
    release(search, depth)
    at = stack.chosen[depth - 1]
    take_known(search, depth - 1, at, word)
    control[DEPTH] = depth - 1
    return GOES_ON
