"""AdaptiveUCB1: exploration adapted to the game and to the visits of a node."""

from typing import Annotated, Any, NamedTuple

from annotated_types import Ge, Gt

from rave_agents.compiler.arrays import INT, Array, one
from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import hooks
from rave_agents.kernel.declarations import GameTraits, becomes, rule_with_minimax
from rave_agents.kernel.players import CHANCE
from rave_agents.kernel.ramp import ramp
from rave_agents.kernel.rules import (
    PUCT,
    UCB1,
    Edge,
    Node,
    exploration,
    node_term,
    reads_node,
    reads_priors,
    scores_any_row,
    without_idle_exploration,
)
from rave_agents.kernel.visit_terms import log_root


class AdaptiveUCB1(NamedTuple):
    """UCB1 that explores more in games with chance, and less where an evaluator gives values.

    With chance or hidden information, the values of a move keep varying however deep its subtree
    grows, so its mean needs more visits. A game counts as one with chance once a chance node is in
    the tree.

    With ``late_c``, it also explores more at nodes with many visits per edge. Where AMAF replaces
    exploration, good moves are found early, but a move with a wrong AMAF value is never tried
    again; with many visits, trying each move costs little.

    Values of an evaluator vary less than playouts, so less exploration is needed. With prior
    probabilities, the rule becomes PUCT.
    """

    c: Annotated[float, Ge(0)] = 0.35
    """Exploration constant in games without chance, at least 0."""
    chance_factor: Annotated[float, Ge(0)] = 2.0
    """Factor of the constant in games with chance, at least 0."""
    chance_c: Annotated[float, Ge(0)] = 0.0
    """Lower bound of the constant in games with chance, at least 0."""
    late_c: Annotated[float, Ge(0)] = 0.0
    """Lower bound of the constant at nodes with many visits per edge, at least 0."""
    late_visits: Annotated[float, Gt(0)] = 100.0
    """Visits per edge at which ``late_c`` starts to count, above 0; it counts fully at four times
    as many."""
    values_factor: Annotated[float, Ge(0)] = 0.5
    """Factor of the constant with an evaluator's values, at least 0."""
    values_c: Annotated[float, Ge(0)] = 0.2
    """Lower bound of the constant with an evaluator's values, at least 0."""
    priors_c: Annotated[float, Ge(0)] = 0.7
    """Constant of PUCT, used instead if an evaluator gives priors, at least 0."""
    minimax_c: Annotated[float, Ge(0)] = 0.05
    """Constant used instead where ``AdaptiveBackup`` chooses minimax backups, at least 0."""


class LateUCB1(NamedTuple):
    """AdaptiveUCB1 in games without chance: more exploration at nodes with many visits."""

    options: AdaptiveUCB1


@runs_as(AdaptiveUCB1)
class ChanceSeen(NamedTuple):
    """AdaptiveUCB1 with a flag that says whether the tree has a chance node."""

    options: AdaptiveUCB1
    seen: Annotated[Array, one(INT)]
    """[1] 1 once a chance node was added, else 0."""


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


@implements(rule_with_minimax, AdaptiveUCB1)
def _with_minimax(rule: AdaptiveUCB1) -> UCB1:
    return UCB1(rule.minimax_c)


@open_function
def hides_chance(moves: Any) -> bool:
    """True if simulations differ by hidden events although the tree has no chance nodes."""
    return False


@kernel
def meets_chance(search: Any, depth: int, nodes: int) -> bool:
    """True if a new node of the path is a chance node, or chance acts unseen."""
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
    """The exploration constant, larger once a chance node was seen."""
    c = rule.options.c
    if rule.seen[0] == 1:
        c = max(c * rule.options.chance_factor, rule.options.chance_c)
    return c


@kernel
def grown(rule: AdaptiveUCB1, c: float, N: float, edges: int) -> float:
    """The exploration constant c, raised towards ``late_c`` at a node with many visits N."""
    # Ramp from c at `from_visits` to `late_c` at four times as many. The two early returns avoid
    # the division of the ramp at most nodes.
    from_visits = edges * rule.late_visits
    if rule.late_c <= c or from_visits >= N:
        return c
    if 4.0 * from_visits <= N:
        return rule.late_c
    return max(c, rule.late_c * ramp(N, from_visits, 4.0 * from_visits))


@open_function
def weight_at(rule: Any, N: float, edges: int) -> float:
    """The exploration constant at a node with N visits, for rules that adapt it."""
    return 0.0


@implements(weight_at, LateUCB1)
def _late_weight(rule: LateUCB1, N: float, edges: int) -> float:
    return grown(rule.options, rule.options.c, N, edges)


@implements(weight_at, ChanceSeen)
def _weight_with_chance(rule: ChanceSeen, N: float, edges: int) -> float:
    return grown(rule.options, weight_now(rule), N, edges)


@implements(node_term, LateUCB1, ChanceSeen)
def _weighted_root_if_explored(rule: Any, N: float, edges: int) -> float:
    """``c sqrt(ln N)``, or 0 without exploration, which skips the logarithm."""
    c = weight_at(rule, N, edges)
    return c * log_root(N) if c > 0.0 else 0.0


@implements(exploration, LateUCB1, ChanceSeen)
def _adaptive_exploration(rule: Any, node: Node, edge: Edge) -> float:
    # Where nothing is explored, a loop over the edges then needs no roots.
    return node.term * edge.inverse_root if node.term > 0.0 else 0.0


@implements(reads_node, LateUCB1, ChanceSeen)
def _reads_visits_alone(rule: Any) -> bool:
    return False


@implements(scores_any_row, LateUCB1, ChanceSeen)
def _scores_any_row(rule: Any) -> bool:
    return True


@implements(reads_priors, LateUCB1, ChanceSeen)
def _reads_no_priors(rule: Any) -> bool:
    return False
