"""The root of a tree, or of several: what is known of its moves, the principal variation."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rave_agents.game.game_state import GameState, legal_actions_of
from rave_agents.kernel import tree as trees
from rave_agents.kernel.amaf.hidden_trust import MeasuredSpread
from rave_agents.kernel.amaf.nodes import EdgeAmaf
from rave_agents.kernel.amaf.tables import AmafTables
from rave_agents.kernel.amaf.trust import FullTrust, LearnedTrust, trust_of
from rave_agents.kernel.amaf.views import NO_TABLE
from rave_agents.kernel.backup import edge_sums
from rave_agents.kernel.gumbel import GumbelSearch
from rave_agents.kernel.moves.simultaneous import JointMoves
from rave_agents.kernel.moves.strategies import MixedStrategy
from rave_agents.kernel.proofs.part import Proven
from rave_agents.kernel.proofs.solver import UNSOLVED
from rave_agents.kernel.proofs.trust import MeasuredTrust, bonus_trust
from rave_agents.kernel.tree import ROOT, UNEXPANDED, Tree
from rave_agents.kernel.values.online import LearnedEdges, value_trust
from rave_agents.results.proven import (
    EdgeProof,
    Ends,
    edge_proof,
    known_ends,
    merged_numbers,
    merged_proof,
    solved_outcome,
    solving_edge,
    win_numbers,
    winning_edge,
)
from rave_agents.tree.halving import Halved, root_halving
from rave_agents.tree.joint_positions import (
    JointVisits,
    find_joint_child,
    joint_visits,
    players_node,
    position_nodes,
)
from rave_agents.tree.proof_arrays import ProofArrays
from rave_agents.tree.search_tree import SearchTree

NO_PROOF = EdgeProof()
"""Proof of an action where nothing can be proven."""


class AmafStatistics(NamedTuple):
    """The AMAF statistics of an action; values are scaled to [0, 1]."""

    visits: float = 0.0
    """AMAF visits."""
    value_sum: float = 0.0
    """Sum of their values."""
    wins: float = 0.0
    """AMAF visits that were won, if winning moves are counted."""
    win_moves: float = 0.0
    """Sum of the move's numbers over them."""


class RootMove(NamedTuple):
    """Statistics and proofs of one of the root's actions; values are scaled to [0, 1]."""

    action: int
    """The action."""
    visits: int
    """Simulations that began with it."""
    value_sum: float
    """Sum of their values."""
    prior: float
    """Prior probability, noise included."""
    amaf: AmafStatistics
    """Its AMAF statistics."""
    proof: EdgeProof
    """Its proven facts."""
    strategy: float = 0.0
    """Sum of the probabilities that mixed strategies gave it, exploration left out."""
    halved: Halved | None = None
    """Its state in planning with Gumbel; None without it, and for a joint action."""


class Root(NamedTuple):
    """Statistics and proofs of a root position."""

    moves: tuple[RootMove, ...]
    """Every legal action, in the game's order."""
    visits: int
    """Simulations through the root; 0 if it has no node yet."""
    low: float
    """The utility that is 0 on the scale of values, ``inf`` if it is not known yet."""
    high: float
    """The utility that is 1 on that scale, ``-inf`` likewise."""
    outcome: tuple[float, ...] | None = None
    """The utilities of all players, if they are proven; else None."""
    distance: int = UNSOLVED
    """Moves to the game's end then, or ``UNSOLVED``."""
    proof_number: float | None = None
    """Proof number of a win of the player to move; None where there are none."""
    disproof_number: float | None = None
    """Disproof number likewise."""
    clear_cut: bool = False
    """True if all known ends are wins, draws and losses of two players, none of them by chance."""
    player: int = 0
    """The player whose actions these are."""
    num_players: int = 2
    """Number of the game's players."""
    place: int = 0
    """The place of their action in a joint action."""
    joint: tuple[JointVisits, ...] = ()
    """Every joint action that was visited, where players move at the same time; in order."""
    amaf_trust: float | None = None
    """The trust in AMAF values, from 0 to 1, where the search learns it; else None."""
    proof_trust: float | None = None
    """The trust in the bonus of proof numbers, likewise."""
    value_trust: float | None = None
    """The trust in values learned from playouts, likewise."""

    def utility(self, value_sum: float, visits: float) -> float | None:
        """A mean value in the game's utilities; None without visits."""
        if visits == 0:
            return None
        return self.low + float(value_sum) / float(visits) * (self.high - self.low)

    def move(self, action: int) -> RootMove:
        """The root's move with this action."""
        return next(move for move in self.moves if move.action == action)


def unknown_root(state: GameState, player: int) -> Root:
    """The root before the first simulation: the legal actions alone."""
    actions = legal_actions_of(state, player)
    unknown = (0, 0.0, 1.0 / len(actions), AmafStatistics(), EdgeProof())
    moves = tuple(RootMove(int(action), *unknown) for action in actions)
    return Root(moves, 0, math.inf, -math.inf, num_players=state.num_players())


def known_root(tree: SearchTree) -> Root:
    """Read a tree's root, which has its node."""
    arrays, running = tree.arrays, tree.running
    low, high = tree.utility_range.tolist()
    node, strategies = ROOT, None
    halves = isinstance(running.rule, GumbelSearch)
    joint: tuple[JointVisits, ...] = ()
    if isinstance(running.moves, JointMoves):
        node = players_node(arrays, running.moves, ROOT, tree.player)
        halves = halves and len(position_nodes(running.moves, ROOT)) == 1
        joint = tuple(joint_visits(arrays, running.moves, ROOT))
        if isinstance(running.moves.choice, MixedStrategy):
            strategies = running.moves.choice.edge_strategy
    first = int(arrays.node_first_edge[node])
    edges = slice(first, first + int(arrays.node_edge_count[node]))
    proofs = tree.proofs if isinstance(running.proofs, Proven) else None
    count = edges.stop - first
    proven, mixed = [NO_PROOF] * count, [0.0] * count
    if proofs is not None:
        ends = known_ends(tree)
        proven = [edge_proof(arrays, proofs, ROOT, edge, ends) for edge in range(first, edges.stop)]
    if strategies is not None:
        mixed = strategies[edges].tolist()
    halved = root_halving(tree) if halves else [None] * count
    actions = arrays.edge_action[edges].tolist()
    if tree.numbers is not None:
        actions = tree.numbers.ids(actions)
        joint = tuple(row._replace(actions=tuple(tree.numbers.ids(row.actions))) for row in joint)
    moves = map(
        RootMove,
        actions,
        arrays.edge_visits[edges].tolist(),
        edge_sums(running.backup, tree.search(), node, range(first, edges.stop)).tolist(),
        arrays.edge_prior[edges].tolist(),
        amaf_statistics(tree, node, edges),
        proven,
        mixed,
        halved,
    )
    measured = getattr(getattr(running.proofs, "numbers", None), "bonus_trust", None)
    learned = running.judging
    trust = getattr(running.amaf, "trust", None)
    root = Root(
        moves=tuple(moves),
        player=tree.player,
        num_players=tree.num_players,
        place=node - ROOT,
        joint=joint,
        visits=int(arrays.node_visits[ROOT]),
        low=low,
        high=high,
        amaf_trust=None if isinstance(trust, FullTrust | None) else _amaf_trust(tree, trust),
        proof_trust=bonus_trust(measured) if isinstance(measured, MeasuredTrust) else None,
        value_trust=value_trust(learned) if isinstance(learned, LearnedEdges) else None,
    )
    return root if proofs is None else _with_proofs(root, arrays, proofs, ends)


def _amaf_trust(tree: SearchTree, trust: Any) -> float | None:
    """The trust in AMAF values, once something is known."""
    learned = isinstance(trust, LearnedTrust | MeasuredSpread)
    if learned and not tree.running.lifetimes.taken.any():
        return None
    return float(trust_of(trust, tree.search()))


def _with_proofs(root: Root, arrays: Tree, proofs: ProofArrays, ends: Ends) -> Root:
    """The same with what is proven of the root itself."""
    outcome = solved_outcome(proofs)
    proof_number, disproof_number = win_numbers(proofs, int(arrays.node_player[ROOT]))
    return root._replace(
        outcome=outcome,
        distance=UNSOLVED if outcome is None else int(proofs.distance[ROOT]),
        proof_number=proof_number,
        disproof_number=disproof_number,
        clear_cut=root.num_players == 2 and ends.plain and not ends.luck,
    )


def merged_root(roots: Sequence[Root]) -> Root:
    """Merge several trees' roots of one position: visits and sums added, proofs at their best.

    Once a tree has solved the root, its proofs stand alone, so that the final move, its distance
    and the outcome belong together.
    """
    known = [root for root in roots if root.visits > 0]
    if len(known) <= 1:
        return known[0] if known else roots[0]
    low, high = min(root.low for root in known), max(root.high for root in known)
    scaled = [_rescaled_root(root, low, high) for root in known]
    solved = [root for root in scaled if root.outcome is not None]
    best = min(solved, key=lambda root: root.distance, default=None)
    numbers = [(root.proof_number, root.disproof_number) for root in scaled]
    proof_number, disproof_number = merged_numbers(numbers)
    merged = Root(
        moves=_merged_moves(scaled, best),
        visits=sum(root.visits for root in scaled),
        low=low,
        high=high,
        proof_number=proof_number,
        disproof_number=disproof_number,
        clear_cut=all(root.clear_cut for root in known),
        player=known[0].player,
        num_players=known[0].num_players,
        place=known[0].place,
        joint=_merged_joint(scaled),
        amaf_trust=_mean([root.amaf_trust for root in known]),
        proof_trust=_mean([root.proof_trust for root in known]),
        value_trust=_mean([root.value_trust for root in known]),
    )
    if best is None:
        return merged
    return merged._replace(
        outcome=best.outcome,
        distance=best.distance,
        proof_number=best.proof_number,
        disproof_number=best.disproof_number,
    )


def _mean(shares: Sequence[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known else None


def _merged_moves(roots: Sequence[Root], prover: Root | None) -> tuple[RootMove, ...]:
    """Merge several trees' moves; proofs come from ``prover``, if given."""
    rows = [{move.action: move for move in root.moves} for root in roots]
    proofs = {} if prover is None else {move.action: move.proof for move in prover.moves}
    return tuple(
        _merged_move([moves[action] for moves in rows], proofs.get(action)) for action in rows[0]
    )


def _merged_move(moves: Sequence[RootMove], proof: EdgeProof | None) -> RootMove:
    return RootMove(
        action=moves[0].action,
        visits=sum(move.visits for move in moves),
        value_sum=sum(move.value_sum for move in moves),
        prior=moves[0].prior,
        amaf=AmafStatistics(*map(sum, zip(*(move.amaf for move in moves), strict=True))),
        proof=merged_proof([move.proof for move in moves]) if proof is None else proof,
        strategy=sum(move.strategy for move in moves),
    )


def _merged_joint(roots: Sequence[Root]) -> tuple[JointVisits, ...]:
    """The joint actions of several trees, visits and sums added."""
    merged: dict[tuple[int, ...], JointVisits] = {}
    for row in (row for root in roots for row in root.joint):
        if row.actions in merged:
            known = merged[row.actions]
            sums = tuple(map(sum, zip(known.value_sums, row.value_sums, strict=True)))
            row = JointVisits(row.actions, known.visits + row.visits, sums)  # noqa: PLW2901
        merged[row.actions] = row
    return tuple(sorted(merged.values()))


def _rescaled_root(root: Root, low: float, high: float) -> Root:
    """The same with values on the scale of other utilities, as they are where these are its own."""
    if (root.low, root.high) == (low, high):
        return root

    def rescaled_sum(value_sum: float, visits: float) -> float:
        utilities = value_sum * (root.high - root.low) + visits * root.low
        return float((utilities - visits * low) / (high - low))

    moves = tuple(
        move._replace(
            value_sum=rescaled_sum(move.value_sum, move.visits),
            amaf=move.amaf._replace(value_sum=rescaled_sum(move.amaf.value_sum, move.amaf.visits)),
        )
        for move in root.moves
    )
    joint = tuple(
        row._replace(value_sums=tuple(rescaled_sum(s, row.visits) for s in row.value_sums))
        for row in root.joint
    )
    return root._replace(moves=moves, low=low, high=high, joint=joint)


def leading_tree(roots: Sequence[Root], action: int) -> int:
    """The index of the tree that speaks for the choice of an action.

    That is the one that has solved the root, or else proven the action, or else given it most
    visits; the first of equals.
    """

    def authority(index: int) -> tuple[bool, int, bool, int]:
        root = roots[index]
        move = root.move(action)
        proven = move.proof.solved or move.proof.proof_number == 0.0
        return (root.outcome is not None, -root.distance, proven, move.visits)

    return max(range(len(roots)), key=authority)


def principal_variation(tree: SearchTree, action: int) -> tuple[int, ...]:
    """The chosen action, then at each node the proven one or else the most visited one.

    Where players move at the same time, the actions of all of them follow each other: those taken
    together most often, at the root with the chosen one.
    """
    if tree.numbers is not None:
        (action,) = tree.numbers.known([action])
    moves = tree.running.moves
    together = isinstance(moves, JointMoves)
    arrays = tree.arrays
    proofs = tree.proofs if isinstance(tree.running.proofs, Proven) else None
    line, node = _joint_variation(tree, moves, action) if together else [action], ROOT
    first = int(arrays.node_first_edge[ROOT])
    rows = arrays.edge_action[first : first + int(arrays.node_edge_count[ROOT])]
    edge = first + int(np.argmax(rows == action))
    while not together and (node := int(arrays.edge_child[edge])) not in (UNEXPANDED, ROOT):
        count = int(arrays.node_edge_count[node])
        if count == 0:
            break
        first = int(arrays.node_first_edge[node])
        edge = first + int(np.argmax(arrays.edge_visits[first : first + count]))
        proven = None if proofs is None else _proven_edge(arrays, proofs, node)
        if proven is not None:
            edge = proven
        elif arrays.edge_visits[edge] == 0 and (
            proofs is None or solved_outcome(proofs, node) is None
        ):
            break
        line.append(int(arrays.edge_action[edge]))
    return tuple(line if tree.numbers is None else tree.numbers.ids(line))


def _proven_edge(arrays: Tree, proofs: ProofArrays, node: int) -> int | None:
    """The edge that leads to what is proven of a node; None if nothing is, or no edge shows it."""
    if solved_outcome(proofs, node) is not None:
        return solving_edge(arrays, proofs, node)
    return winning_edge(arrays, proofs, node)


def _joint_variation(tree: SearchTree, moves: JointMoves, action: int) -> list[int]:
    """The principal variation where players may move at the same time."""
    arrays, node = tree.arrays, ROOT
    if len(position_nodes(moves, ROOT)) > 1:
        line = list(_expected_joint(tree, ROOT, action))
    else:
        line = [action]
    node = ROOT if not line else find_joint_child(arrays, moves, ROOT, line)
    while node not in (UNEXPANDED, ROOT) and arrays.node_edge_count[node] > 0:
        actions: Sequence[int]
        if len(position_nodes(moves, node)) > 1:
            actions = _expected_joint(tree, node)
        else:
            edges = trees.edge_rows(arrays, node)
            edge = edges.start + int(np.argmax(arrays.edge_visits[edges.start : edges.stop]))
            actions = [int(arrays.edge_action[edge])] if arrays.edge_visits[edge] > 0 else []
        if not actions:
            break
        line += actions
        node = find_joint_child(arrays, moves, node, actions)
    return line


def _expected_joint(tree: SearchTree, node: int, action: int | None = None) -> tuple[int, ...]:
    """The joint action most visited, with the searching player's action if it is given."""
    arrays = tree.arrays
    nodes = position_nodes(tree.running.moves, node)
    players = [int(arrays.node_player[row]) for row in nodes]
    rows = joint_visits(arrays, tree.running.moves, node)
    if action is not None:
        place = players.index(tree.player)
        rows = [row for row in rows if row.actions[place] == action]
    return max(rows, key=lambda row: row.visits).actions if rows else ()


def amaf_statistics(tree: SearchTree, node: int, edges: slice) -> list[AmafStatistics]:
    """The AMAF statistics of a node's edges: their own, or those in the node's table, if any."""
    arrays, amaf = tree.arrays, tree.running.amaf
    rows: Any = edges
    if isinstance(amaf, AmafTables) and amaf.node_table[node] != NO_TABLE:
        table = int(amaf.node_table[node]) * tree.num_players + int(arrays.node_player[node])
        rows = table * tree.num_actions + arrays.edge_action[edges].astype(np.int64)
    elif not isinstance(amaf, EdgeAmaf):
        return [AmafStatistics()] * (edges.stop - edges.start)
    kept = [amaf.visits, amaf.value_sum]
    if hasattr(amaf.winning, "wins"):
        kept += [amaf.winning.wins, amaf.winning.win_moves]
    return list(map(AmafStatistics, *np.array([array[rows] for array in kept], float).tolist()))
