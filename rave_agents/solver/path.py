"""The path from the root to the current position of a search, compiled."""

from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.layout import call_address
from rave_agents.games.kit.position_hash import mixed_first, mixed_second
from rave_agents.solver.records import (
    ANSWER_FULL,
    CAPACITY,
    DEPTH,
    DEPTHS,
    EXPANDED,
    FAILED,
    GOES_ON,
    HEADER_ACTION,
    HEADER_COUNT,
    HEADER_DEPTH,
    HEADER_STATUS,
    IN_PYTHON,
    LISTS_FULL,
    LOW,
    NO_DEPTH,
    NODES,
    PATHS,
    POOL,
    POOL_FULL,
    STACK_FULL,
    Search,
)
from rave_agents.solver.table import NOTHING


@kernel
def expand_next(search: Any) -> int:
    """Let the game expand the position at the end of the path, and begin its node on the stack.

    Returns ``GOES_ON``, or the reason why the search must stop first.
    """
    control, stack, header = search.control, search.stack, search.expansion.header
    begin: Any = np.int64(0)
    depth = control[DEPTH]
    if depth > 0:
        begin = stack.first[depth - 1] + stack.size[depth - 1]
        header[HEADER_ACTION] = search.pool.action[stack.chosen[depth - 1]]
    if depth >= header[DEPTHS]:
        return STACK_FULL
    if begin + header[CAPACITY] > control[POOL]:
        return POOL_FULL
    header[HEADER_DEPTH] = depth
    header[HEADER_STATUS] = 0
    answered = int(call_address(search.expand_address, search.header_address))
    # A callback into Python cannot return its answer as a C function does.
    if header[IN_PYTHON] != 0:
        answered = int(header[HEADER_STATUS])
    if answered != EXPANDED:
        return LISTS_FULL if answered == ANSWER_FULL else FAILED
    stack.first[depth], stack.size[depth] = begin, header[HEADER_COUNT]
    stack.begin[depth] = control[NODES]
    return GOES_ON


@kernel
def mark_path(search: Any, depth: int) -> None:
    """Add the position at a depth to the path's hash table."""
    mask = search.control[PATHS] - 1
    place = np.int64(search.stack.keys[2 * depth + 1] & LOW) & mask
    while search.on_path[place] != 0:
        place = (place + 1) & mask
    search.on_path[place] = depth + 1


@kernel
def lengthen_path(search: Search, depth: int) -> None:
    """Add the position at the end of the path to the path's keys and hash table."""
    stack = search.stack
    first, second = stack.keys[2 * depth], stack.keys[2 * depth + 1]
    before_first = before_second = NOTHING
    if depth > 0:
        before_first, before_second = stack.paths[2 * depth - 2], stack.paths[2 * depth - 1]
    # The path's key depends on the order of its positions, for twin entries.
    stack.paths[2 * depth] = mixed_first(before_first, first)
    stack.paths[2 * depth + 1] = mixed_second(before_second, second)
    mark_path(search, depth)


@kernel
def shorten_path(search: Any, depth: int) -> None:
    """Remove the position at the end of the path, the one added last."""
    mask = search.control[PATHS] - 1
    place = np.int64(search.stack.keys[2 * depth + 1] & LOW) & mask
    while search.on_path[place] != depth + 1:
        place = (place + 1) & mask
    # Linear probing allows this only because positions leave in the reverse order of their coming.
    search.on_path[place] = 0


@kernel
def depth_on_path(search: Any, first: Any, second: Any) -> int:
    """The depth of a key's position on the path; ``NO_DEPTH`` if it is not on it."""
    mask = search.control[PATHS] - 1
    place = np.int64(second & LOW) & mask
    while search.on_path[place] != 0:
        depth = search.on_path[place] - 1
        if search.stack.keys[2 * depth] == first and search.stack.keys[2 * depth + 1] == second:
            return int(depth)
        place = (place + 1) & mask
    return NO_DEPTH
