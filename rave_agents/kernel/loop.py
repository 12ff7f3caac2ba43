"""The one loop of every search: select, simulate, expand, back up.

A simulation that cannot finish (the provider failed, the deadline passed, a buffer or the tree is
full) leaves the tree unchanged. The loop returns the reason; the caller may fix it and continue.
"""

from rave_agents.compiler.arrays import EDGE, GROWING, NODE
from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.entry import entry
from rave_agents.kernel import codes, hooks
from rave_agents.kernel.backup import back_up
from rave_agents.kernel.provider import call_provider
from rave_agents.kernel.search import Search
from rave_agents.kernel.tree import UNEXPANDED


@entry("the search")
def run(search: Search, simulations: int) -> int:
    """Run ``simulations`` simulations, at least 0, from the root. Returns a ``Status``."""
    hooks.on_begin(search.proofs, search)
    for _ in range(simulations):
        status = ready(search)
        if status == codes.DONE:
            status = simulate_once(search)
        if status != codes.DONE:
            return status
    return codes.DONE


@kernel
def ready(search: Search) -> int:
    """``DONE`` if another simulation may begin, otherwise the ``Status`` that prevents it."""
    if search.tree.used[NODE] > 0 and hooks.is_decided(search.proofs, search):
        return codes.SOLVED
    # Check for room before the simulation: once the provider has played, nothing may fail.
    if search.settings.may_expand and not has_room(search):
        return codes.TREE_FULL
    return codes.DONE


@kernel
def has_room(search: Search) -> bool:
    """True if the tree has room for everything that one simulation may add."""
    tree, actions = search.tree, search.frame.header[codes.ACTION_CAPACITY]
    for axis in range(len(GROWING)):
        # Worst case of one simulation: a node, and an edge for each action that a buffer holds.
        needed = 1 if axis == NODE else 0
        needed += actions if axis == EDGE else 0
        needed += hooks.rows_needed(search.amaf, search, axis, actions)
        needed += hooks.rows_needed(search.proofs, search, axis, actions)
        needed += hooks.rows_needed(search.moves, search, axis, actions)
        if tree.used[axis] + needed > tree.capacity[axis]:
            return False
    return True


@kernel
def simulate_once(search: Search) -> int:
    """Run one simulation: select, simulate, expand, back up."""
    status = begin_simulation(search)
    return status if status != codes.DONE else end_simulation(search)


@kernel
def begin_simulation(search: Search) -> int:
    """Select a leaf, and let the provider describe it and play on. Returns a ``Status``."""
    header = search.frame.header
    header[codes.PATH_LENGTH] = 0
    # The provider raises these if a buffer is too small; the caller then enlarges it.
    header[codes.REQUIRED_ACTIONS] = 0
    header[codes.REQUIRED_MOVES] = 0
    header[codes.STEP] = codes.WHOLE
    header[codes.NUM_SAMPLES] = hooks.samples_refused(search.judging, header[codes.SAMPLES])
    status = hooks.select(search.moves, search)
    if status != codes.DONE:
        return status
    depth = int(header[codes.PATH_LENGTH])
    leaf, visits = hooks.find_leaf(search.moves, search, depth)
    header[codes.EXPAND] = leaf == UNEXPANDED and is_due(search, depth, visits)
    checks = hooks.checks_children(search.proofs)
    header[codes.CHECK_CHILDREN] = max(checks, hooks.checks_children(search.judging))
    header[codes.FORESEE] = hooks.asks_winner(search.proofs)
    header[codes.FORESEEN] = 0
    # A solved leaf has its outcome: no playout is needed.
    if leaf != UNEXPANDED and hooks.is_solved(search.proofs, leaf):
        hooks.give_outcome(search.proofs, search, leaf)
        return codes.DONE
    return call_provider(search)


@kernel
def end_simulation(search: Search) -> int:
    """Expand the leaf if it is due, and back up. Returns a ``Status``."""
    depth = int(search.frame.header[codes.PATH_LENGTH])
    hooks.on_simulated(search.moves, search, depth)
    # A position met before needs no node: linking its edge (transpositions) clears EXPAND.
    nodes = expand_leaf(search, depth)
    back_up(search, depth, nodes)
    return hooks.after_backup(search.proofs, search)


@kernel
def expand_leaf(search: Search, depth: int) -> int:
    """Add the leaf's node if the header's ``EXPAND`` is set; returns its number of nodes."""
    leaf, visits = hooks.find_leaf(search.moves, search, depth)
    nodes = 0 if leaf == UNEXPANDED else 1
    if search.frame.header[codes.EXPAND] != 0:
        nodes = hooks.add_leaf(search.moves, search, depth, visits)
        # A node with a certain winner has no edges; only proofs take notice of it.
        if search.frame.header[codes.FORESEEN] == 0:
            hooks.on_expand(search.lifetimes, search, depth, nodes)
            hooks.on_expand(search.rule, search, depth, nodes)
            hooks.on_expand(search.playouts, search, depth, nodes)
            hooks.on_expand(search.amaf, search, depth, nodes)
            hooks.on_expand(search.judging, search, depth, nodes)
        hooks.on_expand(search.proofs, search, depth, nodes)
    return nodes


@kernel
def is_due(search: Search, depth: int, visits: int) -> bool:
    """True if a leaf gets its node now: the root always, others by their visits."""
    settings = search.settings
    if depth == 0:
        return True
    if not settings.may_expand:
        return False
    # The present simulation is not yet counted in `visits`.
    return visits + 1 >= hooks.visits_to_expand(search.amaf, search, settings.expand_visits)
