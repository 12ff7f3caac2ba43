"""Trust in the bonus of proof numbers: full, or learned from whether it separates good moves.

Far from the end of a game, a proof number reflects little more than the number of replies, and its
bonus prefers forcing moves. In Breakthrough or Dots and Boxes such moves are good. In Checkers they
are sacrifices: a forced capture leaves one reply. Simulations separate the two cases: in the
second, moves with a greater bonus have lower values. Where actions stay legal until taken, as in
Dots and Boxes, a move with a lower mean may still be good, since its follow-up can wait; there the
comparison with values counts less.

In Hex all moves leave the same number of replies, so the bonus only favours the least explored
subtree. ``placement`` in ``measures/action_persistence.py`` detects such games.
"""

from typing import Annotated, Any, NamedTuple

from rave_agents.compiler.arrays import FLOAT, NODE, Array, one
from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel.amaf.trust import is_learned
from rave_agents.kernel.backup import edge_value
from rave_agents.kernel.declarations import reads_lifetimes, report_root
from rave_agents.kernel.measures.action_persistence import expiry, placement
from rave_agents.kernel.measures.root_sums import RootSums, is_time_to_look, remember
from rave_agents.kernel.ramp import ramp
from rave_agents.kernel.tree import UNEXPANDED, edge_rows

GREATEST_WEIGHT = 10.0
"""Maximum weight of an edge's mean, in visits: one good move is one piece of evidence, however
often it was taken."""

PRIOR_WEIGHT = 50.0
"""Weight of the prior assumption that bonuses and values are unrelated."""

TOLERATED_SLOPE, REFUTING_SLOPE = -0.05, -0.1
"""Full and no trust, by the slope of values over bonuses."""


class LearnedBonusTrust(NamedTuple):
    """The bonus is trusted unless all moves leave equally many replies, or it favours lower values.

    The comparison with values is weighted by ``expiry``, see ``measures/action_persistence.py``.
    """


@runs_as(LearnedBonusTrust)
class MeasuredTrust(NamedTuple):
    """Covariance of bonuses and values, measured at the roots so far."""

    options: LearnedBonusTrust
    measured: RootSums
    """Sums over the whole tree of squared bonuses and of bonuses times values, each as a difference
    from its node's mean."""
    distrust: Annotated[Array, one(FLOAT)]
    """[1] 1 - trust."""


@open_function
def bonus_trust(trust: Any) -> float:
    """The current trust in the bonus, from 0 to 1."""
    return 1.0


@implements(reads_lifetimes, LearnedBonusTrust)
def _reads_lifetimes(trust: LearnedBonusTrust) -> bool:
    return True


@implements(is_learned, LearnedBonusTrust)
def _is_learned(trust: LearnedBonusTrust) -> bool:
    return True


@implements(bonus_trust, MeasuredTrust)
def _bonus_trust(trust: MeasuredTrust) -> float:
    return 1.0 - float(trust.distrust[0])


@implements(report_root, MeasuredTrust)
def _report_root(trust: MeasuredTrust, search: Any) -> dict[str, float]:
    return {"proof_trust": bonus_trust(trust)}


@kernel
def distrust(squares: float, products: float) -> float:
    """Distrust from 0 to 1, by the slope of values over bonuses; near 0 with little evidence."""
    # Least squares through the origin, shrunk towards 0 by the prior weight (ridge regression).
    slope = products / (PRIOR_WEIGHT + squares)
    return ramp(float(slope), TOLERATED_SLOPE, REFUTING_SLOPE)


@open_function
def compare_with_values(trust: Any, search: Any, edge_bonus: Array, idle: bool) -> None:
    """Compare bonuses with values after a simulation, if a measurement is due.

    While the numbers are ``idle`` there is nothing to compare.
    """


@implements(compare_with_values, MeasuredTrust)
def _compare_with_values(trust: MeasuredTrust, search: Any, edge_bonus: Array, idle: bool) -> None:
    """Measure the whole tree each time the root's visits have doubled."""
    if is_time_to_look(trust.measured, search.tree):
        seen = (0.0, 0.0) if idle else compared(search, edge_bonus)
        squares, products = remember(trust.measured, search.tree, seen[0], seen[1])
        by_values = distrust(squares, products) * expiry(search.lifetimes.left)
        trust.distrust[0] = max(by_values, placement(search.lifetimes))


@kernel
def compared(search: Any, edge_bonus: Array) -> tuple[float, float]:
    """Sums over all edges of squared bonuses and of bonuses times values.

    Bonuses and values are taken as differences from their node's mean.
    """
    tree, squares, products = search.tree, 0.0, 0.0
    for node in range(tree.used[NODE]):
        if tree.node_player[node] < 0 or tree.node_visits[node] < 2:
            continue  # A single edge differs from no other.
        weights, bonuses, values, node_squares, node_products = 0.0, 0.0, 0.0, 0.0, 0.0
        for edge in edge_rows(tree, node):
            visits = tree.edge_visits[edge]
            if visits == 0 or tree.edge_child[edge] == UNEXPANDED:
                continue
            weight, bonus = min(float(visits), GREATEST_WEIGHT), float(edge_bonus[edge])
            value = edge_value(search.backup, search, node, edge)
            weights += weight
            bonuses += weight * bonus
            values += weight * value
            node_squares += weight * bonus * bonus
            node_products += weight * bonus * value
        if weights > 0.0:
            # Σ w (x - mean)² = Σ w x² - (Σ w x)² / Σ w, and likewise for the products.
            squares += node_squares - bonuses * bonuses / weights
            products += node_products - bonuses * values / weights
    return squares, products
