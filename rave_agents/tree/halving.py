"""Planning with Gumbel at the root, before a search and after it."""

from typing import NamedTuple

import numpy as np

from rave_agents.kernel import gumbel
from rave_agents.kernel.proofs.edges import proven_at
from rave_agents.kernel.tree import ROOT, edge_rows
from rave_agents.kernel.utilities import GameRange
from rave_agents.tree.search_tree import SearchTree


class Halved(NamedTuple):
    """What planning with Gumbel says of one of the root's actions."""

    survives: bool
    """Whether sequential halving has kept it."""
    score: float
    """``g + ln p + σ(q)``."""
    improved: float
    """Its probability in the improved policy."""


def begin_halving(tree: SearchTree, simulations: float, random: np.random.Generator) -> None:
    """Draw the root's noise, and share out the simulations of a search from now on.

    Args:
        tree: the tree, whose rule is ``GumbelSearch``.
        simulations: those of the search; the first of a new tree judges the root itself.
        random: what the noise is drawn from.
    """
    part, arrays = tree.running.rule, tree.arrays
    draw_noise(tree, random)
    part.budget[0] = max(simulations - (not tree.has_root), 0)
    part.visits_before[:] = 0
    if tree.has_root:
        edges = edge_rows(arrays, ROOT)
        actions = arrays.edge_action[edges.start : edges.stop]
        part.visits_before[actions] = arrays.edge_visits[edges.start : edges.stop]


def draw_noise(tree: SearchTree, random: np.random.Generator, first: int = 0) -> None:
    """Draw the noise of the actions from a number on."""
    part = tree.running.rule
    noise = random.gumbel(size=len(part.noise) - first)
    part.noise[first:] = part.options.gumbel_scale * noise


def root_halving(tree: SearchTree) -> list[Halved]:
    """What is said of each of the root's actions, in their order."""
    part = tree.running.rule
    search = tree.search(utilities=GameRange(tree.utility_range))
    proven = proven_at(search.proofs, search, ROOT)
    known = gumbel.completion(part, search, proven, ROOT)
    wanted, _ = gumbel.turn(part, search)
    scores, weights, survive = [], [], []
    for edge in edge_rows(tree.arrays, ROOT):
        scores.append(gumbel.root_score(part, search, proven, ROOT, edge, known))
        weights.append(gumbel.policy_weight(search, proven, ROOT, edge, known))
        survive.append(gumbel.visits_since(part, search, edge) >= wanted)
    total = sum(weights)
    improved = [weight / total for weight in weights]
    return [Halved(*row) for row in zip(survive, scores, improved, strict=True)]
