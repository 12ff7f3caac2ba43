"""The root of a tree: its statistics, the final move, the principal variation."""

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rave_agents.config import SearchConfig
from rave_agents.game import GameState
from rave_agents.options import FinalMove
from rave_agents.proven import edge_proof, final_edges, solved_outcome, solving_edge
from rave_agents.result import ActionStatistics
from rave_agents.search import tree as trees
from rave_agents.search.amaf import NO_TABLE, AmafTables, table_row
from rave_agents.search.compiler import interpreted
from rave_agents.search.formulas import lower_confidence_bound, weighted_win_rate
from rave_agents.search.proofs import Proofs
from rave_agents.search.tree import NODES_USED, ROOT, UNEXPANDED, Tree


class RootedTree(NamedTuple):
    """A tree and what it takes to read it."""

    arrays: Tree
    """The statistics; values are scaled to [0, 1]."""
    tables: AmafTables
    """The AMAF tables, if it has any."""
    proofs: Proofs
    """What is proven of its nodes, if anything is kept."""
    low: float
    """The utility that is 0 on that scale, ``inf`` if the game states none and none was seen."""
    high: float
    """The utility that is 1 on that scale, ``-inf`` likewise."""
    state: GameState
    """A clone of the root position."""

    @property
    def has_root(self) -> bool:
        """Whether the root has its node yet."""
        return bool(self.arrays.used[NODES_USED] > 0)

    def utility(self, value_sum: float, visits: float) -> float | None:
        """A mean value in the game's utilities; None without visits."""
        if visits == 0:
            return None
        return self.low + float(value_sum) / float(visits) * (self.high - self.low)


def root_statistics(rooted: RootedTree, config: SearchConfig) -> tuple[ActionStatistics, ...]:
    """The statistics of every legal action, with the probability of playing it."""
    if rooted.has_root:
        edges = trees.edge_rows(rooted.arrays, ROOT)
        return tuple(
            _edge_statistics(rooted, edge, probability)
            for edge, probability in zip(edges, _policy(rooted, edges, config), strict=True)
        )
    actions = rooted.state.legal_actions()
    probability = 1.0 / len(actions)
    return tuple(
        ActionStatistics(
            action=int(action),
            visits=0,
            value=None,
            prior=probability,
            amaf_visits=0.0,
            amaf_value=None,
            winning_move_number=None,
            weighted_win_rate=0.0,
            probability=probability,
        )
        for action in actions
    )


def drawn_action(statistics: Sequence[ActionStatistics], unit: float) -> int:
    """The action at ``unit``, in [0, 1), of the cumulative probabilities."""
    candidates = [row for row in statistics if row.probability > 0.0]
    for row in candidates:
        unit -= row.probability
        if unit < 0.0:
            return row.action
    return candidates[-1].action


def principal_variation(rooted: RootedTree, action: int) -> tuple[int, ...]:
    """The chosen action, then at each node the proven one or else the most visited one."""
    tree = rooted.arrays
    line = [action]
    node = trees.find_child(tree, ROOT, action) if rooted.has_root else UNEXPANDED
    while node != UNEXPANDED and tree.node_edge_count[node] > 0:
        edges = trees.edge_rows(tree, node)
        edge = edges.start + int(np.argmax(tree.edge_visits[edges.start : edges.stop]))
        if solved_outcome(rooted.proofs, node) is not None:
            proven = solving_edge(tree, rooted.proofs, node)
            edge = edge if proven is None else proven
        elif tree.edge_visits[edge] == 0:
            break
        line.append(int(tree.edge_action[edge]))
        node = int(tree.edge_child[edge])
    return tuple(line)


def _edge_statistics(rooted: RootedTree, edge: int, probability: float) -> ActionStatistics:
    tree = rooted.arrays
    visits = int(tree.edge_visits[edge])
    amaf = amaf_statistics(rooted, ROOT, edge)
    proof = edge_proof(tree, rooted.proofs, ROOT, edge)
    return ActionStatistics(
        action=int(tree.edge_action[edge]),
        visits=visits,
        value=rooted.utility(tree.edge_value_sum[edge], visits),
        prior=float(tree.edge_prior[edge]),
        amaf_visits=amaf.visits,
        amaf_value=rooted.utility(amaf.value_sum, amaf.visits),
        winning_move_number=amaf.win_moves / amaf.wins if amaf.wins > 0 else None,
        weighted_win_rate=weighted_win_rate(amaf.visits, amaf.wins, amaf.win_moves),
        outcome=proof.outcome,
        distance=proof.distance if proof.solved else None,
        proof_number=proof.proof_number,
        disproof_number=proof.disproof_number,
        probability=probability,
    )


class AmafStatistics(NamedTuple):
    """The AMAF statistics of an action; values are scaled to [0, 1]."""

    visits: float = 0.0
    """AMAF visits."""
    value_sum: float = 0.0
    """Sum of their values."""
    wins: float = 0.0
    """Those of them that were won, if winning moves are counted."""
    win_moves: float = 0.0
    """Sum of the move's numbers over them."""


def amaf_statistics(rooted: RootedTree, node: int, edge: int) -> AmafStatistics:
    """The AMAF statistics of a node's edge: its own, or those in the node's table, if any."""
    tree, tables = rooted.arrays, rooted.tables
    if trees.has_amaf(tree):
        arrays = (
            tree.edge_amaf_visits,
            tree.edge_amaf_value_sum,
            tree.edge_amaf_wins,
            tree.edge_amaf_win_moves,
        )
        row = edge
    elif len(tables.node_table) > 0 and tables.node_table[node] != NO_TABLE:
        arrays = (tables.visits, tables.value_sum, tables.wins, tables.win_moves)
        row = interpreted(table_row)(
            tables, int(tables.node_table[node]), int(tree.node_player[node])
        )
        row += int(tree.edge_action[edge])
    else:
        return AmafStatistics()
    return AmafStatistics(*(float(array[row]) for array in arrays if len(array) > 0))


def _policy(rooted: RootedTree, edges: Sequence[int], config: SearchConfig) -> list[float]:
    """The probability of playing each of the root's edges."""
    tree = rooted.arrays
    key = functools.partial(_final_key, tree, config=config)
    bounds = (rooted.low, rooted.high)
    allowed = set(final_edges(tree, rooted.proofs, edges, config, bounds, key))
    visits = np.array([float(tree.edge_visits[edge]) * (edge in allowed) for edge in edges])
    if config.temperature == 0.0 or visits.sum() == 0.0:
        best = max(map(key, allowed))
        chosen = [edge in allowed and key(edge) == best for edge in edges]
        return [float(choice) / sum(chosen) for choice in chosen]
    with np.errstate(divide="ignore", over="ignore"):
        weights = np.exp(np.log(visits / visits.max()) / config.temperature)
    return (weights / weights.sum()).tolist()  # type: ignore[no-any-return]


def _final_key(tree: Tree, edge: int, config: SearchConfig) -> tuple[float, float]:
    """What the final move maximises; edges without visits come last."""
    visits = int(tree.edge_visits[edge])
    if visits == 0:
        return (-math.inf, 0.0)
    value = float(tree.edge_value_sum[edge]) / visits
    if config.final_move is FinalMove.ROBUST:
        return (visits, value)
    if config.final_move is FinalMove.MAX:
        return (value, visits)
    return (lower_confidence_bound(value, visits, config.secure_constant), visits)
