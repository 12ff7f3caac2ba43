"""Agents as users write them, for games that OpenSpiel, PettingZoo or they themselves have."""

import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts
from rave_openspiel import AutoBot

from rave_agents import from_maker, from_policy, from_sb3, from_step


@from_step
def first(state):
    """A heuristic on the framework's own state."""
    return state.legal_actions()[0]


@from_step
def named(state):
    """A heuristic that looks at the names of actions, as pyspiel.State tells them."""
    return min(state.legal_actions(), key=lambda action: str(state.action_to_string(action)))


def placed(state, place):
    legal = state.legal_actions()
    return legal[min(place, len(legal) - 1)]


@from_step
def nth(state, place=0):
    """A heuristic with a parameter."""
    return placed(state, place)


def masked(observation, action_mask):
    """A policy as environments have them."""
    return int(np.flatnonzero(action_mask)[-1])


@from_policy
def mixed(state):
    """A policy that gives probabilities."""
    return dict.fromkeys(state.legal_actions(), 1.0)


class Nth:
    """A class of agents with a parameter, which is made for each game."""

    def __init__(self, place=0):
        self.place = place

    def step(self, state):
        return placed(state, self.place)


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


@from_maker
def cpp_mcts(game, player):
    """OpenSpiel's own bot of C++."""
    evaluator = pyspiel.RandomRolloutEvaluator(1, player)
    return pyspiel.MCTSBot(game, evaluator, 1.0, 4, 10, False, player, False)


@from_maker
def python_mcts(game, seed):
    """OpenSpiel's own bot of Python."""
    rng = np.random.RandomState(seed % 2**32)
    return mcts.MCTSBot(game, 1.0, 2, mcts.RandomRolloutEvaluator(1, rng), random_state=rng)


@from_maker
def auto(game, player, seed):
    """A bot of this package."""
    return AutoBot(game, player_id=player, simulations=4, seed=seed)


@from_maker
def limited(game, simulations):
    """A bot of this package whose limit is a parameter."""
    return AutoBot(game, simulations=simulations, seed=1)


class Model:
    """A model with the method of Stable-Baselines3's, which takes masks as sb3-contrib's does."""

    def predict(
        self, observation, state=None, episode_start=None, deterministic=False, action_masks=None
    ):
        return np.array(np.flatnonzero(action_masks)[0]), None


model = from_sb3(Model())
"""A model."""

ready = FirstBot()
"""An object."""


class Lazy(pyspiel.Bot):
    """A bot that its author has not finished."""
