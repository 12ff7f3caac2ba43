"""The search tree as a struct of arrays.

Nodes and edges are rows. The edges of a node are consecutive rows, in the order in which the game
lists its actions. An edge holds the statistics of taking its action at its node; it leads to a
child node once that child has been expanded. There are no parent links: the loop remembers its way.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.search.compiler import kernel, kernel_entry

ROOT = 0
"""The node row of the root."""

UNEXPANDED = -1
"""The child of an edge whose child has no node yet."""

NODES_USED = 0
EDGES_USED = 1


class Tree(NamedTuple):
    """The arrays of a tree with room for Nc nodes and Ec edges.

    Every value is that of the player who moves at the edge's node, scaled to [0, 1]; at a chance
    node, that of the last player who moved before it.
    """

    used: NDArray[np.int64]
    """[2] rows in use: of nodes at ``NODES_USED``, of edges at ``EDGES_USED``."""

    node_player: NDArray[np.int8]
    """[Nc] who moves: a player, ``PlayerId.CHANCE`` or ``PlayerId.TERMINAL``."""
    node_first_edge: NDArray[np.int32]
    """[Nc] row of the node's first edge."""
    node_edge_count: NDArray[np.int32]
    """[Nc] number of the node's edges; 0 at a terminal node."""
    node_visits: NDArray[np.int32]
    """[Nc] simulations through the position, those before it had a node included."""

    edge_action: NDArray[np.int32]
    """[Ec] the action, or the chance outcome."""
    edge_child: NDArray[np.int32]
    """[Ec] row of the child node, or ``UNEXPANDED``."""
    edge_visits: NDArray[np.int32]
    """[Ec] simulations that took this edge."""
    edge_prior: NDArray[np.float32]
    """[Ec] prior probability of the action; at a chance node the probability of the outcome."""
    edge_value_sum: NDArray[np.float64]
    """[Ec] sum of the values of those simulations."""
    edge_amaf_visits: NDArray[np.float64]
    """[Ec] AMAF visits; the array is empty where no AMAF statistics are kept."""
    edge_amaf_value_sum: NDArray[np.float64]
    """[Ec] sum of the values of the AMAF visits; empty likewise."""


_NODE_FIELDS = tuple(name for name in Tree._fields if name.startswith("node_"))
_EDGE_FIELDS = tuple(name for name in Tree._fields if name.startswith("edge_"))
_AMAF_FIELDS = ("edge_amaf_visits", "edge_amaf_value_sum")

_DTYPES = {
    "node_player": np.int8,
    "node_first_edge": np.int32,
    "node_edge_count": np.int32,
    "node_visits": np.int32,
    "edge_action": np.int32,
    "edge_child": np.int32,
    "edge_visits": np.int32,
    "edge_prior": np.float32,
    "edge_value_sum": np.float64,
    "edge_amaf_visits": np.float64,
    "edge_amaf_value_sum": np.float64,
}

NODE_BYTES = sum(np.dtype(_DTYPES[name]).itemsize for name in _NODE_FIELDS)


def edge_bytes(amaf: bool) -> int:
    """Bytes that an edge takes, with or without AMAF statistics."""
    fields = _EDGE_FIELDS if amaf else [name for name in _EDGE_FIELDS if name not in _AMAF_FIELDS]
    return sum(np.dtype(_DTYPES[name]).itemsize for name in fields)


def allocate(nodes: int, edges: int, amaf: bool) -> Tree:
    """An empty tree with room for so many nodes and edges."""
    arrays = {name: np.empty(nodes, _DTYPES[name]) for name in _NODE_FIELDS}
    for name in _EDGE_FIELDS:
        arrays[name] = np.empty(edges if amaf or name not in _AMAF_FIELDS else 0, _DTYPES[name])
    return Tree(used=np.zeros(2, np.int64), **arrays)


def has_amaf(tree: Tree) -> bool:
    """Whether the tree keeps AMAF statistics."""
    return len(tree.edge_amaf_visits) > 0


def memory_bytes(tree: Tree) -> int:
    """Bytes of all arrays, used rows and free ones."""
    return sum(array.nbytes for array in tree)


def grow(tree: Tree, nodes: int, edges: int) -> None:
    """Make room for so many nodes and edges, in place.

    The arrays are reallocated one by one, so that there are never two trees in memory: slices of
    them taken before must not be used any more. The loop asks the first array of nodes and of edges
    for the room there is, so that one is never longer than the others, even if this is interrupted.
    """
    amaf = has_amaf(tree)
    for names, rows in ((_NODE_FIELDS, nodes), (_EDGE_FIELDS, edges)):
        arrays = [getattr(tree, name) for name in names if amaf or name not in _AMAF_FIELDS]
        for array in arrays if rows < len(arrays[0]) else reversed(arrays):
            array.resize(rows, refcheck=False)


def edge_rows(tree: Tree, node: int) -> range:
    """The rows of a node's edges."""
    first = int(tree.node_first_edge[node])
    return range(first, first + int(tree.node_edge_count[node]))


def find_child(tree: Tree, node: int, action: int) -> int:
    """The row of the node that ``action`` leads to, or ``UNEXPANDED``."""
    for edge in edge_rows(tree, node):
        if tree.edge_action[edge] == action:
            return int(tree.edge_child[edge])
    return UNEXPANDED


@kernel
def add_node(tree: Tree, player: int, visits: int, edges: int) -> int:
    """A new node with so many new edges, whose actions and priors are still to be set.

    Returns its row. The tree must have room.
    """
    node = tree.used[NODES_USED]
    first = tree.used[EDGES_USED]
    tree.used[NODES_USED] += 1
    tree.used[EDGES_USED] += edges
    tree.node_player[node] = player
    tree.node_first_edge[node] = first
    tree.node_edge_count[node] = edges
    tree.node_visits[node] = visits
    for edge in range(first, first + edges):
        tree.edge_child[edge] = UNEXPANDED
        tree.edge_visits[edge] = 0
        tree.edge_value_sum[edge] = 0.0
    if tree.edge_amaf_visits.shape[0] > 0:
        for edge in range(first, first + edges):
            tree.edge_amaf_visits[edge] = 0.0
            tree.edge_amaf_value_sum[edge] = 0.0
    return node


@kernel_entry
def keep_subtree(tree: Tree, root: int, new_rows: NDArray[np.int64]) -> None:
    """Make the node ``root`` the root and drop all that is not below it, in place.

    A child's row always comes after its parent's, and so do its edges: one pass finds what is
    below ``root``, a second moves each row to the front.

    Args:
        tree: the tree; it changes.
        root: row of the new root.
        new_rows: [nodes in use] room for the loop.
    """
    kept = UNEXPANDED - 1
    new_rows[:] = UNEXPANDED
    new_rows[root] = kept
    nodes = 0
    for node in range(root, tree.used[NODES_USED]):
        if new_rows[node] == kept:
            new_rows[node] = nodes
            nodes += 1
            first = tree.node_first_edge[node]
            for edge in range(first, first + tree.node_edge_count[node]):
                if tree.edge_child[edge] != UNEXPANDED:
                    new_rows[tree.edge_child[edge]] = kept
    edges = 0
    for node in range(root, tree.used[NODES_USED]):
        row = new_rows[node]
        if row == UNEXPANDED:
            continue
        first = tree.node_first_edge[node]
        count = tree.node_edge_count[node]
        tree.node_player[row] = tree.node_player[node]
        tree.node_first_edge[row] = edges
        tree.node_edge_count[row] = count
        tree.node_visits[row] = tree.node_visits[node]
        for edge in range(first, first + count):
            move_edge(tree, edge, edges)
            child = tree.edge_child[edges]
            tree.edge_child[edges] = UNEXPANDED if child == UNEXPANDED else new_rows[child]
            edges += 1
    tree.used[NODES_USED] = nodes
    tree.used[EDGES_USED] = edges


@kernel
def move_edge(tree: Tree, source: int, target: int) -> None:
    """Copy one edge over another."""
    tree.edge_action[target] = tree.edge_action[source]
    tree.edge_child[target] = tree.edge_child[source]
    tree.edge_visits[target] = tree.edge_visits[source]
    tree.edge_prior[target] = tree.edge_prior[source]
    tree.edge_value_sum[target] = tree.edge_value_sum[source]
    if tree.edge_amaf_visits.shape[0] > 0:
        tree.edge_amaf_visits[target] = tree.edge_amaf_visits[source]
        tree.edge_amaf_value_sum[target] = tree.edge_amaf_value_sum[source]
