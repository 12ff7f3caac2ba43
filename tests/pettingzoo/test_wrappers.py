"""Wrappers of PettingZoo's environments: looked through, counted, or refused by name."""

import numpy as np
import pettingzoo
import pytest
from helpers import zoo
from pettingzoo.utils import wrappers
from rave_pettingzoo import AECState, ParallelState, UCTAgent, make_agent

from rave_agents.errors import CloneError

try:
    import supersuit
except ImportError:
    supersuit = None
needs_supersuit = pytest.mark.needs("supersuit")


def rps(**options):
    return pettingzoo.make("parallel", "classic/rps-v2", max_cycles=3, **options)


class Bare(wrappers.BaseWrapper):
    """Shows the board alone, and cannot be copied."""

    def __init__(self, env):
        super().__init__(env)
        self.file = open(__file__)  # noqa: SIM115

    def observe(self, agent):
        return {**super().observe(agent), "observation": np.zeros(1)}


def test_an_observation_of_ones_own_is_looked_through():
    env = Bare(zoo.classic("tictactoe-v3"))
    assert not isinstance(AECState(env).env, wrappers.BaseWrapper)
    assert make_agent("rave(simulations=50,seed=1)", env).act() in range(9)
    env.file.close()


@needs_supersuit
@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: supersuit.dtype_v0(env, np.float32),
        lambda env: supersuit.frame_stack_v1(env, 2),
        lambda env: supersuit.observation_lambda_v0(env, lambda seen, space: seen, lambda s: s),
        lambda env: supersuit.delay_observations_v0(env, 2),
    ],
)
def test_supersuits_observations_are_looked_through(wrap):
    env = wrap(zoo.Endless())
    observations, infos = env.reset(seed=1)
    state = ParallelState(env, observations=observations, infos=infos)
    assert type(state.env) is zoo.Endless
    agent = UCTAgent(env, player="first", simulations=200, seed=1, horizon=1)
    assert agent.act(observations) == 2


@needs_supersuit
def test_supersuits_other_wrappers_count():
    env = supersuit.reward_lambda_v0(zoo.Endless(), lambda reward: -reward)
    observations, infos = env.reset(seed=1)
    agent = UCTAgent(env, player="first", simulations=200, seed=1, horizon=1)
    assert agent.act(observations) == 0
    assert infos == {"first": {}, "second": {}}


class Secret(Bare):
    def step(self, action):
        super().step(action)


def test_a_refusal_names_the_wrapper_and_says_what_to_do():
    env = Secret(zoo.classic("tictactoe-v3"))
    with pytest.raises(CloneError, match=r"The wrapper .*Secret cannot be copied.*env\.env"):
        AECState(env)
    env.file.close()
