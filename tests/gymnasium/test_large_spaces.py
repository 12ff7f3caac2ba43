"""Environments with large spaces of actions."""

import gymnasium
import numpy as np
import pytest
from helpers.envs import begun
from rave_gymnasium import RaveAgent

from rave_agents.errors import GameError


class Large(gymnasium.Env):
    """Five steps; the action 5 is paid."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))

    def __init__(self, actions, masked):
        self.action_space = gymnasium.spaces.Discrete(actions)
        self.masked, self.steps = masked, 0

    def told(self):
        if not self.masked:
            return {}
        mask = np.zeros(int(self.action_space.n), np.int8)
        mask[[5, 7 + self.steps, -1]] = 1
        return {"action_mask": mask}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(1, np.float32), self.told()

    def step(self, action):
        self.steps += 1
        return np.zeros(1, np.float32), float(action == 5), self.steps == 5, False, self.told()


@pytest.mark.slow
def test_a_mask_leaves_few_of_many_actions():
    env = Large(400_000, masked=True)
    observation, info = env.reset(seed=1)
    agent = RaveAgent(env, simulations=40, seed=1)
    assert agent.act(observation, action_mask=info["action_mask"]) == 5


def test_more_legal_actions_than_a_tree_can_have_are_refused_at_once():
    env = begun(Large(10**12, masked=False))
    with pytest.raises(GameError, match=r"legal_actions.. has 1000000000000 actions.*a mask"):
        RaveAgent(env, simulations=10, seed=1).act()
