"""Selection: which edge a simulation takes at a node."""

import math
from typing import Annotated, Any, NamedTuple

from annotated_types import Ge, Le

from rave_agents.compiler.arrays import LANES, whole_lanes
from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.kernel.amaf.views import amaf_sums, lie_at_edges, view_at
from rave_agents.kernel.backup import edge_sum
from rave_agents.kernel.declarations import GameTraits, becomes
from rave_agents.kernel.hooks import is_available
from rave_agents.kernel.proofs.edges import asks_children, corrected, proven_at, within_bounds
from rave_agents.kernel.rules import Edge, Node, node_term, reads_node, score, scores_any_row
from rave_agents.kernel.search import SCORED_AT_ONCE
from rave_agents.kernel.tree import edge_rows
from rave_agents.kernel.values.implicit_minimax import first_value, mixed_sum, mixing_at
from rave_agents.kernel.visit_terms import inverse_root, listed_inverse_root
from rave_agents.simulate.random_stream import random_below, random_unit

FEW = 2 * LANES
"""Up to this many edges are faster to score one by one."""

NO_EDGE = -1
"""Sentinel: the rule scored every edge as NaN."""


class Best(NamedTuple):
    """The best of the edges that have been compared."""

    edge: int
    score: float
    ties: int
    """Number of edges that share the best score."""


class RandomTies(NamedTuple):
    """Draws one of the edges with the best score."""


class TiesWithin(NamedTuple):
    """Draws one of the edges whose scores are within a tolerance of the best."""

    tolerance: Annotated[float, Ge(0)] = 0.01
    """Maximum distance from the best score, at least 0. With simultaneous moves, about 0.01 avoids
    correlated choices."""


class FixedUrgency(NamedTuple):
    """An edge without visits has the configuration's ``first_play_urgency``."""


class AdaptiveUrgency(NamedTuple):
    """``FixedUrgency``, but a separate value if an evaluator gives prior probabilities.

    With priors, improbable edges need not be tried.
    """

    with_priors: Annotated[float, Ge(0), Le(1)] = 0.5
    """The value of an edge without visits if an evaluator gives priors, in [0, 1]."""


class ReducedParentValue(NamedTuple):
    """An edge without visits has its node's value, reduced by the share already explored.

    First-play-urgency reduction, as in Leela Chess Zero and KataGo (Wu 2019, arXiv 1902.10565).
    """

    reduction: Annotated[float, Ge(0)] = 0.1
    """Reduction when all edges but this one have visits, at least 0. Half of the published values,
    which are for [-1, 1], such as KataGo's 0.2."""


@open_function
def unvisited_value(first_play: Any, node: Node, given: float) -> float:
    """The value of an edge without visits and AMAF visits; ``given`` is the configuration's."""
    return given


@implements(unvisited_value, ReducedParentValue)
def reduced_parent_value(first_play: ReducedParentValue, node: Node, given: float) -> float:
    """``V - reduction sqrt(Σ p)``: V the node's value, p the priors of visited edges."""
    return node.value - first_play.reduction * math.sqrt(node.explored)


@implements(becomes, AdaptiveUrgency)
def _becomes(urgency: AdaptiveUrgency, game: GameTraits) -> AdaptiveUrgency | FixedUrgency:
    return urgency if game.priors else FixedUrgency()


@implements(unvisited_value, AdaptiveUrgency)
def _urgency_with_priors(urgency: AdaptiveUrgency, node: Node, given: float) -> float:
    return urgency.with_priors


@implements(reads_node, FixedUrgency, AdaptiveUrgency)
def _reads_no_node(first_play: Any) -> bool:
    return False


@open_function
def tolerance_of(ties: Any) -> float:
    """Distance below the best score within which edges are drawn; 0 for exact ties only."""
    return 0.0


@implements(tolerance_of, TiesWithin)
def _tolerance_of(ties: TiesWithin) -> float:
    return ties.tolerance


@open_function
def node_for(moves: Any, rule: Any, node: Node, edge: int) -> Node:
    """The node as a rule sees it, for one of its edges."""
    return node


@kernel
def seen_node(search: Any, rule: Any, node: int, depth: int) -> Node:
    """A decision node, ``depth`` edges from the root, as a rule sees it."""
    tree = search.tree
    N = float(max(tree.node_visits[node], 1))
    total, visits, explored = 0.0, 0.0, 0.0
    # A sum over all edges at every step: only for parts that read it.
    if reads_node(rule) or reads_node(search.first_play):
        for edge in edge_rows(tree, node):
            if tree.edge_visits[edge] > 0:
                total += edge_sum(search.backup, search, node, edge)
                visits += float(tree.edge_visits[edge])
                explored += float(tree.edge_prior[edge])
    value = total / visits if visits > 0.0 else 0.5
    edges = int(tree.node_edge_count[node])
    return Node(N, node_term(rule, N, edges), value, depth, explored, edges)


class Ranking(NamedTuple):
    """Everything about a node that its edges' scores share."""

    rule: Any
    """The selection rule."""
    row: int
    """The node's row in the tree."""
    node: Node
    """The node as the rule sees it."""
    amaf: Any
    """AMAF statistics as the node uses them."""
    proven: Any
    """The node's proven facts."""
    mixing: Any
    """The mixture of means and minimax values at the node."""
    unvisited: float
    """The value of an edge without visits and AMAF visits."""


@kernel
def urgency_of(search: Any, ranking: Ranking, edge: int, root: float) -> float:
    """The score of an edge; ``root`` is ``1 / sqrt(n)`` of its visits."""
    tree, node, proven = search.tree, ranking.row, ranking.proven
    n, plain_sum = float(tree.edge_visits[edge]), tree.edge_value_sum[edge]
    value_sum = edge_sum(search.backup, search, node, edge)
    # Order matters: mix in minimax values first, then clamp the result to the proven bounds.
    value_sum = mixed_sum(ranking.mixing, search, edge, n, value_sum)
    value_sum = within_bounds(proven, search, edge, n, value_sum)
    n_amaf, amaf_sum = amaf_sums(ranking.amaf, search, edge, n)
    q = value_sum / max(n, 1.0)  # Branchless: without visits the sum is 0.
    # Edges with AMAF visits alone take their AMAF value, even if the mean is unknown.
    if n == 0.0 and n_amaf == 0.0:
        q = first_value(search.judging, search, node, edge, ranking.unvisited)
    q_amaf = amaf_sum / n_amaf if n_amaf > 0.0 else 0.0
    p = float(tree.edge_prior[edge])
    seen = Edge(n, q, n_amaf, q_amaf, p, value_sum, amaf_sum, edge, plain_sum, root)
    whole = node_for(search.moves, ranking.rule, ranking.node, edge)
    urgency = score(ranking.rule, ranking.amaf, whole, seen)
    # Last, since solved edges override any score.
    return corrected(proven, search, edge, n, urgency)


@kernel
def better_of(search: Any, best: Best, edge: int, urgency: float) -> Best:
    """The best edge after a comparison with one that is better or a tie.

    Ties are broken at random.
    """
    if urgency > best.score:
        return Best(edge, urgency, 1)
    # Reservoir sampling: the k-th tie replaces the choice with probability 1 / k.
    ties = best.ties + 1
    return Best(edge if random_below(search.stream, ties) == 0 else best.edge, best.score, ties)


@kernel
def best_of(search: Any, best: Best, tolerance: float, first: int, begin: int, end: int) -> Best:
    """The best edge after a comparison with the scores from ``begin`` to before ``end``.

    ``first`` is the edge of score 0. Edges within ``tolerance`` of the best score count as ties.
    """
    urgencies = search.path.urgencies
    for place in range(begin, end):
        # Scores that are NaN compare as False.
        is_high = urgencies[place] >= best.score - tolerance
        if is_high and is_available(search.moves, first + place):
            best = better_of(search, best, first + place, urgencies[place])
    return best


@kernel
def best_one_by_one(
    search: Any, ranking: Ranking, best: Best, tolerance: float, first: int, count: int
) -> Best:
    """``best_of`` for ``count`` edges, scored one by one."""
    urgencies, visits = search.path.urgencies, search.tree.edge_visits
    for place in range(count):
        if is_available(search.moves, first + place):
            root = listed_inverse_root(float(visits[first + place]))
            urgencies[place] = urgency_of(search, ranking, first + place, root)
    return best_of(search, best, tolerance, first, 0, count)


@kernel
def scores_at_once(search: Any, rule: Any) -> bool:
    """True if scoring many edges at once is faster than one by one.

    That holds if AMAF values are blended in and nothing is read from other rows.
    """
    amaf, proofs = search.amaf, search.proofs
    return lie_at_edges(amaf) and scores_any_row(rule) and not asks_children(proofs)


@kernel
def best_at_once(
    search: Any, ranking: Ranking, best: Best, tolerance: float, first: int, count: int
) -> Best:
    """``best_of`` for ``count`` edges, scored ``LANES`` at once.

    Rows after the last edge are scored along with them, and not compared. Groups without a score as
    good as the best are skipped.
    """
    urgencies, visits = search.path.urgencies, search.tree.edge_visits
    for place in range(whole_lanes(count)):
        if is_available(search.moves, first + place):
            # Computed, not looked up: a table lookup cannot be vectorised.
            root = inverse_root(float(visits[first + place]))
            urgencies[place] = urgency_of(search, ranking, first + place, root)
    # One comparison of a whole group: rarely does it hold a better edge.
    for group in range(0, count, LANES):
        as_good = False
        for place in range(group, group + LANES):
            as_good |= urgencies[place] >= best.score - tolerance
        if as_good:
            best = best_of(search, best, tolerance, first, group, min(group + LANES, count))
    return best


@kernel
def most_urgent(search: Any, rule: Any, node: int, depth: int, table: int) -> int:
    """The edge of a decision node with the best score; ties are broken at random.

    The node must have an available edge. Returns ``NO_EDGE`` if the rule scores all of them as NaN.
    ``depth`` is the node's, ``table`` its AMAF reference.

    Edges are scored in blocks and compared afterwards, so a mispredicted comparison does not
    discard scores computed ahead.
    """
    amaf = view_at(search.amaf, search, node, depth, table)
    proven = proven_at(search.proofs, search, node)
    whole = seen_node(search, rule, node, depth)
    unvisited = unvisited_value(search.first_play, whole, float(search.settings.first_play_urgency))
    mixing = mixing_at(search.judging, search, node)
    ranking = Ranking(rule, node, whole, amaf, proven, mixing, unvisited)
    edges = edge_rows(search.tree, node)
    at_once = scores_at_once(search, rule) and len(edges) > FEW
    best = Best(NO_EDGE, -math.inf, 0)
    tolerance = 0.0
    # With a tolerance, the first pass finds the best score and the second draws among the ties.
    for _ in range(2 if tolerance_of(search.ties) > 0.0 else 1):
        best = Best(best.edge, best.score, 0)
        for first in range(edges.start, edges.stop, SCORED_AT_ONCE):
            count = min(SCORED_AT_ONCE, edges.stop - first)
            if at_once:
                best = best_at_once(search, ranking, best, tolerance, first, count)
            else:
                best = best_one_by_one(search, ranking, best, tolerance, first, count)
        tolerance = tolerance_of(search.ties)
    return best.edge


@open_function
def choose(rule: Any, search: Any, node: int, depth: int, table: int) -> int:
    """The edge that a rule chooses at a decision node, or ``NO_EDGE``."""
    return most_urgent(search, rule, node, depth, table)


@kernel
def sample_outcome(search: Any, node: int) -> int:
    """A chance node's edge, drawn by probability."""
    tree = search.tree
    first, count = tree.node_first_edge[node], tree.node_edge_count[node]
    remaining = random_unit(search.stream)
    for edge in range(first, first + count - 1):
        remaining -= float(tree.edge_prior[edge])
        if remaining < 0.0:
            return int(edge)
    # The last outcome takes what rounding leaves.
    return int(first + count - 1)
