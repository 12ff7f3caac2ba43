"""Trust in AMAF values where something is hidden.

An action that is legal again may mean the same as before there: to ask for a rank in Go Fish is as
good later as now. A call in poker is not. What tells them apart is how far the values of siblings
differ. If actions mean the same whenever taken, the values of simulations that took them later are
those of the edges, diluted by all that happens in between, so that they differ less. In poker they
differ more. Where a node has few visits, as information sets have, such means over many are worth
much.

It does not tell games without hidden information apart: in Connect Four, too, values of actions
taken later differ less than edges' own.
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
"""Ratios of the standard deviation of the values of actions taken later to that of edges' own
values, at which trust is full and none."""

LEAST_VISITS = 2.0
"""Visits of an edge, and simulations that took its action later, from which on both values count.
"""


class HiddenTrust(NamedTuple):
    """AMAF values are trusted as ``LearnedTrust`` does, or as their spread allows, if that is more.

    ``LearnedTrust`` becomes this where something is hidden, see ``composition.compose``.
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
    """Squares of differences from siblings' means: of actions taken later, and of edges."""
    by_spread: Annotated[Array, one(FLOAT)]
    """[1] the trust that follows; 0 until something is known."""


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
    """Look at the root, if it is time to."""
    if is_time_to_look(trust.measured, search.tree):
        seen = squares(search.tree, visits, value_sum)
        later, own = remember(trust.measured, search.tree, seen[0], seen[1])
        trust.by_spread[0] = trust_by_spread(later, own)


@kernel
def trust_by_spread(later: float, own: float) -> float:
    """Trust from 0 to 1, by the squares of differences of actions taken later, and of edges."""
    if own <= 0.0:
        return 0.0
    return ramp(math.sqrt(later / own), NO_TRUST_RATIO, FULL_TRUST_RATIO)


@kernel
def squares(tree: Any, amaf_visits: Array, amaf_value_sum: Array) -> tuple[float, float]:
    """Squares of differences from the mean over the root's edges, of actions taken later, and own.

    Both are means of simulations, however values are backed up: an AMAF value has the visits of the
    edge in it; without them it is that of actions taken later.
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
    later_squares -= laters * laters / edges
    own_squares -= owns * owns / edges
    return max(0.0, later_squares), max(0.0, own_squares)
