"""The path from the root to the current position of a search, compiled."""

from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.layout import call_address
from rave_agents.games.kit.position_hash import mixed_first, mixed_second
from rave_agents.solver.records import (
    HEADER_STATUS,
    IN_PYTHON,
    LOW,
    NO_DEPTH,
    PATHS,
    Search,
)
from rave_agents.solver.table import NOTHING


@kernel
def call_expander(search: Search) -> int:
    """Let the game expand the current position; returns an ``Answered``."""
    header = search.expansion.header
    header[HEADER_STATUS] = 0
    status = call_address(search.expand_address, search.header_address)
    return int(header[HEADER_STATUS]) if header[IN_PYTHON] != 0 else int(status)


@kernel
def lengthen_path(search: Search, depth: int) -> None:
    """Add the position at the end of the path to the path's keys and hash table."""
    stack, mask = search.stack, search.control[PATHS] - 1
    first, second = stack.keys[2 * depth], stack.keys[2 * depth + 1]
    before_first = before_second = NOTHING
    if depth > 0:
        before_first, before_second = stack.paths[2 * depth - 2], stack.paths[2 * depth - 1]
    # The path's key depends on the order of its positions, for twin entries.
    stack.paths[2 * depth] = mixed_first(before_first, first)
    stack.paths[2 * depth + 1] = mixed_second(before_second, second)
    place = np.int64(second & LOW) & mask
    while search.on_path[place] != 0:
        place = (place + 1) & mask
    search.on_path[place] = depth + 1


@kernel
def shorten_path(search: Search, depth: int) -> None:
    """Remove the position at the end of the path, the one added last."""
    mask = search.control[PATHS] - 1
    place = np.int64(search.stack.keys[2 * depth + 1] & LOW) & mask
    while search.on_path[place] != depth + 1:
        place = (place + 1) & mask
    # Linear probing allows this only because positions leave in the reverse order of their coming.
    search.on_path[place] = 0


@kernel
def depth_on_path(search: Search, first: Any, second: Any) -> int:
    """The depth of a key's position on the path; ``NO_DEPTH`` if it is not on it."""
    mask = search.control[PATHS] - 1
    place = np.int64(second & LOW) & mask
    while search.on_path[place] != 0:
        depth = search.on_path[place] - 1
        if search.stack.keys[2 * depth] == first and search.stack.keys[2 * depth + 1] == second:
            return int(depth)
        place = (place + 1) & mask
    return NO_DEPTH
