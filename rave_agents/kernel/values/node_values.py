"""Backups by the values of nodes: an edge is worth what the node behind it is.

A backup of your own implements ``node_value``, what a node is worth to the player who moves there,
by the statistics of its edges. From the leaf to the root, every edge of a simulation's path then
gets the value of the node behind it, and the mean of the simulations that ended there, by their
number. A node where chance moves has the mean of its outcomes by visits.

An edge holds a value for every player. At each node they are those of the mover's mixture: where
the node is worth a share λ of the way from the mean of its edges to the best of them for the mover,
all players get the mean by visits and λ of the way to that best edge. With two players whose values
sum up to a constant, the other's is what is left; the best edge alone is max^n (Luckhardt & Irani
1986).
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
"""The best edge of a node without visits of any."""


@open_function
def node_value(backup: Any, search: Any, node: int) -> float:
    """The value of a node for the player who moves there, in [0, 1]; an edge of it has visits.

    By ``edge_value`` and ``edge_visits`` of its edges with visits, see ``edge_rows``.
    """
    raise NotImplementedError


@open_function
def takes_best(backup: Any) -> bool:
    """True if a node is worth its best edge alone, whatever its value was before it had edges.

    As long as an edge has no visit, that value counts as such an edge's.
    """
    return False


class PowerMean(NamedTuple):
    """A node is worth the power mean of its edges, by their visits (Dam et al. 2020).

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
    """Values of every edge for each player: those of the node behind it."""

    options: Any
    own: Any
    values: Annotated[Array, Rows(Axis.EDGE, FLOAT, (Axis.PLAYER,))]
    """[player] the player's value, in [0, 1]."""
    ends: Annotated[Array, Rows(Axis.EDGE, FLOAT, (Axis.PLAYER,))]
    """[player] the player's mean value of the simulations that ended right after the edge."""
    visits: Annotated[Array, Rows(Axis.EDGE, np.int32)]
    """Simulations that the values hold; those that wait for an evaluator are not among them."""
    end_visits: Annotated[Array, Rows(Axis.EDGE, np.int32)]
    """The number of those that ended right after the edge."""


@implements(game_refusal, NodeValues)
def refuse_several_nodes(backup: Any, game: GameTraits) -> str:
    """The reason not to search where a position has several nodes, or an edge several positions."""
    if game.plain:
        return ""
    return (
        f"backup={part_name(type(backup))} gives an edge the value of the one node behind it. "
        "Where players move at the same time or something is hidden there are several: take "
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
    """Bring the edges of the path up to date, from the leaf to the root."""
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
    backup.end_visits[edges] = backup.visits[edges]
    for player in range(players):
        backup.ends[edges * players + player] = backup.values[edges * players + player]


@kernel
def count_end(backup: NodeValues, search: Any, edge: int) -> None:
    """Count a simulation that has ended right after an edge."""
    players = search.settings.num_players
    backup.end_visits[edge] += 1
    for player in range(players):
        row = edge * players + player
        difference = search.path.values[player] - backup.ends[row]
        backup.ends[row] += difference / backup.end_visits[edge]
        backup.values[row] = backup.ends[row]


@kernel
def take_node_value(backup: NodeValues, search: Any, node: int, edge: int) -> None:
    """Give an edge the value of the node behind it, if that is known."""
    if hooks.is_solved(search.proofs, node):
        take_outcome(backup, search, node, edge)
    elif takes_best(backup.own) and search.tree.node_player[node] >= 0:
        take_best(backup, search, node, edge)
    else:
        take_mixture(backup, search, node, edge)


@kernel
def take_outcome(backup: NodeValues, search: Any, node: int, edge: int) -> None:
    """Give an edge the outcome of the solved node behind it."""
    players = search.settings.num_players
    hooks.give_outcome(search.proofs, search, node)
    for player in range(players):
        utility = search.frame.returns[player]
        backup.values[edge * players + player] = scaled(search.utilities, utility)


@kernel
def take_best(backup: NodeValues, search: Any, node: int, edge: int) -> None:
    """Give an edge the values of the best edge at the node behind it, for who moves there."""
    tree, players = search.tree, search.settings.num_players
    mover = int(tree.node_player[node])
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
    """Give an edge the mover's mixture of the edges at the node behind it, and its own ends."""
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
    share, mean = 0.0, total / visits
    if mover >= 0 and greatest > mean:
        share = (node_value(backup.own, search, node) - mean) / (greatest - mean)
    for player in range(players):
        total = 0.0
        for below in edge_rows(tree, node):
            total += backup.visits[below] * backup.values[below * players + player]
        mean = total / visits
        mean += share * (backup.values[best * players + player] - mean)
        row, ended = edge * players + player, float(backup.end_visits[edge])
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
