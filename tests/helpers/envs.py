"""Environments of Gymnasium and PettingZoo."""

import gymnasium
from gymnasium import spaces


def begun(env, seed=1):
    """The environment, after its reset."""
    env.reset(seed=seed)
    return env


class Counting(gymnasium.Env):
    """Two actions; a subclass's steps count its time."""

    action_space = spaces.Discrete(2)
    observation_space = spaces.Discrete(1000)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return 0, {}
