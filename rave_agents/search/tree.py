"""The search tree as a struct of arrays.

Nodes and edges are rows. The edges of a node are consecutive rows, in the order in which the game
lists its actions. An edge holds the statistics of taking its action at its node; it leads to a
child node once that child has been expanded. There are no parent links: the loop remembers its way.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.search.compiler import kernel

ROOT = 0
"""The node row of the root."""

UNEXPANDED = -1
"""The child of an edge whose child has no node yet."""

NO_EDGE = -1
"""The row of an edge that does not exist."""

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
    edge_square_sum: NDArray[np.float64]
    """[Ec] sum of the squares of the values; empty unless UCB1-Tuned needs it."""
    edge_amaf_visits: NDArray[np.float64]
    """[Ec] AMAF visits; the array is empty where no AMAF statistics are kept."""
    edge_amaf_value_sum: NDArray[np.float64]
    """[Ec] sum of the values of the AMAF visits; empty likewise."""
    edge_amaf_wins: NDArray[np.float32]
    """[Ec] those AMAF visits that were won; empty unless winning moves are counted here."""
    edge_amaf_win_moves: NDArray[np.float32]
    """[Ec] sum of the move's numbers over them; empty likewise."""


_NODE_FIELDS = tuple(name for name in Tree._fields if name.startswith("node_"))
_EDGE_FIELDS = tuple(name for name in Tree._fields if name.startswith("edge_"))
_AMAF_FIELDS = ("edge_amaf_visits", "edge_amaf_value_sum")
_SQUARE_FIELDS = ("edge_square_sum",)
_WIN_FIELDS = ("edge_amaf_wins", "edge_amaf_win_moves")

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
    "edge_square_sum": np.float64,
    "edge_amaf_visits": np.float64,
    "edge_amaf_value_sum": np.float64,
    "edge_amaf_wins": np.float32,
    "edge_amaf_win_moves": np.float32,
}

NODE_BYTES = sum(np.dtype(_DTYPES[name]).itemsize for name in _NODE_FIELDS)


def _edge_fields(amaf: bool, winning_moves: bool, squares: bool) -> list[str]:
    """The fields of edges that are not empty."""
    left_out = (() if amaf else _AMAF_FIELDS) + (() if winning_moves else _WIN_FIELDS)
    left_out += () if squares else _SQUARE_FIELDS
    return [name for name in _EDGE_FIELDS if name not in left_out]


def edge_bytes(amaf: bool, winning_moves: bool = False, squares: bool = False) -> int:
    """Bytes that an edge takes, with or without AMAF statistics, winning moves, squared values."""
    fields = _edge_fields(amaf, winning_moves, squares)
    return sum(np.dtype(_DTYPES[name]).itemsize for name in fields)


def allocate(
    nodes: int, edges: int, amaf: bool, winning_moves: bool = False, squares: bool = False
) -> Tree:
    """An empty tree with room for so many nodes and edges."""
    arrays = {name: np.empty(nodes, _DTYPES[name]) for name in _NODE_FIELDS}
    kept = _edge_fields(amaf, winning_moves, squares)
    for name in _EDGE_FIELDS:
        arrays[name] = np.empty(edges if name in kept else 0, _DTYPES[name])
    return Tree(used=np.zeros(2, np.int64), **arrays)


def has_amaf(tree: Tree) -> bool:
    """Whether the tree keeps AMAF statistics at its edges."""
    return len(tree.edge_amaf_visits) > 0


def has_winning_moves(tree: Tree) -> bool:
    """Whether the tree counts winning moves at its edges."""
    return len(tree.edge_amaf_wins) > 0


def memory_bytes(tree: Tree) -> int:
    """Bytes of all arrays, used rows and free ones."""
    return sum(array.nbytes for array in tree)


def grow(tree: Tree, nodes: int, edges: int) -> None:
    """Make room for so many nodes and edges, in place.

    The arrays are reallocated one by one, so that there are never two trees in memory: slices of
    them taken before must not be used any more. The loop asks the first array of nodes and of edges
    for the room there is, so that one is never longer than the others, even if this is interrupted.
    """
    squares = len(tree.edge_square_sum) > 0
    edge_fields = _edge_fields(has_amaf(tree), has_winning_moves(tree), squares)
    for names, rows in ((_NODE_FIELDS, nodes), (edge_fields, edges)):
        arrays = [getattr(tree, name) for name in names]
        for array in arrays if rows < len(arrays[0]) else reversed(arrays):
            array.resize(rows, refcheck=False)


def edge_rows(tree: Tree, node: int) -> range:
    """The rows of a node's edges."""
    first = int(tree.node_first_edge[node])
    return range(first, first + int(tree.node_edge_count[node]))


def edge_nodes(tree: Tree) -> NDArray[np.int64]:
    """[edges in use] the node of every edge."""
    nodes = int(tree.used[NODES_USED])
    return np.repeat(np.arange(nodes), tree.node_edge_count[:nodes])


def find_edge(tree: Tree, node: int, action: int) -> int:
    """The row of a node's edge of this action, or ``NO_EDGE``."""
    for edge in edge_rows(tree, node):
        if tree.edge_action[edge] == action:
            return edge
    return NO_EDGE


def find_child(tree: Tree, node: int, action: int) -> int:
    """The row of the node that ``action`` leads to, or ``UNEXPANDED``."""
    edge = find_edge(tree, node, action)
    return UNEXPANDED if edge == NO_EDGE else int(tree.edge_child[edge])


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
    if tree.edge_square_sum.shape[0] > 0:
        for edge in range(first, first + edges):
            tree.edge_square_sum[edge] = 0.0
    if tree.edge_amaf_visits.shape[0] > 0:
        for edge in range(first, first + edges):
            tree.edge_amaf_visits[edge] = 0.0
            tree.edge_amaf_value_sum[edge] = 0.0
    if tree.edge_amaf_wins.shape[0] > 0:
        for edge in range(first, first + edges):
            tree.edge_amaf_wins[edge] = 0.0
            tree.edge_amaf_win_moves[edge] = 0.0
    return node


def keep_subtree(
    tree: Tree, root: int, links: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Make the node ``root`` the root and drop all that is not below it, in place.

    Args:
        tree: the tree; it changes.
        root: the row of the node.
        links: [L, 2] pairs of a node and one that follows it, beside those of ``edge_child``; None
            where there are no others.

    Returns:
        For each node its new row, and for each edge, or ``UNEXPANDED`` where it was dropped.
    """
    nodes, edges = (int(count) for count in tree.used)
    edge_node = edge_nodes(tree)
    child = tree.edge_child[:edges]
    expanded = child != UNEXPANDED
    ancestor = np.arange(nodes)
    ancestor[child[expanded]] = edge_node[expanded]
    if links is not None:
        ancestor[links[:, 1]] = links[:, 0]
    kept = np.arange(nodes) == root
    while True:  # An ancestor's ancestor is twice as far, so that few rounds do.
        more = kept | kept[ancestor]
        if np.array_equal(more, kept):
            break
        kept, ancestor = more, ancestor[ancestor]
    new_rows = np.where(kept, np.cumsum(kept) - 1, UNEXPANDED)
    tree.edge_child[:edges][expanded] = new_rows[child[expanded]]
    kept_edges = kept[edge_node]
    for names, rows in ((_NODE_FIELDS, kept), (_EDGE_FIELDS, kept_edges)):
        for array in (getattr(tree, name) for name in names):
            if len(array) > 0:
                array[: np.count_nonzero(rows)] = array[: len(rows)][rows]
    tree.used[:] = np.count_nonzero(kept), np.count_nonzero(kept_edges)
    counts = tree.node_edge_count[: tree.used[NODES_USED]]
    tree.node_first_edge[: len(counts)] = np.cumsum(counts) - counts
    return new_rows, np.where(kept_edges, np.cumsum(kept_edges) - 1, UNEXPANDED)
