"""Agents where Stable-Baselines3 and Gymnasium's vectorised environments call them."""

import copy

import gymnasium
import numpy as np
import pytest
from helpers.envs import begun
from rave_gymnasium import RaveAgent, UCTAgent

from rave_agents import UnsupportedGameError


def lake():
    return gymnasium.make("FrozenLake-v1", is_slippery=False)


def pole():
    return gymnasium.make("CartPole-v1")


needs_library = pytest.mark.needs("stable_baselines3")


def dummy(makers):
    from stable_baselines3.common.vec_env import DummyVecEnv

    return DummyVecEnv(makers)


def planner(env, **options):
    return UCTAgent(
        env, **{"simulations": 250, "horizon": 20, "discount": 0.9, "seed": 1} | options
    )


@needs_library
def test_evaluate_policy_takes_an_agent_bound_to_its_environment():
    from stable_baselines3.common.evaluation import evaluate_policy

    env = lake()
    mean, _ = evaluate_policy(planner(env), env, n_eval_episodes=2, warn=False)
    assert mean == 1.0


@pytest.mark.full(but=["2"])
@needs_library
@pytest.mark.parametrize("count", [1, 2])
def test_evaluate_policy_takes_an_agent_bound_to_a_vectorised_environment(count):
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecMonitor

    env = VecMonitor(dummy([lambda: Monitor(lake())] * count))
    mean, _ = evaluate_policy(planner(env), env, n_eval_episodes=2)
    assert mean == 1.0


@needs_library
def test_predict_answers_an_array_with_an_array_and_keeps_the_state():
    env = dummy([pole] * 3)
    observations = env.reset()
    agent = planner(env, simulations=10)
    actions, state = agent.predict(
        observations, state=("kept",), episode_start=np.ones(3, bool), deterministic=False
    )
    assert actions.shape == (3,)
    assert state == ("kept",)
    assert [env.envs[i].unwrapped.state is not None for i in range(3)]
    with pytest.raises(ValueError, match="bound to 3 environments and was given 2"):
        agent.predict(observations[:2])


def test_predict_of_one_environment_takes_a_single_observation_and_an_array_of_one():
    env = pole()
    observation, _ = env.reset(seed=1)
    agent = planner(env, simulations=10)
    single, _ = agent.predict(observation)
    several, _ = agent.predict(observation[None])
    assert isinstance(single, int)
    assert several.shape == (1,)
    with pytest.raises(ValueError, match="given 2 observations: make it for the vectorised"):
        agent.predict(np.stack([observation] * 2))


def test_an_episode_start_resets_the_agent():
    env = pole()
    observation, _ = env.reset(seed=1)
    agent = planner(env, simulations=5)
    asked = []
    agent.reset = lambda: asked.append(True)
    agent.predict(observation[None], episode_start=np.array([False]))
    agent.predict(observation[None], episode_start=np.array([True]))
    assert asked == [True]


def test_gymnasiums_own_vector_is_planned_in():
    env = begun(gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="sync"))
    actions = RaveAgent(env, simulations=10, seed=1).act()
    env.step(actions)
    assert actions.shape == (2,)


def test_environments_in_other_processes_are_refused_with_the_remedy():
    env = gymnasium.make_vec("CartPole-v1", 1, vectorization_mode="async")
    with pytest.raises(UnsupportedGameError, match=r"AsyncVectorEnv.*DummyVecEnv"):
        UCTAgent(env)
    env.close()


def test_a_deep_copy_of_an_agent_is_independent_and_bound_to_the_same_environment():
    env = begun(pole())
    agent = planner(env, simulations=20)
    twin = copy.deepcopy(agent)
    assert twin.env is env
    assert twin._searcher is not agent._searcher
    assert agent.act() == twin.act()


def value_of(state):
    return 100.0 * float(state.observation(0)[1] > 0)


def test_a_value_function_speaks_where_the_horizon_cuts_a_plan_off():
    env = begun(pole())
    assert planner(env, horizon=1, simulations=30).act() in (0, 1)
    agent = planner(env, horizon=1, simulations=30, evaluator=value_of)
    assert agent.act() == 1  # To the right the velocity is above 0.
    assert agent.last_result.value == pytest.approx(91.0, abs=20)
