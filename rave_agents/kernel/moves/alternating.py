"""Alternating moves: the walk down the tree, and the leaf's node."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.arrays import NODE
from rave_agents.compiler.dispatch import implements, kernel, open_function, python_function
from rave_agents.kernel import codes, hooks
from rave_agents.kernel.amaf.views import NO_TABLE, reference
from rave_agents.kernel.hooks import is_solved
from rave_agents.kernel.players import CHANCE, TERMINAL
from rave_agents.kernel.selection import NO_EDGE, choose, sample_outcome
from rave_agents.kernel.tree import ROOT, UNEXPANDED, add_node

RowsOf = Callable[[NDArray[Any]], NDArray[Any]]
"""A function that maps rows to other rows."""


class Alternating(NamedTuple):
    """One player, or chance, moves at a time."""


@open_function
def take_edge(moves: Any, search: Any, node: int, depth: int, table: int) -> int:
    """The edge chosen at a node ``depth`` edges from the root, or ``NO_EDGE``."""
    return choose(search.rule, search, node, depth, table)


@open_function
def follow_edge(moves: Any, search: Any, depth: int) -> int:
    """The child of the last of the path's ``depth`` edges, or ``UNEXPANDED``."""
    node, _ = hooks.find_leaf(moves, search, depth)
    return node


@python_function
def followers(moves: Any, node: int) -> int:
    """Number of nodes of the same position that follow, with simultaneous moves."""
    return 0


@python_function
def entry_nodes(moves: Any, count: int, nodes_of: RowsOf) -> NDArray[Any]:
    """The parent node of each of the first ``count`` entries of the table of children.

    ``nodes_of`` maps edges to their nodes.
    """
    return np.zeros(0, np.int64)


@python_function
def has_several_parents(moves: Any) -> bool:
    """True if a node may have several incoming edges."""
    return False


@python_function
def linked_entries(moves: Any, count: int) -> NDArray[Any]:
    """The entry to which each of the first ``count`` rows of the table of children leads.

    For tables that also have rows for further links to an entry, from other nodes; the node from
    which a row leads is that of ``entry_nodes``.
    """
    return np.arange(count)


@python_function
def set_ancestors(moves: Any, tree: Any, ancestor: NDArray[np.int32]) -> None:
    """Write the ancestors of nodes that are reached neither by an edge nor by an entry."""


@python_function
def rename_entries(moves: Any, count: int, new: Any) -> None:
    """Rewrite the keys of the ``count`` entries that have stayed in the table of children.

    ``new`` has the new ``nodes``, ``edges`` and ``entries`` of the old ones, by which the keys name
    them.
    """


@implements(hooks.select, Alternating)
def walk(moves: Any, search: Any) -> int:
    """Follow the players' choices, and chance outcomes drawn by their probabilities."""
    tree, path, frame = search.tree, search.path, search.frame
    node, depth, table = ROOT, 0, NO_TABLE
    # The first simulation evaluates the root itself, which has no node yet.
    if tree.used[NODE] == 0:
        return codes.DONE
    while True:
        if depth == frame.header[codes.PATH_CAPACITY]:
            frame.header[codes.PATH_LENGTH] = depth
            return codes.FRAME_FULL
        # GRAVE: the nearest ancestor's table with enough playouts, updated on the way down.
        table = reference(search.amaf, search, node, table)
        if tree.node_player[node] == CHANCE:
            edge = sample_outcome(search, node)
        else:
            edge = take_edge(moves, search, node, depth, table)
            if edge == NO_EDGE:
                return codes.NO_SCORE
        path.nodes[depth] = node
        path.edges[depth] = edge
        frame.path[depth] = tree.edge_action[edge]
        frame.path_nodes[depth] = node
        depth += 1
        node = follow_edge(moves, search, depth)
        if node != UNEXPANDED:
            path.nodes[depth] = node
        if (
            node == UNEXPANDED
            or tree.node_player[node] == TERMINAL
            or is_solved(search.proofs, node)
        ):
            frame.header[codes.PATH_LENGTH] = depth
            return codes.DONE


@implements(hooks.find_leaf, Alternating)
def find_leaf(moves: Any, search: Any, depth: int) -> tuple[int, int]:
    """The child of the path's last edge."""
    if depth == 0:
        return UNEXPANDED, 0
    edge = search.path.edges[depth - 1]
    return int(search.tree.edge_child[edge]), int(search.tree.edge_visits[edge])


@implements(hooks.add_leaf, Alternating)
def add_leaf(moves: Any, search: Any, depth: int, visits: int) -> int:
    """Add the node described by the frame as child of the path's last edge."""
    header = search.frame.header
    leaf = add_described(search, header[codes.PLAYER], 0, header[codes.NUM_ACTIONS], visits)
    search.path.nodes[depth] = leaf
    if depth > 0:
        search.tree.edge_child[search.path.edges[depth - 1]] = leaf
    return 1


@kernel
def add_described(search: Any, player: int, start: int, end: int, visits: int) -> int:
    """Add a node with an edge for each of the frame's actions from ``start`` to before ``end``."""
    tree, frame = search.tree, search.frame
    count = end - start
    node = add_node(tree, player, visits, count)
    first = tree.node_first_edge[node]
    uniform = frame.header[codes.UNIFORM] != 0
    for index in range(count):
        tree.edge_action[first + index] = frame.actions[start + index]
        tree.edge_prior[first + index] = (
            1.0 / count if uniform else frame.probabilities[start + index]
        )
    return node
