"""Selection: which edge a simulation takes at a node."""

import math
from typing import Annotated, Any, NamedTuple

from annotated_types import Ge

from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.kernel.amaf.views import amaf_sums, view_at
from rave_agents.kernel.hooks import is_available
from rave_agents.kernel.proofs.edges import corrected, proven_at, within_bounds
from rave_agents.kernel.rules import Edge, Node, node_term, score
from rave_agents.kernel.tree import edge_rows
from rave_agents.kernel.values.implicit_minimax import first_value, mixed_sum
from rave_agents.simulate.random_stream import random_below, random_unit

NO_EDGE = -1
"""Mark in place of an edge where the rule gives every edge NaN."""


class RandomTies(NamedTuple):
    """One of the edges with the best score is drawn at random."""


class TiesWithin(NamedTuple):
    """One of the edges whose scores are within a tolerance of the best is drawn at random."""

    tolerance: Annotated[float, Ge(0)] = 0.01
    """Greatest distance from the best score, at least 0. Where players move at the same time, about
    0.01 keeps their choices from being correlated."""


@open_function
def tolerance_of(ties: Any) -> float:
    """Distance below the best score within which an edge is drawn; 0 for equal scores alone."""
    return 0.0


@implements(tolerance_of, TiesWithin)
def _tolerance_of(ties: TiesWithin) -> float:
    return ties.tolerance


@open_function
def node_for(moves: Any, rule: Any, node: Node, edge: int) -> Node:
    """The node as a rule sees it, for one of its edges."""
    return node


@kernel
def most_urgent(search: Any, rule: Any, node: int, table: int) -> int:
    """The edge of a decision node with the best score; ties are broken at random.

    The node must have an edge that may be taken. ``NO_EDGE`` if the rule gives NaN for all that
    may. ``table`` is the AMAF reference, if any.
    """
    tree = search.tree
    amaf = view_at(search.amaf, search, node, table)
    proven = proven_at(search.proofs, search, node)
    N = float(max(tree.node_visits[node], 1))
    whole = Node(N, node_term(rule, N))
    best, best_score, ties = NO_EDGE, -math.inf, 0
    tolerance = 0.0
    for _ in range(2 if tolerance_of(search.ties) > 0.0 else 1):  # Again once the best is known.
        ties = 0
        for edge in edge_rows(tree, node):
            if not is_available(search.moves, edge):
                continue
            n, plain_sum = float(tree.edge_visits[edge]), tree.edge_value_sum[edge]
            value_sum = mixed_sum(search.judging, search, node, edge, n, plain_sum)
            value_sum = within_bounds(proven, search, edge, n, value_sum)
            n_amaf, amaf_sum = amaf_sums(amaf, search, edge, n)
            q = value_sum / n if n > 0.0 else 0.0
            if n == 0.0 and n_amaf == 0.0:
                q = first_value(search.judging, search, node, edge)
            q_amaf = amaf_sum / n_amaf if n_amaf > 0.0 else 0.0
            p = float(tree.edge_prior[edge])
            seen = Edge(n, q, n_amaf, q_amaf, p, value_sum, amaf_sum, edge, plain_sum)
            urgency = score(rule, amaf, node_for(search.moves, rule, whole, edge), seen)
            urgency = corrected(proven, search, edge, n, urgency)
            if urgency > best_score:
                best, best_score, ties = edge, urgency, 1
            elif urgency >= best_score - tolerance:
                ties += 1
                if random_below(search.stream, ties) == 0:
                    best = edge
        tolerance = tolerance_of(search.ties)
    return best


@open_function
def choose(rule: Any, search: Any, node: int, table: int) -> int:
    """The edge that a player takes at a decision node, or ``NO_EDGE``; for rules that choose."""
    return most_urgent(search, rule, node, table)


@kernel
def sample_outcome(search: Any, node: int) -> int:
    """A chance node's edge, drawn by probability."""
    tree = search.tree
    first, count = tree.node_first_edge[node], tree.node_edge_count[node]
    remaining = random_unit(search.stream)
    for edge in range(first, first + count - 1):
        remaining -= float(tree.edge_prior[edge])
        if remaining < 0.0:
            return int(edge)
    return int(first + count - 1)
