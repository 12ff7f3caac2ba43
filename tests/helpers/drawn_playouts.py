"""The playouts of compiled rules, move by move."""

from itertools import pairwise

import numpy as np

from rave_agents.simulate.frame import Status
from rave_agents.simulate.random_stream import make_stream
from rave_agents.simulate.simulator import make_frame, simulated


def playouts_of(state, count, *, sensible=False):
    """The moves of random playouts from a position, each a list."""
    frame = make_frame(
        num_players=2,
        playouts=count,
        playout_stream=make_stream(np.random.SeedSequence(1)),
        move_capacity=count * state.rules.max_game_length,
    )
    simulator = state.simulator(frame, None)
    if sensible:
        simulator.make_sensible()
    assert simulated(simulator, frame) == Status.DONE
    ends = [0, *frame.playout_ends.tolist()]
    return [frame.move_actions[one:other].tolist() for one, other in pairwise(ends)]
