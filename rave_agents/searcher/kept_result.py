"""Result of what kept trees know of their root."""

from rave_agents.compiler.arrays import NODE
from rave_agents.config.search_config import SearchConfig
from rave_agents.results.final_move import drawn_action, root_statistics
from rave_agents.results.payoff_matrix import joint_table
from rave_agents.results.root import (
    known_root,
    leading_tree,
    merged_root,
    principal_variation,
    unknown_root,
    with_proof,
)
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.kept_trees import KeptTrees
from rave_agents.tree.root_position import RootPosition


def result_of(
    trees: KeptTrees, root: RootPosition, config: SearchConfig, unit: float
) -> SearchResult:
    """The result for the root of all trees together.

    Args:
        trees: the trees.
        root: their root.
        config: chooses the move.
        unit: a number in [0, 1) by which the move is drawn, where that is left to chance.
    """
    simulations = nodes = memory_bytes = 0
    begun, known, full = [], [], []
    for search in trees.searches:
        tree = search.tree
        if tree is None:
            continue
        full.append(tree.full or tree.forgotten > 0)
        memory_bytes += tree.storage.bytes
        if (grown := int(tree.arrays.used[NODE])) > 0:
            simulations += search.simulations
            nodes += grown
            begun.append(tree)
            known.append(known_root(tree))
    if not known:
        known.append(unknown_root(root.state, root.player))
    found = known[0] if len(known) == 1 else merged_root(known)
    proof = root.proof
    if proof is not None:
        found = with_proof(found, proof, root.game.limits.sum_of_two)
    statistics = root_statistics(found, config)
    action = drawn_action(statistics, unit)
    value, visits, total = None if proof is None else proof.value, 0, 0.0
    for row in statistics:
        visits += row.visits
        total += 0.0 if row.value is None else row.visits * row.value
    if proof is not None and proof.line[:1] == (action,):
        line = proof.line
    elif begun:
        leading = 0 if len(known) == 1 else leading_tree(known, action)
        line = principal_variation(begun[leading], action)
    else:
        line = (action,)
    return SearchResult(
        player=root.player,
        action=action,
        actions=statistics,
        value=total / visits if visits > 0 else value,
        outcome=found.outcome,
        expected=found.expected,
        proof_number=found.proof_number,
        disproof_number=found.disproof_number,
        principal_variation=line,
        simulations=simulations,
        joint=joint_table(found, root.state, root.player) if found.joint else None,
        root_visits=found.visits,
        amaf_trust=found.amaf_trust,
        proof_trust=found.proof_trust,
        value_trust=found.value_trust,
        reports=found.reports,
        action_reports=found.action_reports,
        seconds=trees.seconds,
        nodes=nodes,
        memory_bytes=memory_bytes,
        memory_full=len(full) > 0 and all(full),
        provider=trees.searches[0].provider if simulations > 0 else None,
        known=trees.known,
        learned=trees.learned,
        other_size=trees.other_size,
        minimax=root.game.minimax,
        solver_positions=0 if proof is None else proof.positions,
        worlds=trees.worlds,
        state=root.state.clone(),
    )
