"""How proofs affect selection: bounds on values, solved and pruned edges."""

from typing import Any, NamedTuple

from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.kernel.hooks import is_solved
from rave_agents.kernel.proofs.numbers import bonus_at, lasts, own_numbers, with_bonus
from rave_agents.kernel.proofs.part import LUCK, Proven, has_plain_ends, visits_before_skipping
from rave_agents.kernel.proofs.solver import bounds_of, has_outcomes, knows_children
from rave_agents.kernel.tree import UNEXPANDED
from rave_agents.kernel.utilities import scaled

PRUNED = 1e9
"""Score penalty of a pruned edge."""


class ProvenNode(NamedTuple):
    """Proven facts of a node, collected once before its edges are compared."""

    proofs: Any
    """The part."""
    node: int
    """The node."""
    mover: int
    """The player who moves there."""
    informed: bool
    """True if some child may have tighter bounds than the game's."""
    sure: float
    """Pessimistic bound of the mover's utility."""
    exact: bool
    """True if only winning matters in the tree and there is no chance; computed only where
    needed."""
    skips: bool
    """True if settled children are skipped once visited often enough."""
    bonus: Any
    """The weights of the bonus of proof numbers."""


@open_function
def proven_at(proofs: Any, search: Any, node: int) -> Any:
    """The proven facts of a node, for its edges."""
    return proofs


@implements(proven_at, Proven)
def _proven_at(proofs: Proven, search: Any, node: int) -> ProvenNode:
    mover = int(search.tree.node_player[node])
    informed = knows_children(proofs.solver, search, node)
    sure, _ = bounds_of(proofs.solver, search, node, mover)
    exact = True
    if not has_outcomes(proofs.solver) or lasts(proofs.numbers):
        exact = proofs.facts[LUCK] == 0 and has_plain_ends(proofs, search)
    skips = not is_settled(proofs, search, node, exact)
    bonus = bonus_at(proofs.numbers, search, node, exact)
    return ProvenNode(proofs, node, mover, informed, sure, exact, skips, bonus)


@kernel
def is_settled(proofs: Proven, search: Any, node: int, exact: bool) -> bool:
    """True if a node's outcome is known; without a solver, if its goal is proven or disproven.

    With a solver a settled goal is not enough: a disproven win leaves a draw to be proven. Without
    one, the goal settles nothing if other outcomes matter too, or if only chance decides.
    """
    if has_outcomes(proofs.solver):
        return is_solved(proofs.solver, node)
    proof, disproof = own_numbers(proofs.numbers, search, node)
    return exact and (proof == 0.0 or disproof == 0.0)


@open_function
def asks_children(proofs: Any) -> bool:
    """True if an edge's score depends on proofs of its child."""
    return False


@implements(asks_children, Proven)
def _asks_children(proofs: Proven) -> bool:
    return True


@open_function
def within_bounds(proven: Any, search: Any, edge: int, n: float, value_sum: float) -> float:
    """The sum of an edge's values, clipped to its proven bounds."""
    return value_sum


@implements(within_bounds, ProvenNode)
def _within_bounds(proven: ProvenNode, search: Any, edge: int, n: float, value_sum: float) -> float:
    if not proven.informed or n == 0.0:
        return value_sum
    child = search.tree.edge_child[edge]
    if child == UNEXPANDED:
        return value_sum
    low, high = bounds_of(proven.proofs.solver, search, child, proven.mover)
    low, high = scaled(search.utilities, low), scaled(search.utilities, high)
    # Bounds of a mean, times n: the sum needs no division.
    return min(max(value_sum, n * low), n * high)


@open_function
def corrected(proven: Any, search: Any, edge: int, n: float, score: float) -> float:
    """An edge's score, corrected by proofs."""
    return score


@implements(corrected, ProvenNode)
def _corrected(proven: ProvenNode, search: Any, edge: int, n: float, score: float) -> float:
    """A solved edge scores its outcome; an edge that cannot be best is pruned."""
    solver = proven.proofs.solver
    score = with_proof_bonus(proven, search, edge, score)
    if has_outcomes(solver) and not proven.informed:
        return score
    child = search.tree.edge_child[edge]
    if child != UNEXPANDED and has_outcomes(solver) and is_solved(solver, child):
        low, _ = bounds_of(solver, search, child, proven.mover)
        score = scaled(search.utilities, low)
    return score - (PRUNED if is_pruned(proven, search, edge, n) else 0.0)


@open_function
def with_proof_bonus(proven: Any, search: Any, edge: int, score: float) -> float:
    """An edge's score plus its proof-number bonus."""
    return score


@implements(with_proof_bonus, ProvenNode)
def _with_proof_bonus(proven: ProvenNode, search: Any, edge: int, score: float) -> float:
    return float(with_bonus(proven.proofs.numbers, proven.bonus, search, edge, score))


@open_function
def is_pruned(proven: Any, search: Any, edge: int, n: float) -> bool:
    """True if an edge with n visits cannot be best, or is settled and skipped from now on."""
    return False


@implements(is_pruned, ProvenNode)
def _is_pruned(proven: ProvenNode, search: Any, edge: int, n: float) -> bool:
    proofs = proven.proofs
    child = search.tree.edge_child[edge]
    if child == UNEXPANDED:
        return False
    pruned = False
    if has_outcomes(proofs.solver):
        low, high = bounds_of(proofs.solver, search, child, proven.mover)
        # Not better than the sure utility, and possibly worse. An edge that is sure of it itself
        # stays.
        pruned = low < proven.sure and high <= proven.sure
    if proven.skips and n > visits_before_skipping(proofs.options.skipping):
        pruned = pruned or is_settled(proofs, search, child, proven.exact)
    return pruned
