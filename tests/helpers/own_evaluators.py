"""Whatever a user may have that evaluates positions: each is asked, and notes it."""

import collections
import pathlib

import numpy as np

ASKED = collections.Counter()
"""How often each kind was asked."""

FILE = str(pathlib.Path(__file__))


def of_a_state(state):
    ASKED["of_a_state"] += 1
    return [0.25] * state.num_players() if state.num_players() == 1 else [0.25, -0.25]


class Values:
    def __init__(self, value=0.25):
        self.value = value

    def evaluate(self, state):
        ASKED["Values"] += 1
        return [self.value] if state.num_players() == 1 else [self.value, -self.value]


class Priors:
    def prior(self, state):
        ASKED["Priors"] += 1
        legal = list(state.legal_actions())
        weights = 0.5 ** np.arange(len(legal))
        return list(zip(legal, (weights / weights.sum()).tolist(), strict=True))


class Both(Values, Priors):
    pass


def policy_and_values(observations, action_mask):
    ASKED["policy_and_values"] += 1
    return -np.broadcast_to(np.arange(action_mask.shape[1]), action_mask.shape), np.full(
        len(observations), 0.25
    )


def values_alone(observations):
    ASKED["values_alone"] += 1
    return np.full(len(observations), 0.25)


def policy_alone(observations, action_mask):
    ASKED["policy_alone"] += 1
    return {"policy": -np.broadcast_to(np.arange(action_mask.shape[1]), action_mask.shape)}


def makes_values():
    """A function without parameters, which makes an evaluator."""
    return Values(0.5)
