"""The solver: backs up exact outcomes, and bounds on outcomes known in part.

Bounds (Cazenave & Saffidine 2010, for each player's utility) assume best play by all. A position
with a certain outcome is solved and counts as that outcome from then on (Winands et al. 2008). At
chance nodes outcomes and bounds are expectations (Ballard 1983); the probabilities have the single
precision of priors. If several moves are equally good for the player to move, the outcome is that
of one of them, as in OpenSpiel's solver (max^n).
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.arrays import FLOAT, Array, Axis, Rows
from rave_agents.compiler.dispatch import implements, kernel, not_inlined, open_function
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import hooks
from rave_agents.kernel.declarations import proven_nodes, taking_part
from rave_agents.kernel.players import CHANCE
from rave_agents.kernel.tree import UNEXPANDED, edge_rows

UNSOLVED = -1
"""The distance of a node that is not solved."""


class NoSolver(NamedTuple):
    """No solver: outcomes are not backed up."""


class Solver(NamedTuple):
    """Backs up exact outcomes; a solved position counts as its outcome.

    A move that cannot be best is pruned.
    """


@implements(taking_part, Solver)
def _takes_part_solver(part: Solver) -> str:
    return "solver"


@runs_as(Solver)
class Bounds(NamedTuple):
    """Bounds on the outcome of every node, in the game's utilities, for each player."""

    options: Solver
    low: Annotated[Array, Rows(Axis.NODE, FLOAT, (Axis.PLAYER,))]
    """The pessimistic bound: the least utility that the player may still get."""
    high: Annotated[Array, Rows(Axis.NODE, FLOAT, (Axis.PLAYER,))]
    """The optimistic bound: the greatest one; equal to ``low`` if the node is solved."""
    distance: Annotated[Array, Rows(Axis.NODE, np.int32)]
    """Moves from a solved node to the end, an upper bound after chance nodes or for a foreseen
    winner; ``UNSOLVED`` for other nodes."""
    informed: Annotated[Array, Rows(Axis.NODE, np.uint8)]
    """1 if some child may have tighter bounds than the game's, else 0: at most nodes selection need
    not read the children's bounds."""


@open_function
def has_outcomes(solver: Any) -> bool:
    """True if exact outcomes are kept."""
    return False


@implements(has_outcomes, Bounds)
def _has_outcomes(solver: Bounds) -> bool:
    return True


@implements(hooks.is_solved, Bounds)
def _is_solved(solver: Bounds, node: int) -> bool:
    return bool(solver.distance[node] != UNSOLVED)


@implements(proven_nodes, Bounds)
def _proven_nodes(solver: Bounds, nodes: int) -> NDArray[np.bool_]:
    proven: NDArray[np.bool_] = solver.distance[:nodes] != UNSOLVED
    return proven


@open_function
def bounds_of(solver: Any, search: Any, node: int, player: int) -> tuple[float, float]:
    """The pessimistic and the optimistic bound of a player's utility at a node.

    The game's bounds if the node is ``UNEXPANDED``.
    """
    return -math.inf, math.inf


@implements(bounds_of, Bounds)
def _bounds_of(solver: Bounds, search: Any, node: int, player: int) -> tuple[float, float]:
    if node == UNEXPANDED:
        return search.settings.least_utility, search.settings.greatest_utility
    place = node * search.settings.num_players + player
    return solver.low[place], solver.high[place]


@open_function
def knows_children(solver: Any, search: Any, node: int) -> bool:
    """True if some child of a node may have tighter bounds than the game's."""
    return False


@implements(knows_children, Bounds)
def _knows_children(solver: Bounds, search: Any, node: int) -> bool:
    return bool(solver.informed[node] != 0 or hooks.shares_nodes(search.moves))


@implements(hooks.begin_node, Bounds)
def _begin_bounds(solver: Bounds, search: Any, node: int) -> None:
    players = search.settings.num_players
    for place in range(node * players, (node + 1) * players):
        solver.low[place] = search.settings.least_utility
        solver.high[place] = search.settings.greatest_utility
    solver.distance[node] = UNSOLVED
    # So far no child is known better than by the game's bounds.
    solver.informed[node] = 0


@implements(hooks.prove_end, Bounds)
def _solve_end(
    solver: Bounds, search: Any, node: int, returns: Any, first: int, distance: int
) -> None:
    players = search.settings.num_players
    for player in range(players):
        solver.low[node * players + player] = returns[first + player]
        solver.high[node * players + player] = returns[first + player]
    solver.distance[node] = distance


@implements(hooks.update_node, Bounds)
@not_inlined
def update_bounds(solver: Bounds, search: Any, node: int) -> bool:
    """Derive a node's bounds from its children's (Cazenave & Saffidine 2010).

    A solved node never changes.
    """
    # Updates come from below: from now on the node has a child with proven bounds.
    solver.informed[node] = 1
    if solver.distance[node] != UNSOLVED:
        return False
    players = search.settings.num_players
    mover = int(search.tree.node_player[node])
    if mover == CHANCE:
        return update_expected(solver, search, node)
    solution = find_solution(solver, search, node)
    if solution != UNEXPANDED:
        for player in range(players):
            utility = solver.low[solution * players + player]
            solver.low[node * players + player] = utility
            solver.high[node * players + player] = utility
        solver.distance[node] = 1 + solver.distance[solution]
        return True
    # Not solved: narrow the bounds to what the moves that are not dominated leave open.
    sure = sure_utility(solver, search, node)
    constant_sum = not math.isnan(search.settings.utility_sum)
    changed = False
    for player in range(players):
        # The mover gets at least what is sure; others get what any undominated move may bring.
        least, greatest = range_of_children(solver, search, node, player, sure)
        if player == mover:
            least = sure
        elif constant_sum:  # The mover's sure utility is missing from the other's maximum.
            greatest = min(greatest, search.settings.utility_sum - sure)
        place = node * players + player
        if least != solver.low[place] or greatest != solver.high[place]:
            solver.low[place] = least
            solver.high[place] = greatest
            changed = True
    return changed


@kernel
def update_expected(solver: Bounds, search: Any, node: int) -> bool:
    """Derive a chance node's bounds: ``sum_i p_i low_i`` and ``sum_i p_i high_i`` (Ballard 1983).

    It is solved once all outcomes with positive probability are.
    """
    players, changed = search.settings.num_players, False
    distance = farthest_outcome(solver, search, node)
    for player in range(players):
        least, greatest = expected_range(solver, search, node, player)
        place = node * players + player
        # All outcomes are exact: one value, which rounding must not split.
        if distance != UNSOLVED:
            greatest = least
        if least != solver.low[place] or greatest != solver.high[place]:
            solver.low[place] = least
            solver.high[place] = greatest
            changed = True
    if distance != UNSOLVED:
        solver.distance[node] = 1 + distance
        return True
    return changed


@kernel
def farthest_outcome(solver: Bounds, search: Any, node: int) -> int:
    """The greatest distance of a chance node's outcomes; ``UNSOLVED`` if any is unsolved."""
    tree, farthest = search.tree, 0
    for edge in edge_rows(tree, node):
        child = tree.edge_child[edge]
        if tree.edge_prior[edge] > 0.0:
            if child == UNEXPANDED or solver.distance[child] == UNSOLVED:
                return UNSOLVED
            farthest = max(farthest, int(solver.distance[child]))
    return farthest


@kernel
def expected_range(solver: Bounds, search: Any, node: int, player: int) -> tuple[float, float]:
    """The expected bounds of a player's utility at a chance node, clipped to the outcomes'."""
    tree, total, low_sum, high_sum = search.tree, 0.0, 0.0, 0.0
    worst, best, least, greatest = math.inf, -math.inf, math.inf, -math.inf
    for edge in edge_rows(tree, node):
        weight = float(tree.edge_prior[edge])
        if weight > 0.0:
            low, high = bounds_of(solver, search, tree.edge_child[edge], player)
            total += weight
            low_sum += weight * low
            high_sum += weight * high
            worst, least = min(worst, low), min(least, high)
            best, greatest = max(best, low), max(greatest, high)
    # Clip, so that rounding cannot separate the bounds of outcomes that agree.
    low, high = min(max(low_sum / total, worst), best), min(max(high_sum / total, least), greatest)
    return low, high


@kernel
def range_of_children(
    solver: Bounds, search: Any, node: int, player: int, sure: float
) -> tuple[float, float]:
    """The bounds of a player's utility over the children that may still be chosen.

    ``sure`` is the sure utility of the player to move, who takes no move that is certainly worse.
    """
    mover = int(search.tree.node_player[node])
    least, greatest = math.inf, -math.inf
    for edge in edge_rows(search.tree, node):
        child = search.tree.edge_child[edge]
        low, high = bounds_of(solver, search, child, player)
        _, top = bounds_of(solver, search, child, mover)
        if top >= sure:
            least = min(least, low)
            greatest = max(greatest, high)
    return least, greatest


@kernel
def sure_utility(solver: Bounds, search: Any, node: int) -> float:
    """The utility that the player to move at a node can guarantee."""
    mover = int(search.tree.node_player[node])
    sure = -math.inf
    for edge in edge_rows(search.tree, node):
        low, _ = bounds_of(solver, search, search.tree.edge_child[edge], mover)
        sure = max(sure, low)
    return sure


@kernel
def find_solution(solver: Bounds, search: Any, node: int) -> int:
    """The solved child whose outcome is the node's, or ``UNEXPANDED`` if it is not solved.

    Among equally good children a winner prefers the shortest line, a loser the longest.
    """
    tree = search.tree
    mover = int(tree.node_player[node])
    solution, best, greatest = UNEXPANDED, -math.inf, -math.inf
    for edge in edge_rows(tree, node):
        child = int(tree.edge_child[edge])
        low, high = bounds_of(solver, search, child, mover)
        greatest = max(greatest, high)
        if (
            child != UNEXPANDED
            and solver.distance[child] != UNSOLVED
            and (solution == UNEXPANDED or is_better(solver, search, mover, child, solution))
        ):
            solution, best = child, low
    # Solved only if no other child, solved or not, could still turn out better.
    return solution if best >= greatest else UNEXPANDED


@kernel
def is_better(solver: Bounds, search: Any, mover: int, child: int, other: int) -> bool:
    """True if a solved child is better for the player to move than another one.

    With equal utilities they prefer outcomes in which nobody gets more, then the shorter line. If
    somebody gets more in both, they have lost and prefer the longer line.
    """
    players = search.settings.num_players
    value = solver.low[child * players + mover]
    other_value = solver.low[other * players + mover]
    if value != other_value:
        return bool(value > other_value)
    lost, other_lost = False, False
    for player in range(players):
        # Solved children have low = high: either bound is the outcome.
        lost = lost or solver.low[child * players + player] > value
        other_lost = other_lost or solver.low[other * players + player] > value
    if lost != other_lost:
        return bool(other_lost)
    if lost:
        return bool(solver.distance[child] > solver.distance[other])
    return bool(solver.distance[child] < solver.distance[other])
