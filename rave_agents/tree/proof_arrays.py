"""What a tree's nodes hold of proofs, as arrays to read."""

from typing import NamedTuple

import numpy as np

from rave_agents.compiler.arrays import Array
from rave_agents.kernel.proofs.numbers import Numbers
from rave_agents.kernel.proofs.part import Proven
from rave_agents.kernel.proofs.solver import Bounds


class ProofArrays(NamedTuple):
    """What is proven of a tree's nodes; empty arrays where it is not kept."""

    low: Array
    """[nodes, players] the least utility that each player can still end with."""
    high: Array
    """[nodes, players] the greatest."""
    distance: Array
    """[nodes] of a solved node the moves to the end, or ``UNSOLVED``."""
    proof: Array
    """[nodes, players] each player's proof number."""
    disproof: Array
    """[nodes, players] each player's disproof number."""
    edge_bonus: Array
    """[edges] what the numbers of the edge's siblings and its own say for it, in [0, 1]."""


def proof_arrays(proofs: object, players: int) -> ProofArrays:
    """The arrays of the part that keeps what is proven."""
    solver = proofs.solver if isinstance(proofs, Proven) else None
    numbers = proofs.numbers if isinstance(proofs, Proven) else None
    none = np.zeros((0, players))
    bounds = (none, none, np.zeros(0, np.int32))
    if isinstance(solver, Bounds):
        bounds = (
            solver.low.reshape(-1, players),
            solver.high.reshape(-1, players),
            solver.distance,
        )
    kept = (none, none, np.zeros(0, np.float32))
    if isinstance(numbers, Numbers):
        kept = (
            numbers.proof.reshape(-1, players),
            numbers.disproof.reshape(-1, players),
            numbers.edge_bonus,
        )
    return ProofArrays(*bounds, *kept)
