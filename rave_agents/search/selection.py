"""Selection: which edge a simulation takes at a node."""

import math
from typing import NamedTuple

import numpy as np

from rave_agents.game import PlayerId
from rave_agents.search.compiler import kernel
from rave_agents.search.formulas import (
    beta_hand_selected,
    beta_minimum_mse,
    blend,
    puct_exploration,
    ucb1_exploration,
)
from rave_agents.search.random_stream import Stream, random_below, random_unit
from rave_agents.search.tree import Tree

CHANCE = int(PlayerId.CHANCE)


class Parameters(NamedTuple):
    """The fields of ``SearchConfig`` that the loop reads, as run-time flags and numbers.

    The loop is compiled once for all of them.
    """

    puct: bool
    exploration: float
    first_play_urgency: float
    amaf: bool
    minimum_mse: bool
    rave_k: float
    rave_bias: float
    blend_ucb: bool
    expand_visits: int
    fixed_range: bool


@kernel
def edge_score(
    n: float,
    value_sum: float,
    n_amaf: float,
    amaf_value_sum: float,
    p: float,
    ln_N: float,
    sqrt_N: float,
    parameters: Parameters,
) -> float:
    """How urgent it is to take an edge of a decision node with N visits."""
    exploration = 0.0
    if parameters.puct:
        exploration = puct_exploration(sqrt_N, n, parameters.exploration, p)
    elif parameters.exploration > 0.0:
        exploration = ucb1_exploration(ln_N, n, parameters.exploration)
    if n_amaf == 0.0:
        q = parameters.first_play_urgency if n == 0.0 else value_sum / n
        return q + exploration
    q_amaf = amaf_value_sum / n_amaf
    if n == 0.0:  # Most edges are so, and every schedule's β is 1 for them.
        return q_amaf if parameters.blend_ucb else q_amaf + exploration
    q = value_sum / n
    if parameters.minimum_mse:
        beta = beta_minimum_mse(n, n_amaf, parameters.rave_bias)
    else:
        beta = beta_hand_selected(n, parameters.rave_k)
    if parameters.blend_ucb:
        return blend(beta, q + exploration, q_amaf)
    return blend(beta, q, q_amaf) + exploration


@kernel
def select_edge(tree: Tree, node: int, parameters: Parameters, stream: Stream) -> int:
    """The most urgent edge of a decision node, or a chance node's outcome by its probability.

    Ties are broken at random. The node must have edges.
    """
    first = tree.node_first_edge[node]
    count = tree.node_edge_count[node]
    if tree.node_player[node] == CHANCE:
        return sample_outcome(tree, first, count, stream)
    N = max(tree.node_visits[node], 1)
    ln_N = math.log(N)
    sqrt_N = math.sqrt(N)
    best_edge = first
    best_score = -math.inf
    ties = 0
    for edge in range(first, first + count):
        # Numbers, not the tree: passing its arrays on would count references for each edge.
        score = edge_score(
            float(tree.edge_visits[edge]),
            tree.edge_value_sum[edge],
            tree.edge_amaf_visits[edge] if parameters.amaf else 0.0,
            tree.edge_amaf_value_sum[edge] if parameters.amaf else 0.0,
            float(tree.edge_prior[edge]),
            ln_N,
            sqrt_N,
            parameters,
        )
        if score > best_score:
            best_edge = edge
            best_score = score
            ties = 1
        elif score == best_score:
            ties += 1
            if random_below(stream, ties) == 0:
                best_edge = edge
    return best_edge


@kernel
def sample_outcome(tree: Tree, first: int, count: int, stream: Stream) -> int:
    """A chance node's edge, drawn by probability."""
    remaining = random_unit(stream)
    for edge in range(first, first + count - 1):
        remaining -= np.float64(tree.edge_prior[edge])
        if remaining < 0.0:
            return edge
    return first + count - 1
