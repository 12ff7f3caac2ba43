"""Environments of minigrid and MinAtar are copied and planned in."""

import gymnasium
import numpy as np
import pytest
from helpers.envs import begun
from rave_gymnasium import PlanningState, UCTAgent


def minigrid(name):
    import minigrid

    assert minigrid  # It registers its environments.
    return gymnasium.make(name)


def minatar(name):
    import minatar.gym

    if name not in gymnasium.registry:
        minatar.gym.register_envs()
    return gymnasium.make(name)


CASES = [
    (minigrid, "MiniGrid-Empty-5x5-v0"),
    (minigrid, "MiniGrid-Dynamic-Obstacles-5x5-v0"),
    (minatar, "MinAtar/Breakout-v1"),
    (minatar, "MinAtar/Freeway-v1"),
]


@pytest.mark.needs("minigrid", "minatar")
@pytest.mark.parametrize(("make", "name"), CASES)
def test_a_plan_leaves_the_live_environment_alone(make, name):
    seen = []
    for plans in (True, False):
        env = begun(make(name))
        if plans:
            assert env.action_space.contains(UCTAgent(env, simulations=5, horizon=5, seed=1).act())
            assert PlanningState(env).env is not env.unwrapped
        steps = [env.step(action) for action in (0, 2, 2, 1)]
        seen.append([(step[0], step[1]) for step in steps])
    for (one, reward), (two, other) in zip(*seen, strict=True):
        assert reward == other
        same = one if isinstance(one, dict) else {"": one}
        for key, value in same.items():
            assert np.array_equal(value, two[key] if isinstance(two, dict) else two)
