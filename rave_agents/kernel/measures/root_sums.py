"""Two sums over the tree of a root, looked at as it grows, and remembered at the roots that follow.

A part that measures something of the whole tree, or of the root's edges, looks at it each time that
the root's visits have doubled: so that it costs little, however long the search.
"""

from typing import Annotated, Any, NamedTuple

from rave_agents.compiler.arrays import FLOAT, INT, Array, Kept, one
from rave_agents.compiler.dispatch import kernel
from rave_agents.kernel.tree import ROOT

FIRST, SECOND, EARLIER_FIRST, EARLIER_SECOND = 0, 1, 2, 3

KEPT = 0.9
"""The share of earlier roots' sums that is kept at each new one."""


class RootSums(NamedTuple):
    """Two sums that a part measures at the roots."""

    sums: Annotated[Array, one(FLOAT, 4)]
    """[4] the two sums of the root when last looked at, and those of earlier roots."""
    visits: Annotated[Array, one(INT, kept=Kept.ROOT)]
    """[1] the root's visits when it was last looked at; the tree sets it to 0 at each new root."""


@kernel
def is_time_to_look(measured: RootSums, tree: Any) -> bool:
    """True if the root's visits have doubled."""
    return bool(tree.node_visits[ROOT] >= max(1, 2 * measured.visits[0]))


@kernel
def remember(measured: RootSums, tree: Any, first: float, second: float) -> tuple[float, float]:
    """Keep what has been seen now; returns both sums with what earlier roots told."""
    sums = measured.sums
    if measured.visits[0] == 0:  # The sums are still those of the root before.
        sums[EARLIER_FIRST] = KEPT * (sums[EARLIER_FIRST] + sums[FIRST])
        sums[EARLIER_SECOND] = KEPT * (sums[EARLIER_SECOND] + sums[SECOND])
    measured.visits[0] = tree.node_visits[ROOT]
    sums[FIRST], sums[SECOND] = first, second
    return first + sums[EARLIER_FIRST], second + sums[EARLIER_SECOND]
