"""AdaptiveUCB1: exploration by what a game is like, and by how much of a node is known."""

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
    minimax_c: Annotated[float, Ge(0)] = 0.05
    """The weight of exploration, in place of these, where ``AdaptiveBackup`` takes minimax backups,
    at least 0."""


class LateUCB1(NamedTuple):
    """AdaptiveUCB1 in games without chance, where it explores more at nodes with many visits."""

    options: AdaptiveUCB1


@runs_as(AdaptiveUCB1)
class ChanceSeen(NamedTuple):
    """Chance seen in the tree, for AdaptiveUCB1."""

    options: AdaptiveUCB1
    seen: Annotated[Array, one(INT)]
    """[1] 1 if it has, else 0."""


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
    if 4.0 * from_visits <= N:
        return rule.late_c
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
def _weighted_root_if_explored(rule: Any, N: float, edges: int) -> float:
    """``c sqrt(ln N)``, or 0 where nothing is explored: that saves time."""
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
