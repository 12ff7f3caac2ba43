"""Backups by node values: an edge has the value of its child node.

A custom backup implements ``node_value``: the value of a node for the player who moves there,
computed from its edges. From the leaf to the root, every edge of the path then gets the mean of its
child's value and of the simulations that ended right after the edge, weighted by visits. A chance
node has the mean of its outcomes, weighted by visits.

An edge holds a value for every player, mixed as the mover's is: if the mover's node value is ``mean
+ λ (best - mean)`` of its edges, every player gets the mean by visits plus λ times the difference
to that best edge. In two-player constant-sum games the values still add up; λ = 1 is max^n
(Luckhardt & Irani 1986).
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from rave_agents.compiler.arrays import EDGE, FLOAT, Array, Axis, Rows
from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.compiler.part_fields import part_name
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import hooks
from rave_agents.kernel.backup import edge_value
from rave_agents.kernel.declarations import GameTraits, game_refusal, on_forgotten
from rave_agents.kernel.tree import UNEXPANDED, edge_rows
from rave_agents.kernel.utilities import scaled

NO_EDGE = -1
"""Sentinel: no edge of the node has visits."""


@open_function
def node_value(backup: Any, search: Any, node: int) -> float:
    """The value of a node for the player who moves there, in [0, 1]; some edge must have visits.

    Computed from ``edge_value`` and ``edge_visits`` of its visited edges, see ``edge_rows``.
    """
    raise NotImplementedError


@open_function
def takes_best(backup: Any) -> bool:
    """True if a node has the value of its best edge, without its evaluation as a leaf.

    While an edge has no visits, the evaluation counts as this edge's value.
    """
    return False


class PowerMean(NamedTuple):
    """The value of a node is the power mean of its edges, weighted by visits (Dam et al. 2020).

    Arxiv 1911.00384. It lies between the mean of the simulations and the best edge.
    """

    p: Annotated[float, Ge(1), Le(1000)] = 2.0
    """The exponent, in [1, 1000]: at 1 it is the mean, towards infinity the best edge."""


@implements(node_value, PowerMean)
def power_mean(backup: PowerMean, search: Any, node: int) -> float:
    """``(Σ n q^p / Σ n)^(1 / p)``: n the visits of the node's edges, q their values."""
    total, visits = 0.0, 0.0
    for edge in edge_rows(search.tree, node):
        n = float(search.tree.edge_visits[edge])
        if n > 0.0:
            q = max(edge_value(search.backup, search, node, edge), 0.0)
            total += n * q**backup.p
            visits += n
    return float((total / visits) ** (1.0 / backup.p))


@runs_as(node_value)
class NodeValues(NamedTuple):
    """Values of every edge for each player: those of its child node."""

    options: Any
    own: Any
    values: Annotated[Array, Rows(Axis.EDGE, FLOAT, (Axis.PLAYER,))]
    """[player] the player's value, in [0, 1]."""
    ends: Annotated[Array, Rows(Axis.EDGE, FLOAT, (Axis.PLAYER,))]
    """[player] the player's mean value of the simulations that ended right after the edge."""
    visits: Annotated[Array, Rows(Axis.EDGE, np.int32)]
    """Simulations included in the values, not counting those that wait for an evaluator."""
    end_visits: Annotated[Array, Rows(Axis.EDGE, np.int32)]
    """Number of simulations that ended right after the edge."""


@implements(game_refusal, NodeValues)
def refuse_several_nodes(backup: Any, game: GameTraits) -> str:
    """The reason to refuse games with several nodes per position, or children per edge."""
    if game.plain:
        return ""
    return (
        f"backup={part_name(type(backup))} gives an edge the value of its only child node. "
        "With simultaneous moves or hidden information there are several: use "
        "backup=mean_backup."
    )


@implements(edge_value, NodeValues)
def _edge_value(backup: NodeValues, search: Any, node: int, edge: int) -> float:
    """The mover's; at chance nodes, which nobody compares, the mean of the simulations."""
    mover = int(search.tree.node_player[node])
    if mover < 0:
        return float(search.tree.edge_value_sum[edge]) / float(search.tree.edge_visits[edge])
    return float(backup.values[edge * search.settings.num_players + mover])


@implements(hooks.on_backup, NodeValues)
def _back_up(backup: NodeValues, search: Any, depth: int, nodes: int) -> None:
    """Update the edges of the path, from the leaf to the root."""
    for index in range(depth - 1, -1, -1):
        edge = search.path.edges[index]
        backup.visits[edge] += 1
        if index == depth - 1:
            count_end(backup, search, edge)
        if index + 1 < depth + nodes:
            take_node_value(backup, search, search.path.nodes[index + 1], edge)


@implements(on_forgotten, NodeValues)
def _on_forgotten(backup: NodeValues, edges: NDArray[np.int64]) -> None:
    players = len(backup.values) // len(backup.visits)
    # What the forgotten subtree was worth stays as simulations that ended here.
    backup.end_visits[edges] = backup.visits[edges]
    for player in range(players):
        backup.ends[edges * players + player] = backup.values[edges * players + player]


@kernel
def count_end(backup: NodeValues, search: Any, edge: int) -> None:
    """Count a simulation that ended right after an edge."""
    players = search.settings.num_players
    backup.end_visits[edge] += 1
    for player in range(players):
        row = edge * players + player
        # Running mean, so that values need no division when they are read.
        difference = search.path.values[player] - backup.ends[row]
        backup.ends[row] += difference / backup.end_visits[edge]
        backup.values[row] = backup.ends[row]


@kernel
def take_node_value(backup: NodeValues, search: Any, node: int, edge: int) -> None:
    """Give an edge the value of its child node, if there is one."""
    if hooks.is_solved(search.proofs, node):
        take_outcome(backup, search, node, edge)
    elif takes_best(backup.own) and search.tree.node_player[node] >= 0:
        take_best(backup, search, node, edge)
    else:
        take_mixture(backup, search, node, edge)


@kernel
def take_outcome(backup: NodeValues, search: Any, node: int, edge: int) -> None:
    """Give an edge the outcome of its solved child."""
    players = search.settings.num_players
    hooks.give_outcome(search.proofs, search, node)
    for player in range(players):
        utility = search.frame.returns[player]
        backup.values[edge * players + player] = scaled(search.utilities, utility)


@kernel
def take_best(backup: NodeValues, search: Any, node: int, edge: int) -> None:
    """Give an edge the values of the best edge at its child, for the player who moves there."""
    tree, players = search.tree, search.settings.num_players
    mover = int(tree.node_player[node])
    # Values are in [0, 1], so -1 is below all of them.
    best, greatest, unvisited = NO_EDGE, -1.0, False
    for below in edge_rows(tree, node):
        child = int(tree.edge_child[below])
        if backup.visits[below] == 0:
            if child == UNEXPANDED or not hooks.is_solved(search.proofs, child):
                unvisited = True
                continue
            take_outcome(backup, search, child, below)
        value = float(backup.values[below * players + mover])
        if value > greatest:
            best, greatest = below, value
    evaluated = backup.end_visits[edge] > 0
    # The evaluation stands in for the edges not yet visited.
    if unvisited and evaluated and backup.ends[edge * players + mover] > greatest:
        best = NO_EDGE
    for player in range(players):
        row = edge * players + player
        if best != NO_EDGE:
            backup.values[row] = backup.values[best * players + player]
        elif evaluated:
            backup.values[row] = backup.ends[row]


@kernel
def take_mixture(backup: NodeValues, search: Any, node: int, edge: int) -> None:
    """Give an edge the mover's mixture of its child's edges, and its own ended simulations."""
    tree, players = search.tree, search.settings.num_players
    mover = int(tree.node_player[node])
    best, greatest, visits, total = NO_EDGE, -1.0, 0.0, 0.0
    for below in edge_rows(tree, node):
        n = float(backup.visits[below])
        if n > 0.0:
            value = float(backup.values[below * players + max(mover, 0)])
            visits += n
            total += n * value
            if value > greatest:
                best, greatest = below, value
    if best == NO_EDGE:
        return
    # λ from the mover's node value; 0 at chance nodes and where all edges are equal.
    share, mean = 0.0, total / visits
    if mover >= 0 and greatest > mean:
        share = (node_value(backup.own, search, node) - mean) / (greatest - mean)
    for player in range(players):
        total = 0.0
        for below in edge_rows(tree, node):
            total += backup.visits[below] * backup.values[below * players + player]
        mean = total / visits
        # The mover's share of the way from the mean to the best edge, applied to every player's
        # value.
        mean += share * (backup.values[best * players + player] - mean)
        row, ended = edge * players + player, float(backup.end_visits[edge])
        # Simulations that ended at the edge, before the child had edges, keep their weight.
        mean = (visits * mean + ended * backup.ends[row]) / (visits + ended)
        backup.values[row] = max(0.0, min(1.0, mean))


@implements(hooks.on_rescale, NodeValues)
def _rescale(backup: NodeValues, search: Any, factor: float, shift: float) -> None:
    players = search.settings.num_players
    for edge in range(search.tree.used[EDGE]):
        if backup.visits[edge] > 0:
            for row in range(edge * players, (edge + 1) * players):
                backup.values[row] = factor * backup.values[row] + shift
                backup.ends[row] = factor * backup.ends[row] + shift
