"""Read access to nodes that the table of children finds: joint moves, information sets."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rave_agents.compiler.arrays import CHILD
from rave_agents.kernel.moves.alternating import followers
from rave_agents.kernel.moves.child_table import NO_ENTRY, Children
from rave_agents.kernel.tree import UNEXPANDED, Tree, edge_rows


class JointVisits(NamedTuple):
    """Statistics of a joint action of a position."""

    actions: tuple[int, ...]
    """The action of each player who moves there, in player order."""
    visits: int
    """Simulations that took it."""
    value_sums: tuple[float, ...]
    """Sums of every player's values in them, scaled to [0, 1]."""


def position_nodes(moves: Any, node: int) -> range:
    """The nodes of the position that begins with a node, one per player who moves."""
    return range(node, node + 1 + followers(moves, node))


def players_node(tree: Tree, moves: Any, node: int, player: int) -> int:
    """A player's node at the position that begins with a node; that node if there is none."""
    nodes = position_nodes(moves, node)
    return next((row for row in nodes if tree.node_player[row] == player), node)


def _lookup(tree: Tree, children: Children, edge: int, beside: int) -> int:
    """The entry of a key, or ``NO_ENTRY``."""
    used = tree.used[CHILD]
    # A linear search: reports are rare, and the hash table is only for compiled code.
    found = np.flatnonzero((children.edge[:used] == edge) & (children.beside[:used] == beside))
    return int(found[0]) if len(found) > 0 else NO_ENTRY


def find_known(tree: Tree, moves: Any, player: int, key: int) -> int:
    """The node of a player's information set, or ``UNEXPANDED``.

    Args:
        tree: the tree.
        moves: its information sets.
        player: the player to move.
        key: the key of what they know.
    """
    entry = _lookup(tree, moves.children, player, key)
    return UNEXPANDED if entry == NO_ENTRY else int(moves.children.child[entry])


def find_joint_child(tree: Tree, moves: Any, node: int, actions: Sequence[int]) -> int:
    """The child node of a joint action, or ``UNEXPANDED``."""
    edges = []
    for row, action in enumerate(actions, node):
        rows = edge_rows(tree, row)
        found = np.flatnonzero(tree.edge_action[rows.start : rows.stop] == action)
        if len(found) == 0:
            return UNEXPANDED
        edges.append(rows.start + int(found[0]))
    if len(edges) == 1:
        return int(tree.edge_child[edges[0]])
    beside, entry = edges[0], NO_ENTRY
    for edge in edges[1:]:
        entry = _lookup(tree, moves.children, edge, beside)
        if entry == NO_ENTRY:
            return UNEXPANDED
        # ``after_entry`` of the kernel: entries are stored as negative numbers.
        beside = -1 - entry
    return int(moves.children.child[entry])


def joint_visits(tree: Tree, moves: Any, node: int) -> list[JointVisits]:
    """Every visited joint action of a position; empty if one player moves alone."""
    nodes = position_nodes(moves, node)
    if len(nodes) == 1:
        return []
    children = moves.children
    count = int(tree.used[CHILD])
    sums = moves.entry_value_sum.reshape(len(children.edge), -1)
    edges = edge_rows(tree, nodes[-1])
    last = np.flatnonzero(
        (children.edge[:count] >= edges.start) & (children.edge[:count] < edges.stop)
    )
    joint = []
    for entry in last.tolist():
        taken, beside = [int(children.edge[entry])], int(children.beside[entry])
        # Follow the chain of entries back to the first player's edge.
        while beside < 0:
            taken.append(int(children.edge[-1 - beside]))
            beside = int(children.beside[-1 - beside])
        taken.append(beside)
        actions = tuple(int(tree.edge_action[edge]) for edge in reversed(taken))
        joint.append(JointVisits(actions, int(children.visits[entry]), tuple(sums[entry].tolist())))
    return sorted(joint)
