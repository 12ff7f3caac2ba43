"""What is proven of positions, and how the search heeds it.

Two parts know something: the solver, of outcomes, and proof numbers, of what is left to prove. They
are told of new nodes together, and every node above is updated up to one that stays as it was.
"""

from typing import Annotated, Any, NamedTuple

from annotated_types import Ge, Lt

from rave_agents.compiler.arrays import NODE
from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.compiler.runtime import runs_as
from rave_agents.compiler.takes import Takes
from rave_agents.kernel.hooks import (
    checks_children,
    give_better_known,
    give_outcome,
    is_decided,
    is_known,
    on_begin,
    on_expand,
    rows_needed,
)
from rave_agents.kernel.players import TERMINAL
from rave_agents.kernel.proof_numbers import (
    NoProofNumbers,
    ProofNumbers,
    begin_numbers,
    is_won,
    number_terminal,
    refresh_bonuses,
    update_numbers,
)
from rave_agents.kernel.solver import (
    NoSolver,
    Solver,
    begin_bounds,
    bounds_of,
    has_outcomes,
    is_solved,
    solve_terminal,
    update_bounds,
)
from rave_agents.kernel.tree import ROOT, UNEXPANDED, add_node
from rave_agents.kernel.utilities import scaled
from rave_agents.simulate.frame import Header

NUM_PLAYOUTS = int(Header.NUM_PLAYOUTS)


ROUNDING = 1e-9
"""Means that differ by no more are equal but for rounding."""


class NoProofs(NamedTuple):
    """Nothing is proven."""


class NoSkipping(NamedTuple):
    """Solved children go on competing, with their outcomes as scores."""


class SkipSolved(NamedTuple):
    """Solved children are passed over as long as their parent is not solved."""

    visits: Annotated[int, Ge(0), Lt(2**31)] = 5
    """After more visits than this, at least 0 (Kowalski et al. 2023: 5)."""


class CheckNothing(NamedTuple):
    """A node's children are known when they are expanded."""


class CheckTerminal(NamedTuple):
    """A node's children that end the game are known as soon as it is expanded."""


class CheckRefutations(NamedTuple):
    """As ``CheckTerminal``, and replies that win at once are tried against all moves of a node.

    See ``refutations.py``; with the solver.
    """


class Proofs(NamedTuple):
    """What is proven, and how the search heeds it."""

    solver: Annotated[Any, Takes(NoSolver, Solver)] = Solver()
    """``Solver`` or ``NoSolver``."""
    numbers: Annotated[Any, Takes(NoProofNumbers, ProofNumbers)] = NoProofNumbers()
    """``ProofNumbers`` or ``NoProofNumbers``."""
    skipping: Annotated[Any, Takes(NoSkipping, SkipSolved)] = NoSkipping()
    """What becomes of solved children: ``NoSkipping`` or ``SkipSolved``."""
    checks: Annotated[Any, Takes(CheckNothing, CheckTerminal, CheckRefutations)] = CheckNothing()
    """What is looked for at new nodes: ``CheckNothing``, ``CheckTerminal``,
    ``CheckRefutations``."""

    def conflict(self) -> str:
        """Why these do not go together; empty if they do."""
        if isinstance(self.solver, NoSolver):
            if isinstance(self.numbers, NoProofNumbers):
                return "nothing is proven without a solver and proof numbers: use no_proofs."
            if isinstance(self.checks, CheckRefutations):
                return "check_refutations needs a solver: use check_terminal, or solver=solver."
        return ""


@runs_as(Proofs)
class Proven(NamedTuple):
    """What is proven."""

    options: Proofs
    solver: Any
    numbers: Any


@implements(on_begin, Proven)
def _on_begin(proofs: Proven, search: Any) -> None:
    refresh_bonuses(proofs.numbers, search)


@implements(is_decided, Proven)
def _is_decided(proofs: Proven, search: Any) -> bool:
    if not search.settings.ends_when_proven:
        return False
    if has_outcomes(proofs.solver):
        return is_solved(proofs.solver, ROOT)
    return is_won(proofs.numbers, search, ROOT)


@implements(is_known, Proven)
def _is_known(proofs: Proven, node: int) -> bool:
    return is_solved(proofs.solver, node)


@implements(give_outcome, Proven)
def _give_outcome(proofs: Proven, search: Any, node: int) -> None:
    frame = search.frame
    frame.header[NUM_PLAYOUTS] = 1
    frame.playout_ends[0] = 0
    for player in range(search.settings.num_players):
        frame.returns[player], _ = bounds_of(proofs.solver, search, node, player)


@implements(checks_children, Proven)
def _checks_children(proofs: Proven) -> int:
    return looks_ahead(proofs.options.checks)


@open_function
def looks_ahead(checks: Any) -> int:
    """1 if children that end the game are looked for, else 0."""
    return 1


@implements(looks_ahead, CheckNothing)
def _looks_not(checks: CheckNothing) -> int:
    return 0


@implements(rows_needed, Proven)
def _rows_needed(proofs: Proven, search: Any, axis: int, actions: int) -> int:
    needed = actions * looks_ahead(proofs.options.checks) if axis == NODE else 0
    return needed + rows_needed(proofs.options.checks, search, axis, actions)


@kernel
def prove_terminal(proofs: Proven, search: Any, node: int, returns: Any, first: int) -> None:
    """A terminal node: its returns stand from the place ``first`` on."""
    solve_terminal(proofs.solver, search, node, returns, first)
    number_terminal(proofs.numbers, search, node, returns, first)


@kernel
def begin_node(proofs: Proven, search: Any, node: int) -> None:
    """A new node of which nothing is known."""
    begin_bounds(proofs.solver, search, node)
    begin_numbers(proofs.numbers, search, node)


@kernel
def update_node(proofs: Proven, search: Any, node: int) -> bool:
    """Derive what is proven of an expanded node from its children. Returns whether it changed."""
    if search.tree.node_player[node] == TERMINAL:
        return True
    changed = update_bounds(proofs.solver, search, node)
    return update_numbers(proofs.numbers, search, node) or changed


@kernel
def update_path(proofs: Proven, search: Any, depth: int) -> None:
    """Update the nodes of the path, from the place ``depth`` up to one that stays as it was."""
    for index in range(depth, -1, -1):
        if not update_node(proofs, search, search.path.nodes[index]):
            return


@implements(on_expand, Proven)
def _on_expand(proofs: Proven, search: Any, depth: int, nodes: int) -> None:
    """Note what the frame says of the new node, and what follows for those above it."""
    tree, frame = search.tree, search.frame
    leaf = int(search.path.nodes[depth])
    if tree.node_player[leaf] == TERMINAL:
        prove_terminal(proofs, search, leaf, frame.returns, 0)
    else:
        begin_node(proofs, search, leaf)
        if looks_ahead(proofs.options.checks) == 1:
            add_terminal_children(proofs, search, leaf)
    update_path(proofs, search, depth)
    if is_solved(proofs.solver, leaf):
        give_outcome(proofs, search, leaf)  # Better known than by the playouts.


@kernel
def add_terminal_children(proofs: Proven, search: Any, node: int) -> None:
    """Make nodes of a new node's children that end the game, as the frame tells."""
    tree, frame = search.tree, search.frame
    first = tree.node_first_edge[node]
    for index in range(tree.node_edge_count[node]):
        if frame.child_ends[index] != 0:
            child = add_node(tree, TERMINAL, 0, 0)
            tree.edge_child[first + index] = child
            place = index * search.settings.num_players
            prove_terminal(proofs, search, child, frame.child_returns, place)


@implements(give_better_known, Proven)
def _give_better_known(proofs: Proven, search: Any, node: int, edge: int) -> None:
    give_passed_over(proofs.options.skipping, proofs, search, node, edge)


@open_function
def give_passed_over(skipping: Any, proofs: Proven, search: Any, node: int, edge: int) -> None:
    """Put the outcome of a solved sibling that is better than an edge into ``path.values``."""


@implements(give_passed_over, SkipSolved)
def _give_passed_over(
    skipping: SkipSolved, proofs: Proven, search: Any, node: int, edge: int
) -> None:
    """Only at an unsolved decision node, for who moves there, and if it beats the edge's mean.

    Where solved children are passed over, most simulations go to moves that their player would not
    choose: above such a node the outcome that they passed over counts.
    """
    tree, solver = search.tree, proofs.solver
    mover = int(tree.node_player[node])
    if not has_outcomes(solver) or mover < 0 or is_solved(solver, node):
        return
    sure, _ = bounds_of(solver, search, node, mover)
    mean = tree.edge_value_sum[edge] / tree.edge_visits[edge]
    if scaled(search.utilities, sure) <= mean + ROUNDING:
        return
    first = tree.node_first_edge[node]
    for sibling in range(first, first + tree.node_edge_count[node]):
        child = tree.edge_child[sibling]
        if child == UNEXPANDED or not is_solved(solver, child):
            continue
        low, _ = bounds_of(solver, search, child, mover)
        if low == sure:
            for player in range(search.settings.num_players):
                utility, _ = bounds_of(solver, search, child, player)
                search.path.values[player] = scaled(search.utilities, utility)
            return
