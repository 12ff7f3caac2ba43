"""Edges added to a node after its expansion, for actions legal in a later determinization.

A node's edges must be consecutive rows of the tree. So unless they are the last rows, they move to
the end; the rows they leave stay unused but count as used memory.
"""

from typing import Any

from rave_agents.compiler.arrays import EDGE
from rave_agents.compiler.dispatch import kernel
from rave_agents.kernel import codes
from rave_agents.kernel.hooks import copy_edge
from rave_agents.kernel.tree import UNEXPANDED, edge_rows


@kernel
def find_edges(moves: Any, search: Any, node: int) -> None:
    """Note the edge row of each of a node's actions."""
    tree = search.tree
    for edge in edge_rows(tree, node):
        moves.edge_of[tree.edge_action[edge]] = edge


@kernel
def is_edge(search: Any, node: int, action: int, edge: int) -> bool:
    """True if ``edge``, which may be any number, is the row of this action at the node."""
    tree = search.tree
    first = tree.node_first_edge[node]
    if edge < first or edge >= first + tree.node_edge_count[node]:
        return False
    # `edge_of` is not cleared between nodes, so a stale row may belong to another action.
    return bool(tree.edge_action[edge] == action)


@kernel
def add_missing(moves: Any, search: Any, node: int, missing: int) -> bool:
    """Add ``missing`` edges to a node, for the frame's actions that have none.

    Returns False without a change if there was no room; room for one more node's edges, which the
    simulation may still add, is kept free.
    """
    tree, frame = search.tree, search.frame
    old, count = int(tree.node_first_edge[node]), int(tree.node_edge_count[node])
    end = int(tree.used[EDGE])
    # In place if they are the last rows, else at the end of all rows.
    first = old if old + count == end else end
    new_end = first + count + missing
    reserve = frame.header[codes.ACTION_CAPACITY]
    if new_end + reserve > tree.capacity[EDGE]:
        frame.header[codes.REQUIRED_ACTIONS] = count + missing + reserve
        return False
    edge = first + count
    for index in range(frame.header[codes.NUM_ACTIONS]):
        action = frame.actions[index]
        if not is_edge(search, node, action, moves.edge_of[action]):
            tree.edge_action[edge] = action
            # Uniform over this determinization; the edges that exist keep their priors.
            tree.edge_prior[edge] = 1.0 / frame.header[codes.NUM_ACTIONS]
            tree.edge_child[edge] = UNEXPANDED
            edge += 1
    if first != old:
        for index in range(count):
            move_edge(moves, search, old + index, first + index)
        tree.node_first_edge[node] = first
    tree.node_edge_count[node] = count + missing
    tree.used[EDGE] = new_end
    return True


@kernel
def move_edge(moves: Any, search: Any, old: int, new: int) -> None:
    """Copy an edge's statistics into another row."""
    tree = search.tree
    tree.edge_action[new] = tree.edge_action[old]
    tree.edge_prior[new] = tree.edge_prior[old]
    tree.edge_child[new] = tree.edge_child[old]
    tree.edge_visits[new] = tree.edge_visits[old]
    tree.edge_value_sum[new] = tree.edge_value_sum[old]
    copy_edge(search.rule, old, new)
    copy_edge(search.amaf, old, new)
    moves.edge_available[new] = moves.edge_available[old]
    moves.edge_met[new] = moves.edge_met[old]
