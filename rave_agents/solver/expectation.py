"""Search for the value that a player can force in games with chance, compiled, on a stack.

The value is the player's expected return if the player maximises it and all others minimise it. For
each position the search keeps a lower and an upper bound that always hold, and refines them until
they answer its alpha-beta question: is the value at least *beta*, at most *alpha*, or exactly what
lies between. At a chance node each outcome gets the window that would still change the answer if
the other outcomes took their extreme bounds (Star1; Ballard 1983):

    alpha_i = (alpha - sum_{j != i} p_j u_j) / p_i      beta_i = (beta - sum_{j != i} p_j l_j) / p_i

with the probabilities p and the current bounds l and u. If alpha or beta is finite, one move after
each outcome is searched before all moves after any outcome (probing, as in Star2).

A sweep is limited in depth; below that, bounds come from the table or the game's utilities. It
stops at positions on the path and at positions that it has already left unanswered: their bounds
still hold. So if play can cycle, each sweep is a step of value iteration on both bounds.
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
from rave_agents.solver.path import depth_on_path, expand_next, mark_path, shorten_path
from rave_agents.solver.records import (
    DEPTH,
    ENTERING,
    GOES_ON,
    HEADER_COUNT,
    HEADER_PLAYER,
    LOOPS,
    NO_DEPTH,
    NO_TURNS,
    NODES,
    NUM_PLAYERS,
    SETTLED,
)

LIMIT, SWEEP, CUT = 3, 5, 6
"""Indices in ``Search.control`` in addition to those of ``records.py``: the sweep's depth limit and
number, and the number of positions cut by depth. ``bounds_table.USED`` is a further one."""

LARGEST, SMALLEST, MEAN = 0, 1, 2
"""Kinds of nodes: the player moves, others do, or chance."""

OPEN, CLOSED, PROBED = 0, 1, 2
"""States of a child: to be searched; finished for this sweep; probed."""


class Question(NamedTuple):
    """The value to be found."""

    player: int
    least: float
    """The game's least return."""
    greatest: float
    """The game's greatest return."""
    precision: float
    """Bounds this close count as exact."""
    salt: int
    """Separates its table entries from those of other players."""


class Stack(NamedTuple):
    """The path: one node per depth."""

    first: NDArray[np.int64]
    """Index in the pool of the first child."""
    size: NDArray[np.int64]
    kind: NDArray[np.int64]
    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]
    chosen: NDArray[np.int64]
    """Index in the pool of the child on the path."""
    begin: NDArray[np.int64]
    """``NODES`` when the node was entered."""
    probe: NDArray[np.int64]
    """1 if the node is left after its first child."""
    keys: NDArray[np.uint64]
    """[2 * depths] the positions' keys."""


class Pool(NamedTuple):
    """The children of the nodes on the path, node after node."""

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
    """The data of a search for a value."""

    question: Question
    table: BoundsTable
    expansion: Expansion
    stack: Stack
    pool: Pool
    on_path: NDArray[np.int64]
    """[a power of two] hash table of the path: depth + 1 by key; 0 if free."""
    bounds: NDArray[np.float64]
    """[2] the bounds computed last by ``weigh``; in the end the root's."""
    control: NDArray[np.int64]
    expand_address: int
    header_address: int


@entry("the solver for games of chance")
def run(search: Search, steps: int) -> int:
    """Take ``steps`` steps down or up; returns the reason why the search stopped."""
    for _ in range(steps):
        status = enter(search) if search.control[ENTERING] != 0 else decide(search)
        if status != GOES_ON:
            return status
    return GOES_ON


@kernel
def enter(search: Any) -> int:
    """Expand the position at the end of the path."""
    control, stack, header = search.control, search.stack, search.expansion.header
    depth = control[DEPTH]
    status = expand_next(search)
    if status != GOES_ON:
        return status
    player = header[HEADER_PLAYER]
    if player < CHANCE or header[HEADER_COUNT] == 0:
        return NO_TURNS
    stack.kind[depth] = SMALLEST
    if player == CHANCE:
        stack.kind[depth] = MEAN
    elif player == search.question.player:
        stack.kind[depth] = LARGEST
    stack.chosen[depth] = NONE
    mark_path(search, depth)
    for index in range(header[HEADER_COUNT]):
        add_child(search, depth, index, stack.first[depth] + index)
    control[NODES] += 1
    control[ENTERING] = 0
    return GOES_ON


@kernel
def add_child(search: Any, depth: int, index: int, at: int) -> None:
    """Write a child and its known bounds to the pool."""
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
    # On the path already: its bounds hold, but searching it again would not end.
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
    """True for an outcome with probability 0."""
    return search.stack.kind[depth] == MEAN and not search.pool.share[at] > 0.0


@kernel
def take_known(search: Any, at: int) -> None:
    """Tighten a child's bounds by its table entry."""
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
    """Compute a node's bounds from its children's."""
    stack, pool, bounds = search.stack, search.pool, search.bounds
    kind, first = stack.kind[depth], stack.first[depth]
    low, high = 0.0, 0.0
    if kind == LARGEST:
        low = high = -math.inf
    elif kind == SMALLEST:
        low = high = math.inf
    for at in range(first, first + stack.size[depth]):
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
    """True if bounds answer the alpha-beta question."""
    return low >= beta or high <= alpha or high - low <= search.question.precision


@kernel
def decide(search: Any) -> int:
    """Go down to the most relevant child, or up if the question is answered."""
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
    """Index of the child to search next; ``NONE`` if none can change the answer."""
    stack, pool, bounds = search.stack, search.pool, search.bounds
    kind, first = stack.kind[depth], stack.first[depth]
    chosen: Any = np.int64(NONE)
    most = -math.inf
    for at in range(first, first + stack.size[depth]):
        if pool.state[at] == CLOSED:
            continue
        low, high = pool.low[at], pool.high[at]
        merit = pool.share[at] * (high - low)
        if is_to_probe(search, depth, at):
            return at
        if kind == LARGEST:
            # Cannot raise the node's lower bound, nor reach alpha.
            if high <= max(bounds[0], stack.alpha[depth]):
                continue
            # Most promising first, by the middle of its bounds.
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
    """True for an outcome that is probed with one move first."""
    stack = search.stack
    if stack.kind[depth] != MEAN or search.pool.state[at] != OPEN:
        return False
    return stack.alpha[depth] > -math.inf or stack.beta[depth] < math.inf


@kernel
def ask(search: Any, depth: int, at: int) -> None:
    """Write a child's alpha-beta window to the next depth."""
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
        # Rounding has emptied the window: search with a full one.
        if pool.low[at] >= beta or pool.high[at] <= alpha:
            alpha, beta = -math.inf, math.inf
    stack.probe[depth + 1] = 1 if is_to_probe(search, depth, at) else 0
    stack.alpha[depth + 1], stack.beta[depth + 1] = alpha, beta


@kernel
def go_up(search: Any, depth: int, state: int) -> int:
    """Leave a node: store its bounds, and pass them to its parent.

    Args:
        search: the search.
        depth: the node's depth.
        state: ``OPEN`` if its question is answered, ``PROBED`` after a probe, ``CLOSED`` if this
            sweep finds no answer.
    """
    control, stack, pool, bounds = search.control, search.stack, search.pool, search.bounds
    first, second = stack.keys[2 * depth], stack.keys[2 * depth + 1]
    # Mark the entry as unanswered in this sweep, so that no other path searches it again.
    sweep: Any = control[SWEEP] if state == CLOSED else np.int64(0)
    store(search, first, second, control[NODES] - stack.begin[depth], sweep)
    shorten_path(search, depth)
    if depth == 0:
        return SETTLED
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
