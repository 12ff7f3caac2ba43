"""Learned values with random numbers."""

import numpy as np

from rave_agents import LinearValue
from rave_agents.evaluators.tuple_network import (
    TupleNetwork,
    network_for,
    rectangles,
    shapes_for,
)


def network_of_windows(rules):
    """The network of a game's small windows, each with its own table: players share no weights."""
    board = (*rules.board_shape, rules.cell_kinds)
    cells = rectangles(*rules.board_shape, shapes_for(rules))
    return TupleNetwork.of_tuples(board, [[each] for each in cells])


def random_value(rules, *, network=None, **more):
    """The value of a board whose two players share weights, which a file keeps exactly."""
    network = network or network_for(rules)
    weights = np.random.default_rng(1).normal(0, 0.3, (1, 1, network.size + 1))
    return LinearValue(
        str(rules),
        weights.astype(np.float16).astype(np.float32),
        utilities=(-1.0, 1.0),
        utility_sum=0.0,
        network=network,
        players=2,
        **more,
    )
