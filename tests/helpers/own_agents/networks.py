"""Networks and models as users make them, for the game of ``own_games/subtraction.py``."""

import pathlib

import gymnasium
import rave_gymnasium

from rave_agents import from_maker, from_sb3, from_torch

assert rave_gymnasium.OpponentEnv is not None

GAME = f"{pathlib.Path(__file__).parents[1]}/own_games/subtraction.py:Subtraction(sticks=5)"


@from_maker
def network():
    """An untrained network of torch, which gives a value for every action."""
    import torch

    return from_torch(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(16, 3)))


@from_maker
def model():
    """A model of sb3-contrib that was trained for a moment."""
    from sb3_contrib import MaskablePPO

    env = gymnasium.make("Opponent-v0", game=GAME, opponent="random", disable_env_checker=True)
    options = {"n_steps": 8, "batch_size": 8, "n_epochs": 1, "seed": 1, "device": "cpu"}
    return from_sb3(MaskablePPO("MlpPolicy", env, **options).learn(8))
