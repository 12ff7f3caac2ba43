"""The one loop of every search: select, simulate, expand, back up.

A simulation that could not be finished (the provider failed, the deadline passed, a buffer or the
tree is full) leaves the tree as it was, and the loop returns the reason: the caller may mend it and
go on.
"""

from rave_agents.compiler.arrays import GROWING, NODE
from rave_agents.compiler.calls import call_address
from rave_agents.compiler.dispatch import entry, kernel
from rave_agents.kernel.backup import back_up
from rave_agents.kernel.frame_codes import (
    ACTION_CAPACITY,
    CHECK_CHILDREN,
    DONE,
    EXPAND,
    PATH_LENGTH,
    REQUIRED_ACTIONS,
    REQUIRED_MOVES,
    SOLVED,
    STEP,
    TREE_FULL,
    WHOLE,
)
from rave_agents.kernel.hooks import (
    add_leaf,
    after_backup,
    checks_children,
    find_leaf,
    give_outcome,
    is_decided,
    is_solved,
    on_begin,
    on_expand,
    on_simulated,
    rows_needed,
    select,
)
from rave_agents.kernel.search import Search
from rave_agents.kernel.tree import UNEXPANDED

NODE_AND_EDGE = 2


@entry("the search")
def run(search: Search, simulations: int) -> int:
    """Run so many simulations, at least 0, from the tree's root. Returns a ``Status``."""
    on_begin(search.proofs, search)
    for _ in range(simulations):
        if search.tree.used[NODE] > 0 and is_decided(search.proofs, search):
            return SOLVED
        if search.settings.may_expand and not has_room(search):
            return TREE_FULL
        status = simulate_once(search)
        if status != DONE:
            return status
    return DONE


@kernel
def has_room(search: Search) -> bool:
    """Whether all that one simulation may add fits into the tree."""
    tree, actions = search.tree, search.frame.header[ACTION_CAPACITY]
    for axis in range(len(GROWING)):
        needed = rows_needed(search.amaf, search, axis, actions)
        needed += rows_needed(search.proofs, search, axis, actions)
        needed += rows_needed(search.moves, search, axis, actions)
        if axis < NODE_AND_EDGE:
            needed += 1 if axis == NODE else actions
        if tree.used[axis] + needed > tree.capacity[axis]:
            return False
    return True


@kernel
def simulate_once(search: Search) -> int:
    """One simulation: select, simulate, expand, back up."""
    header = search.frame.header
    header[PATH_LENGTH] = 0
    header[REQUIRED_ACTIONS] = 0
    header[REQUIRED_MOVES] = 0
    header[STEP] = WHOLE
    status = select(search.moves, search)
    if status != DONE:
        return status
    depth = int(header[PATH_LENGTH])
    leaf, visits = find_leaf(search.moves, search, depth)
    expanding = leaf == UNEXPANDED and is_due(search, depth, visits)
    header[EXPAND] = expanding
    header[CHECK_CHILDREN] = checks_children(search.proofs)
    if leaf != UNEXPANDED and is_solved(search.proofs, leaf):
        give_outcome(search.proofs, search, leaf)
    else:
        status = call_address(search.settings.simulate_address, search.settings.header_address)
        if status != DONE:
            return status
    on_simulated(search.moves, search, depth)
    nodes = 0 if leaf == UNEXPANDED else 1
    if expanding:
        nodes = add_leaf(search.moves, search, depth, visits)
        on_expand(search.playouts, search, depth, nodes)
        on_expand(search.proofs, search, depth, nodes)
    back_up(search, depth, nodes)
    return after_backup(search.proofs, search)


@kernel
def is_due(search: Search, depth: int, visits: int) -> bool:
    """Whether a leaf without a node gets one: the root always, others by their visits."""
    settings = search.settings
    return depth == 0 or (settings.may_expand and visits + 1 >= settings.expand_visits)
