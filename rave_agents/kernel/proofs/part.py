"""Proofs of positions, and their use in the search.

The solver keeps exact outcomes, proof numbers the effort left to prove a win. Both take up a new
node, then update the nodes above it up to the first that does not change.
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Gt, Le, Lt
from numpy.typing import NDArray

from rave_agents.compiler.arrays import FLOAT, NODE, Array, one
from rave_agents.compiler.dispatch import (
    implements,
    kernel,
    not_inlined,
    open_function,
    python_function,
)
from rave_agents.compiler.part_fields import Takes
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import codes, hooks
from rave_agents.kernel.declarations import (
    GameTraits,
    becomes,
    game_refusal,
    keeps_proofs,
    proven_nodes,
    taking_part,
)
from rave_agents.kernel.hooks import (
    begin_node,
    give_outcome,
    is_solved,
    prove_end,
    update_node,
)
from rave_agents.kernel.players import CHANCE, TERMINAL
from rave_agents.kernel.proofs.numbers import (
    NOBODY,
    NoProofNumbers,
    ProofNumbers,
    is_idle,
    own_numbers,
    winner_of,
)
from rave_agents.kernel.proofs.solver import NoSolver, Solver, bounds_of, has_outcomes
from rave_agents.kernel.tree import ROOT, UNEXPANDED, add_node, edge_rows
from rave_agents.kernel.utilities import HIGH, LOW, scaled

ROUNDING = 1e-9
"""Means that differ by no more are equal up to rounding."""

WIN, LOSS, DRAW = 0, 1, 2
"""The places in ``Proven.ends``."""

GRADED, LUCK, QUIET = 0, 1, 2
"""The places in ``Proven.facts``."""

NODES_BETWEEN_CHECKS = 16
"""Of this many new nodes, one is checked for terminal children if none were found for long."""


class NoProofs(NamedTuple):
    """Nothing is proven."""


class NoSkipping(NamedTuple):
    """Solved children keep competing, with their outcomes as scores."""


class SkipSolved(NamedTuple):
    """Solved children are skipped while their parent is unsolved."""

    visits: Annotated[int, Ge(0), Lt(2**31)] = 5
    """Visits, at least 0, after which a solved child is skipped (Kowalski et al. 2023: 5)."""


class CheckNothing(NamedTuple):
    """Terminal children are found only when visited."""


class CheckTerminal(NamedTuple):
    """Terminal children are found as soon as their parent is expanded."""


@implements(taking_part, CheckTerminal)
def _takes_part_terminal_checks(part: CheckTerminal) -> str:
    return "terminal checks"


class CheckRefutations(NamedTuple):
    """Check for terminal children, and try a winning reply against all sibling moves.

    See ``refutations.py``. Needs the solver. Compiled rules also report a winner who is certain
    before the game ends (``Rules.foresee_end``), as in Hex and Y.
    """

    patience: Annotated[float, Gt(0), Le(math.inf)] = math.inf
    """After this many new nodes without a terminal child, only every sixteenth is checked until one
    is found; above 0. Saves time far from the end of a game."""


@implements(taking_part, CheckRefutations)
def _takes_part_refutation_checks(part: CheckRefutations) -> str:
    return "refutation checks"


class Proofs(NamedTuple):
    """Proofs, and their use in the search."""

    solver: Annotated[Any, Takes(NoSolver, Solver)] = Solver()
    """``Solver`` or ``NoSolver``."""
    numbers: Annotated[Any, Takes(NoProofNumbers, ProofNumbers)] = NoProofNumbers()
    """``ProofNumbers`` or ``NoProofNumbers``."""
    skipping: Annotated[Any, Takes(NoSkipping, SkipSolved)] = NoSkipping()
    """The skipping of solved children: ``NoSkipping`` or ``SkipSolved``."""
    checks: Annotated[Any, Takes(CheckNothing, CheckTerminal, CheckRefutations)] = CheckNothing()
    """The checks of new nodes: ``CheckNothing``, ``CheckTerminal``, ``CheckRefutations``."""
    optional: bool = False
    """True to search without proofs, instead of raising an error, where nothing can be proven: with
    simultaneous moves or hidden information."""

    def conflict(self) -> str:
        """The reason why these fields conflict; empty if they do not."""
        if isinstance(self.solver, NoSolver):
            if isinstance(self.numbers, NoProofNumbers):
                return "nothing is proven without a solver and proof numbers: use no_proofs."
            if isinstance(self.checks, CheckRefutations):
                return "check_refutations needs a solver: use check_terminal, or solver=solver."
        return ""


@implements(keeps_proofs, Proofs)
def _keeps_proofs(proofs: Proofs) -> bool:
    return True


@implements(game_refusal, Proofs)
def _game_refusal(proofs: Proofs, game: GameTraits) -> str:
    if proofs.optional or game.plain:
        return ""
    if game.determinized:
        return (
            "With hidden information, or an environment that draws chance itself, nothing can be "
            "proven: the search does not know all possible positions. Leave out "
            "proofs, or use a preset without them, such as 'uct' or 'rave'."
        )
    return (
        "In games with simultaneous moves there is no solver and there are no proof numbers: "
        "leave out proofs, or use a preset without them, such as 'uct' or 'rave'."
    )


@implements(becomes, Proofs)
def _becomes(proofs: Proofs, game: GameTraits) -> Proofs | NoProofs:
    return proofs if game.plain else NoProofs()


@runs_as(Proofs)
class Proven(NamedTuple):
    """Proofs of a search's tree."""

    options: Proofs
    solver: Any
    numbers: Any
    ends: Annotated[Array, one(FLOAT, 3, fill=math.nan)]
    """[3] utilities of a winner, a loser and a player in a draw, at ``WIN``, ``LOSS`` and ``DRAW``,
    taken from the tree's terminal nodes; NaN until there is one of that kind."""
    facts: Annotated[Array, one(np.int64, 3)]
    """[3] at ``GRADED`` 1 if a terminal node has utilities other than these, at ``LUCK`` 1 if the
    tree has a chance node, at ``QUIET`` the number of new nodes since the last terminal one."""


@python_function
def lacks_edges(proofs: Any, tree: Any, node: int) -> bool:
    """True if a node may lack edges, after a refutation or a forgotten proof."""
    return False


@implements(lacks_edges, Proven)
def _lacks_edges(proofs: Proven, tree: Any, node: int) -> bool:
    edges = tree.node_edge_count[node]
    if edges == 0:
        return bool(tree.node_player[node] != TERMINAL)
    if edges != 1 or not has_outcomes(proofs.solver) or hooks.checks_children(proofs) == 0:
        return False
    if not is_solved(proofs, node):
        return False
    child = tree.edge_child[tree.node_first_edge[node]]
    return bool(child != UNEXPANDED and tree.node_edge_count[child] == 0)


@implements(proven_nodes, Proven)
def _proven_nodes(proofs: Proven, nodes: int) -> NDArray[np.bool_]:
    return proven_nodes(proofs.solver, nodes)


@implements(hooks.on_begin, Proven)
def _on_begin(proofs: Proven, search: Any) -> None:
    hooks.on_begin(proofs.numbers, search)


@implements(hooks.is_decided, Proven)
def _is_decided(proofs: Proven, search: Any) -> bool:
    if not search.settings.ends_when_proven:
        return False
    if has_outcomes(proofs.solver):
        return is_solved(proofs.solver, ROOT)
    proof, _ = own_numbers(proofs.numbers, search, ROOT)
    return proof == 0.0 and has_plain_ends(proofs, search)


@implements(hooks.is_solved, Proven)
def _is_solved(proofs: Proven, node: int) -> bool:
    return is_solved(proofs.solver, node)


@implements(hooks.give_outcome, Proven)
def _give_outcome(proofs: Proven, search: Any, node: int) -> None:
    frame = search.frame
    frame.header[codes.NUM_PLAYOUTS] = 1
    frame.playout_ends[0] = 0
    for player in range(search.settings.num_players):
        frame.returns[player], _ = bounds_of(proofs.solver, search, node, player)


@implements(hooks.checks_children, Proven)
def _checks_children(proofs: Proven) -> int:
    checks, quiet = proofs.options.checks, proofs.facts[QUIET]
    # Far from the end of the game, a sample of the nodes suffices.
    if quiet > patience_of(checks) and quiet % NODES_BETWEEN_CHECKS != 0:
        return 0
    return hooks.checks_children(checks)


@implements(hooks.checks_children, CheckTerminal, CheckRefutations)
def _checks(checks: Any) -> int:
    return 1


@implements(hooks.asks_winner, Proven)
def _asks_winner(proofs: Proven) -> int:
    return hooks.asks_winner(proofs.options.checks)


@implements(hooks.asks_winner, CheckRefutations)
def _asks(checks: CheckRefutations) -> int:
    return 1


@open_function
def patience_of(checks: Any) -> float:
    """New nodes in a row without terminal children after which only a sample is checked."""
    return math.inf


@implements(patience_of, CheckRefutations)
def _patience_of(checks: CheckRefutations) -> float:
    return checks.patience


@implements(hooks.rows_needed, Proven)
def _rows_needed(proofs: Proven, search: Any, axis: int, actions: int) -> int:
    needed = actions * hooks.checks_children(proofs.options.checks) if axis == NODE else 0
    return needed + hooks.rows_needed(proofs.options.checks, search, axis, actions)


@implements(hooks.prove_end, Proven)
@not_inlined
def _prove_end(
    proofs: Proven, search: Any, node: int, returns: Any, first: int, distance: int
) -> None:
    prove_end(proofs.solver, search, node, returns, first, distance)
    prove_end(proofs.numbers, search, node, returns, first, distance)
    note_end(proofs, search, returns, first)
    proofs.facts[QUIET] = 0


@implements(hooks.begin_node, Proven)
def _begin_node(proofs: Proven, search: Any, node: int) -> None:
    begin_node(proofs.solver, search, node)
    begin_node(proofs.numbers, search, node)
    if search.tree.node_player[node] == CHANCE:
        proofs.facts[LUCK] = 1


@kernel
def note_end(proofs: Proven, search: Any, returns: Any, first: int) -> None:
    """Note the utilities of a terminal node, whose returns begin at ``first``.

    In a game of win, draw and loss, all losers have equal utilities, as have all players in a draw.
    """
    winner = winner_of(search, returns, first)
    for player in range(search.settings.num_players):
        kind = LOSS
        if player == winner:
            kind = WIN
        elif winner == NOBODY and search.settings.num_players > 1:
            kind = DRAW
        if math.isnan(proofs.ends[kind]):
            proofs.ends[kind] = returns[first + player]
        elif proofs.ends[kind] != returns[first + player]:
            proofs.facts[GRADED] = 1


@kernel
def has_plain_ends(proofs: Proven, search: Any) -> bool:
    """True if games in the tree end only in win, draw or loss.

    Then a win is the greatest utility, a loss the least, and a draw halfway between, so only
    winning matters.
    """
    low, high = search.utilities.bounds[LOW], search.utilities.bounds[HIGH]
    ends, slack = proofs.ends, ROUNDING * (high - low)
    plain = proofs.facts[GRADED] == 0
    plain = plain and not ends[WIN] < high - slack and not ends[LOSS] > low + slack  # Not if NaN.
    return bool(plain and not abs(2.0 * ends[DRAW] - low - high) > slack)


@implements(hooks.update_node, Proven)
def _update_node(proofs: Proven, search: Any, node: int) -> bool:
    changed = update_node(proofs.solver, search, node)
    # Numbers first in the `or`: both must be updated, whether or not outcomes changed.
    return (not is_idle(proofs.numbers) and update_node(proofs.numbers, search, node)) or changed


@kernel
def update_path(proofs: Proven, search: Any, depth: int, known: bool, changes: bool) -> None:
    """Update the path's nodes, from the one at ``depth`` up to the first that does not change.

    ``known``: its outcome or a child's may have changed. ``changes``: its proof numbers may have
    changed.

    A shared node may have changed on other paths, so its parent is updated even if the node does
    not change now.

    Outcomes seldom change but numbers often do, so each walks up on its own.
    """
    if known or hooks.shares_nodes(search.moves):
        update_outcomes(proofs.solver, search, depth, known)
    if not is_idle(proofs.numbers):
        update_upwards(proofs.numbers, search, depth, changes)


@kernel
@not_inlined
def update_outcomes(solver: Any, search: Any, depth: int, known: bool) -> None:
    """``update_upwards`` for the solver, which few simulations need."""
    update_upwards(solver, search, depth, known)


@kernel
def update_upwards(part: Any, search: Any, depth: int, changes: bool) -> None:
    """``update_path`` for the solver or for proof numbers."""
    path = search.path
    for index in range(depth, -1, -1):
        node = path.nodes[index]
        if changes or (index < depth and hooks.is_shared(search.moves, path.nodes[index + 1])):
            # A terminal node has no children to derive its proof from.
            ended = search.tree.node_edge_count[node] == 0
            changes = ended or update_node(part, search, node)
        if not changes and not hooks.shares_nodes(search.moves):
            return


@implements(hooks.on_expand, Proven)
def _on_expand(proofs: Proven, search: Any, depth: int, nodes: int) -> None:
    """Record the proof of a new node from the frame, and update the nodes above it."""
    tree, frame = search.tree, search.frame
    leaf = int(search.path.nodes[depth])
    known = tree.node_edge_count[leaf] == 0
    if known:
        prove_end(proofs, search, leaf, frame.returns, 0, frame.header[codes.FORESEEN])
    else:
        begin_node(proofs, search, leaf)
        proofs.facts[QUIET] += 1
        if hooks.checks_children(proofs.options.checks) == 1:
            known = add_terminal_children(proofs, search, leaf)
    update_path(proofs, search, depth, known, True)
    if is_solved(proofs.solver, leaf) and frame.header[codes.FORESEEN] == 0:
        give_outcome(proofs, search, leaf)  # Exact, so it replaces the playouts.


@kernel
def add_terminal_children(proofs: Proven, search: Any, node: int) -> bool:
    """Add nodes for a new node's terminal children, which the frame lists if checked.

    Returns whether there are any.
    """
    tree, frame, found = search.tree, search.frame, False
    if frame.header[codes.CHECK_CHILDREN] == 0:
        return found
    first = tree.node_first_edge[node]
    for index in range(tree.node_edge_count[node]):
        if frame.child_ends[index] != 0:
            child = add_node(tree, TERMINAL, 0, 0)
            tree.edge_child[first + index] = child
            place = index * search.settings.num_players
            prove_end(proofs, search, child, frame.child_returns, place, 0)
            found = True
    return found


@open_function
def visits_before_skipping(skipping: Any) -> float:
    """Visits beyond which a solved child is skipped."""
    return math.inf


@implements(visits_before_skipping, SkipSolved)
def _visits_before_skipping(skipping: SkipSolved) -> float:
    return float(skipping.visits)


@implements(hooks.give_better_known, Proven)
def _give_skipped_outcome(proofs: Proven, search: Any, node: int, edge: int) -> None:
    """Write the outcome of a solved sibling that beats the edge's mean to ``path.values``.

    The comparison uses the mean of simulations whatever the backup, since that mean is what would
    be biased.

    Only at an unsolved decision node. Where solved children are skipped, most simulations take
    moves that the player would not choose; above such a node the skipped outcome counts instead.
    """
    tree, solver = search.tree, proofs.solver
    mover = int(tree.node_player[node])
    skips = has_outcomes(solver) and visits_before_skipping(proofs.options.skipping) < math.inf
    if not skips or mover < 0 or is_solved(solver, node):
        return
    sure, _ = bounds_of(solver, search, node, mover)
    mean = tree.edge_value_sum[edge] / tree.edge_visits[edge]
    if scaled(search.utilities, sure) <= mean + ROUNDING:
        return
    for sibling in edge_rows(tree, node):
        child = tree.edge_child[sibling]
        if child == UNEXPANDED or not is_solved(solver, child):
            continue
        low, _ = bounds_of(solver, search, child, mover)
        # This sibling guarantees the sure utility: its outcome is what the player would choose.
        if low == sure:
            for player in range(search.settings.num_players):
                utility, _ = bounds_of(solver, search, child, player)
                search.path.values[player] = scaled(search.utilities, utility)
            return
