"""Selection: which edge a simulation takes at a node."""

import math

import numpy as np

from rave_agents.game import PlayerId
from rave_agents.search.amaf import NO_TABLE, AmafTables, table_row
from rave_agents.search.compiler import kernel
from rave_agents.search.formulas import (
    beta_fuego,
    beta_grave,
    beta_hand_selected,
    beta_minimum_mse,
    beta_pachi,
    blend,
    puct_exploration,
    ucb1_exploration,
    weighted_win_rate,
)
from rave_agents.search.own_formula import call_formula
from rave_agents.search.parameters import Parameters, Schedule
from rave_agents.search.random_stream import Stream, random_below, random_unit
from rave_agents.search.tree import Tree

CHANCE = int(PlayerId.CHANCE)
HAND_SELECTED = int(Schedule.HAND_SELECTED)
MINIMUM_MSE = int(Schedule.MINIMUM_MSE)
FUEGO = int(Schedule.FUEGO)
PACHI = int(Schedule.PACHI)


@kernel
def amaf_weight(n: float, n_amaf: float, parameters: Parameters) -> float:
    """β by the configured schedule, for an edge with AMAF visits."""
    if parameters.schedule == MINIMUM_MSE:
        return beta_minimum_mse(n, n_amaf, parameters.rave_bias)
    if parameters.schedule == HAND_SELECTED:
        return beta_hand_selected(n, parameters.rave_k)
    if parameters.schedule == FUEGO:
        return beta_fuego(n, n_amaf, parameters.fuego_initial, parameters.fuego_final)
    if parameters.schedule == PACHI:
        return beta_pachi(n, n_amaf, parameters.pachi_equivalence)
    return beta_grave(n, n_amaf, parameters.grave_bias)


@kernel
def edge_score(
    tree: Tree,
    edge: int,
    n_amaf: float,
    q_amaf: float,
    N: float,
    ln_N: float,
    sqrt_N: float,
    parameters: Parameters,
) -> float:
    """How urgent it is to take an edge of a decision node with N visits."""
    n = tree.edge_visits[edge]
    if n == 0 and n_amaf == 0.0:
        q = parameters.first_play_urgency
    elif n == 0:
        q = 0.0
    else:
        q = tree.edge_value_sum[edge] / n
    if parameters.formula_address != 0:
        p = np.float64(tree.edge_prior[edge])
        return call_formula(
            parameters.formula_address, n, q, n_amaf, q_amaf, p, N, parameters.exploration
        )
    if parameters.puct:
        p = np.float64(tree.edge_prior[edge])
        exploration = puct_exploration(sqrt_N, n, parameters.exploration, p)
    else:
        exploration = ucb1_exploration(ln_N, n, parameters.exploration)
    if n_amaf == 0.0:
        return q + exploration
    beta = amaf_weight(n, n_amaf, parameters)
    if parameters.blend_ucb:
        return blend(beta, q + exploration, q_amaf)
    return blend(beta, q, q_amaf) + exploration


@kernel
def amaf_of(
    tree: Tree, tables: AmafTables, edge: int, base: int, parameters: Parameters
) -> tuple[float, float]:
    """AMAF visits and mean value of an edge, its priors included; 0 and 0 without any.

    ``base`` is the row of action 0 in the reference table, if there are tables.
    """
    n = parameters.amaf_prior_visits
    value_sum = parameters.amaf_prior_visits * parameters.amaf_prior_value
    if parameters.tables:
        row = base + tree.edge_action[edge]
        n += tables.visits[row]
        value_sum += tables.value_sum[row]
    else:
        n += tree.edge_amaf_visits[edge]
        value_sum += tree.edge_amaf_value_sum[edge]
    if n == 0.0:
        return 0.0, 0.0
    return n, value_sum / n


@kernel
def winning_rate_of(
    tree: Tree, tables: AmafTables, edge: int, base: int, parameters: Parameters
) -> float:
    """The weighted win rate of an edge's action."""
    if parameters.tables:
        row = base + tree.edge_action[edge]
        return weighted_win_rate(
            tables.visits[row], np.float64(tables.wins[row]), np.float64(tables.win_moves[row])
        )
    return weighted_win_rate(
        tree.edge_amaf_visits[edge],
        np.float64(tree.edge_amaf_wins[edge]),
        np.float64(tree.edge_amaf_win_moves[edge]),
    )


@kernel
def winning_scale(
    tree: Tree, tables: AmafTables, first: int, end: int, base: int, parameters: Parameters
) -> float:
    """What a weighted win rate is multiplied by to compare it with the siblings' AMAF values.

    The most urgent sibling gets the best AMAF value among them, and the others less in proportion:
    a weighted win rate is smaller the longer games are, and only its ratios mean something.
    """
    best_rate = 0.0
    best_value = 0.0
    for edge in range(first, end):
        best_rate = max(best_rate, winning_rate_of(tree, tables, edge, base, parameters))
        best_value = max(best_value, amaf_of(tree, tables, edge, base, parameters)[1])
    if best_rate == 0.0:
        return 0.0
    return best_value / best_rate


@kernel
def select_edge(
    tree: Tree,
    tables: AmafTables,
    node: int,
    table: int,
    use_amaf: bool,
    parameters: Parameters,
    stream: Stream,
) -> int:
    """The most urgent edge of a decision node, or a chance node's outcome by its probability.

    Ties are broken at random. The node must have edges. ``table`` is the reference, if any.
    """
    first = tree.node_first_edge[node]
    end = first + tree.node_edge_count[node]
    if tree.node_player[node] == CHANCE:
        return sample_outcome(tree, first, end - first, stream)
    N = max(tree.node_visits[node], 1)
    ln_N = math.log(N)
    sqrt_N = math.sqrt(N)
    base = 0
    if parameters.tables:
        use_amaf = use_amaf and table != NO_TABLE
        base = table_row(tables, table, tree.node_player[node])
    scale = 0.0
    if use_amaf and parameters.winning_move_weight > 0.0:
        scale = winning_scale(tree, tables, first, end, base, parameters)
    best_edge = first
    best_score = -math.inf
    ties = 0
    for edge in range(first, end):
        n_amaf = 0.0
        q_amaf = 0.0
        if use_amaf and (parameters.amaf_unvisited or tree.edge_visits[edge] > 0):
            n_amaf, q_amaf = amaf_of(tree, tables, edge, base, parameters)
            if scale > 0.0 and n_amaf > 0.0:
                rate = winning_rate_of(tree, tables, edge, base, parameters)
                q_amaf = blend(parameters.winning_move_weight, q_amaf, scale * rate)
        score = edge_score(tree, edge, n_amaf, q_amaf, N, ln_N, sqrt_N, parameters)
        if score > best_score:
            best_edge = edge
            best_score = score
            ties = 1
        elif score == best_score:
            ties += 1
            if random_below(stream, ties) == 0:
                best_edge = edge
    return best_edge


@kernel
def sample_outcome(tree: Tree, first: int, count: int, stream: Stream) -> int:
    """A chance node's edge, drawn by probability."""
    remaining = random_unit(stream)
    for edge in range(first, first + count - 1):
        remaining -= np.float64(tree.edge_prior[edge])
        if remaining < 0.0:
            return edge
    return first + count - 1
