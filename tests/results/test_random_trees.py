"""Moves and proofs in random game trees, against the exact values of every action.

The trees have one to four players, chance, win and loss or graded utilities, constant sums, general
sums and cooperation, rewards on the way, forced moves, and positions that several ways lead to.
"""

import collections

import pytest
from helpers.oracle import Sample, tree
from helpers.random_trees import KINDS

EXACT = ["uct_solver", "pn_mcts", "rave_pn", "auto"]
"""The presets whose solver proves outcomes."""

BLOCK = 1000
"""Trees of one test of the full run."""


@pytest.mark.parametrize("preset", ["pn_mcts", "auto"])
def test_moves_in_a_few_trees_are_good(preset):
    seeds = [seed for seed in range(64) if seed % len(KINDS) == 1]
    sample = Sample(preset, seeds, simulations=400)
    assert sample.wrong == []
    assert sample.costly == 0
    assert sample.proven >= len(seeds)


@pytest.mark.full
@pytest.mark.parametrize("block", range(10))
def test_proofs_never_spoil_a_move(block):
    """No preset with a solver errs by a quarter of the range where plain UCT is right.

    Of its moves, at most one in a hundred costs more than a twentieth of the range.
    """
    seeds = range(BLOCK * block, BLOCK * (block + 1))
    for preset in EXACT:
        sample = Sample(preset, seeds, simulations=5000)
        assert sample.wrong == [], preset
        assert sample.worse_than_uct == [], preset
        assert sample.costly <= BLOCK // 100, preset
        assert sample.proven > BLOCK, preset


@pytest.mark.full
def test_proof_numbers_alone_spoil_hardly_a_move():
    """The published PN-MCTS explores so much that 5000 simulations do not always do."""
    sample = Sample("pn_mcts_fsu", range(BLOCK), simulations=5000)
    assert len(sample.worse_than_uct) <= BLOCK // 250
    assert sample.costly <= BLOCK // 15


@pytest.mark.full
def test_trees_are_of_every_structure():
    found = collections.Counter()
    for seed in range(BLOCK):
        kind, nodes, _ = tree(seed)
        found[kind] += 1
        found["chance"] += any(node.shares for node in nodes)
        found["forced moves"] += any(len(node.actions) == 1 for node in nodes)
        found["rewards on the way"] += any(any(node.rewards) for node in nodes if node.actions)
        below = [child for node in nodes for child in node.children]
        found["equal positions"] += len(set(below)) < len(below)
    assert len(found) == len(KINDS) + 4
    assert min(found.values()) > BLOCK // 10
