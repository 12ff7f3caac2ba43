"""Agents as users write them, for games that OpenSpiel, PettingZoo or they themselves have."""

import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts
from rave_openspiel import AutoBot


def first(state):
    """A heuristic on the framework's own state."""
    return state.legal_actions()[0]


def named(state):
    """A heuristic that looks at the names of actions, as pyspiel.State tells them."""
    return min(state.legal_actions(), key=lambda action: str(state.action_to_string(action)))


def nth(state, place=0):
    """A heuristic with a parameter."""
    legal = state.legal_actions()
    return legal[min(place, len(legal) - 1)]


def masked(observation, mask):
    """A policy as environments have them."""
    return int(np.flatnonzero(mask)[-1])


def mixed(state):
    """A policy that gives probabilities."""
    return dict.fromkeys(state.legal_actions(), 1.0)


class Nth:
    """A class of agents with a parameter, which is made for each game."""

    def __init__(self, place=0):
        self.place = place

    def step(self, state):
        return nth(state, self.place)


class FirstBot(pyspiel.Bot):
    """A pyspiel.Bot, which Python can neither copy nor pickle."""

    def __init__(self):
        pyspiel.Bot.__init__(self)
        self.told = []

    def restart(self):
        self.told.clear()

    def inform_action(self, state, player, action):
        self.told.append(action)

    def step(self, state):
        return state.legal_actions()[0]


def cpp_mcts(game, player):
    """OpenSpiel's own bot of C++."""
    evaluator = pyspiel.RandomRolloutEvaluator(1, player)
    return pyspiel.MCTSBot(game, evaluator, 1.0, 4, 10, False, player, False)


def python_mcts(game, rng):
    """OpenSpiel's own bot of Python."""
    return mcts.MCTSBot(game, 1.0, 2, mcts.RandomRolloutEvaluator(1, rng), random_state=rng)


def auto(game, player, seed):
    """A bot of this package."""
    return AutoBot(game, player_id=player, simulations=4, seed=seed)


def limited(game, simulations):
    """A bot of this package whose limit is a parameter."""
    return AutoBot(game, simulations=simulations, seed=1)


class Model:
    """A model with the method of Stable-Baselines3's, which takes masks as sb3-contrib's does."""

    def predict(self, observation, state=None, episode_start=None, action_masks=None):
        return np.array(np.flatnonzero(action_masks)[0]), None


class Algorithm:
    """An algorithm of RLlib."""

    def compute_single_action(self, observation, state=None, *, explore=None):
        assert explore is False
        return next(iter(np.flatnonzero(self.mask(observation))))

    def mask(self, observation):
        return observation["action_mask"] if isinstance(observation, dict) else np.ones(1)


class Module:
    """A module of RLlib, which gives a value for every action."""

    def __init__(self, actions=9):
        self.actions = actions

    def forward_inference(self, batch):
        return {"action_dist_inputs": np.linspace(0, 1, self.actions)[None].astype(np.float32)}


ready = FirstBot()
"""An object."""


class Lazy(pyspiel.Bot):
    """A bot that its author has not finished."""
