"""The root of a tree, or of several: what is known of its moves, the principal variation."""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rave_agents.compiler.arrays import NODE
from rave_agents.game.game_state import GameState, legal_actions_of
from rave_agents.kernel import tree as trees
from rave_agents.kernel.amaf import NO_TABLE
from rave_agents.kernel.amaf_nodes import EdgeAmaf
from rave_agents.kernel.amaf_tables import AmafTables
from rave_agents.kernel.solver import UNSOLVED
from rave_agents.kernel.strategies import MixedStrategy
from rave_agents.kernel.tree import ROOT, UNEXPANDED, Tree
from rave_agents.results.proven import (
    EdgeProof,
    ProofArrays,
    edge_proof,
    merged_numbers,
    merged_proof,
    proof_arrays,
    solved_outcome,
    solving_edge,
    win_numbers,
    winning_edge,
)
from rave_agents.tree.grown_tree import GrownTree
from rave_agents.tree.joint_positions import (
    JointVisits,
    find_joint_child,
    joint_visits,
    players_node,
    position_nodes,
)


@dataclasses.dataclass(frozen=True)
class RootedTree:
    """A tree and what it takes to read it."""

    grown: GrownTree | None
    """The arrays; None before the first search."""
    low: float
    """The utility that is 0 on the scale of values, ``inf`` if none is known yet."""
    high: float
    """The utility that is 1 on that scale, ``-inf`` likewise."""
    state: GameState
    """A clone of the root position."""
    player: int
    """Whose moves are looked at there."""

    @property
    def has_root(self) -> bool:
        """Whether the root has its node yet."""
        return self.grown is not None and bool(self.arrays.used[NODE] > 0)

    @property
    def arrays(self) -> Tree:
        """The statistics of nodes and edges; values are scaled to [0, 1]."""
        assert self.grown is not None
        return self.grown.tree

    @property
    def amaf(self) -> Any:
        """The AMAF statistics."""
        assert self.grown is not None
        return self.grown.running.amaf

    @property
    def moves(self) -> Any:
        """What is kept beside the tree for the way players move."""
        assert self.grown is not None
        return self.grown.running.moves

    @property
    def proofs(self) -> ProofArrays:
        """What is proven of the nodes."""
        assert self.grown is not None
        return proof_arrays(self.grown.running.proofs, self.state.num_players())

    @property
    def players_root(self) -> int:
        """The row of the player's node at the root position."""
        return players_node(self.arrays, self.moves, ROOT, self.player)


class AmafStatistics(NamedTuple):
    """The AMAF statistics of an action; values are scaled to [0, 1]."""

    visits: float = 0.0
    """AMAF visits."""
    value_sum: float = 0.0
    """Sum of their values."""
    wins: float = 0.0
    """Those of them that were won, if winning moves are counted."""
    win_moves: float = 0.0
    """Sum of the move's numbers over them."""


class RootMove(NamedTuple):
    """What is known of one of the root's actions; values are scaled to [0, 1]."""

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
    """What is proven of it."""
    strategy: float = 0.0
    """Sum of the probabilities that mixed strategies gave it, exploration left out."""


class Root(NamedTuple):
    """What is known of a root position."""

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
    player: int = 0
    """Whose actions these are."""
    num_players: int = 2
    """How many play the game."""
    place: int = 0
    """The place of his action in a joint action."""
    joint: tuple[JointVisits, ...] = ()
    """Every joint action that was visited, where players move at the same time; in order."""

    def utility(self, value_sum: float, visits: float) -> float | None:
        """A mean value in the game's utilities; None without visits."""
        if visits == 0:
            return None
        return self.low + float(value_sum) / float(visits) * (self.high - self.low)

    def move(self, action: int) -> RootMove:
        """What is known of an action."""
        return next(move for move in self.moves if move.action == action)


def known_root(rooted: RootedTree) -> Root:
    """What a tree knows of its root; before the first simulation, the legal actions alone."""
    if not rooted.has_root:
        actions = legal_actions_of(rooted.state, rooted.player)
        unknown = (0, 0.0, 1.0 / len(actions), AmafStatistics(), EdgeProof())
        moves = tuple(RootMove(int(action), *unknown) for action in actions)
        players = rooted.state.num_players()
        return Root(moves, 0, rooted.low, rooted.high, num_players=players)
    tree, proofs = rooted.arrays, rooted.proofs
    node = rooted.players_root
    outcome = solved_outcome(proofs)
    proof_number, disproof_number = win_numbers(proofs, int(tree.node_player[ROOT]))
    return Root(
        moves=tuple(_known_move(rooted, node, edge) for edge in trees.edge_rows(tree, node)),
        player=rooted.player,
        num_players=rooted.state.num_players(),
        place=node - ROOT,
        joint=tuple(joint_visits(tree, rooted.moves, ROOT)),
        visits=int(tree.node_visits[ROOT]),
        low=rooted.low,
        high=rooted.high,
        outcome=outcome,
        distance=UNSOLVED if outcome is None else int(proofs.distance[ROOT]),
        proof_number=proof_number,
        disproof_number=disproof_number,
    )


def _known_move(rooted: RootedTree, node: int, edge: int) -> RootMove:
    tree = rooted.arrays
    choice = getattr(rooted.moves, "choice", None)
    strategies = choice.edge_strategy if isinstance(choice, MixedStrategy) else ()
    return RootMove(
        action=int(tree.edge_action[edge]),
        visits=int(tree.edge_visits[edge]),
        value_sum=float(tree.edge_value_sum[edge]),
        prior=float(tree.edge_prior[edge]),
        amaf=amaf_statistics(rooted, node, edge),
        proof=edge_proof(tree, rooted.proofs, ROOT, edge),
        strategy=float(strategies[edge]) if len(strategies) > 0 else 0.0,
    )


def merged_root(roots: Sequence[Root]) -> Root:
    """What several trees know of one position: visits and sums added, proofs at their best.

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
        player=known[0].player,
        num_players=known[0].num_players,
        place=known[0].place,
        joint=_merged_joint(scaled),
    )
    if best is None:
        return merged
    return merged._replace(
        outcome=best.outcome,
        distance=best.distance,
        proof_number=best.proof_number,
        disproof_number=best.disproof_number,
    )


def _merged_moves(roots: Sequence[Root], prover: Root | None) -> tuple[RootMove, ...]:
    """What several trees know of every action; if a prover is given, what is proven by him."""
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


def principal_variation(rooted: RootedTree, action: int) -> tuple[int, ...]:
    """The chosen action, then at each node the proven one or else the most visited one.

    Where players move at the same time, the actions of all of them follow each other: those taken
    together most often, at the root with the chosen one.
    """
    if not rooted.has_root:
        return (action,)
    tree = rooted.arrays
    if len(position_nodes(rooted.moves, ROOT)) > 1:
        line = list(_expected_joint(rooted, ROOT, action))
    else:
        line = [action]
    node = ROOT if not line else find_joint_child(tree, rooted.moves, ROOT, line)
    while node not in (UNEXPANDED, ROOT) and tree.node_edge_count[node] > 0:
        actions = _expected(rooted, node)
        if not actions:
            break
        line += actions
        node = find_joint_child(tree, rooted.moves, node, actions)
    return tuple(line)


def _expected(rooted: RootedTree, node: int) -> Sequence[int]:
    """A position's proven or else most visited action, or joint action; nothing if none was."""
    tree = rooted.arrays
    if len(position_nodes(rooted.moves, node)) > 1:
        return _expected_joint(rooted, node)
    edges = trees.edge_rows(tree, node)
    edge = edges.start + int(np.argmax(tree.edge_visits[edges.start : edges.stop]))
    if solved_outcome(rooted.proofs, node) is not None:
        proven = solving_edge(tree, rooted.proofs, node)
        edge = edge if proven is None else proven
    elif (winning := winning_edge(tree, rooted.proofs, node)) is not None:
        edge = winning
    elif tree.edge_visits[edge] == 0:
        return ()
    return (int(tree.edge_action[edge]),)


def _expected_joint(rooted: RootedTree, node: int, action: int | None = None) -> tuple[int, ...]:
    """The joint action most visited, with the searching player's action if it is given."""
    tree = rooted.arrays
    nodes = position_nodes(rooted.moves, node)
    players = [int(tree.node_player[row]) for row in nodes]
    rows = joint_visits(tree, rooted.moves, node)
    if action is not None:
        place = players.index(rooted.player)
        rows = [row for row in rows if row.actions[place] == action]
    return max(rows, key=lambda row: row.visits).actions if rows else ()


def amaf_statistics(rooted: RootedTree, node: int, edge: int) -> AmafStatistics:
    """The AMAF statistics of a node's edge: its own, or those in the node's table, if any."""
    tree, amaf = rooted.arrays, rooted.amaf
    if isinstance(amaf, EdgeAmaf):
        row = edge
    elif isinstance(amaf, AmafTables) and amaf.node_table[node] != NO_TABLE:
        players, actions = rooted.state.num_players(), rooted.state.num_distinct_actions()
        table = int(amaf.node_table[node]) * players + int(tree.node_player[node])
        row = table * actions + int(tree.edge_action[edge])
    else:
        return AmafStatistics()
    wins = getattr(amaf.winning, "wins", None)
    won = () if wins is None else (float(wins[row]), float(amaf.winning.win_moves[row]))
    return AmafStatistics(float(amaf.visits[row]), float(amaf.value_sum[row]), *won)
