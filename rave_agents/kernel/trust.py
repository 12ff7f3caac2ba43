"""How far AMAF values are trusted: wholly, or as far as the search has seen them to be right.

``LearnedTrust`` begins with what the first simulations show of the game: an AMAF value says
something about an action that means much the same whenever it is taken. In Connect Four an action
is another cell each time, and its player may take it again; in Hex, what is taken is gone. Then it
compares what AMAF foretold with what came: x is how much better than its siblings the edge taken
was by AMAF, y how much better than its node the simulation went. Trust is the slope of y on x, by
Bayesian regression with the first estimate as prior.
"""

from typing import Annotated, Any, NamedTuple

from annotated_types import Ge, Le

from rave_agents.compiler.arrays import FLOAT, INT, Array, one
from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.compiler.part_fields import Takes
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel.rules import Edge
from rave_agents.kernel.schedules import beta
from rave_agents.kernel.tree import edge_rows

GONE = 0
LEGAL_AGAIN = 1
COUNT, X, Y, XX, XY = range(5)

LEAST_VISITS = 4
"""Visits of a node before its simulations are compared with its mean."""


class FullTrust(NamedTuple):
    """AMAF values are trusted wholly: β alone says what they weigh (Gelly & Silver 2011)."""


class LearnedTrust(NamedTuple):
    """AMAF values are trusted as far as they have been right; β is multiplied by the trust."""

    prior_weight: Annotated[float, Ge(0)] = 0.8
    """What the first estimate weighs, in sums of x², at least 0."""
    noise_visits: Annotated[float, Ge(0)] = 50.0
    """AMAF visits at which a difference of AMAF values is half chance, at least 0: x is shrunk by
    ``ñ / (ñ + noise_visits)``."""
    explored: Annotated[float, Ge(0), Le(1)] = 0.3
    """The share of the rule's exploration that is left under full trust, in [0, 1]: AMAF itself
    explores."""


Trust = Annotated[Any, Takes(FullTrust, LearnedTrust)]
"""What a field takes that says how far AMAF values are trusted."""


@runs_as(LearnedTrust)
class TrustStatistics(NamedTuple):
    """What the search has seen of how right AMAF values are."""

    options: LearnedTrust
    counts: Annotated[Array, one(INT, 2)]
    """[2] see ``count_taken_actions``."""
    sums: Annotated[Array, one(FLOAT, 5)]
    """[5] the number of comparisons, and the sums of x, y, x² and x y over them."""


@open_function
def trust_of(trust: Any) -> float:
    """How far AMAF values are trusted now, from 0 to 1."""
    return 1.0


@implements(trust_of, TrustStatistics)
def learned_trust(trust: TrustStatistics) -> float:
    """``(w m + Sxy) / (w + Sxx)`` within [0, 1]: the slope, with prior m of weight w."""
    sums, weight = trust.sums, trust.options.prior_weight
    count = max(1.0, sums[COUNT])
    s_xx = sums[XX] - sums[X] * sums[X] / count
    s_xy = sums[XY] - sums[X] * sums[Y] / count
    slope = (weight * meaning(trust.counts) + s_xy) / max(weight + s_xx, 1e-12)
    return max(0.0, min(1.0, slope))


@kernel
def meaning(counts: Array) -> float:
    """How far an action means the same whenever it is taken, from 0 to 1.

    The share of the actions taken on the way to new nodes that are gone there, less that of those
    legal again. One more is counted as legal again: nothing is trusted until something is known.
    """
    gone, again = counts[GONE], counts[LEGAL_AGAIN] + 1
    return max(0.0, float(gone - again) / float(gone + again))


@kernel
def count_taken_actions(counts: Array, search: Any, depth: int, nodes: int) -> None:
    """Count which of the actions that a new node's player took on the path are legal again."""
    tree, path = search.tree, search.path
    for place in range(depth, depth + nodes):
        player = int(tree.node_player[path.nodes[place]])
        for index in range(depth):
            if player < 0 or tree.node_player[path.nodes[index]] != player:
                continue
            found = GONE
            for edge in edge_rows(tree, path.nodes[place]):
                if tree.edge_action[edge] == tree.edge_action[path.edges[index]]:
                    found = LEGAL_AGAIN
            counts[found] += 1


@open_function
def note_expansion(trust: Any, search: Any, depth: int, nodes: int) -> None:
    """A path of ``depth`` edges has been given new nodes."""


@implements(note_expansion, TrustStatistics)
def _note_expansion(trust: TrustStatistics, search: Any, depth: int, nodes: int) -> None:
    count_taken_actions(trust.counts, search, depth, nodes)


@open_function
def compare(trust: Any, amaf: Any, search: Any, depth: int) -> None:
    """Compare a simulation with what AMAF foretold of it, before it is counted."""


@implements(compare, TrustStatistics)
def _compare(trust: TrustStatistics, amaf: Any, search: Any, depth: int) -> None:
    tree, path, sums = search.tree, search.path, trust.sums
    for index in range(depth):
        node, taken = path.nodes[index], path.edges[index]
        player, n_amaf = int(tree.node_player[node]), amaf.visits[taken]
        if player < 0 or tree.node_visits[node] <= LEAST_VISITS or n_amaf <= 0.0:
            continue
        visits, total, amaf_visits, amaf_total = 0, 0.0, 0.0, 0.0
        for edge in edge_rows(tree, node):
            visits += tree.edge_visits[edge]
            total += tree.edge_value_sum[edge]
            amaf_visits += amaf.visits[edge]
            amaf_total += amaf.value_sum[edge]
        x = amaf.value_sum[taken] / n_amaf - amaf_total / amaf_visits
        x *= n_amaf / (n_amaf + trust.options.noise_visits)
        y = path.values[player] - total / visits
        sums[COUNT] += 1.0
        sums[X] += x
        sums[Y] += y
        sums[XX] += x * x
        sums[XY] += x * y


@kernel
def blend_trusted(view: Any, edge: Edge, explored: float) -> float:
    """``(1 - t β) q + t β q_amaf + (1 - t (1 - explored share)) explored``, with trust t.

    An edge without visits has the first-play urgency, at most 1, as q.
    """
    options = view.amaf.options
    weight = view.trust * beta(options.schedule, edge.n, edge.n_amaf)
    q = edge.q if edge.n > 0.0 else view.unvisited
    left = 1.0 - view.trust * (1.0 - options.trust.explored)
    return (1.0 - weight) * q + weight * edge.q_amaf + left * explored
