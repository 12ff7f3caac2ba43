"""Random graphs in which play may go on for ever, as compiled rules of a user's own."""

import functools

import numpy as np

from rave_agents.games import TERMINAL, Rules

PLACES, WAYS = 12, 3
"""Places that a graph has, and ways from one of them, at most."""


class Graph(Rules):
    """A graph that stands in the record, for up to three players."""

    name = "graph"
    num_players = 3
    num_distinct_actions = WAYS
    utility_sum = None
    fields = {  # noqa: RUF012
        "at": np.int64,
        "mover": (np.int64, PLACES),
        "way": (np.int64, PLACES * WAYS),
        "end": (np.float64, PLACES * 3),
    }

    def begin(self, state):
        for place in range(PLACES):
            state.mover[place] = TERMINAL

    def player(self, state):
        return state.mover[state.at]

    def legal_actions(self, state, actions):
        count = 0
        while count < WAYS and state.way[state.at * WAYS + count] >= 0:
            actions[count] = count
            count += 1
        return count

    def play(self, state, action):
        state.at = state.way[state.at * WAYS + action]

    def returns(self, state, returns):
        for player in range(3):
            returns[player] = state.end[state.at * 3 + player]


@functools.cache
def empty_graph():
    """The state that others are cloned from."""
    return Graph().new_initial_state()


def as_rules(graph):
    """The first position of a graph as a state of compiled rules."""
    state = empty_graph().clone()

    def write(record):
        record.way[:] = -1
        for place, ways in enumerate(graph.ways):
            record.mover[place] = graph.mover[place] if ways else TERMINAL
            record.way[place * WAYS : place * WAYS + len(ways)] = ways
            record.end[place * 3 : place * 3 + graph.players] = graph.end[place]

    state.change(write)
    return state
