"""Depth-first proof-number search (df-pn; Nagai 2002), compiled, with an explicit stack.

A statement says that one player can force at least a return against all others. Where that player
moves, the statement is proven if it is after one move (an OR node); elsewhere if it is after all
(an AND node). The search goes to the child that is nearest to deciding its node, and stays below it
until its proof or disproof number reaches a threshold: the second-best child's number, widened by
1 + ε so that it is not left and re-entered for every small change (Pawlewicz & Lew 2007).

Seen from the player who moves, a node's numbers are the same at both kinds: *phi*, what it takes to
decide it as the mover wishes, is the least of the children's; *delta*, what it takes for the
others, is the greatest of theirs, and one more for each other open child. That takes the place of
their sum, which counts what several children lead to once for each of them (weak proof numbers;
Ueda, Hashimoto, Hashimoto & Iida 2008). A new position begins at the number of its moves for who
must answer them all, or at a quarter of its square where that varies, else at 1; between equal
children the move goes first that has decided the most work elsewhere.

A position that is already on the path is a loop. What a loop is worth to the statement is given;
the side that it speaks for is the *looping* one. What is settled for that side by loops to
positions further up holds on this path alone, so it carries the least depth that it rests on, and
waits on a trail. Once the position at that depth is settled the same way, nothing rests on the path
any more, and all that waits below it is right by coinduction: it is written into the table, with
the value of the position that it waited for. If that position is left otherwise, what waits is
forgotten, but for entries under a key of the position and its path (the twins of Kishimoto & Müller
2004). What is settled for the other side never rests on a loop.
"""

from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.entry import entry
from rave_agents.solver.carriers import (
    LEFT,
    copy_cells,
    leave_out,
    recall_child,
    store_cells,
    told_move,
    use_lost,
    use_won,
)
from rave_agents.solver.children import (
    add_child,
    has_varying_moves,
    is_better,
    rank_place,
    take_known,
    told_value,
    weight_of_others,
)
from rave_agents.solver.path import call_expander, depth_on_path, lengthen_path, shorten_path
from rave_agents.solver.records import (
    ANSWER_FULL,
    BEST,
    CAPACITY,
    CELL_WORDS,
    DECIDED,
    DELTA,
    DEPTH,
    DEPTHS,
    ENTERING,
    EXPANDED,
    FAILED,
    FARTHEST,
    GOES_ON,
    HEADER_ACTION,
    HEADER_COUNT,
    HEADER_DEPTH,
    HEADER_JUDGES,
    HEADER_PLAYER,
    IDLE,
    LISTS_FULL,
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
    POOL,
    POOL_FULL,
    RANKS,
    RESTS,
    ROOM,
    SECOND,
    SETTLED,
    SHARES,
    STACK_FULL,
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
"""Steps after which a thread looks whether another one has settled a position on its path."""


@entry("the solver")
def run(search: Search, steps: int) -> int:
    """Go on for so many steps down or up; returns why the search ended."""
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
    """Expand the position at the path's end, and look its children up."""
    control, stack, header = search.control, search.stack, search.expansion.header
    begin: Any = np.int64(0)
    depth = control[DEPTH]
    if depth > 0:
        begin = stack.first[depth - 1] + stack.size[depth - 1]
        header[HEADER_ACTION] = search.pool.action[stack.chosen[depth - 1]]
    if search.table.counts[NUM_USED] > control[ROOM]:
        return TABLE_FULL
    if depth >= header[DEPTHS]:
        return STACK_FULL
    if begin + header[CAPACITY] > control[POOL]:
        return POOL_FULL
    header[HEADER_DEPTH] = depth
    answered = call_expander(search)
    if answered != EXPANDED:
        return LISTS_FULL if answered == ANSWER_FULL else FAILED
    if header[HEADER_PLAYER] < 0:
        return NO_TURNS
    own = 1 if header[HEADER_PLAYER] == search.statement.player else 0
    stack.first[depth], stack.size[depth] = begin, header[HEADER_COUNT]
    stack.is_own[depth] = own
    stack.begin[depth], stack.trail[depth] = control[NODES], control[TRAIL]
    if depth > 0 and own != stack.is_own[depth - 1]:
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
            leave_out(search, depth, begin + index)
    control[NODES] += 1
    control[IDLE] += 1
    control[ENTERING] = 0
    return GOES_ON


@kernel
def weigh(search: Search, depth: int) -> None:
    """Find a node's numbers, and its children that matter."""
    stack, pool, weighed = search.stack, search.pool, search.weighed
    first, own = stack.first[depth], stack.is_own[depth] != 0
    wins, sign = (PROVEN, 1.0) if own else (REFUTED, -1.0)
    phi = second = INFINITE
    num_open, most, best_rank = 0, 0, 0
    best = decided = lost = NO_CHILD
    rests, farthest = NO_DEPTH, 0
    for at in range(first, first + stack.size[depth]):
        word = pool.word[at]
        if word == NOTHING:
            num_open += 1
            most = max(most, pool.delta[at])
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
                value = sign * told_value(search, word)
                higher = value > sign * told_value(search, pool.word[lost])
            lost = at if higher else lost
    others = weight_of_others(search.expansion.header[HEADER_JUDGES], num_open)
    weighed[PHI], weighed[DELTA] = phi, min(most + others, MOST)
    weighed[BEST], weighed[SECOND], weighed[OTHERS] = best, second, others
    weighed[DECIDED], weighed[LOST] = decided, lost
    weighed[RESTS], weighed[FARTHEST] = rests, farthest


@kernel
def decide(search: Search) -> int:
    """Leave the node at the path's end with what its children tell, or go down to the best one."""
    control, stack, pool, weighed = search.control, search.stack, search.pool, search.weighed
    depth = control[DEPTH]
    weigh(search, depth)
    own, decided = stack.is_own[depth] != 0, weighed[DECIDED]
    if decided != NO_CHILD:
        word = pool.word[decided]
        distance = min(distance_of(word) + 1, MOST_DISTANCE)
        note_decided(search, depth, decided)
        move = told_move(search, depth, decided)
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
    """Count an action that decides a node, by the node's work."""
    action: Any = np.int64(search.pool.action[at])
    place = rank_place(search, depth, action)
    worth = quantised(search.control[NODES] - search.stack.begin[depth]) + 1
    search.decided[place] += worth
    if search.decided[place] > MOST_RANK:
        for other in range(2 * RANKS):
            search.decided[other] >>= 1


@kernel
def go_down(search: Search, depth: int) -> None:
    """Lengthen the path by the best child, unless it is known, or a loop."""
    control, stack, pool, weighed = search.control, search.stack, search.pool, search.weighed
    statement, best, second_phi = search.statement, weighed[BEST], weighed[SECOND]
    if control[SHARES] != 0:
        best = free_child(search, depth, best)
        second_phi = max(second_phi, pool.phi[best])
    first, second = pool.keys[2 * best], pool.keys[2 * best + 1]
    word = recall_child(search, best)
    if word != NOTHING and state_of(word) != OPEN:
        pool.word[best] = word
        leave_out(search, depth, best)
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
    """Leave a node that is proven or refuted."""
    control, stack, waiting = search.control, search.stack, search.waiting
    depth = control[DEPTH]
    first, second = stack.keys[2 * depth], stack.keys[2 * depth + 1]
    known = with_work(word, quantised(control[NODES] - stack.begin[depth]))
    if rests >= depth:
        store_cells(search, first, second, known, stack.image[depth], search.used, LEFT)
        control[IDLE] = 0
        if state_of(word) == search.statement.loop_state:
            for at in range(stack.trail[depth], control[TRAIL]):
                keys = waiting.keys
                # From what waits play may come here, and so to every end of this proof.
                told = with_value(waiting.word[at], value_of(word))
                store(search.table, keys[2 * at], keys[2 * at + 1], told)
        control[TRAIL] = stack.trail[depth]
        rests = NO_DEPTH
    else:
        at = control[TRAIL]
        if at < control[WAITING]:
            waiting.keys[2 * at], waiting.keys[2 * at + 1] = first, second
            waiting.word[at] = known
            control[TRAIL] = at + 1
        paths = stack.paths
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
    leave_out(search, depth - 1, at)
    control[DEPTH] = depth - 1
    return GOES_ON


@kernel
def leave_open(search: Search, phi: int, delta: int) -> int:
    """Leave a node that is not settled, as one of its numbers has reached its threshold."""
    control, stack = search.control, search.stack
    depth = control[DEPTH]
    proof, disproof = (phi, delta) if stack.is_own[depth] != 0 else (delta, phi)
    word = packed_open(proof, disproof, quantised(control[NODES] - stack.begin[depth]))
    if store(search.table, stack.keys[2 * depth], stack.keys[2 * depth + 1], word):
        control[IDLE] = 0
    control[TRAIL] = stack.trail[depth]
    shorten_path(search, depth)
    release(search, depth)
    at = stack.chosen[depth - 1]
    take_known(search, depth - 1, at, word)
    control[DEPTH] = depth - 1
    return GOES_ON
