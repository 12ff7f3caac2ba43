"""Backup: what a simulation found out goes to the nodes and edges on its way.

This is the one place where perspective is flipped: each edge gets the value of the player who moves
at its node.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.search.compiler import kernel
from rave_agents.search.formulas import scaled
from rave_agents.search.simulator import Frame, Header
from rave_agents.search.tree import EDGES_USED, Tree

NUM_PLAYERS = int(Header.NUM_PLAYERS)
NUM_PLAYOUTS = int(Header.NUM_PLAYOUTS)

LOW = 0
HIGH = 1


class Scratch(NamedTuple):
    """What the loop needs beside the tree and the frame."""

    path_nodes: NDArray[np.int64]
    """[PATH_CAPACITY + 1] nodes of the simulation, from the root on."""
    path_edges: NDArray[np.int64]
    """[PATH_CAPACITY] edges taken at them."""
    path_movers: NDArray[np.int64]
    """[PATH_CAPACITY] whose value each edge holds."""
    values: NDArray[np.float64]
    """[NUM_PLAYERS] value of a playout, or of a simulation, for each player, in [0, 1]."""
    utility_range: NDArray[np.float64]
    """[2] the utilities that are 0 and 1 on that scale, at ``LOW`` and ``HIGH``; the range is empty
    (inf, -inf) until the first return is seen, if the game does not state it."""
    played: NDArray[np.int64]
    """[NUM_PLAYERS, actions] the number of the last playout in which the player took the action."""
    playout_number: NDArray[np.int64]
    """[1] how many playouts have been marked in ``played``."""
    simulations: NDArray[np.int64]
    """[1] simulations backed up."""


def make_scratch(
    frame: Frame, *, num_distinct_actions: int, utility_range: NDArray[np.float64]
) -> Scratch:
    """Buffers that go with a frame; ``utility_range`` is used as it is, not copied."""
    depth = int(frame.header[Header.PATH_CAPACITY])
    num_players = int(frame.header[NUM_PLAYERS])
    return Scratch(
        path_nodes=np.zeros(depth + 1, np.int64),
        path_edges=np.zeros(depth, np.int64),
        path_movers=np.zeros(depth, np.int64),
        values=np.zeros(num_players, np.float64),
        utility_range=utility_range,
        played=np.zeros((num_players, num_distinct_actions), np.int64),
        playout_number=np.zeros(1, np.int64),
        simulations=np.zeros(1, np.int64),
    )


@kernel
def observe_returns(tree: Tree, frame: Frame, scratch: Scratch) -> None:
    """Widen the utility range to hold all returns of the frame; rescale the tree if it moved."""
    low, high = scratch.utility_range[LOW], scratch.utility_range[HIGH]
    new_low, new_high = low, high
    for playout in range(frame.header[NUM_PLAYOUTS]):
        for player in range(frame.header[NUM_PLAYERS]):
            new_low = min(new_low, frame.returns[playout, player])
            new_high = max(new_high, frame.returns[playout, player])
    if new_low == low and new_high == high:
        return
    scratch.utility_range[LOW] = new_low
    scratch.utility_range[HIGH] = new_high
    if high < low:
        return
    width = new_high - new_low
    for edge in range(tree.used[EDGES_USED]):
        utilities = tree.edge_value_sum[edge] * (high - low) + tree.edge_visits[edge] * low
        tree.edge_value_sum[edge] = (utilities - tree.edge_visits[edge] * new_low) / width
        if tree.edge_amaf_visits.shape[0] > 0:
            visits = tree.edge_amaf_visits[edge]
            utilities = tree.edge_amaf_value_sum[edge] * (high - low) + visits * low
            tree.edge_amaf_value_sum[edge] = (utilities - visits * new_low) / width


@kernel
def set_values(frame: Frame, scratch: Scratch, first: int, end: int) -> None:
    """The mean values of the playouts from ``first`` to before ``end``, for each player."""
    low, high = scratch.utility_range[LOW], scratch.utility_range[HIGH]
    for player in range(frame.header[NUM_PLAYERS]):
        total = 0.0
        for playout in range(first, end):
            total += scaled(frame.returns[playout, player], low, high)
        scratch.values[player] = total / (end - first)


@kernel
def find_movers(tree: Tree, scratch: Scratch, depth: int) -> None:
    """Find whose value each edge of the path holds.

    It is the node's player's, at a chance node that of the last player before it, and of player 0
    if there is none.
    """
    mover = 0
    for index in range(depth):
        player = tree.node_player[scratch.path_nodes[index]]
        if player >= 0:
            mover = player
        scratch.path_movers[index] = mover


@kernel
def backup_values(tree: Tree, scratch: Scratch, depth: int, leaf_has_node: bool) -> None:
    """Count the simulation on its path of ``depth`` edges, with ``scratch.values``."""
    for index in range(depth):
        edge = scratch.path_edges[index]
        tree.node_visits[scratch.path_nodes[index]] += 1
        tree.edge_visits[edge] += 1
        tree.edge_value_sum[edge] += scratch.values[scratch.path_movers[index]]
    if leaf_has_node:
        tree.node_visits[scratch.path_nodes[depth]] += 1


@kernel
def backup_amaf(
    tree: Tree,
    frame: Frame,
    scratch: Scratch,
    depth: int,
    leaf_has_node: bool,
    playout: int,
    weight: float,
) -> None:
    """Credit one playout, with its ``scratch.values``, to the AMAF statistics of the path's nodes.

    Every edge whose action its player took at that node or later in the simulation gets it, once,
    as ``weight`` AMAF visits.
    """
    scratch.playout_number[0] += 1
    number = scratch.playout_number[0]
    first_move = 0 if playout == 0 else frame.playout_ends[playout - 1]
    for move in range(first_move, frame.playout_ends[playout]):
        scratch.played[frame.move_players[move], frame.move_actions[move]] = number
    if leaf_has_node:
        credit_amaf(tree, scratch, scratch.path_nodes[depth], number, weight)
    for index in range(depth - 1, -1, -1):
        node = scratch.path_nodes[index]
        player = tree.node_player[node]
        if player >= 0:
            scratch.played[player, tree.edge_action[scratch.path_edges[index]]] = number
            credit_amaf(tree, scratch, node, number, weight)


@kernel
def credit_amaf(tree: Tree, scratch: Scratch, node: int, number: int, weight: float) -> None:
    """Credit the playout of this number to the edges of one node."""
    player = tree.node_player[node]
    if player < 0:
        return
    value = weight * scratch.values[player]
    first = tree.node_first_edge[node]
    for edge in range(first, first + tree.node_edge_count[node]):
        if scratch.played[player, tree.edge_action[edge]] == number:
            tree.edge_amaf_visits[edge] += weight
            tree.edge_amaf_value_sum[edge] += value
