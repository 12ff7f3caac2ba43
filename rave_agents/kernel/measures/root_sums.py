"""Two sums measured over the growing tree, and carried over to the roots that follow.

A part that measures the whole tree, or the root's edges, does so each time the root's visits have
doubled: the cost stays small however long the search.
"""

from typing import Annotated, Any, NamedTuple

from rave_agents.compiler.arrays import FLOAT, INT, Array, Kept, one
from rave_agents.compiler.dispatch import kernel
from rave_agents.kernel.tree import ROOT

FIRST, SECOND, EARLIER_FIRST, EARLIER_SECOND = 0, 1, 2, 3

KEPT = 0.9
"""Discount of the earlier roots' sums at each new root."""


class RootSums(NamedTuple):
    """Two sums measured at successive roots."""

    sums: Annotated[Array, one(FLOAT, 4)]
    """[4] the two sums of the present root when last measured, and those of earlier roots."""
    visits: Annotated[Array, one(INT, kept=Kept.ROOT)]
    """[1] the root's visits at the last measurement; the tree resets it to 0 at each new root."""


@kernel
def is_time_to_look(measured: RootSums, tree: Any) -> bool:
    """True if the root's visits have doubled since the last measurement."""
    return bool(tree.node_visits[ROOT] >= max(1, 2 * measured.visits[0]))


@kernel
def remember(measured: RootSums, tree: Any, first: float, second: float) -> tuple[float, float]:
    """Store a measurement; returns both sums with the discounted ones of earlier roots."""
    sums = measured.sums
    if measured.visits[0] == 0:  # The sums are still those of the root before.
        sums[EARLIER_FIRST] = KEPT * (sums[EARLIER_FIRST] + sums[FIRST])
        sums[EARLIER_SECOND] = KEPT * (sums[EARLIER_SECOND] + sums[SECOND])
    measured.visits[0] = tree.node_visits[ROOT]
    sums[FIRST], sums[SECOND] = first, second
    return first + sums[EARLIER_FIRST], second + sums[EARLIER_SECOND]
