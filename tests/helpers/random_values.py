"""Learned values with random numbers."""

import numpy as np

from rave_agents import LinearValue
from rave_agents.evaluators.tuple_network import network_for


def random_value(rules, tuples=(), **more):
    """The value of a board of two players, whose numbers a file keeps exactly."""
    network = network_for(rules, tuples)
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
