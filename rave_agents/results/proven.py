"""What is proven at the root, by one tree or by several."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rave_agents.kernel import tree as trees
from rave_agents.kernel.solver import UNSOLVED
from rave_agents.kernel.tree import ROOT, UNEXPANDED, Tree
from rave_agents.tree.proof_arrays import ProofArrays

NumberPair = tuple[float | None, float | None]
"""A proof number and a disproof number; None where there are none."""


class EdgeProof(NamedTuple):
    """What is proven of an action; utilities are the game's, numbers those of who takes it."""

    low: float = -math.inf
    """The least utility that the action can bring them."""
    high: float = math.inf
    """The greatest."""
    distance: int = UNSOLVED
    """Moves to the end, the action included, if its outcome is known, else ``UNSOLVED``."""
    lost: bool = False
    """Whether another player is known to end with more than they."""
    won: bool = False
    """Whether they are known to end with more than all others; alone, with the most possible."""
    proof_number: float | None = None
    """Proof number after the action; None where there are none."""
    disproof_number: float | None = None
    """Disproof number after the action; None likewise."""
    draw_proof: float | None = None
    """For two players, the proof number of their not losing; None likewise."""

    @property
    def solved(self) -> bool:
        """Whether the outcome is known."""
        return self.distance != UNSOLVED

    @property
    def outcome(self) -> float | None:
        """The utility that the action brings them, if it is known."""
        return self.low if self.solved else None


def edge_proof(tree: Tree, proofs: ProofArrays, node: int, edge: int) -> EdgeProof:
    """What is proven of an edge of a decision node."""
    mover = int(tree.node_player[node])
    child = int(tree.edge_child[edge])
    if child == UNEXPANDED:
        numbers = (1.0, 1.0) if len(proofs.proof) > 0 else (None, None)
        return EdgeProof(proof_number=numbers[0], disproof_number=numbers[1])
    found = EdgeProof()
    if len(proofs.distance) > 0:
        low = float(proofs.low[child, mover])
        solved = proofs.distance[child] != UNSOLVED
        others = np.delete(proofs.low[child], mover).max(initial=-math.inf)
        found = EdgeProof(
            low=low,
            high=float(proofs.high[child, mover]),
            distance=1 + int(proofs.distance[child]) if solved else UNSOLVED,
            lost=bool(solved and others > low),
            won=bool(solved and -math.inf < others < low),
        )
    if len(proofs.proof) > 0:
        two = proofs.proof.shape[1] == 2
        winners = np.flatnonzero(proofs.proof[child] == 0.0)
        found = found._replace(
            lost=found.lost or bool(np.any(winners != mover)),
            won=found.won or mover in winners,
            proof_number=float(proofs.proof[child, mover]),
            disproof_number=float(proofs.disproof[child, mover]),
            draw_proof=float(proofs.disproof[child, 1 - mover]) if two else None,
        )
    return found


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
    """At a solved node an edge that leads to its outcome; None at a terminal one.

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
    """At a decision node the most visited edge that wins by its proof number; None without one."""
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
    draws = [proof.draw_proof for proof in proofs if proof.draw_proof is not None]
    return found._replace(
        lost=any(proof.lost for proof in proofs),
        won=any(proof.won for proof in proofs),
        proof_number=proof_number,
        disproof_number=disproof_number,
        draw_proof=min(draws, default=None),
    )


def merged_numbers(numbers: Sequence[NumberPair]) -> NumberPair:
    """The smallest proof and disproof number of several trees; of what is proven, 0 and infinity.

    Both are the least work that is left, and each tree shows a way that takes so much.
    """
    proof = min((proof for proof, _ in numbers if proof is not None), default=None)
    disproof = min((disproof for _, disproof in numbers if disproof is not None), default=None)
    return math.inf if disproof == 0.0 else proof, math.inf if proof == 0.0 else disproof
