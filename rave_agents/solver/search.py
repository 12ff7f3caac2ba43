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
any more, and all that waits below it is right by coinduction: it is written into the table. If that
position is left otherwise, what waits is forgotten, but for entries under a key of the position and
its path (the twins of Kishimoto & Müller 2004). What is settled for the other side never rests on a
loop.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.entry import entry
from rave_agents.compiler.layout import call_address
from rave_agents.games.kit.position_hash import mixed_first, mixed_second
from rave_agents.simulate.expansion import Answered, Expansion, Place
from rave_agents.solver.table import (
    INFINITE,
    MOST,
    NOTHING,
    NUM_USED,
    OPEN,
    PROVEN,
    REFUTED,
    Table,
    disproof_of,
    distance_of,
    look_up,
    move_of,
    packed_open,
    packed_settled,
    proof_of,
    quantised,
    state_of,
    store,
    value_of,
    with_work,
    work_of,
)

# Compiled code takes plain numbers as constants.
HEADER_DEPTH, HEADER_ACTION = int(Place.DEPTH), int(Place.ACTION)
HEADER_PLAYER, HEADER_COUNT = int(Place.PLAYER), int(Place.NUM_ACTIONS)
DEPTHS, NUM_PLAYERS = int(Place.DEPTHS), int(Place.NUM_PLAYERS)
HEADER_STATUS, IN_PYTHON = int(Place.STATUS), int(Place.IN_PYTHON)
CAPACITY = int(Place.ACTION_CAPACITY)
EXPANDED, ANSWER_FULL = int(Answered.DONE), int(Answered.FULL)

FAILED, GOES_ON, SETTLED, STACK_FULL, POOL_FULL, LISTS_FULL, NO_TURNS, TABLE_FULL = range(8)
"""Reasons that the search returns: an error of the game, its steps are used up, the root is
settled, a buffer is to be enlarged, a position where no player moves alone, the table is to be
collected."""

DEPTH, ENTERING, NODES, IDLE, LOOPS, TRAIL, NUM_VALUES, ROOM, POOL, WAITING = range(10)
PATHS, VARIES = 10, 11
"""Places in ``Search.control``: the depth; 1 if the position there is not expanded yet; positions
expanded; those since the table last learned something new; loops met; entries on the trail; values
met; the most entries of the table before it is collected; room in the pool, on the trail, and in
``on_path``, which is a power of two; 1 if positions with one parent have differed by two and more
in how many moves they have."""

CONTROL_WORDS = 16

RANKS, MOST_RANK = 1024, 10_000
"""Places for actions in ``Search.decided``, a power of two; what is counted before all is halved.
"""

NO_DEPTH = 2**30
"""The depth that a result rests on which rests on none."""

WIDENING = 4096
"""Positions expanded without anything new after which thresholds are widened twofold: in the limit
the search is a plain depth-first one, which ends."""

MOST_DISTANCE, MOST_VALUES = 65535, 65535

LOW = np.uint64(2**32 - 1)
"""The bits of a key that choose a place in ``on_path``."""

UNTOLD = 0
"""The place of no value: the value is at least, or at most, what the statement says."""


class Statement(NamedTuple):
    """A statement about the root, and about every position below it."""

    player: int
    """The player who is to force it."""
    at_least: float
    """The return."""
    loop_state: int
    """``PROVEN`` or ``REFUTED``: the side that endless play speaks for."""
    loop_value: int
    """The place of endless play's value among the values."""
    salt: int
    """A number of its own, by which its entries are told apart from those of other statements."""
    widening: float
    """ε: thresholds are 1 + ε times the second-best number."""


class Stack(NamedTuple):
    """The path, a node for each depth."""

    first: NDArray[np.int64]
    """The place of the first child in the pool."""
    size: NDArray[np.int64]
    """The number of children."""
    is_own: NDArray[np.int64]
    """1 where the statement's player moves."""
    most_phi: NDArray[np.int64]
    """The threshold of phi."""
    most_delta: NDArray[np.int64]
    """The threshold of delta."""
    chosen: NDArray[np.int64]
    """The place of the child that the path goes to, in the pool."""
    begin: NDArray[np.int64]
    """``NODES`` when the node was entered."""
    trail: NDArray[np.int64]
    """``TRAIL`` when the node was entered."""
    keys: NDArray[np.uint64]
    """[2 * depths] the positions' keys."""
    paths: NDArray[np.uint64]
    """[2 * depths] keys of the paths down to the positions."""


class Pool(NamedTuple):
    """The children of the nodes on the path, one node's after the other's."""

    action: NDArray[np.int32]
    keys: NDArray[np.uint64]
    """[2 * children]."""
    phi: NDArray[np.int64]
    """The number that counts for the node's phi: it takes so much to decide for the mover."""
    delta: NDArray[np.int64]
    """The one that counts for its delta."""
    word: NDArray[np.uint64]
    """The word of a settled child, see ``table.py``; 0 while it is open."""
    rests: NDArray[np.int64]
    """The depth that what is known rests on, or ``NO_DEPTH``."""
    rank: NDArray[np.int64]
    """Work that the mover's action has decided of late, at other positions."""


class Trail(NamedTuple):
    """Positions that are settled as long as the path stays the same."""

    keys: NDArray[np.uint64]
    """[2 * entries]."""
    word: NDArray[np.uint64]


class Search(NamedTuple):
    """All that a search for a proof works on."""

    statement: Statement
    table: Table
    expansion: Expansion
    stack: Stack
    pool: Pool
    waiting: Trail
    on_path: NDArray[np.int64]
    """[a power of two] depths of positions on the path by their keys, plus 1; 0 where none is."""
    values: NDArray[np.float64]
    """The values met at ends of games; the first place is ``UNTOLD``."""
    control: NDArray[np.int64]
    decided: NDArray[np.int64]
    """[2 * RANKS] how much each action has decided of late, for others and for the player."""
    weighed: NDArray[np.int64]
    """Findings of ``weigh``, see ``PHI``."""
    expand_address: int
    header_address: int


PHI, DELTA, BEST, SECOND, OTHERS, DECIDED, LOST, RESTS, FARTHEST = range(9)
"""Places in ``Search.weighed``: the node's numbers; the best child; the second-best phi; open
children beside the best; the child that decides the node for the mover; the settled child that is
best for the mover where none does; the least depth that all settled children rest on; their
greatest distance."""

WEIGHED = 9

NO_CHILD = -1


@entry("the solver")
def run(search: Search, steps: int) -> int:
    """Go on for so many steps down or up; returns why the search ended."""
    control = search.control
    for _ in range(steps):
        status = enter(search) if control[ENTERING] != 0 else decide(search)
        if status != GOES_ON:
            return status
    return GOES_ON


@kernel
def call_expander(search: Search) -> int:
    """Let the game expand a position; returns an ``Answered``."""
    header = search.expansion.header
    header[HEADER_STATUS] = 0
    status = call_address(search.expand_address, search.header_address)
    return int(header[HEADER_STATUS]) if header[IN_PYTHON] != 0 else int(status)


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
    control[NODES] += 1
    control[IDLE] += 1
    control[ENTERING] = 0
    return GOES_ON


@kernel
def lengthen_path(search: Search, depth: int) -> None:
    """Add the position at the path's end to what tells the path."""
    stack, mask = search.stack, search.control[PATHS] - 1
    first, second = stack.keys[2 * depth], stack.keys[2 * depth + 1]
    before_first = before_second = NOTHING
    if depth > 0:
        before_first, before_second = stack.paths[2 * depth - 2], stack.paths[2 * depth - 1]
    stack.paths[2 * depth] = mixed_first(before_first, first)
    stack.paths[2 * depth + 1] = mixed_second(before_second, second)
    place = np.int64(second & LOW) & mask
    while search.on_path[place] != 0:
        place = (place + 1) & mask
    search.on_path[place] = depth + 1


@kernel
def shorten_path(search: Search, depth: int) -> None:
    """Take the position at the path's end away; it was added last."""
    mask = search.control[PATHS] - 1
    place = np.int64(search.stack.keys[2 * depth + 1] & LOW) & mask
    while search.on_path[place] != depth + 1:
        place = (place + 1) & mask
    search.on_path[place] = 0


@kernel
def depth_on_path(search: Search, first: Any, second: Any) -> int:
    """The depth of the position of a key on the path; ``NO_DEPTH`` if it is not there."""
    mask = search.control[PATHS] - 1
    place = np.int64(second & LOW) & mask
    while search.on_path[place] != 0:
        depth = search.on_path[place] - 1
        if search.stack.keys[2 * depth] == first and search.stack.keys[2 * depth + 1] == second:
            return int(depth)
        place = (place + 1) & mask
    return NO_DEPTH


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
        pool.word[at] = packed_settled(state, place_of_value(search, value), 0, 0)
        return
    salt = np.uint64(statement.salt)
    first, second = expansion.keys[2 * index] ^ salt, expansion.keys[2 * index + 1] ^ salt
    pool.keys[2 * at], pool.keys[2 * at + 1] = first, second
    take_known(search, depth, at, look_up(search.table, first, second))
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
    """
    pool, expansion = search.pool, search.expansion
    pool.phi[at] = pool.delta[at] = 1
    weight: Any = np.int64(expansion.moves[index])
    if search.control[VARIES] != 0:
        weight = min(1 + weight * weight // 4, MOST)
    if expansion.movers[index] == expansion.header[HEADER_PLAYER]:
        pool.delta[at] = weight
    else:
        pool.phi[at] = weight


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
    search.control[NUM_VALUES] = known + 1
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
    weighed[PHI], weighed[DELTA] = phi, min(most + num_open - 1, MOST)
    weighed[BEST], weighed[SECOND], weighed[OTHERS] = best, second, num_open - 1
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
        move = min(decided - stack.first[depth], MOST_DISTANCE)
        state = PROVEN if own else REFUTED
        return settle(
            search, packed_settled(state, value_of(word), move, distance), pool.rests[decided]
        )
    if weighed[BEST] == NO_CHILD:
        value = value_of(pool.word[weighed[LOST]])
        distance = min(weighed[FARTHEST] + 1, MOST_DISTANCE)
        state = REFUTED if own else PROVEN
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
    statement, best = search.statement, weighed[BEST]
    first, second = pool.keys[2 * best], pool.keys[2 * best + 1]
    word = look_up(search.table, first, second)
    if word != NOTHING and state_of(word) != OPEN:
        pool.word[best] = word
        return
    met = depth_on_path(search, first, second)
    if met != NO_DEPTH:
        control[LOOPS] += 1
        pool.word[best] = packed_settled(statement.loop_state, statement.loop_value, 0, 0)
        pool.rests[best] = met
        return
    wide = weighed[SECOND] + int(weighed[SECOND] * statement.widening) + 1
    wide = wide << min(control[IDLE] // WIDENING, 24)
    stack.most_phi[depth + 1] = min(stack.most_phi[depth], wide, INFINITE)
    stack.most_delta[depth + 1] = (
        INFINITE
        if stack.most_delta[depth] >= INFINITE
        else stack.most_delta[depth] - weighed[OTHERS]
    )
    stack.keys[2 * depth + 2], stack.keys[2 * depth + 3] = first, second
    stack.chosen[depth] = best
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
        store(search.table, first, second, known)
        control[IDLE] = 0
        if state_of(word) == search.statement.loop_state:
            for at in range(stack.trail[depth], control[TRAIL]):
                keys = waiting.keys
                store(search.table, keys[2 * at], keys[2 * at + 1], waiting.word[at])
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
    at = stack.chosen[depth - 1]
    search.pool.word[at], search.pool.rests[at] = word, rests
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
    at = stack.chosen[depth - 1]
    take_known(search, depth - 1, at, word)
    control[DEPTH] = depth - 1
    return GOES_ON
