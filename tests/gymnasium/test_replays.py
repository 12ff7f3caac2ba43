"""Replays of seed and actions, in environments that cannot be copied."""

import gymnasium
import numpy as np
import pytest
from helpers.envs import begun
from rave_gymnasium import PlanningState, Replayable, UCTAgent

from rave_agents.errors import CloneError

pytest.importorskip("Box2D", reason="needs Box2D")


def lander():
    return Replayable(gymnasium.make("LunarLander-v3"))


def test_a_replay_goes_on_like_the_live_environment_and_leaves_it_alone():
    env = begun(lander())
    for action in (0, 2, 1, 3, 2):
        env.step(action)
    replay = env.replay()
    other = env.replay()
    seen = []
    for action in (2, 2, 0, 1):
        seen.append(replay.step(action)[0])
        other.step(0)
    for action, expected in zip((2, 2, 0, 1), seen, strict=True):
        # The engine's noise is drawn from another generator, so that only the place is compared.
        assert np.allclose(env.step(action)[0][:2], expected[:2], atol=0.05)


@pytest.mark.slow
def test_an_agent_plans_in_replays():
    env = lander()
    observation, _ = env.reset(seed=1)
    agent = UCTAgent(env, simulations=4, horizon=4, seed=1)
    for _ in range(2):
        observation, *_ = env.step(agent.act(observation))
    assert agent.last_result.simulations == 4
    assert agent.last_result.state.chance.found


def test_without_the_wrapper_the_refusal_tells_of_it():
    env = begun(gymnasium.make("LunarLander-v3"))
    with pytest.raises(CloneError, match=r"rave_gymnasium\.Replayable\(env\)"):
        UCTAgent(env, simulations=5).act()


class Forgetful(gymnasium.Env):
    """Draws from a place that no seed sets."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Box(0, 1, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.handle = open(__file__)  # noqa: SIM115
        return np.random.default_rng().random(1, np.float32), {}

    def step(self, action):
        return np.random.default_rng().random(1, np.float32), 0.0, False, False, {}


def test_replays_that_are_not_exact_are_refused():
    gymnasium.register("Forgetful-v0", Forgetful, max_episode_steps=10)
    env = begun(Replayable(gymnasium.make("Forgetful-v0")))
    with pytest.raises(CloneError, match="the same seed and actions show different observations"):
        PlanningState(env)


def test_what_cannot_be_made_again_is_refused():
    with pytest.raises(CloneError, match=r"gymnasium\.make did not make it"):
        Replayable(Forgetful())
