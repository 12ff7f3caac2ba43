"""Merges several trees' proofs of one position."""

import math
from collections.abc import Sequence

from rave_agents.kernel.proofs.report import EdgeProof, NumberPair


def merged_proof(proofs: Sequence[EdgeProof]) -> EdgeProof:
    """The combined proof of one action from several trees: tightest bounds, smallest numbers.

    Trees may disagree on an outcome if they break ties between equally good moves differently; the
    first tree with the shortest distance to the end then counts.
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
    """The smallest proof and disproof number of several trees; 0 and infinity once one is 0.

    Each tree shows a way to prove or disprove with so much work left, so the minimum holds.
    """
    proof = min((proof for proof, _ in numbers if proof is not None), default=None)
    disproof = min((disproof for _, disproof in numbers if disproof is not None), default=None)
    return math.inf if disproof == 0.0 else proof, math.inf if proof == 0.0 else disproof
