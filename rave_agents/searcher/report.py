"""The final move and the result of searches of one root position."""

from collections.abc import Sequence

from rave_agents.compiler.arrays import NODE
from rave_agents.evaluators.linear_value import LinearValue
from rave_agents.evaluators.move_policy import MovePolicy
from rave_agents.kernel.tree import ROOT, UNEXPANDED
from rave_agents.results.final_move import drawn_action, final_policy, root_statistics
from rave_agents.results.payoff_matrix import joint_table
from rave_agents.results.root import (
    Root,
    known_root,
    leading_tree,
    merged_root,
    principal_variation,
    unknown_root,
    with_proof,
)
from rave_agents.results.search_result import SearchResult
from rave_agents.results.world_statistics import WorldStatistics
from rave_agents.searcher.tree_search import TreeSearch
from rave_agents.tree.root_position import RootPosition
from rave_agents.tree.search_tree import SearchTree


def chosen_action(searches: Sequence[TreeSearch], root: RootPosition, unit: float) -> int:
    """The action to play, as in ``search_result``, without the statistics of all actions.

    Args:
        searches: the searches of each tree.
        root: their root position.
        unit: a uniform random number in [0, 1) that decides among the moves of the final policy.
    """
    tree = searches[0].tree if len(searches) == 1 else None
    visits_decide = root.proof is None and root.game.plays_most_visited
    if not visits_decide or tree is None or tree.arrays.used[NODE] == 0 or tree.joint:
        found, _ = _found(searches, root)
    elif not (tree.proves and _proves_something(tree)):
        return _most_visited(tree, unit)
    else:  # Visits, values and proofs decide: the other parts need not report anything.
        found = known_root(tree, [tree.running.proofs])
    return drawn_action(found.moves, final_policy(found, root.game.final), unit)


def _proves_something(tree: SearchTree) -> bool:
    """True if a bound on an action at the root may be tighter than the game's own."""
    arrays = tree.arrays
    first = int(arrays.node_first_edge[ROOT])
    children = arrays.edge_child[first : first + int(arrays.node_edge_count[ROOT])].tolist()
    children = [child for child in children if child != UNEXPANDED]
    proofs = tree.proofs if children else None
    if proofs is None or len(proofs.distance) == 0:
        return proofs is not None
    mover, (low, high) = int(arrays.node_player[ROOT]), tree.utility_range.tolist()
    # Few numbers: NumPy's functions of arrays would take longer than their items.
    return any(
        proofs.low[child, mover] > low or proofs.high[child, mover] < high for child in children
    )


def _most_visited(tree: SearchTree, unit: float) -> int:
    """The most visited action at the root; among equals the one of the best value, then at random.

    ``final_policy`` and ``drawn_action`` choose the same action.
    """
    actions, visits, sums = tree.root_edges()
    most = max(visits)
    best = [place for place, count in enumerate(visits) if count == most]
    if len(best) > 1 and most > 0:
        greatest = max(sums[place] / most for place in best)
        best = [place for place in best if sums[place] / most == greatest]
    for place in best:
        unit -= 1 / len(best)
        if unit < 0.0:
            return actions[place]
    return actions[best[-1]]


def _found(searches: Sequence[TreeSearch], root: RootPosition) -> tuple[Root, list[Root]]:
    """The root of all trees together, with a solver's proofs, and of each tree."""
    known = [each for search in searches if (each := search.known_root()) is not None]
    known = known or [unknown_root(root.state, root.player)]
    found = known[0] if len(known) == 1 else merged_root(known)
    if root.proof is not None:
        found = with_proof(found, root.proof, root.game.facts.limits.sum_of_two)
    return found, known


def search_result(
    searches: Sequence[TreeSearch],
    root: RootPosition,
    *,
    unit: float,
    seconds: float,
    worlds: WorldStatistics | None,
) -> SearchResult:
    """The result of the searches of a root position.

    Args:
        searches: the searches of each tree.
        root: their root position.
        unit: see ``chosen_action``.
        seconds: the duration of the search.
        worlds: statistics of the determinizations drawn; None without hidden information.
    """
    trees = [search.tree for search in searches if search.tree and search.tree.has_root]
    held = [search for search in searches if search.memory_bytes > 0]
    found, known = _found(searches, root)
    statistics = root_statistics(found, root.game.final)
    action = drawn_action(statistics, [row.probability for row in statistics], unit)
    proof, state = root.proof, root.state.clone()
    for row in statistics:
        row.position = state, root.player
    visits = sum(row.visits for row in statistics)
    total = sum(row.visits * row.value for row in statistics if row.value is not None)
    value = None if proof is None else proof.value
    line = () if proof is None else proof.line_after(action)
    if trees and not line:
        leading = 0 if len(known) == 1 else leading_tree(known, action)
        line = principal_variation(trees[leading], action)
    simulations = sum(search.simulations for search in searches)
    took_part = () if proof is None else ("endgame solver",)
    learned = root.game.evaluator
    if not isinstance(learned, LinearValue | MovePolicy):
        learned = None
    return SearchResult(
        player=root.player,
        action=action,
        actions=statistics,
        value=total / visits if visits > 0 else value,
        outcome=found.outcome,
        expected=found.expected,
        proof_number=found.proof_number,
        disproof_number=found.disproof_number,
        principal_variation=line or (action,),
        simulations=simulations,
        joint=joint_table(found, root.state, root.player) if found.joint else None,
        root_visits=found.visits,
        amaf_trust=found.amaf_trust,
        proof_trust=found.proof_trust,
        value_trust=found.value_trust,
        reports=found.reports,
        action_reports=found.action_reports,
        seconds=seconds,
        nodes=sum(search.nodes for search in searches),
        memory_bytes=sum(search.memory_bytes for search in searches),
        memory_full=len(held) > 0 and all(search.memory_full for search in held),
        provider=searches[0].provider if simulations > 0 else None,
        known=None if learned is None else learned.learned_on or learned.game,
        learned=None if learned is None else learned.kind,
        other_size=learned is not None and learned.learned_on is not None,
        minimax=root.game.minimax,
        solver_positions=0 if proof is None else proof.positions,
        took_part=(*took_part, *(searches[0].parts_that_took_part() if simulations > 0 else ())),
        worlds=worlds,
        state=state,
    )
