"""Environments of mpe2: copied although they hold a font, which is only drawn."""

import importlib
import pkgutil

import numpy as np
import pytest
from rave_pettingzoo import UCTAgent, clone_env

mpe2 = pytest.importorskip("mpe2", reason="needs mpe2")
NAMES = sorted(m.name for m in pkgutil.iter_modules(mpe2.__path__) if "_v" in m.name)
pytestmark = pytest.mark.needs("mpe2")
HIDING = ("simple_crypto_v3", "simple_speaker_listener_v4")


def made(name):
    env = importlib.import_module(f"mpe2.{name}").parallel_env(max_cycles=10)
    env.reset(seed=1)
    return env


def step(env, action):
    return env.step({agent: action % env.action_space(agent).n for agent in env.agents})


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_goes_on_like_the_original_and_leaves_it_alone(name):
    env = made(name)
    step(env, 1)
    copy, other = clone_env(env), clone_env(env)
    step(other, 3)
    for action in (2, 3, 1):
        one, two = step(env, action), step(copy, action)
        for agent, seen in one[0].items():
            assert np.array_equal(seen, two[0][agent])
        assert one[1] == two[1]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in HIDING])
def test_an_agent_acts(name):
    env = made(name)
    agent = UCTAgent(env, player=env.agents[0], simulations=5, seed=1, horizon=3)
    assert env.action_space(env.agents[0]).contains(agent.act())
