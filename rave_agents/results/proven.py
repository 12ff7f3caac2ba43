"""Proofs at the root, by one tree or by several."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rave_agents.kernel import tree as trees
from rave_agents.kernel.proofs.part import LUCK, has_plain_ends
from rave_agents.kernel.proofs.solver import UNSOLVED
from rave_agents.kernel.tree import ROOT, UNEXPANDED, Tree
from rave_agents.kernel.utilities import GameRange
from rave_agents.tree.proof_arrays import ProofArrays
from rave_agents.tree.search_tree import SearchTree

NumberPair = tuple[float | None, float | None]
"""A proof number and a disproof number; None where there are none."""


class EdgeProof(NamedTuple):
    """Proven facts of an action; utilities are the game's, numbers those of who takes it."""

    low: float = -math.inf
    """The least utility that the action can bring them."""
    high: float = math.inf
    """The greatest."""
    distance: int = UNSOLVED
    """Moves to the end, the action included, if its outcome is known, else ``UNSOLVED``."""
    lost: bool = False
    """True if another player is known to end with more than they."""
    proof_number: float | None = None
    """Proof number after the action; None where there are none."""
    disproof_number: float | None = None
    """Disproof number after the action; None likewise."""

    @property
    def solved(self) -> bool:
        """True if the outcome is known."""
        return self.distance != UNSOLVED

    @property
    def outcome(self) -> float | None:
        """The utility that the action brings them, if it is known."""
        return self.low if self.solved else None


class Ends(NamedTuple):
    """The ends of games that a tree knows, as far as proofs without outcomes depend on them."""

    low: float
    """The least utility."""
    high: float
    """The greatest."""
    plain: bool
    """True if games end by win, draw and loss alone, see ``proofs.has_plain_ends``."""
    luck: bool
    """True if chance moves."""

    @property
    def draw(self) -> float:
        """The utility of a draw, if they are plain."""
        return (self.low + self.high) / 2


def known_ends(tree: SearchTree) -> Ends:
    """The ends that a tree with proofs knows."""
    proofs, utilities = tree.running.proofs, GameRange(tree.utility_range)
    plain = has_plain_ends(proofs, tree.search(utilities=utilities))
    low, high = tree.utility_range.tolist()
    return Ends(low, high, plain, bool(proofs.facts[LUCK]))


def edge_proof(tree: Tree, proofs: ProofArrays, node: int, edge: int, ends: Ends) -> EdgeProof:
    """The proven facts of an edge of a decision node."""
    mover = int(tree.node_player[node])
    child = int(tree.edge_child[edge])
    found = EdgeProof()
    if len(proofs.proof) > 0:
        numbers = (1.0, 1.0)
        if child != UNEXPANDED:
            numbers = float(proofs.proof[child, mover]), float(proofs.disproof[child, mover])
        found = EdgeProof(proof_number=numbers[0], disproof_number=numbers[1])
    if child == UNEXPANDED:
        return found
    if len(proofs.distance) == 0:
        return _bounded_by_numbers(found, proofs, mover, child, ends)
    lows = proofs.low[child].tolist()
    low = lows[mover]
    solved = proofs.distance[child] != UNSOLVED
    return found._replace(
        low=low,
        high=float(proofs.high[child, mover]),
        distance=1 + int(proofs.distance[child]) if solved else UNSOLVED,
        lost=bool(solved and max(lows) > low),  # Who has the most has not lost.
    )


def _bounded_by_numbers(
    found: EdgeProof, proofs: ProofArrays, mover: int, child: int, ends: Ends
) -> EdgeProof:
    """The same with the bounds that follow from proof numbers alone.

    A proven win is worth the most and another player's the least where games end by win, draw and
    loss. Who cannot force a win may still be lucky; without chance they draw at best, and so does
    the other of two players.
    """
    if not ends.plain:
        return found
    numbers, disproofs = proofs.proof[child].tolist(), proofs.disproof[child].tolist()
    if numbers[mover] == 0.0:
        return found._replace(low=ends.high, high=ends.high)
    if min(numbers) == 0.0:
        return found._replace(low=ends.low, high=ends.low, lost=True)
    if len(numbers) != 2 or ends.luck:
        return found
    return found._replace(
        low=ends.draw if disproofs[1 - mover] == 0.0 else ends.low,
        high=ends.draw if disproofs[mover] == 0.0 else ends.high,
    )


def solved_outcome(proofs: ProofArrays, node: int = ROOT) -> tuple[float, ...] | None:
    """The utilities of all players at a node, if they are known."""
    if len(proofs.distance) == 0 or proofs.distance[node] == UNSOLVED:
        return None
    return tuple(proofs.low[node].tolist())


def win_numbers(proofs: ProofArrays, player: int, node: int = ROOT) -> NumberPair:
    """The proof and the disproof number of a player's win at a node; None without such numbers."""
    if len(proofs.proof) == 0:
        return None, None
    return float(proofs.proof[node, player]), float(proofs.disproof[node, player])


def solving_edge(tree: Tree, proofs: ProofArrays, node: int) -> int | None:
    """The edge of a solved node that leads to its outcome; None at a terminal one.

    A winner takes the shortest known way, a loser the longest.
    """
    mover = int(tree.node_player[node])
    best, best_key = None, (-math.inf, False, -math.inf)
    for edge in trees.edge_rows(tree, node):
        child = int(tree.edge_child[edge])
        if child == UNEXPANDED or proofs.distance[child] == UNSOLVED:
            continue
        key = _preference(proofs, mover, child)
        if best is None or key > best_key:
            best, best_key = edge, key
    return best


def _preference(proofs: ProofArrays, mover: int, child: int) -> tuple[float, bool, float]:
    """Greater for the solved child that the player who moves prefers, see ``solver.is_better``."""
    distance = float(proofs.distance[child])
    if mover < 0:
        return 0.0, True, distance
    value = float(proofs.low[child, mover])
    lost = bool(np.any(proofs.low[child] > value))
    return value, not lost, distance if lost else -distance


def winning_edge(tree: Tree, proofs: ProofArrays, node: int) -> int | None:
    """The most visited edge of a decision node that wins by its proof number; None without one."""
    mover = int(tree.node_player[node])
    if mover < 0 or win_numbers(proofs, mover, node)[0] != 0.0:
        return None
    won = [
        edge
        for edge in trees.edge_rows(tree, node)
        if (child := int(tree.edge_child[edge])) != UNEXPANDED
        and win_numbers(proofs, mover, child)[0] == 0.0
    ]
    return max(won, key=lambda edge: int(tree.edge_visits[edge]))


def merged_proof(proofs: Sequence[EdgeProof]) -> EdgeProof:
    """The most that several trees prove of one action: tightest bounds, smallest numbers.

    Trees that break ties between others' equally good moves differently may disagree on the
    outcome: then the first of those that know the shortest way to the end is right.
    """
    solved = [proof for proof in proofs if proof.solved]
    if solved:
        found = min(solved, key=lambda proof: proof.distance)
    else:
        low, high = max(proof.low for proof in proofs), min(proof.high for proof in proofs)
        found = proofs[0]._replace(low=low, high=high) if low <= high else proofs[0]
    if found.proof_number is None:
        return found
    proof_number, disproof_number = merged_numbers(
        [(proof.proof_number, proof.disproof_number) for proof in proofs]
    )
    return found._replace(
        lost=any(proof.lost for proof in proofs),
        proof_number=proof_number,
        disproof_number=disproof_number,
    )


def merged_numbers(numbers: Sequence[NumberPair]) -> NumberPair:
    """The smallest proof and disproof number of several trees; of what is proven, 0 and infinity.

    Both are the least work that is left, and each tree shows a way that takes so much.
    """
    proof = min((proof for proof, _ in numbers if proof is not None), default=None)
    disproof = min((disproof for _, disproof in numbers if disproof is not None), default=None)
    return math.inf if disproof == 0.0 else proof, math.inf if proof == 0.0 else disproof
