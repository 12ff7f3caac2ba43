"""Edges added to a node after its expansion, for actions that are legal in a later determinization.

The edges of a node are consecutive rows of the tree. So the node's edges move behind all others,
unless they are the last ones; the rows that they leave stay unused, and count as used memory.
"""

from typing import Any

from rave_agents.compiler.arrays import EDGE
from rave_agents.compiler.dispatch import kernel
from rave_agents.kernel import codes
from rave_agents.kernel.hooks import copy_edge
from rave_agents.kernel.tree import UNEXPANDED, edge_rows


@kernel
def find_edges(moves: Any, search: Any, node: int) -> None:
    """Note for each action of a node where its edge is."""
    tree = search.tree
    for edge in edge_rows(tree, node):
        moves.edge_of[tree.edge_action[edge]] = edge


@kernel
def is_edge(search: Any, node: int, action: int, edge: int) -> bool:
    """True if an edge, which may be any number, is that of a node's action."""
    tree = search.tree
    first = tree.node_first_edge[node]
    if edge < first or edge >= first + tree.node_edge_count[node]:
        return False
    return bool(tree.edge_action[edge] == action)


@kernel
def add_missing(moves: Any, search: Any, node: int, missing: int) -> bool:
    """Give a node ``missing`` edges, for those of the frame's actions that have none.

    Returns whether there was room, beside that for the edges of one more node, which the simulation
    may go on to add.
    """
    tree, frame = search.tree, search.frame
    old, count = int(tree.node_first_edge[node]), int(tree.node_edge_count[node])
    end = int(tree.used[EDGE])
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
