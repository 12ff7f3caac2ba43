"""Selection: which edge a simulation takes at a node."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.search.amaf import NO_TABLE, AmafRows, AmafTables, amaf_rows, table_row
from rave_agents.search.compiler import kernel
from rave_agents.search.formulas import (
    beta_fuego,
    beta_grave,
    beta_hand_selected,
    beta_minimum_mse,
    beta_pachi,
    blend,
    proof_exploration,
    puct_exploration,
    scaled,
    tuned_exploration,
    ucb1_exploration,
    weighted_win_rate,
)
from rave_agents.search.hidden import Hidden
from rave_agents.search.own_formula import call_formula
from rave_agents.search.parameters import Parameters, Schedule
from rave_agents.search.proofs import UNSOLVED, Proofs
from rave_agents.search.random_stream import Stream, random_below, random_unit
from rave_agents.search.tree import UNEXPANDED, Tree

HAND_SELECTED = int(Schedule.HAND_SELECTED)
MINIMUM_MSE = int(Schedule.MINIMUM_MSE)
FUEGO = int(Schedule.FUEGO)
PACHI = int(Schedule.PACHI)

SET_ASIDE = 1e9
"""What an edge that is not worth a visit falls behind the others."""


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
    n: float,
    value_sum: float,
    variance: float,
    low: float,
    high: float,
    n_amaf: float,
    q_amaf: float,
    p: float,
    N: float,
    ln_N: float,
    sqrt_N: float,
    parameters: Parameters,
) -> float:
    """How urgent it is to take an edge of a decision node with N visits.

    Its value is known to lie between ``low`` and ``high``; UCB1-Tuned alone needs the variance.
    """
    if n > 0.0:
        q = min(max(value_sum / n, low), high)
    elif n_amaf > 0.0:
        q = 0.0
    else:
        q = parameters.first_play_urgency
    if parameters.formula_address != 0:
        return call_formula(
            parameters.formula_address, n, q, n_amaf, q_amaf, p, N, parameters.exploration
        )
    exploration = 0.0
    if parameters.tuned:
        exploration = tuned_exploration(ln_N, n, variance, parameters.exploration)
    elif parameters.puct:
        exploration = puct_exploration(sqrt_N, n, parameters.exploration, p)
    elif parameters.exploration > 0.0:
        exploration = ucb1_exploration(ln_N, n, parameters.exploration)
    if n_amaf == 0.0:
        return q + exploration
    if n == 0.0:  # Most edges are so, and every schedule's β is 1 for them.
        return q_amaf if parameters.blend_ucb else q_amaf + exploration
    beta = amaf_weight(n, n_amaf, parameters)
    if parameters.blend_ucb:
        return blend(beta, q + exploration, q_amaf)
    return blend(beta, q, q_amaf) + exploration


class NodeView(NamedTuple):
    """What the urgency of every edge of a node depends on."""

    first: int
    """The row of the first edge."""
    mover: int
    """The player who moves."""
    visits: float
    """N, the visits of the node."""
    ln_visits: float
    """ln N; 0 where it is not needed."""
    sqrt_visits: float
    use_amaf: bool
    prior_sum: float
    """The sum of the values of the AMAF visits that every action begins with."""
    scale: float
    """See ``winning_scale``; 0 where winning moves do not count."""
    half_life: float
    """The visits at which proof numbers have half their weight."""
    sure: float
    """The utility that the mover is sure of."""
    least: float
    """The utility that is 0 on the scale of values."""
    greatest: float
    """The utility that is 1 on it."""


@kernel
def select_edge(
    tree: Tree,
    tables: AmafTables,
    proofs: Proofs | None,
    hidden: Hidden | None,
    node: int,
    table: int,
    use_amaf: bool,
    least: float,
    greatest: float,
    parameters: Parameters,
    stream: Stream,
) -> int:
    """The most urgent edge of a decision node; ties, within the tolerance, are broken at random.

    The node must have edges; where something is hidden, those that are not legal in this
    simulation's world do not compete. ``table`` is the reference, if any; ``least``
    and ``greatest`` are the utilities that are 0 and 1 on the scale of values.
    """
    first = int(tree.node_first_edge[node])
    count = int(tree.node_edge_count[node])
    N = max(tree.node_visits[node], 1)
    mover = int(tree.node_player[node])
    use_amaf = use_amaf and (table != NO_TABLE or not parameters.tables)
    first_row = table_row(tables, table, mover) if parameters.tables and use_amaf else 0
    amaf = amaf_rows(tree, tables, parameters, node, first_row)
    scale = 0.0
    if use_amaf and parameters.winning_move_weight > 0.0:
        scale = winning_scale(tree.edge_action[first : first + count], amaf, parameters)
    view = NodeView(
        first,
        mover,
        float(N),
        math.log(N) if parameters.exploration > 0.0 else 0.0,
        math.sqrt(N),
        use_amaf,
        parameters.amaf_prior_visits * parameters.amaf_prior_value,
        scale,
        parameters.proof_visits * count * count,
        proofs.low[node, mover] if proofs is not None and parameters.solver else 0.0,
        least,
        greatest,
    )
    # Most edges have no visits of their own. What AMAF says of these needs a division, no more.
    by_amaf = (
        proofs is None
        and hidden is None
        and use_amaf
        and scale == 0.0
        and ranks_unvisited(parameters)
    )
    exploration = 0.0
    if by_amaf and parameters.exploration > 0.0 and not parameters.blend_ucb:
        exploration = ucb1_exploration(view.ln_visits, 0.0, parameters.exploration)
    visits = tree.edge_visits[first : first + count]
    best, best_score, ties = 0, -math.inf, 0
    tolerance = 0.0
    for _ in range(2):
        for index in range(count):
            if hidden is not None and hidden.edge_met[first + index] != hidden.number[0]:
                continue
            if by_amaf and visits[index] == 0 and amaf.visits[index] > 0.0:
                score = amaf.value_sum[index] / amaf.visits[index] + exploration
            else:
                score = urgency(tree, proofs, hidden, amaf, view, parameters, index)
            if score > best_score:
                best = index
                best_score = score
                ties = 1
            elif score >= best_score - tolerance:
                ties += 1
                if random_below(stream, ties) == 0:
                    best = index
        if parameters.tie_tolerance == 0.0:
            break
        # The best score is known: once more, for all that are not far below it.
        tolerance = parameters.tie_tolerance
        ties = 0
    return first + best


@kernel
def ranks_unvisited(parameters: Parameters) -> bool:
    """Whether an edge without visits is ranked by its own AMAF statistics and UCB1 alone."""
    return (
        parameters.amaf_unvisited
        and not parameters.tables
        and not parameters.puct
        and not parameters.tuned
        and parameters.formula_address == 0
        and parameters.amaf_prior_visits == 0.0
    )


@kernel
def urgency(
    tree: Tree,
    proofs: Proofs | None,
    hidden: Hidden | None,
    amaf: AmafRows,
    view: NodeView,
    parameters: Parameters,
    index: int,
) -> float:
    """How urgent the edge at a place of a node is, with all that is known of it."""
    edge = view.first + index
    n = float(tree.edge_visits[edge])
    low, high, solved, set_aside = -math.inf, math.inf, False, False
    child = tree.edge_child[edge]
    if proofs is not None and child != UNEXPANDED:
        low, high, solved, set_aside = standing(proofs, parameters, child, view.mover, n, view.sure)
        low = scaled(low, view.least, view.greatest)
        high = scaled(high, view.least, view.greatest)
    n_amaf, q_amaf = 0.0, 0.0
    if view.use_amaf and (parameters.amaf_unvisited or n > 0.0):
        row = int(tree.edge_action[edge]) if parameters.tables else index
        n_amaf = parameters.amaf_prior_visits + amaf.visits[row]
        q_amaf = amaf_value(n_amaf, view.prior_sum + amaf.value_sum[row])
        if view.scale > 0.0 and n_amaf > 0.0:
            weighted = view.scale * winning_rate(amaf, row)
            q_amaf = blend(parameters.winning_move_weight, q_amaf, weighted)
    N, ln_N, sqrt_N = view.visits, view.ln_visits, view.sqrt_visits
    if hidden is not None:
        N = float(hidden.edge_available[edge])
        ln_N, sqrt_N = math.log(N), math.sqrt(N)
    score = edge_score(
        n,
        tree.edge_value_sum[edge],
        value_variance(tree, edge) if parameters.tuned else 0.0,
        low,
        high,
        n_amaf,
        q_amaf,
        float(tree.edge_prior[edge]),
        N,
        ln_N,
        sqrt_N,
        parameters,
    )
    if proofs is not None:
        if parameters.proof_numbers:
            bonus = float(proofs.edge_bonus[edge])
            score = with_bonus(score, bonus, n, view.half_life, parameters)
        score = (low if solved else score) - (SET_ASIDE if set_aside else 0.0)
    return score


@kernel
def value_variance(tree: Tree, edge: int) -> float:
    """The variance of the values of an edge's simulations; 0 without any."""
    n = float(tree.edge_visits[edge])
    if n == 0.0:
        return 0.0
    mean = tree.edge_value_sum[edge] / n
    return max(tree.edge_square_sum[edge] / n - mean * mean, 0.0)


@kernel
def amaf_value(visits: float, value_sum: float) -> float:
    """A mean AMAF value; 0 without visits."""
    return value_sum / visits if visits > 0.0 else 0.0


@kernel
def standing(
    proofs: Proofs,
    parameters: Parameters,
    child: int,
    mover: int,
    n: float,
    sure: float,
) -> tuple[float, float, bool, bool]:
    """What is proven of an edge: its utility's bounds, if it is solved, if it is set aside.

    It is set aside if it cannot be better than what is ``sure``, the mover's bound at the node; or
    if it is settled and has been visited often enough. The solver settles an outcome, not a win:
    where a win is out of reach, a draw may still have to be proven.
    """
    low, high, solved, set_aside = -math.inf, math.inf, False, False
    if parameters.solver:
        low, high = proofs.low[child, mover], proofs.high[child, mover]
        solved = proofs.distance[child] != UNSOLVED
        set_aside = low < sure and high <= sure
    if parameters.skip_solved and n > parameters.skip_solved_visits:
        player = parameters.searching_player
        set_aside = (
            set_aside
            or solved
            or (
                parameters.proof_numbers
                and not parameters.solver
                and (proofs.proof[child, player] == 0.0 or proofs.disproof[child, player] == 0.0)
            )
        )
    return low, high, solved, set_aside


@kernel
def with_bonus(
    score: float, bonus: float, n: float, half_life: float, parameters: Parameters
) -> float:
    """A score and what proof numbers say, blended and added."""
    if score == math.inf:
        return score
    w = parameters.proof_weight
    extra = proof_exploration(bonus, n, parameters.proof_constant, half_life)
    return blend(w, score, bonus) + extra


@kernel
def winning_rate(amaf: AmafRows, row: int) -> float:
    """The weighted win rate of a row."""
    return weighted_win_rate(amaf.visits[row], float(amaf.wins[row]), float(amaf.win_moves[row]))


@kernel
def winning_scale(actions: NDArray[np.int32], amaf: AmafRows, parameters: Parameters) -> float:
    """What a weighted win rate is multiplied by to compare it with the siblings' AMAF values.

    The most urgent sibling gets the best AMAF value among them, and the others less in proportion:
    a weighted win rate is smaller the longer games are, and only its ratios mean something.
    """
    prior_sum = parameters.amaf_prior_visits * parameters.amaf_prior_value
    best_rate = 0.0
    best_value = 0.0
    for index in range(actions.shape[0]):
        row = int(actions[index]) if parameters.tables else index
        n_amaf = parameters.amaf_prior_visits + amaf.visits[row]
        if n_amaf > 0.0:
            best_value = max(best_value, amaf_value(n_amaf, prior_sum + amaf.value_sum[row]))
        best_rate = max(best_rate, winning_rate(amaf, row))
    if best_rate == 0.0:
        return 0.0
    return best_value / best_rate


@kernel
def sample_outcome(tree: Tree, node: int, stream: Stream) -> int:
    """A chance node's edge, drawn by probability."""
    first, count = tree.node_first_edge[node], tree.node_edge_count[node]
    remaining = random_unit(stream)
    for edge in range(first, first + count - 1):
        remaining -= np.float64(tree.edge_prior[edge])
        if remaining < 0.0:
            return edge
    return first + count - 1
