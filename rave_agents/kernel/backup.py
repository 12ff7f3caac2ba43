"""Backup: the values of a simulation are added to the nodes and edges of its path.

This is the only place where the perspective flips: each edge gets the value of the player who moves
at its node. ``edge_value`` turns an edge's statistics into its value: the mean of its simulations,
or another backup's value, see ``values/node_values.py``.
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
    """The value of an edge is the mean of its simulations."""


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
    """Add a simulation to all statistics of its path of ``depth`` edges and its leaf's nodes."""
    changed, factor, shift = observe(search.utilities, search)
    tree, path = search.tree, search.path
    # The range of returns grew: bring all stored values to the new scale before adding any.
    if changed:
        # The rule first: it reads the tree's sums in the old scale (squares need sums and visits).
        on_rescale(search.rule, search, factor, shift)
        rescale_sums(tree.edge_value_sum, tree.edge_visits, tree.used[EDGE], factor, shift)
        on_rescale(search.amaf, search, factor, shift)
        on_rescale(search.moves, search, factor, shift)
        on_rescale(search.backup, search, factor, shift)
    # Movers first: AMAF and the loop below index `path.values` by them.
    find_movers(search, depth)
    on_backup(search.lifetimes, search, depth, nodes)
    on_backup(search.playouts, search, depth, nodes)
    on_backup(search.amaf, search, depth, nodes)
    # The AMAF part left the values of the last playout; from here on use the mean of all.
    set_values(search, 0, search.frame.header[codes.NUM_PLAYOUTS])
    on_backup(search.moves, search, depth, nodes)
    on_backup(search.rule, search, depth, nodes)
    # From the leaf to the root: `share_value` and `give_better_known` may replace `path.values` for
    # the edges above.
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
    # Judgements and node values last: they read the visits and proofs updated above.
    on_backup(search.judging, search, depth, nodes)
    on_backup(search.backup, search, depth, nodes)
    path.simulations[0] += 1


@kernel
def find_movers(search: Search, depth: int) -> None:
    """Find the player whose value each edge of the path holds.

    That is the player who moves at the node; at a chance node the last player before it, or player
    0 if there is none.
    """
    mover = 0
    for index in range(depth):
        player = int(search.tree.node_player[search.path.nodes[index]])
        if player >= 0:
            mover = player
        search.path.movers[index] = mover
