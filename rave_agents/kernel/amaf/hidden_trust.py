"""Trust in AMAF values in games with hidden information.

There an action that is legal again may still mean the same: asking for a rank in Go Fish is as good
later as now; a call in poker is not. The spread of siblings' values separates the two. If actions
mean the same whenever taken, simulations that took them later give the edges' own values, diluted
by all that happens in between, so they differ less. In poker they differ more. Information sets
have few visits, so means over many simulations are worth much.

The test fails without hidden information: in Connect Four, too, values of actions taken later
differ less than the edges' own.
"""

import math
from typing import Annotated, Any, NamedTuple

from annotated_types import Ge, Le

from rave_agents.compiler.arrays import FLOAT, Array, one
from rave_agents.compiler.dispatch import implements, kernel
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel.amaf.trust import (
    LearnedTrust,
    is_learned,
    on_credited,
    trust_of,
    value_of_unvisited,
)
from rave_agents.kernel.declarations import GameTraits, becomes, reads_lifetimes
from rave_agents.kernel.measures.root_sums import RootSums, is_time_to_look, remember
from rave_agents.kernel.ramp import ramp
from rave_agents.kernel.tree import ROOT, edge_rows

FULL_TRUST_RATIO, NO_TRUST_RATIO = 0.4, 0.6
"""Full and no trust, by the standard deviation of values of actions taken later over that of the
edges' own values."""

LEAST_VISITS = 2.0
"""Minimum visits of an edge, and minimum simulations that took its action later, for its values to
count.
"""


class HiddenTrust(NamedTuple):
    """The larger of ``LearnedTrust`` and the trust that follows from the spread of values.

    Replaces ``LearnedTrust`` in games with hidden information, see ``composition.compose``.
    """

    unvisited: Annotated[float, Ge(0), Le(1)] = 1.0
    """See ``LearnedTrust``."""


@implements(becomes, LearnedTrust)
def _becomes(trust: LearnedTrust, game: GameTraits) -> LearnedTrust | HiddenTrust:
    return HiddenTrust(trust.unvisited) if game.hidden else trust


@runs_as(HiddenTrust)
class MeasuredSpread(NamedTuple):
    """Spreads of the values of actions, measured at the roots so far."""

    options: HiddenTrust
    measured: RootSums
    """Squared differences from siblings' means: of actions taken later, and of the edges' own
    values."""
    by_spread: Annotated[Array, one(FLOAT)]
    """[1] the resulting trust; 0 until the first measurement."""


@implements(reads_lifetimes, HiddenTrust)
def _reads_lifetimes(trust: HiddenTrust) -> bool:
    return True


@implements(is_learned, HiddenTrust, MeasuredSpread)
def _is_learned(trust: Any) -> bool:
    return True


@implements(trust_of, MeasuredSpread)
def _trust_of(trust: MeasuredSpread, search: Any) -> float:
    return max(float(search.lifetimes.trust[0]), float(trust.by_spread[0]))


@implements(value_of_unvisited, MeasuredSpread)
def _value_of_unvisited(trust: MeasuredSpread) -> float:
    return trust.options.unvisited


@implements(on_credited, MeasuredSpread)
def _measure(trust: MeasuredSpread, search: Any, visits: Array, value_sum: Array) -> None:
    """Measure the root each time its visits have doubled."""
    if is_time_to_look(trust.measured, search.tree):
        seen = squares(search.tree, visits, value_sum)
        later, own = remember(trust.measured, search.tree, seen[0], seen[1])
        trust.by_spread[0] = trust_by_spread(later, own)


@kernel
def trust_by_spread(later: float, own: float) -> float:
    """Trust from 0 to 1, from the squared differences of later values and of own values."""
    if own <= 0.0:
        return 0.0
    return ramp(math.sqrt(later / own), NO_TRUST_RATIO, FULL_TRUST_RATIO)


@kernel
def squares(tree: Any, amaf_visits: Array, amaf_value_sum: Array) -> tuple[float, float]:
    """Sums of squared differences from the mean over the root's edges: of later and of own values.

    Both use plain means of simulations, whatever the backup. An AMAF value includes the edge's own
    visits; subtracting them leaves the simulations that took the action later.
    """
    edges, laters, owns, later_squares, own_squares = 0, 0.0, 0.0, 0.0, 0.0
    for edge in edge_rows(tree, ROOT):
        visits = float(tree.edge_visits[edge])
        later_visits = amaf_visits[edge] - visits
        if min(visits, later_visits) < LEAST_VISITS:
            continue
        own = tree.edge_value_sum[edge] / visits
        later = (amaf_value_sum[edge] - tree.edge_value_sum[edge]) / later_visits
        edges, laters, owns = edges + 1, laters + later, owns + own
        later_squares, own_squares = later_squares + later * later, own_squares + own * own
    if edges == 0:
        return 0.0, 0.0
    # Σ (x - mean)² = Σ x² - (Σ x)² / n; rounding may leave it slightly negative.
    later_squares -= laters * laters / edges
    own_squares -= owns * owns / edges
    return max(0.0, later_squares), max(0.0, own_squares)
