"""Selection rules: how urgent it is to take an edge.

Symbols, the same in every formula: ``n`` visits and ``q`` mean value of an edge, ``N`` visits of
its node; ``n_amaf`` and ``q_amaf`` the same of its AMAF statistics; ``c`` the exploration constant;
``p`` the prior probability. Values are those of the player who moves at the node, in [0, 1].

A rule of your own implements ``exploration``, what is added to an edge's value, or ``score``, the
whole of it.
"""

import math
from typing import Annotated, Any, NamedTuple

from annotated_types import Ge, Gt

from rave_agents.compiler.arrays import FLOAT, INT, Array, Axis, Rows, one
from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import hooks
from rave_agents.kernel.declarations import GameTraits, becomes
from rave_agents.kernel.players import CHANCE
from rave_agents.kernel.ramp import ramp


class Edge(NamedTuple):
    """An edge as selection rules see it."""

    n: float
    """Visits."""
    q: float
    """Mean value, moved into proven bounds. Without visits it is 0, or the first-play urgency where
    there are no AMAF visits either."""
    n_amaf: float
    """AMAF visits; 0 where there are none."""
    q_amaf: float
    """Mean value of the AMAF visits; 0 without any."""
    p: float
    """Prior probability."""
    value_sum: float
    """Sum of the values, moved into proven bounds."""
    amaf_value_sum: float
    """Sum of the values of the AMAF visits."""
    row: int
    """Its row in the tree."""
    plain_sum: float
    """Sum of the values of the simulations, whatever is proven and however they are backed up."""


class Node(NamedTuple):
    """The edge's node as selection rules see it."""

    N: float
    """Visits, at least 1."""
    term: float
    """The result of ``node_term``."""
    value: float
    """The node's value for the player who moves there: the mean of its edges' values by visits; 0.5
    before the first visit of an edge."""
    depth: int
    """Edges between the root and the node."""
    explored: float
    """Sum of the prior probabilities of its edges that have visits."""
    edges: int
    """Number of its edges."""


@open_function
def reads_node(part: Any) -> bool:
    """True if a part reads ``Node.value`` or ``explored``, which cost a pass over the edges."""
    return True


@open_function
def reads_priors(rule: Any) -> bool:
    """True if a rule reads ``Edge.p``; making priors of values takes time."""
    return True


@open_function
def node_term(rule: Any, N: float, edges: int) -> float:
    """The term of the exploration that all edges of a node with N visits share."""
    return 0.0


@open_function
def exploration(rule: Any, node: Node, edge: Edge) -> float:
    """The exploration bonus, which is added to an edge's value. Nothing, by default."""
    return 0.0


@open_function
def blended(amaf: Any, edge: Edge, explored: float) -> float:
    """The value of an edge with AMAF visits, and what is explored; for parts that keep AMAF."""
    return edge.q + explored


@open_function
def score(rule: Any, amaf: Any, node: Node, edge: Edge) -> float:
    """The whole score of an edge: its value, blended with its AMAF value, and its exploration."""
    explored = exploration(rule, node, edge)
    if edge.n_amaf == 0.0:
        return edge.q + explored
    return blended(amaf, edge, explored)


class Greedy(NamedTuple):
    """No exploration: the best value is taken."""


class UCB1(NamedTuple):
    """Exploration by visits alone (Auer et al. 2002; Kocsis & Szepesvári 2006)."""

    c: Annotated[float, Ge(0)] = 0.5
    """The weight of exploration, at least 0. Kocsis & Szepesvári's theory has 1/sqrt(2)."""


class UCB1Tuned(NamedTuple):
    """Exploration by visits and by how much the values vary (Auer et al. 2002)."""

    c: Annotated[float, Ge(0)] = 1.0
    """The weight of exploration, at least 0. Auer et al. have 1."""


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
    return rule.c * math.sqrt(node.term / max(edge.n, 1.0))


class AdaptiveUCB1(NamedTuple):
    """UCB1 that explores more where chance has a part in the game, and less by good values.

    With chance, the values of a move go on varying however deep the tree below it grows, so that
    its mean needs more visits; also where something is hidden. Chance has a part as soon as it has
    moved in the tree.

    With ``late_c``, it also explores more at nodes with many visits for each edge. AMAF in the
    place of exploration finds good moves early, but never again tries a move whose AMAF value is
    wrong; there it costs little to look at each move.

    Where an evaluator gives values, they vary less than the ends of playouts. Where it gives prior
    probabilities, the rule is PUCT.
    """

    c: Annotated[float, Ge(0)] = 0.35
    """The weight of exploration without chance, at least 0."""
    chance_factor: Annotated[float, Ge(0)] = 2.0
    """The factor of the weight where chance has a part, at least 0."""
    chance_c: Annotated[float, Ge(0)] = 0.0
    """The least weight of exploration where chance has a part, at least 0."""
    late_c: Annotated[float, Ge(0)] = 0.0
    """The least weight of exploration at nodes with many visits for each edge, at least 0."""
    late_visits: Annotated[float, Gt(0)] = 100.0
    """Visits of a node for each of its edges from which ``late_c`` comes in, above 0; it is whole
    at four times as many."""
    values_factor: Annotated[float, Ge(0)] = 0.5
    """The factor of the weight where an evaluator gives values, at least 0."""
    values_c: Annotated[float, Ge(0)] = 0.2
    """The least weight of exploration where an evaluator gives values, at least 0."""
    priors_c: Annotated[float, Ge(0)] = 0.7
    """The weight of exploration of PUCT, in place of these, where an evaluator gives priors, at
    least 0."""


class LateUCB1(NamedTuple):
    """AdaptiveUCB1 in games without chance, where it explores more at nodes with many visits."""

    options: AdaptiveUCB1


@runs_as(AdaptiveUCB1)
class ChanceSeen(NamedTuple):
    """Chance seen in the tree, for AdaptiveUCB1."""

    options: AdaptiveUCB1
    seen: Annotated[Array, one(INT)]
    """[1] 1 if it has, else 0."""


@implements(node_term, UCB1, ValueSquares)
def _log_visits(rule: Any, N: float, edges: int) -> float:
    return math.log(N)


@implements(becomes, UCB1, UCB1Tuned)
def without_idle_exploration(rule: Any, game: GameTraits) -> Any:
    """Nothing is explored with c = 0: then nothing need be computed."""
    return Greedy() if rule.c == 0.0 else rule


@implements(becomes, AdaptiveUCB1)
def _becomes(rule: AdaptiveUCB1, game: GameTraits) -> Any:
    if game.priors:
        return without_idle_exploration(PUCT(rule.priors_c), game)
    if game.has_values:
        c = max(rule.c * rule.values_factor, rule.values_c)
        rule = rule._replace(c=c, late_c=0.0)
    if game.chance:
        return rule
    if rule.late_c > rule.c:
        return LateUCB1(rule)
    return without_idle_exploration(UCB1(rule.c), game)


@open_function
def hides_chance(moves: Any) -> bool:
    """True if simulations differ by what happened unseen, though there are no chance nodes."""
    return False


@kernel
def meets_chance(search: Any, depth: int, nodes: int) -> bool:
    """True if chance has a part in the game, as far as new nodes of a path show it."""
    for place in range(depth, depth + nodes):
        if search.tree.node_player[search.path.nodes[place]] == CHANCE:
            return True
    return hides_chance(search.moves)


@implements(hooks.on_expand, ChanceSeen)
def _look_for_chance(rule: ChanceSeen, search: Any, depth: int, nodes: int) -> None:
    if meets_chance(search, depth, nodes):
        rule.seen[0] = 1


@kernel
def weight_now(rule: ChanceSeen) -> float:
    """The weight of exploration, by whether chance has been seen."""
    c = rule.options.c
    if rule.seen[0] == 1:
        c = max(c * rule.options.chance_factor, rule.options.chance_c)
    return c


@kernel
def grown(rule: AdaptiveUCB1, c: float, N: float, edges: int) -> float:
    """The weight c of exploration, or what it has grown to at a node with N visits."""
    from_visits = edges * rule.late_visits
    if rule.late_c <= c or from_visits >= N:
        return c
    return max(c, rule.late_c * ramp(N, from_visits, 4.0 * from_visits))


@open_function
def weight_at(rule: Any, N: float, edges: int) -> float:
    """The weight of exploration at a node with N visits; for rules that adapt it."""
    return 0.0


@implements(weight_at, LateUCB1)
def _late_weight(rule: LateUCB1, N: float, edges: int) -> float:
    return grown(rule.options, rule.options.c, N, edges)


@implements(weight_at, ChanceSeen)
def _weight_with_chance(rule: ChanceSeen, N: float, edges: int) -> float:
    return grown(rule.options, weight_now(rule), N, edges)


@implements(node_term, LateUCB1, ChanceSeen)
def _log_visits_if_explored(rule: Any, N: float, edges: int) -> float:
    """``ln N``, or 0 where nothing is explored: that saves time at each edge."""
    return math.log(N) if weight_at(rule, N, edges) > 0.0 else 0.0


@implements(exploration, LateUCB1, ChanceSeen)
def _adaptive_exploration(rule: Any, node: Node, edge: Edge) -> float:
    if node.term == 0.0:
        return 0.0
    return weight_at(rule, node.N, node.edges) * math.sqrt(node.term / max(edge.n, 1.0))


class PUCT(NamedTuple):
    """Exploration by visits and prior probability (Silver et al. 2017)."""

    c: Annotated[float, Ge(0)] = 1.0
    """The weight of exploration, at least 0."""


class ScheduledPUCT(NamedTuple):
    """PUCT whose weight of exploration grows with the node's visits (Silver et al. 2018)."""

    c_init: Annotated[float, Ge(0)] = 1.25
    """The weight of exploration at first, for values in [-1, 1] as published; at least 0."""
    c_base: Annotated[float, Gt(0)] = 19652.0
    """About how many visits it takes until it has grown by 0.7; above 0."""


@implements(reads_node, Greedy, UCB1, LateUCB1, ValueSquares, ChanceSeen, PUCT, ScheduledPUCT)
def _reads_visits_alone(rule: Any) -> bool:
    return False


@implements(reads_priors, Greedy, UCB1, UCB1Tuned, LateUCB1, ValueSquares, ChanceSeen)
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
    """``p / (n + 1)`` times what ``scheduled_weight`` gives."""
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
    for edge in range(tree.used[1]):
        rule.square_sum[edge] = (
            factor * factor * rule.square_sum[edge]
            + 2.0 * factor * shift * tree.edge_value_sum[edge]
            + shift * shift * tree.edge_visits[edge]
        )


@implements(hooks.copy_edge, ValueSquares)
def _copy_squares(rule: ValueSquares, old: int, new: int) -> None:
    rule.square_sum[new] = rule.square_sum[old]
