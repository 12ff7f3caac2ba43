"""Proofs of one position by several trees, merged."""

import math
from collections.abc import Sequence

from rave_agents.kernel.proofs.report import EdgeProof, NumberPair


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
    """The smallest proof and disproof number of several trees; 0 and infinity once one is 0.

    Both are the least work that is left, and each tree shows a way that takes so much.
    """
    proof = min((proof for proof, _ in numbers if proof is not None), default=None)
    disproof = min((disproof for _, disproof in numbers if disproof is not None), default=None)
    return math.inf if disproof == 0.0 else proof, math.inf if proof == 0.0 else disproof
