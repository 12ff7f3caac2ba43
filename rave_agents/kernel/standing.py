"""How what is proven enters the choice of an edge: solved edges, bounds, what is pruned."""

from typing import Any, NamedTuple

from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.kernel.proof_numbers import is_settled, with_bonus
from rave_agents.kernel.proofs import Proven, SkipSolved
from rave_agents.kernel.solver import bounds_of, has_outcomes, is_solved
from rave_agents.kernel.tree import UNEXPANDED
from rave_agents.kernel.utilities import scaled

PRUNED = 1e9
"""Score penalty of a pruned edge."""


@kernel
def is_node_settled(proofs: Proven, search: Any, node: int) -> bool:
    """Whether a node's outcome is known; without the solver, whether the searching player wins.

    The solver settles an outcome, not a win: where a win is out of reach, a draw may still have to
    be proven.
    """
    if has_outcomes(proofs.solver):
        return is_solved(proofs.solver, node)
    return is_settled(proofs.numbers, search, node)


class Standing(NamedTuple):
    """What is proven at a node, as its edges are compared."""

    proofs: Any
    """The part."""
    node: int
    """The node."""
    mover: int
    """The player who moves there."""
    sure: float
    """The utility that the mover is sure of."""
    skips: bool
    """Whether settled children are passed over once visited often enough."""


@open_function
def standing_of(proofs: Any, search: Any, node: int) -> Any:
    """What is proven at a node, for its edges."""
    return proofs


@implements(standing_of, Proven)
def _standing_of(proofs: Proven, search: Any, node: int) -> Standing:
    mover = int(search.tree.node_player[node])
    sure, _ = bounds_of(proofs.solver, search, node, mover)
    skips = not is_node_settled(proofs, search, node)
    return Standing(proofs, node, mover, sure, skips)


@open_function
def is_passed_over(skipping: Any, n: float) -> bool:
    """Whether a settled child with n visits is passed over."""
    return False


@implements(is_passed_over, SkipSolved)
def _is_passed_over(skipping: SkipSolved, n: float) -> bool:
    return n > skipping.visits


@open_function
def bounded(standing: Any, search: Any, edge: int, n: float, value_sum: float) -> float:
    """The sum of an edge's values within what is proven of it."""
    return value_sum


@implements(bounded, Standing)
def _bounded(standing: Standing, search: Any, edge: int, n: float, value_sum: float) -> float:
    child = search.tree.edge_child[edge]
    if child == UNEXPANDED or n == 0.0 or not has_outcomes(standing.proofs.solver):
        return value_sum
    low, high = bounds_of(standing.proofs.solver, search, child, standing.mover)
    low, high = scaled(search.utilities, low), scaled(search.utilities, high)
    return min(max(value_sum, n * low), n * high)


@open_function
def corrected(standing: Any, search: Any, edge: int, n: float, score: float) -> float:
    """A score with what is proven of the edge."""
    return score


@implements(corrected, Standing)
def _corrected(standing: Standing, search: Any, edge: int, n: float, score: float) -> float:
    """A solved edge has its outcome as score; one that cannot be best is pruned."""
    proofs = standing.proofs
    score = with_bonus(proofs.numbers, search, standing.node, edge, score)
    child = search.tree.edge_child[edge]
    if child == UNEXPANDED:
        return score
    pruned = False
    if has_outcomes(proofs.solver):
        low, high = bounds_of(proofs.solver, search, child, standing.mover)
        if is_solved(proofs.solver, child):
            score = scaled(search.utilities, low)
        pruned = low < standing.sure and high <= standing.sure
    if standing.skips and is_passed_over(proofs.options.skipping, n):
        pruned = pruned or is_node_settled(proofs, search, child)
    return score - (PRUNED if pruned else 0.0)
