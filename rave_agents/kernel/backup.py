"""Backup: the values of a simulation go to the nodes and edges of its path.

This is the one place where perspective is flipped: each edge gets the value of the player who moves
at its node. What an edge is worth by its statistics is ``edge_value``: the mean of its simulations,
or what a part of another kind makes of them, see ``values/node_values.py``.
"""

from typing import Any, NamedTuple

import numpy as np

from rave_agents.compiler.arrays import EDGE
from rave_agents.compiler.dispatch import implements, kernel, open_function, python_function
from rave_agents.kernel import codes
from rave_agents.kernel.hooks import (
    count_value,
    give_better_known,
    on_backup,
    on_rescale,
    share_value,
)
from rave_agents.kernel.search import Search
from rave_agents.kernel.utilities import observe, rescale_sums, set_values


class MeanBackup(NamedTuple):
    """An edge is worth the mean of its simulations."""


@open_function
def edge_value(backup: Any, search: Any, node: int, edge: int) -> float:
    """The value of a visited edge for the player who moves at its node, in [0, 1]."""
    return float(search.tree.edge_value_sum[edge]) / float(search.tree.edge_visits[edge])


@open_function
def edge_sum(backup: Any, search: Any, node: int, edge: int) -> float:
    """``edge_value`` times the edge's visits; 0 without any."""
    n = float(search.tree.edge_visits[edge])
    return n * edge_value(backup, search, node, edge) if n > 0.0 else 0.0


@implements(edge_sum, MeanBackup)
def _plain_sum(backup: MeanBackup, search: Any, node: int, edge: int) -> float:
    return float(search.tree.edge_value_sum[edge])


@python_function
def edge_sums(backup: Any, search: Any, node: int, edges: range) -> Any:
    """``edge_sum`` of a node's edges, as an array."""
    return np.array([edge_sum(backup, search, node, edge) for edge in edges])


@implements(edge_sums, MeanBackup)
def _plain_sums(backup: MeanBackup, search: Any, node: int, edges: range) -> Any:
    return search.tree.edge_value_sum[edges.start : edges.stop]


@kernel
def back_up(search: Search, depth: int, nodes: int) -> None:
    """Count a simulation in all statistics of its path of ``depth`` edges and its leaf's nodes."""
    changed, factor, shift = observe(search.utilities, search)
    tree, path = search.tree, search.path
    if changed:
        on_rescale(search.rule, search, factor, shift)
        rescale_sums(tree.edge_value_sum, tree.edge_visits, tree.used[EDGE], factor, shift)
        on_rescale(search.amaf, search, factor, shift)
        on_rescale(search.moves, search, factor, shift)
        on_rescale(search.backup, search, factor, shift)
    find_movers(search, depth)
    on_backup(search.lifetimes, search, depth, nodes)
    on_backup(search.playouts, search, depth, nodes)
    on_backup(search.amaf, search, depth, nodes)
    set_values(search, 0, search.frame.header[codes.NUM_PLAYOUTS])
    on_backup(search.moves, search, depth, nodes)
    on_backup(search.rule, search, depth, nodes)
    for index in range(depth - 1, -1, -1):
        node, edge = path.nodes[index], path.edges[index]
        value = path.values[path.movers[index]]
        tree.node_visits[node] += 1
        tree.edge_visits[edge] += 1
        tree.edge_value_sum[edge] += value
        count_value(search.rule, edge, value)
        share_value(search.moves, search, index, depth + nodes)
        give_better_known(search.proofs, search, node, edge)
    for index in range(depth, depth + nodes):
        tree.node_visits[path.nodes[index]] += 1
    on_backup(search.judging, search, depth, nodes)
    on_backup(search.backup, search, depth, nodes)
    path.simulations[0] += 1


@kernel
def find_movers(search: Search, depth: int) -> None:
    """Find whose value each edge of the path holds.

    It is the node's player's, at a chance node that of the last player before it, and of player 0
    if there is none.
    """
    mover = 0
    for index in range(depth):
        player = int(search.tree.node_player[search.path.nodes[index]])
        if player >= 0:
            mover = player
        search.path.movers[index] = mover
