"""Selection: which edge a simulation takes at a node."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.search.amaf import NO_TABLE, AmafRows, AmafTables, amaf_rows, table_row
from rave_agents.search.compiler import kernel
from rave_agents.search.formulas import (
    beta_hand_selected,
    blend,
    blended_mean,
    proof_exploration,
    puct_exploration,
    scaled,
    tuned_exploration,
    ucb1_exploration,
    weighted_win_rate,
)
from rave_agents.search.hidden import Hidden
from rave_agents.search.own_formula import call_formula
from rave_agents.search.parameters import Parameters
from rave_agents.search.proofs import UNSOLVED, Proofs
from rave_agents.search.random_stream import Stream, random_below, random_unit
from rave_agents.search.tree import UNEXPANDED, Tree

SET_ASIDE = 1e9
"""What an edge that is not worth a visit falls behind the others."""

NO_EDGE = -1
"""In place of an edge where a formula of the user's own gives none a score."""


@kernel
def edge_score(
    n: float,
    value_sum: float,
    variance: float,
    n_amaf: float,
    amaf_value_sum: float,
    p: float,
    N: float,
    ln_N: float,
    sqrt_N: float,
    c: float,
    parameters: Parameters,
) -> float:
    """How urgent it is to take an edge of a decision node with N visits.

    UCB1-Tuned alone needs the variance.
    """
    known = n > 0.0 or n_amaf > 0.0
    q = mean(n, value_sum) if known else parameters.first_play_urgency
    if parameters.formula_address != 0:
        q_amaf = mean(n_amaf, amaf_value_sum)
        address, failure = parameters.formula_address, parameters.formula_failure
        return call_formula(address, failure, n, q, n_amaf, q_amaf, p, N, c)
    exploration = 0.0
    if parameters.tuned:
        exploration = tuned_exploration(ln_N, n, variance, c)
    elif parameters.puct:
        exploration = puct_exploration(sqrt_N, n, c, p)
    elif c > 0.0:
        exploration = ucb1_exploration(ln_N, n, c)
    if n_amaf == 0.0:
        return q + exploration
    if parameters.blend_ucb:
        value_sum, exploration = value_sum + n * exploration, 0.0
    return rave_mean(n, value_sum, n_amaf, amaf_value_sum, parameters) + exploration


@kernel
def rave_mean(
    n: float, value_sum: float, n_amaf: float, amaf_value_sum: float, parameters: Parameters
) -> float:
    """The value of an edge that has AMAF visits, and theirs, blended by the schedule."""
    if parameters.hand_selected:
        beta = beta_hand_selected(n, parameters.rave_k)
        return blend(beta, mean(n, value_sum), amaf_value_sum / n_amaf)
    a, d = parameters.beta_a, parameters.beta_d
    return blended_mean(n, value_sum, n_amaf, amaf_value_sum, a, d)


@kernel
def mean(visits: float, value_sum: float) -> float:
    """A mean value; 0 without visits."""
    return value_sum / visits if visits > 0.0 else 0.0


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
    exploration: float
    """c, the weight of the exploration term."""
    use_amaf: bool
    prior_sum: float
    """The sum of the values of the AMAF visits that every action begins with."""
    scale: float
    """See ``winning_scale``; 0 where winning moves do not count."""
    half_life: float
    """The visits at which proof numbers have half their weight."""
    sure: float
    """The utility that the mover is sure of."""
    skips_settled: bool
    """Whether settled edges are passed over once visited often enough."""
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
    c: float,
    least: float,
    greatest: float,
    parameters: Parameters,
    stream: Stream,
) -> int:
    """The most urgent edge of a decision node; ties, within the tolerance, are broken at random.

    The node must have edges; where something is hidden, those that are not legal in this
    simulation's world do not compete. ``NO_EDGE`` if a formula of the user's own gives
    NaN for all that do. ``table`` is the reference, if any; ``c`` weighs the
    exploration term; ``least`` and ``greatest`` are the utilities that are 0 and 1 on the scale of
    values.
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
        math.log(N) if c > 0.0 else 0.0,
        math.sqrt(N),
        c,
        use_amaf,
        parameters.amaf_prior_visits * parameters.amaf_prior_value,
        scale,
        parameters.proof_visits * count * count,
        proofs.low[node, mover] if proofs is not None and parameters.solver else 0.0,
        proofs is not None and parameters.skip_solved and not is_settled(proofs, parameters, node),
        least,
        greatest,
    )
    visits = tree.edge_visits[first : first + count]
    value_sum = tree.edge_value_sum[first : first + count]
    if proofs is None and hidden is None and scale == 0.0 and is_plain(parameters, use_amaf):
        return first + most_urgent(visits, value_sum, amaf, view, parameters, stream)
    best, best_score, ties = 0, -math.inf, 0
    tolerance = 0.0
    for _ in range(2):
        ties = 0
        for index in range(count):
            if hidden is not None and hidden.edge_met[first + index] != hidden.number[0]:
                continue
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
    if ties == 0 and parameters.formula_address != 0:
        return NO_EDGE
    return first + best


@kernel
def is_plain(parameters: Parameters, use_amaf: bool) -> bool:
    """Whether the best edge by ``blended_mean`` and UCB1 alone is taken."""
    return (
        not parameters.puct
        and not parameters.tuned
        and parameters.formula_address == 0
        and parameters.tie_tolerance == 0.0
        and (
            not use_amaf
            or (
                parameters.amaf_unvisited
                and not parameters.hand_selected
                and not parameters.blend_ucb
                and not parameters.tables
                and parameters.amaf_prior_visits == 0.0
            )
        )
    )


@kernel
def most_urgent(
    visits: NDArray[np.int32],
    value_sum: NDArray[np.float64],
    amaf: AmafRows,
    view: NodeView,
    parameters: Parameters,
    stream: Stream,
) -> int:
    """The place of the most urgent edge where ``is_plain`` holds, by the scores of ``urgency``.

    Most of a search's time outside the game is spent here.
    """
    a, d = parameters.beta_a, parameters.beta_d
    use_amaf, c, ln_N = view.use_amaf, view.exploration, view.ln_visits
    unvisited = parameters.first_play_urgency
    best, best_score, ties = 0, -math.inf, 0
    for index in range(visits.shape[0]):
        n = float(visits[index])
        if use_amaf and amaf.visits[index] > 0.0:
            score = blended_mean(
                n, value_sum[index], amaf.visits[index], amaf.value_sum[index], a, d
            )
        elif n > 0.0:
            score = value_sum[index] / n
        else:
            score = unvisited
        if c > 0.0:
            score += ucb1_exploration(ln_N, n, c)
        if score > best_score:
            best = index
            best_score = score
            ties = 1
        elif score == best_score:
            ties += 1
            if random_below(stream, ties) == 0:
                best = index
    return best


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
    value_sum = tree.edge_value_sum[edge]
    low, solved, set_aside = -math.inf, False, False
    child = tree.edge_child[edge]
    if proofs is not None and child != UNEXPANDED:
        low, high, solved, set_aside = standing(proofs, parameters, child, n, view)
        low = scaled(low, view.least, view.greatest)
        high = scaled(high, view.least, view.greatest)
        if n > 0.0:
            value_sum = min(max(value_sum, n * low), n * high)
    n_amaf, amaf_value_sum = 0.0, 0.0
    if view.use_amaf and (parameters.amaf_unvisited or n > 0.0):
        row = int(tree.edge_action[edge]) if parameters.tables else index
        n_amaf = parameters.amaf_prior_visits + amaf.visits[row]
        amaf_value_sum = view.prior_sum + amaf.value_sum[row]
        if view.scale > 0.0:
            weighted = n_amaf * view.scale * winning_rate(amaf, row)
            amaf_value_sum = blend(parameters.winning_move_weight, amaf_value_sum, weighted)
    N, ln_N, sqrt_N = view.visits, view.ln_visits, view.sqrt_visits
    if hidden is not None:
        N = float(hidden.edge_available[edge])
        ln_N, sqrt_N = math.log(N), math.sqrt(N)
    score = edge_score(
        n,
        value_sum,
        value_variance(tree, edge) if parameters.tuned else 0.0,
        n_amaf,
        amaf_value_sum,
        float(tree.edge_prior[edge]),
        N,
        ln_N,
        sqrt_N,
        view.exploration,
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
    q = mean(n, tree.edge_value_sum[edge])
    return max(mean(n, tree.edge_square_sum[edge]) - q * q, 0.0)


@kernel
def standing(
    proofs: Proofs,
    parameters: Parameters,
    child: int,
    n: float,
    view: NodeView,
) -> tuple[float, float, bool, bool]:
    """What is proven of an edge: its utility's bounds, if it is solved, if it is set aside.

    It is set aside if it cannot be better than what is sure at the node; or if it is settled, the
    node is not, and it has been visited often enough. The solver settles an outcome, not a win:
    where a win is out of reach, a draw may still have to be proven.
    """
    low, high, solved, set_aside = -math.inf, math.inf, False, False
    if parameters.solver:
        low, high = proofs.low[child, view.mover], proofs.high[child, view.mover]
        solved = proofs.distance[child] != UNSOLVED
        set_aside = low < view.sure and high <= view.sure
    if view.skips_settled and n > parameters.skip_solved_visits:
        set_aside = set_aside or is_settled(proofs, parameters, child)
    return low, high, solved, set_aside


@kernel
def is_settled(proofs: Proofs, parameters: Parameters, node: int) -> bool:
    """Whether a node's outcome is known; without the solver, whether the searching player wins."""
    if parameters.solver:
        return bool(proofs.distance[node] != UNSOLVED)
    player = parameters.searching_player
    return bool(proofs.proof[node, player] == 0.0 or proofs.disproof[node, player] == 0.0)


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
            best_value = max(best_value, mean(n_amaf, prior_sum + amaf.value_sum[row]))
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
