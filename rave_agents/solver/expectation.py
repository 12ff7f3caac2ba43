"""Search for the value that a player can force where chance moves, compiled, on a stack.

A value is the player's expected return if the player does their best and all others together do
their worst. The search keeps two bounds of each position's, which always hold the value, and works
on a position until these answer the question asked of it: is the value at least *beta*, is it at
most *alpha*, or else what is it. At a chance node each outcome is asked only as much as the answer
needs, if all that is still unknown of the others turned out at its best or worst (Star1; Ballard
1983):

    alpha_i = (alpha - sum_{j != i} p_j u_j) / p_i      beta_i = (beta - sum_{j != i} p_j l_j) / p_i

with the probabilities p and the bounds l and u so far. Where there is an alpha or a beta to reach,
one move after each outcome comes before all moves after any (a probe, as in Star2).

A sweep goes down to some depth, where the bounds are those of the table or of the game's utilities.
It does not go on at a position that is on the path, nor at one that it has left before without an
answer: their bounds still hold, so that where play can go round in circles, each sweep is a step of
value iteration on both bounds.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.entry import entry
from rave_agents.kernel.players import CHANCE
from rave_agents.simulate.expansion import Expansion
from rave_agents.solver.bounds_table import NONE, BoundsTable, look_up, store
from rave_agents.solver.path import call_expander, depth_on_path, shorten_path
from rave_agents.solver.records import (
    ANSWER_FULL,
    CAPACITY,
    DEPTHS,
    EXPANDED,
    HEADER_ACTION,
    HEADER_COUNT,
    HEADER_DEPTH,
    HEADER_PLAYER,
    LOW,
    NO_DEPTH,
    NUM_PLAYERS,
    PATHS,
)

FAILED, GOES_ON, FINISHED, STACK_FULL, POOL_FULL, LISTS_FULL, NO_TURNS = range(7)
"""Reasons that the search returns: an error of the game, its steps are used up, the sweep is over,
a buffer is to be enlarged, or a position where no player moves alone."""

DEPTH, ENTERING, NODES, LIMIT, SWEEP, CUT, LOOPS, POOL = range(8)
"""Places in ``Search.control``: the depth; 1 if the position there is not expanded yet; positions
expanded; the depth that the sweep goes to, and its number; positions left out for their depth, and
as they were on the path; room in the pool. ``USED`` and ``PATHS`` stand beside."""

CONTROL_WORDS = 16

LARGEST, SMALLEST, MEAN = 0, 1, 2
"""Kinds of nodes: the player moves, others do, or chance."""

OPEN, CLOSED, PROBED = 0, 1, 2
"""States of a child: to be looked into; looked into as far as this sweep goes; probed."""


class Question(NamedTuple):
    """The value that is looked for."""

    player: int
    least: float
    """The least return that the game has."""
    greatest: float
    """The greatest."""
    precision: float
    """The distance of two bounds between which nothing more is looked for."""
    salt: int
    """A number by which its entries are told apart from those of other players."""


class Stack(NamedTuple):
    """The path, a node for each depth."""

    first: NDArray[np.int64]
    """The place of the first child in the pool."""
    num_children: NDArray[np.int64]
    kind: NDArray[np.int64]
    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]
    chosen: NDArray[np.int64]
    """The place of the child that the path goes to, in the pool."""
    begin: NDArray[np.int64]
    """``NODES`` when the node was entered."""
    probe: NDArray[np.int64]
    """1 if the node is left after its first child."""
    keys: NDArray[np.uint64]
    """[2 * depths] the positions' keys."""


class Pool(NamedTuple):
    """The children of the nodes on the path, one node's after the other's."""

    action: NDArray[np.int32]
    keys: NDArray[np.uint64]
    """[2 * children]."""
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    share: NDArray[np.float64]
    """The probability of an outcome."""
    state: NDArray[np.int64]
    """``OPEN``, ``CLOSED`` or ``PROBED``."""


class Search(NamedTuple):
    """All that a search for a value works on."""

    question: Question
    table: BoundsTable
    expansion: Expansion
    stack: Stack
    pool: Pool
    on_path: NDArray[np.int64]
    """[a power of two] depths of positions on the path by their keys, plus 1; 0 where none is."""
    bounds: NDArray[np.float64]
    """[2] the bounds of the node that was weighed last; at the end those of the root."""
    control: NDArray[np.int64]
    expand_address: int
    header_address: int


@entry("the solver for games of chance")
def run(search: Search, steps: int) -> int:
    """Go on for so many steps down or up; returns why the search ended."""
    for _ in range(steps):
        status = enter(search) if search.control[ENTERING] != 0 else decide(search)
        if status != GOES_ON:
            return status
    return GOES_ON


@kernel
def enter(search: Any) -> int:
    """Expand the position at the path's end."""
    control, stack, header = search.control, search.stack, search.expansion.header
    depth = control[DEPTH]
    begin: Any = np.int64(0)
    if depth > 0:
        begin = stack.first[depth - 1] + stack.num_children[depth - 1]
        header[HEADER_ACTION] = search.pool.action[stack.chosen[depth - 1]]
    if depth >= header[DEPTHS]:
        return STACK_FULL
    if begin + header[CAPACITY] > control[POOL]:
        return POOL_FULL
    header[HEADER_DEPTH] = depth
    answered = call_expander(search)
    if answered != EXPANDED:
        return LISTS_FULL if answered == ANSWER_FULL else FAILED
    player = header[HEADER_PLAYER]
    if player < CHANCE or header[HEADER_COUNT] == 0:
        return NO_TURNS
    stack.kind[depth] = SMALLEST
    if player == CHANCE:
        stack.kind[depth] = MEAN
    elif player == search.question.player:
        stack.kind[depth] = LARGEST
    stack.first[depth], stack.num_children[depth] = begin, header[HEADER_COUNT]
    stack.begin[depth] = control[NODES]
    stack.chosen[depth] = NONE
    mark_path(search, depth)
    for index in range(header[HEADER_COUNT]):
        add_child(search, depth, index, begin + index)
    control[NODES] += 1
    control[ENTERING] = 0
    return GOES_ON


@kernel
def add_child(search: Any, depth: int, index: int, at: int) -> None:
    """Write what is known of a child into the pool."""
    pool, expansion, question = search.pool, search.expansion, search.question
    pool.action[at] = expansion.actions[index]
    pool.share[at] = expansion.chances[index]
    if expansion.ends[index] != 0:
        value = expansion.returns[index * expansion.header[NUM_PLAYERS] + question.player]
        pool.low[at] = pool.high[at] = value
        pool.state[at] = CLOSED
        return
    salt = np.uint64(question.salt)
    first, second = expansion.keys[2 * index] ^ salt, expansion.keys[2 * index + 1] ^ salt
    pool.keys[2 * at], pool.keys[2 * at + 1] = first, second
    pool.low[at], pool.high[at] = question.least, question.greatest
    pool.state[at] = OPEN
    take_known(search, at)
    if pool.state[at] == OPEN and depth_on_path(search, first, second) != NO_DEPTH:
        pool.state[at] = CLOSED
        search.control[LOOPS] += 1
    if pool.state[at] == OPEN and depth + 1 >= search.control[LIMIT]:
        pool.state[at] = CLOSED
        search.control[CUT] += 1
    if never_comes(search, depth, at):
        pool.state[at] = CLOSED


@kernel
def never_comes(search: Any, depth: int, at: int) -> bool:
    """True for an outcome that never comes."""
    return search.stack.kind[depth] == MEAN and not search.pool.share[at] > 0.0


@kernel
def take_known(search: Any, at: int) -> None:
    """Take over what the table knows of a child."""
    pool, table = search.pool, search.table
    place = look_up(table, pool.keys[2 * at], pool.keys[2 * at + 1])
    if place == NONE:
        return
    pool.low[at] = max(pool.low[at], table.low[place])
    pool.high[at] = min(pool.high[at], table.high[place])
    exact = pool.high[at] - pool.low[at] <= search.question.precision
    if exact or table.sweep[place] == search.control[SWEEP]:
        pool.state[at] = CLOSED


@kernel
def weigh(search: Any, depth: int) -> None:
    """Write a node's bounds, by those of its children."""
    stack, pool, bounds = search.stack, search.pool, search.bounds
    kind, first = stack.kind[depth], stack.first[depth]
    low, high = 0.0, 0.0
    if kind == LARGEST:
        low = high = -math.inf
    elif kind == SMALLEST:
        low = high = math.inf
    for at in range(first, first + stack.num_children[depth]):
        if kind == LARGEST:
            low, high = max(low, pool.low[at]), max(high, pool.high[at])
        elif kind == SMALLEST:
            low, high = min(low, pool.low[at]), min(high, pool.high[at])
        else:
            low += pool.share[at] * pool.low[at]
            high += pool.share[at] * pool.high[at]
    bounds[0], bounds[1] = low, high


@kernel
def is_answered(search: Any, low: float, high: float, alpha: float, beta: float) -> bool:
    """True if bounds answer the question."""
    return low >= beta or high <= alpha or high - low <= search.question.precision


@kernel
def decide(search: Any) -> int:
    """Go down to the child that matters most, or up if the question is answered."""
    control, stack, pool, bounds = search.control, search.stack, search.pool, search.bounds
    depth = control[DEPTH]
    weigh(search, depth)
    low, high = bounds[0], bounds[1]
    answered = is_answered(search, low, high, stack.alpha[depth], stack.beta[depth])
    if answered:
        return go_up(search, depth, OPEN)
    if stack.probe[depth] != 0 and stack.chosen[depth] != NONE:
        return go_up(search, depth, PROBED)
    at = choose(search, depth)
    if at == NONE:
        return go_up(search, depth, CLOSED)
    ask(search, depth, at)
    take_known(search, at)
    alpha, beta = stack.alpha[depth + 1], stack.beta[depth + 1]
    known = is_answered(search, pool.low[at], pool.high[at], alpha, beta)
    if pool.state[at] != CLOSED and not known:
        stack.chosen[depth] = at
        stack.keys[2 * depth + 2] = pool.keys[2 * at]
        stack.keys[2 * depth + 3] = pool.keys[2 * at + 1]
        control[DEPTH], control[ENTERING] = depth + 1, 1
    return GOES_ON


@kernel
def choose(search: Any, depth: int) -> Any:
    """The place of the child to look into next; ``NONE`` if none would change the answer."""
    stack, pool, bounds = search.stack, search.pool, search.bounds
    kind, first = stack.kind[depth], stack.first[depth]
    chosen: Any = np.int64(NONE)
    most = -math.inf
    for at in range(first, first + stack.num_children[depth]):
        if pool.state[at] == CLOSED:
            continue
        low, high = pool.low[at], pool.high[at]
        merit = pool.share[at] * (high - low)
        if is_to_probe(search, depth, at):
            return at
        if kind == LARGEST:
            if high <= max(bounds[0], stack.alpha[depth]):
                continue
            merit = low + high
        elif kind == SMALLEST:
            if low >= min(bounds[1], stack.beta[depth]):
                continue
            merit = -low - high
        if merit > most:
            chosen, most = at, merit
    return chosen


@kernel
def is_to_probe(search: Any, depth: int, at: int) -> Any:
    """True for an outcome after which one move is tried first."""
    stack = search.stack
    if stack.kind[depth] != MEAN or search.pool.state[at] != OPEN:
        return False
    return stack.alpha[depth] > -math.inf or stack.beta[depth] < math.inf


@kernel
def ask(search: Any, depth: int, at: int) -> None:
    """Write the question for a child to the next depth."""
    stack, pool, bounds = search.stack, search.pool, search.bounds
    alpha, beta = stack.alpha[depth], stack.beta[depth]
    if stack.kind[depth] == LARGEST:
        alpha = max(alpha, bounds[0])
    elif stack.kind[depth] == SMALLEST:
        beta = min(beta, bounds[1])
    else:
        share = pool.share[at]
        alpha = (alpha - (bounds[1] - share * pool.high[at])) / share
        beta = (beta - (bounds[0] - share * pool.low[at])) / share
        if (
            pool.low[at] >= beta or pool.high[at] <= alpha
        ):  # By rounding: the answer was not enough.
            alpha, beta = -math.inf, math.inf
    stack.probe[depth + 1] = 1 if is_to_probe(search, depth, at) else 0
    stack.alpha[depth + 1], stack.beta[depth + 1] = alpha, beta


@kernel
def go_up(search: Any, depth: int, state: int) -> int:
    """Leave a node: keep its bounds, and tell its parent.

    Args:
        search: the search.
        depth: the node's depth.
        state: ``OPEN`` if its question is answered, ``PROBED`` after a probe, ``CLOSED`` if this
            sweep finds no answer.
    """
    control, stack, pool, bounds = search.control, search.stack, search.pool, search.bounds
    first, second = stack.keys[2 * depth], stack.keys[2 * depth + 1]
    sweep: Any = control[SWEEP] if state == CLOSED else np.int64(0)
    store(search, first, second, control[NODES] - stack.begin[depth], sweep)
    shorten_path(search, depth)
    if depth == 0:
        return FINISHED
    at = stack.chosen[depth - 1]
    pool.low[at] = max(pool.low[at], bounds[0])
    pool.high[at] = min(pool.high[at], bounds[1])
    pool.state[at] = state
    if stack.probe[depth] != 0 and state == OPEN:
        pool.state[at] = PROBED
    if pool.high[at] - pool.low[at] <= search.question.precision:
        pool.state[at] = CLOSED
    control[DEPTH] = depth - 1
    return GOES_ON


@kernel
def mark_path(search: Any, depth: int) -> None:
    """Note that the position at the path's end is on the path."""
    mask = search.control[PATHS] - 1
    place = np.int64(search.stack.keys[2 * depth + 1] & LOW) & mask
    while search.on_path[place] != 0:
        place = (place + 1) & mask
    search.on_path[place] = depth + 1
