"""Selection rules: the score by which an edge is chosen.

Symbols: ``n`` visits and ``q`` mean value of an edge, ``N`` visits of its node; ``n_amaf`` and
``q_amaf`` AMAF visits and value; ``c`` the exploration constant; ``p`` the prior probability.
Values are those of the player who moves at the node, in [0, 1].

A custom rule implements ``exploration``, which is added to an edge's value, or the whole ``score``.
"""

import math
from typing import Annotated, Any, NamedTuple

from annotated_types import Ge, Gt

from rave_agents.compiler.arrays import FLOAT, Array, Axis, Rows
from rave_agents.compiler.dispatch import implements, open_function
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import hooks
from rave_agents.kernel.declarations import GameTraits, becomes
from rave_agents.kernel.visit_terms import log_root


class Edge(NamedTuple):
    """An edge as selection rules see it."""

    n: float
    """Visits."""
    q: float
    """Mean value, clipped to proven bounds. Without visits it is 0, or the first-play urgency if
    there are no AMAF visits either."""
    n_amaf: float
    """AMAF visits; 0 where there are none."""
    q_amaf: float
    """Mean value of the AMAF visits; 0 without any."""
    p: float
    """Prior probability."""
    value_sum: float
    """Sum of the values, clipped to proven bounds."""
    amaf_value_sum: float
    """Sum of the values of the AMAF visits."""
    row: int
    """Its row in the tree."""
    plain_sum: float
    """Sum of the simulations' values, ignoring proofs and the kind of backup."""
    inverse_root: float
    """``1 / sqrt(n)``; 1 without visits."""


class Node(NamedTuple):
    """The edge's node as selection rules see it."""

    N: float
    """Visits, at least 1."""
    term: float
    """The result of ``node_term``."""
    value: float
    """The node's value for the player who moves there: the mean of its edges' values weighted by
    visits; 0.5 before the first visit of an edge."""
    depth: int
    """Edges between the root and the node."""
    explored: float
    """Sum of the prior probabilities of its edges that have visits."""
    edges: int
    """Number of its edges."""


@open_function
def reads_node(part: Any) -> bool:
    """True if a part reads ``Node.value`` or ``Node.explored``; both need a pass over the edges."""
    return True


@open_function
def reads_priors(rule: Any) -> bool:
    """True if a rule reads ``Edge.p``; priors are derived from values only if needed."""
    return True


@open_function
def scores_any_row(rule: Any) -> bool:
    """True if a rule returns a score for any row of the tree, without raising.

    Then rows after a node's edges may be scored along with them, a full SIMD group at a time.
    """
    return False


@open_function
def node_term(rule: Any, N: float, edges: int) -> float:
    """The factor of exploration shared by all edges of a node with N visits."""
    return 0.0


@open_function
def exploration(rule: Any, node: Node, edge: Edge) -> float:
    """The exploration bonus added to an edge's value; 0 by default."""
    return 0.0


@open_function
def blended(amaf: Any, edge: Edge, explored: float) -> float:
    """The value of an edge with AMAF visits, exploration included; for parts that keep AMAF."""
    return edge.q + explored


@open_function
def score(rule: Any, amaf: Any, node: Node, edge: Edge) -> float:
    """The whole score of an edge: its value, blended with its AMAF value, and its exploration."""
    explored = exploration(rule, node, edge)
    if edge.n_amaf == 0.0:
        return edge.q + explored
    return blended(amaf, edge, explored)


class Greedy(NamedTuple):
    """No exploration: choose the best value."""


class UCB1(NamedTuple):
    """Exploration by visits alone (Auer et al. 2002; Kocsis & Szepesvári 2006)."""

    c: Annotated[float, Ge(0)] = 0.5
    """Exploration constant, at least 0. Kocsis & Szepesvári's theory uses 1/sqrt(2)."""


class UCB1Tuned(NamedTuple):
    """Exploration by visits and by the variance of values (Auer et al. 2002)."""

    c: Annotated[float, Ge(0)] = 1.0
    """Exploration constant, at least 0. Auer et al. use 1."""


@runs_as(UCB1Tuned)
class ValueSquares(NamedTuple):
    """The squares of values, for UCB1-Tuned."""

    options: UCB1Tuned
    square_sum: Annotated[Array, Rows(Axis.EDGE, FLOAT)]
    """Sum of the squares of the values of the edge's simulations."""


@implements(exploration, UCB1)
def ucb1_exploration(rule: UCB1, node: Node, edge: Edge) -> float:
    """``c sqrt(ln N / n)`` (Auer et al. 2002; Kocsis & Szepesvári 2006).

    An edge without visits is treated as one with a single visit.
    """
    return node.term * edge.inverse_root


@implements(node_term, UCB1)
def _weighted_root(rule: UCB1, N: float, edges: int) -> float:
    """``c sqrt(ln N)``."""
    return rule.c * log_root(N)


@implements(node_term, ValueSquares)
def _log_visits(rule: ValueSquares, N: float, edges: int) -> float:
    return math.log(N)


@implements(becomes, UCB1, UCB1Tuned)
def without_idle_exploration(rule: Any, game: GameTraits) -> Any:
    """With c = 0 there is no exploration to compute: use ``Greedy``."""
    return Greedy() if rule.c == 0.0 else rule


class PUCT(NamedTuple):
    """Exploration by visits and prior probability (Silver et al. 2017)."""

    c: Annotated[float, Ge(0)] = 1.0
    """The weight of exploration, at least 0."""


class ScheduledPUCT(NamedTuple):
    """PUCT whose weight of exploration grows with the node's visits (Silver et al. 2018)."""

    c_init: Annotated[float, Ge(0)] = 1.25
    """Initial exploration constant, for values in [-1, 1] as published; at least 0."""
    c_base: Annotated[float, Gt(0)] = 19652.0
    """Visits after which it has grown by about 0.7 (ln 2); above 0."""


@implements(reads_node, Greedy, UCB1, ValueSquares, PUCT, ScheduledPUCT)
def _reads_visits_alone(rule: Any) -> bool:
    return False


@implements(scores_any_row, Greedy, UCB1, ValueSquares, PUCT, ScheduledPUCT)
def _scores_any_row(rule: Any) -> bool:
    return True


@implements(reads_priors, Greedy, UCB1, UCB1Tuned, ValueSquares)
def _reads_no_priors(rule: Any) -> bool:
    return False


@implements(node_term, ScheduledPUCT)
def scheduled_weight(rule: ScheduledPUCT, N: float, edges: int) -> float:
    """``(c_init + ln((1 + N + c_base) / c_base)) sqrt(N) / 2`` (Silver et al. 2018).

    The half is for values in [0, 1].
    """
    grown = rule.c_init + math.log((1.0 + N + rule.c_base) / rule.c_base)
    return 0.5 * grown * math.sqrt(N)


@implements(exploration, ScheduledPUCT)
def _scheduled_exploration(rule: ScheduledPUCT, node: Node, edge: Edge) -> float:
    """``p / (n + 1)`` times ``scheduled_weight``."""
    return edge.p * node.term / (edge.n + 1.0)


implements(becomes, PUCT)(without_idle_exploration)


@implements(node_term, PUCT)
def _root_of_visits(rule: PUCT, N: float, edges: int) -> float:
    return math.sqrt(N)


@implements(exploration, PUCT)
def puct_exploration(rule: PUCT, node: Node, edge: Edge) -> float:
    """``c p sqrt(N) / (n + 1)`` (Silver et al. 2017)."""
    return rule.c * edge.p * node.term / (edge.n + 1.0)


@implements(exploration, ValueSquares)
def ucb1_tuned_exploration(rule: ValueSquares, node: Node, edge: Edge) -> float:
    """``c sqrt(ln N / n min(1/4, s² + sqrt(2 ln N / n)))`` (Auer et al. 2002).

    s² is the variance of the edge's values. An edge without visits is treated as one with a single
    visit.
    """
    # Computed from plain sums: proven bounds and other backups would distort the variance.
    variance = 0.0
    if edge.n > 0.0:
        q = edge.plain_sum / edge.n
        variance = max(rule.square_sum[edge.row] / edge.n - q * q, 0.0)
    per_visit = node.term / max(edge.n, 1.0)
    bound = min(0.25, variance + math.sqrt(2.0 * per_visit))
    return rule.options.c * math.sqrt(per_visit * bound)


@implements(hooks.count_value, ValueSquares)
def _add_square(rule: ValueSquares, edge: int, value: float) -> None:
    rule.square_sum[edge] += value * value


@implements(hooks.on_rescale, ValueSquares)
def _rescale_squares(rule: ValueSquares, search: Any, factor: float, shift: float) -> None:
    tree = search.tree
    # Σ (f v + s)² = f² Σ v² + 2 f s Σ v + n s²; the tree's sums still have the old scale.
    for edge in range(tree.used[1]):
        rule.square_sum[edge] = (
            factor * factor * rule.square_sum[edge]
            + 2.0 * factor * shift * tree.edge_value_sum[edge]
            + shift * shift * tree.edge_visits[edge]
        )


@implements(hooks.copy_edge, ValueSquares)
def _copy_squares(rule: ValueSquares, old: int, new: int) -> None:
    rule.square_sum[new] = rule.square_sum[old]
