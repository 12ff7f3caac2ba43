"""The one loop of every search: select, simulate, expand, back up.

It is compiled in four forms: with what is proven, with simultaneous moves, with hidden information,
and with none of these; what a form lacks falls away before it is compiled. A simulation that could
not be finished (the provider or a formula of the user's own failed, the deadline passed, a buffer
or the tree is full) leaves the tree as it was, and the loop returns the reason: the caller may mend
it and go on.
"""

import numpy as np
from numpy.typing import NDArray

from rave_agents.search.amaf import AmafTables, begin_tables
from rave_agents.search.backup import (
    HIGH,
    LOW,
    Scratch,
    add_entries,
    backup_entries,
    backup_playouts,
    backup_proofs,
    backup_values,
    find_movers,
    give_table,
    observe_returns,
    record_path,
    set_values,
)
from rave_agents.search.children import NO_ENTRY, has_room_for_children
from rave_agents.search.compiler import inlined, kernel, kernel_entry
from rave_agents.search.expansion import begin_proofs, expand
from rave_agents.search.hidden import (
    Hidden,
    add_child_entry,
    begin_edges,
    count_visits,
    take_back,
)
from rave_agents.search.parameters import Parameters, Strategy
from rave_agents.search.playout_policy import learn_playouts, look_for_taken_actions
from rave_agents.search.proofs import (
    UNSOLVED,
    Proofs,
    Ranking,
    has_room_for_proofs,
    refresh_bonuses,
)
from rave_agents.search.random_stream import Stream
from rave_agents.search.refutations import check_refutations
from rave_agents.search.simulator import Frame, Header, Status, Step, call_simulate, header_address
from rave_agents.search.simultaneous import ALONE, Simultaneous
from rave_agents.search.strategies import backup_strategies
from rave_agents.search.tree import EDGES_USED, NODES_USED, ROOT, UNEXPANDED, Tree
from rave_agents.search.walk import (
    NO_ROOM,
    child_and_visits,
    is_solved,
    select,
    select_in_world,
)

DONE = int(Status.DONE)
FRAME_FULL = int(Status.FRAME_FULL)
TREE_FULL = int(Status.TREE_FULL)
SOLVED = int(Status.SOLVED)
NO_SCORE = int(Status.NO_SCORE)
NO_STRATEGY = int(Strategy.NONE)

PATH_LENGTH = int(Header.PATH_LENGTH)
EXPAND = int(Header.EXPAND)
NUM_PLAYERS = int(Header.NUM_PLAYERS)
NUM_PLAYOUTS = int(Header.NUM_PLAYOUTS)
REQUIRED_ACTIONS = int(Header.REQUIRED_ACTIONS)
REQUIRED_MOVES = int(Header.REQUIRED_MOVES)
CHECK_CHILDREN = int(Header.CHECK_CHILDREN)
ACTION_CAPACITY = int(Header.ACTION_CAPACITY)
STEP = int(Header.STEP)
WHOLE = int(Step.WHOLE)


@kernel_entry
def run(
    tree: Tree,
    tables: AmafTables,
    proofs: Proofs | None,
    simultaneous: Simultaneous | None,
    hidden: Hidden | None,
    frame: Frame,
    scratch: Scratch,
    parameters: Parameters,
    tree_stream: Stream,
    simulate_address: int,
    simulations: int,
    may_expand: bool,
) -> int:
    """Run so many simulations from the tree's root. Returns a ``Status``.

    Args:
        tree: the tree, empty or with a root; it changes.
        tables: its AMAF tables; they change.
        proofs: what is proven of its nodes, which changes; None where neither the solver nor proof
            numbers are on.
        simultaneous: the nodes of players who move at the same time and their children, which
            change; None in games without such moves. Then ``proofs`` must be None.
        hidden: the children and the availability of edges where each simulation has a world of its
            own, which change; else None. Then ``proofs`` and ``simultaneous`` must be None.
        frame: buffers shared with the provider.
        scratch: buffers of the loop.
        parameters: the run-time flags and constants.
        tree_stream: random numbers for tie-breaks and for chance nodes in the tree.
        simulate_address: the provider's ``simulate``.
        simulations: how many, at least 0.
        may_expand: whether nodes may be added. Without a root, the tree must not be full.
    """
    if proofs is not None and parameters.proof_numbers:
        refresh_bonuses(tree, proofs, scratch.ranking, parameters)
    for _ in range(simulations):
        if proofs is not None and tree.used[NODES_USED] > 0 and is_root_proven(proofs, parameters):
            return SOLVED
        if may_expand and not (
            has_room(tree, tables, parameters, frame.header[ACTION_CAPACITY])
            and (proofs is None or has_room_for_proofs(tree, proofs, parameters))
            and (
                simultaneous is None
                or has_room_for_followers(tree, simultaneous, frame.header[NUM_PLAYERS] - 1)
            )
            and (hidden is None or has_room_for_children(hidden.children, 1))
        ):
            return TREE_FULL
        status = simulate_once(
            tree,
            tables,
            proofs,
            simultaneous,
            hidden,
            frame,
            scratch,
            parameters,
            tree_stream,
            simulate_address,
            may_expand,
        )
        if status == DONE and proofs is not None:
            status = check_refutations(
                tree, tables, proofs, frame, scratch, parameters, simulate_address
            )
        if status != DONE:
            if hidden is not None:
                take_back(tree, hidden, scratch.path_nodes)
            return status
    return DONE


@inlined
def is_root_proven(proofs: Proofs, parameters: Parameters) -> bool:
    """Whether nothing is left to search: the root is solved, or the searcher's win is proven.

    A final move that does not heed what is proven needs the visits all the same.
    """
    if not parameters.stop_proven:
        return False
    if parameters.solver:
        return bool(proofs.distance[ROOT] != UNSOLVED)
    return bool(parameters.proof_numbers and proofs.proof[ROOT, parameters.searching_player] == 0.0)


@inlined
def has_room(tree: Tree, tables: AmafTables, parameters: Parameters, edges: int) -> bool:
    """Whether one more node with so many edges fits into the tree, and a table of its own.

    With it come nodes of the children that end the game, if these are checked, and two nodes and an
    edge for each sibling that a reply is tried against. The root gets its node without a table
    where the memory has no room for one.
    """
    if parameters.tables:
        if tables.node_table.shape[0] < tree.node_player.shape[0]:
            return False
        table_wanted = parameters.every_node_has_table and tree.used[NODES_USED] > 0
        if table_wanted and tables.used[0] == tables.owner.shape[0]:
            return False
    nodes = 1 + edges if parameters.check_terminal else 1
    if parameters.check_refutations:
        nodes, edges = nodes + 2 * edges, 2 * edges
    return (
        tree.used[NODES_USED] + nodes <= tree.node_player.shape[0]
        and tree.used[EDGES_USED] + edges <= tree.edge_action.shape[0]
    )


@inlined
def has_room_for_followers(tree: Tree, simultaneous: Simultaneous, count: int) -> bool:
    """Whether beside one more node so many fit that follow it, and as many entries."""
    nodes = min(tree.node_player.shape[0], simultaneous.node_followers.shape[0])
    return tree.used[NODES_USED] + 1 + count <= nodes and has_room_for_children(
        simultaneous.children, count
    )


@inlined
def simulate_once(
    tree: Tree,
    tables: AmafTables,
    proofs: Proofs | None,
    simultaneous: Simultaneous | None,
    hidden: Hidden | None,
    frame: Frame,
    scratch: Scratch,
    parameters: Parameters,
    tree_stream: Stream,
    simulate_address: int,
    may_expand: bool,
) -> int:
    """One simulation: select, simulate, expand, back up."""
    header = frame.header
    header[REQUIRED_ACTIONS] = 0
    header[REQUIRED_MOVES] = 0
    header[STEP] = WHOLE
    depth = 0
    visits = 0
    leaf_has_node = False
    if hidden is not None:
        status = select_in_world(
            tree,
            tables,
            hidden,
            frame,
            scratch,
            parameters,
            tree_stream,
            simulate_address,
            may_expand,
        )
        if status != DONE:
            return status
        depth = int(header[PATH_LENGTH])
        leaf_has_node = tree.used[NODES_USED] > 0
    elif tree.used[NODES_USED] > 0:
        depth = select(tree, tables, proofs, simultaneous, frame, scratch, parameters, tree_stream)
        if depth < 0:
            return FRAME_FULL if depth == NO_ROOM else NO_SCORE
    if depth > 0:
        child, visits = child_and_visits(tree, simultaneous, hidden, scratch, depth)
        leaf_has_node = child != UNEXPANDED
    expanding = not leaf_has_node and (
        depth == 0 or (may_expand and visits + 1 >= parameters.expand_visits)
    )
    header[PATH_LENGTH] = depth
    header[EXPAND] = expanding
    header[CHECK_CHILDREN] = parameters.check_terminal

    leaf = int(scratch.path_nodes[depth])
    if proofs is not None and leaf_has_node and is_solved(proofs, parameters, leaf):
        give_outcome(proofs, frame, leaf)
    else:
        status = call_simulate(simulate_address, header_address(frame))
        if status != DONE:
            return status

    leaf_nodes = int(leaf_has_node)
    if simultaneous is not None and may_expand:
        add_entries(simultaneous, scratch, depth)
    if hidden is not None and may_expand and depth > 0:
        add_leaf_entry(tree, hidden, frame, scratch, parameters, depth)
    if expanding:
        leaf_nodes = add_leaf(
            tree, tables, simultaneous, hidden, frame, scratch, parameters, depth, visits
        )
    if proofs is not None and expanding:
        prove_leaf(tree, proofs, frame, scratch.path_nodes, scratch.ranking, parameters, depth)

    back_up(
        tree, tables, proofs, simultaneous, hidden, frame, scratch, parameters, depth, leaf_nodes
    )
    scratch.simulations[0] += 1
    return DONE


@inlined
def back_up(
    tree: Tree,
    tables: AmafTables,
    proofs: Proofs | None,
    simultaneous: Simultaneous | None,
    hidden: Hidden | None,
    frame: Frame,
    scratch: Scratch,
    parameters: Parameters,
    depth: int,
    leaf_nodes: int,
) -> None:
    """Count the simulation in all statistics of its path."""
    if not parameters.fixed_range:
        observe_returns(tree, tables, simultaneous, frame, scratch)
    if scratch.policy.visits.shape[1] > 0:
        low, high = scratch.utility_range[LOW], scratch.utility_range[HIGH]
        learn_playouts(scratch.policy, frame, parameters.playout_temperature, low, high)
    find_movers(tree, scratch, depth)
    if parameters.amaf:
        record_path(tree, scratch, depth, leaf_nodes)
        if parameters.tables:
            give_table(tree, tables, scratch, parameters, depth, leaf_nodes)
        backup_playouts(tree, tables, frame, scratch, parameters, depth, leaf_nodes)
    set_values(frame, scratch, 0, frame.header[NUM_PLAYOUTS])
    if simultaneous is not None and parameters.strategy != NO_STRATEGY:
        backup_strategies(tree, simultaneous, scratch, parameters, depth)
    backup_values(tree, proofs, scratch, parameters, depth, leaf_nodes)
    if simultaneous is not None:
        backup_entries(simultaneous, scratch, depth)
    if hidden is not None:
        count_visits(hidden, scratch.path_entries, depth)


@kernel
def add_leaf(
    tree: Tree,
    tables: AmafTables,
    simultaneous: Simultaneous | None,
    hidden: Hidden | None,
    frame: Frame,
    scratch: Scratch,
    parameters: Parameters,
    depth: int,
    visits: int,
) -> int:
    """Make a node of the leaf, or one for each who moves there; returns how many."""
    leaf = expand(tree, simultaneous, frame, visits)
    count = 1 if simultaneous is None else 1 + int(simultaneous.node_followers[leaf])
    for index in range(count):
        scratch.path_nodes[depth + index] = leaf + index
    if hidden is not None:
        begin_edges(hidden, tree.node_first_edge[leaf], tree.used[EDGES_USED])
    if depth > 0:
        if hidden is not None:
            hidden.children.child[scratch.path_entries[depth - 1]] = leaf
        elif simultaneous is not None and scratch.path_entries[depth - 1] != ALONE:
            simultaneous.children.child[scratch.path_entries[depth - 1]] = leaf
        else:
            tree.edge_child[scratch.path_edges[depth - 1]] = leaf
    if parameters.tables:
        begin_tables(tables, leaf, tree.used[NODES_USED])
    if scratch.policy.visits.shape[1] > 0:
        for node in range(leaf, leaf + count):
            look_for_taken_actions(
                scratch.policy, tree, scratch.path_nodes, scratch.path_edges, depth, node
            )
    return count


@kernel
def prove_leaf(
    tree: Tree,
    proofs: Proofs,
    frame: Frame,
    path_nodes: NDArray[np.int64],
    ranking: Ranking,
    parameters: Parameters,
    depth: int,
) -> None:
    """Note what is proven of the new node at the end of the path, and of those above it."""
    leaf = int(path_nodes[depth])
    begin_proofs(tree, proofs, frame, parameters, leaf)
    backup_proofs(tree, proofs, path_nodes, ranking, parameters, depth)
    if is_solved(proofs, parameters, leaf):
        give_outcome(proofs, frame, leaf)  # Better known than by the playouts.


@kernel
def give_outcome(proofs: Proofs, frame: Frame, leaf: int) -> None:
    """A solved leaf's outcome takes the place of a simulation's returns."""
    frame.header[NUM_PLAYOUTS] = 1
    frame.playout_ends[0] = 0
    for player in range(proofs.low.shape[1]):
        frame.returns[0, player] = proofs.low[leaf, player]


@kernel
def add_leaf_entry(
    tree: Tree, hidden: Hidden, frame: Frame, scratch: Scratch, parameters: Parameters, depth: int
) -> None:
    """Give the leaf the entry that it lacks; there must be room."""
    if scratch.path_entries[depth - 1] == NO_ENTRY:
        node = int(scratch.path_nodes[depth - 1])
        own = tree.node_player[node] == parameters.searching_player
        action = int(frame.path[depth - 1])
        scratch.path_entries[depth - 1] = add_child_entry(hidden, frame, node, action, own)
