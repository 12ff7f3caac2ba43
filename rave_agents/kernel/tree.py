"""The search tree as a struct of arrays.

Nodes and edges are rows. The edges of a node are consecutive rows, in the order in which the game
lists its actions. An edge holds the statistics of its action; it has a child node once that was
expanded. There are no parent links: the loop keeps its path.
"""

from typing import Annotated, NamedTuple

import numpy as np

from rave_agents.compiler.arrays import EDGE, FLOAT, INT, NODE, Array, Axis, Kept, Rows, one
from rave_agents.compiler.dispatch import kernel

ROOT = 0
"""The node row of the root."""

UNEXPANDED = -1
"""Sentinel: an edge without a child node."""


class Tree(NamedTuple):
    """The nodes and edges.

    Every value is that of the player who moves at the edge's node, scaled to [0, 1]; at a chance
    node, that of the last player who moved before it.
    """

    used: Annotated[Array, one(INT, 4, kept=Kept.ALWAYS)]
    """[4] rows in use: nodes, edges, AMAF tables, entries of the table of children."""
    capacity: Annotated[Array, one(INT, 4, kept=Kept.ALWAYS)]
    """[4] rows that fit into the arrays of each kind."""

    node_player: Annotated[Array, Rows(Axis.NODE, np.int8)]
    """The player who moves, ``PlayerId.CHANCE`` or ``PlayerId.TERMINAL``."""
    node_first_edge: Annotated[Array, Rows(Axis.NODE, np.int32)]
    """Row of the node's first edge."""
    node_edge_count: Annotated[Array, Rows(Axis.NODE, np.int32)]
    """Number of the node's edges; 0 at a terminal node."""
    node_visits: Annotated[Array, Rows(Axis.NODE, np.int32)]
    """Simulations through the position, including those before it had a node."""

    edge_action: Annotated[Array, Rows(Axis.EDGE, np.int32)]
    """The action, or the chance outcome."""
    edge_child: Annotated[Array, Rows(Axis.EDGE, np.int32, points_to=Axis.NODE)]
    """Row of the child node, or ``UNEXPANDED``."""
    edge_visits: Annotated[Array, Rows(Axis.EDGE, np.int32)]
    """Simulations that took this edge."""
    edge_prior: Annotated[Array, Rows(Axis.EDGE, np.float32)]
    """Prior probability of the action; at a chance node the probability of the outcome."""
    edge_value_sum: Annotated[Array, Rows(Axis.EDGE, FLOAT)]
    """Sum of the values of those simulations."""


@kernel
def edge_rows(tree: Tree, node: int) -> range:
    """The rows of a node's edges."""
    first = int(tree.node_first_edge[node])
    return range(first, first + int(tree.node_edge_count[node]))


@kernel
def add_node(tree: Tree, player: int, visits: int, edges: int) -> int:
    """Add a node with ``edges`` new edges, whose actions and priors are still to be set.

    Returns its row. The tree must have room.
    """
    node, first = tree.used[NODE], tree.used[EDGE]
    tree.used[NODE] += 1
    tree.used[EDGE] += edges
    tree.node_player[node] = player
    tree.node_first_edge[node] = first
    tree.node_edge_count[node] = edges
    tree.node_visits[node] = visits
    for edge in edge_rows(tree, node):
        tree.edge_child[edge] = UNEXPANDED
    return int(node)
