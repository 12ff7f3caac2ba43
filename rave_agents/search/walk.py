"""The walk from the root along the most urgent edges, to where no node is or nothing is left."""

from rave_agents.game import PlayerId
from rave_agents.search.amaf import NO_TABLE, AmafTables
from rave_agents.search.backup import HIGH, LOW, Scratch
from rave_agents.search.children import NO_ENTRY, find_entry
from rave_agents.search.compiler import kernel
from rave_agents.search.hidden import (
    Hidden,
    entry_of,
    hidden_child_and_visits,
    meet_actions,
    some_available,
)
from rave_agents.search.parameters import Parameters, Strategy
from rave_agents.search.proofs import UNSOLVED, Proofs
from rave_agents.search.random_stream import Stream
from rave_agents.search.selection import NO_EDGE, sample_outcome, select_edge
from rave_agents.search.simulator import Frame, Header, Status, Step, call_simulate, header_address
from rave_agents.search.simultaneous import ALONE, Simultaneous, after_entry
from rave_agents.search.strategies import draw_edge
from rave_agents.search.tree import NODES_USED, ROOT, UNEXPANDED, Tree

DONE = int(Status.DONE)
FRAME_FULL = int(Status.FRAME_FULL)
NO_SCORE = int(Status.NO_SCORE)
CHANCE = int(PlayerId.CHANCE)
TERMINAL = int(PlayerId.TERMINAL)
NO_STRATEGY = int(Strategy.NONE)

PATH_LENGTH = int(Header.PATH_LENGTH)
PATH_CAPACITY = int(Header.PATH_CAPACITY)
STEP = int(Header.STEP)
BEGIN = int(Step.BEGIN)
ADVANCE = int(Step.ADVANCE)
FINISH = int(Step.FINISH)

NO_ROOM = -1
"""In place of a path's length where it does not fit into the frame."""

NO_LENGTH = -2
"""In place of a path's length where a formula of the user's own raises or gives no score."""


@kernel
def select(
    tree: Tree,
    tables: AmafTables,
    proofs: Proofs | None,
    simultaneous: Simultaneous | None,
    frame: Frame,
    scratch: Scratch,
    parameters: Parameters,
    tree_stream: Stream,
) -> int:
    """Walk from the root to an edge without a node behind it, or to a terminal or solved node.

    Where players move at the same time, an edge is taken at the node of each.
    Returns the number of edges taken, or ``NO_ROOM`` if the path does not fit into the frame, or
    ``NO_LENGTH`` if a formula of the user's own raises or gives no score.
    """
    node = int(ROOT)
    position = node
    depth = 0
    table = int(NO_TABLE)
    least, greatest = scratch.utility_range[LOW], scratch.utility_range[HIGH]
    while True:
        if depth == frame.header[PATH_CAPACITY]:
            frame.header[PATH_LENGTH] = depth
            return NO_ROOM
        table = nearest_table(tables, parameters, node, table)
        player = tree.node_player[node]
        if player == CHANCE:
            edge = sample_outcome(tree, node, tree_stream)
        elif (
            simultaneous is not None
            and parameters.strategy != NO_STRATEGY
            and (node != position or simultaneous.node_followers[node] > 0)
        ):
            edge = draw_edge(tree, simultaneous, node, parameters, tree_stream)
        else:
            scratch.selections[0] += 1
            c = parameters.exploration
            if simultaneous is not None and (
                node != position or simultaneous.node_followers[node] > 0
            ):
                c = parameters.simultaneous_exploration
            edge = select_edge(
                tree,
                tables,
                proofs,
                None,
                node,
                table,
                heeds_amaf(parameters, player, scratch.selections[0]),
                c,
                least,
                greatest,
                parameters,
                tree_stream,
            )
            if edge == NO_EDGE or scratch.formula_failure[0] != 0.0:
                return NO_LENGTH
        scratch.path_nodes[depth] = node
        scratch.path_edges[depth] = edge
        frame.path[depth] = tree.edge_action[edge]
        frame.path_nodes[depth] = position
        depth += 1
        if simultaneous is not None:
            scratch.path_entries[depth - 1] = joint_entry(
                simultaneous, scratch, depth - 1, node != position
            )
            if simultaneous.node_followers[node] > 0:
                node += 1
                scratch.path_nodes[depth] = node
                continue
        node, _ = child_and_visits(tree, simultaneous, None, scratch, depth)
        if node == UNEXPANDED:
            return depth
        position = node
        scratch.path_nodes[depth] = node
        if tree.node_player[node] == TERMINAL:
            return depth
        if proofs is not None and is_solved(proofs, parameters, node):
            return depth


@kernel
def select_in_world(
    tree: Tree,
    tables: AmafTables,
    hidden: Hidden,
    frame: Frame,
    scratch: Scratch,
    parameters: Parameters,
    tree_stream: Stream,
    simulate_address: int,
    may_expand: bool,
) -> int:
    """Draw a world, and walk in it from the root to a position without a node, or to the end.

    The header's PATH_LENGTH tells how many edges were taken, and the provider stands at the
    position that they lead to. Returns a ``Status``.
    """
    header = frame.header
    header[PATH_LENGTH] = 0
    header[STEP] = BEGIN
    hidden.number[0] += 1
    hidden.nodes_met[0] = 0
    status = call_simulate(simulate_address, header_address(frame))
    header[STEP] = FINISH
    if status != DONE or tree.used[NODES_USED] == 0:
        return status
    node = int(ROOT)
    depth = 0
    table = int(NO_TABLE)
    least, greatest = scratch.utility_range[LOW], scratch.utility_range[HIGH]
    scratch.path_nodes[0] = node
    while tree.node_player[node] != TERMINAL:
        if depth == header[PATH_CAPACITY]:
            return FRAME_FULL
        status = meet_actions(tree, hidden, frame, scratch.record.edge_of, node, may_expand)
        if status != DONE:
            return status
        if not some_available(tree, hidden, node):
            break  # Only where nothing may be added any more.
        table = nearest_table(tables, parameters, node, table)
        player = tree.node_player[node]
        scratch.selections[0] += 1
        edge = select_edge(
            tree,
            tables,
            None,
            hidden,
            node,
            table,
            heeds_amaf(parameters, player, scratch.selections[0]),
            parameters.exploration,
            least,
            greatest,
            parameters,
            tree_stream,
        )
        if edge == NO_EDGE or scratch.formula_failure[0] != 0.0:
            return NO_SCORE
        action = int(tree.edge_action[edge])
        scratch.path_edges[depth] = edge
        frame.path[depth] = action
        frame.path_nodes[depth] = node
        depth += 1
        header[PATH_LENGTH] = depth
        header[STEP] = ADVANCE
        status = call_simulate(simulate_address, header_address(frame))
        header[STEP] = FINISH
        if status != DONE:
            return status
        entry = entry_of(hidden, frame, node, action, player == parameters.searching_player)
        scratch.path_entries[depth - 1] = entry
        node, _ = hidden_child_and_visits(hidden, entry)
        if node == UNEXPANDED:
            break
        scratch.path_nodes[depth] = node
    return DONE


@kernel
def child_and_visits(
    tree: Tree,
    simultaneous: Simultaneous | None,
    hidden: Hidden | None,
    scratch: Scratch,
    depth: int,
) -> tuple[int, int]:
    """What the path's edges lead to: the node, or ``UNEXPANDED``, and how often it was reached."""
    if hidden is not None:
        return hidden_child_and_visits(hidden, scratch.path_entries[depth - 1])
    if simultaneous is not None:
        entry = scratch.path_entries[depth - 1]
        if entry == NO_ENTRY:
            return UNEXPANDED, 0
        if entry != ALONE:
            children = simultaneous.children
            return int(children.child[entry]), int(children.visits[entry])
    edge = scratch.path_edges[depth - 1]
    return int(tree.edge_child[edge]), int(tree.edge_visits[edge])


@kernel
def joint_entry(simultaneous: Simultaneous, scratch: Scratch, index: int, joint: bool) -> int:
    """The entry that the path's edge at ``index`` leads to, ``ALONE`` if it is no joint one."""
    if not joint:
        return ALONE
    before = scratch.path_entries[index - 1]
    if before == NO_ENTRY:
        return NO_ENTRY
    beside = scratch.path_edges[index - 1] if before == ALONE else after_entry(before)
    return find_entry(simultaneous.children, scratch.path_edges[index], beside)


@kernel
def nearest_table(tables: AmafTables, parameters: Parameters, node: int, table: int) -> int:
    """The reference at a node: its own table, if it has seen enough, or the one from above.

    Without tables there is none.
    """
    if not parameters.tables:
        return table
    own = int(tables.node_table[node])
    if own != NO_TABLE and (table == NO_TABLE or tables.playouts[own] > parameters.grave_ref):
        return own
    return table


@kernel
def heeds_amaf(parameters: Parameters, player: int, selections: int) -> bool:
    """Whether a player's choice heeds AMAF, the so manieth selection of the search."""
    period = parameters.plain_selection_period
    if parameters.only_own_amaf and player != parameters.searching_player:
        return False
    return bool(parameters.amaf and (period == 0 or selections % period != 0))


@kernel
def is_solved(proofs: Proofs, parameters: Parameters, node: int) -> bool:
    """Whether the outcome of a node is known to the solver."""
    return bool(parameters.solver and proofs.distance[node] != UNSOLVED)
