"""Trust in the bonus of proof numbers: full, or as far as it can tell moves apart.

Where a game is far from its end, a proof number says little more than how many replies a move
leaves, and its bonus prefers moves that force the opponent. In Breakthrough or Dots and Boxes
such moves are good. In Checkers they are sacrifices: a piece that must be taken leaves one reply.
The simulations tell the two kinds apart: there, moves with a greater bonus bring less. Where
actions stay legal until someone takes them, as in Dots and Boxes, a move may bring less on average
and be good all the same: what it prepares can be done later. So values count there the less.

In Hex, all moves leave as many replies, so that the bonus only says below which of them the tree
has grown least. Such games show themselves in what moves do to other actions, see
``placement`` in ``measures/action_persistence.py``.
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
"""The visits that the mean of an edge counts for at most: one good move is one piece of evidence,
however often it was taken."""

PRIOR_WEIGHT = 50.0
"""The weight of what is assumed until something is known: that bonuses say nothing of values."""

TOLERATED_SLOPE, REFUTING_SLOPE = -0.05, -0.1
"""Slopes of values over bonuses down to which trust is full, and at which it is none."""


class LearnedBonusTrust(NamedTuple):
    """The bonus is trusted unless all moves leave as many replies, or it prefers lower values.

    Values count as far as actions expire, see ``expiry`` in ``measures/action_persistence.py``.
    """


@runs_as(LearnedBonusTrust)
class MeasuredTrust(NamedTuple):
    """Correlations of bonuses with values, measured at the roots so far."""

    options: LearnedBonusTrust
    measured: RootSums
    """Sums over the whole tree: the squares of bonuses, and their products with values, both as
    differences from the mean of their node."""
    distrust: Annotated[Array, one(FLOAT)]
    """[1] 1 less the trust."""


@open_function
def bonus_trust(trust: Any) -> float:
    """The trust in the bonus at this moment, from 0 to 1."""
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
    """Distrust from 0 to 1, by the slope of values over bonuses; near 0 where little is known."""
    slope = products / (PRIOR_WEIGHT + squares)
    return ramp(float(slope), TOLERATED_SLOPE, REFUTING_SLOPE)


@open_function
def compare_with_values(trust: Any, search: Any, edge_bonus: Array, idle: bool) -> None:
    """A simulation has ended: compare bonuses and values, if it is time to.

    There is nothing to compare while the numbers are ``idle``.
    """


@implements(compare_with_values, MeasuredTrust)
def _compare_with_values(trust: MeasuredTrust, search: Any, edge_bonus: Array, idle: bool) -> None:
    """Look at the whole tree, if it is time to."""
    if is_time_to_look(trust.measured, search.tree):
        seen = (0.0, 0.0) if idle else compared(search, edge_bonus)
        squares, products = remember(trust.measured, search.tree, seen[0], seen[1])
        by_values = distrust(squares, products) * expiry(search.lifetimes.left)
        trust.distrust[0] = max(by_values, placement(search.lifetimes))


@kernel
def compared(search: Any, edge_bonus: Array) -> tuple[float, float]:
    """Sums over all edges: squares of bonuses, and bonuses times values.

    Both are differences from the mean of the edge's node.
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
            squares += node_squares - bonuses * bonuses / weights
            products += node_products - bonuses * values / weights
    return squares, products
