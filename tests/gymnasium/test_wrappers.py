"""Wrappers: what only observes or keeps time is looked through, the rest counts or is refused."""

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers
from helpers.envs import begun
from rave_gymnasium import PlanningState, UCTAgent

from rave_agents.errors import CloneError


def pole():
    return gymnasium.make("CartPole-v1")


class Halved(gymnasium.ObservationWrapper):
    """An observation of the user's own."""

    def __init__(self, env):
        super().__init__(env)
        self.file = open(__file__)  # Cannot be copied.  # noqa: SIM115

    def observation(self, observation):
        return observation / 2


def monitored(env):
    from stable_baselines3.common.monitor import Monitor

    return Monitor(env)


def supersuit(name, *arguments):
    def wrapped(env):
        import supersuit

        return getattr(supersuit, name)(env, *arguments)

    return pytest.param(wrapped, marks=pytest.mark.needs("supersuit"), id=name)


def with_monitor(wrap):
    return pytest.param(wrap, marks=pytest.mark.needs("stable_baselines3"))


OBSERVING = [
    with_monitor(monitored),
    wrappers.RecordEpisodeStatistics,
    lambda env: wrappers.TimeAwareObservation(wrappers.RecordEpisodeStatistics(env)),
    with_monitor(lambda env: wrappers.FlattenObservation(monitored(env))),
    lambda env: wrappers.ReshapeObservation(env, (2, 2)),
    lambda env: wrappers.DtypeObservation(env, np.float16),
    lambda env: wrappers.FrameStackObservation(env, 3),
    lambda env: wrappers.TransformObservation(env, lambda seen: seen, env.observation_space),
    wrappers.NormalizeObservation,
    Halved,
    supersuit("dtype_v0", np.float16),
    supersuit("frame_stack_v1", 3),
    supersuit("delay_observations_v0", 2),
    supersuit("max_observation_v0", 2),
]


@pytest.mark.full(but=2)
@pytest.mark.parametrize("wrap", OBSERVING)
def test_what_only_observes_or_keeps_time_is_looked_through(wrap):
    env = begun(wrap(pole()))
    env.step(1)
    before = env.unwrapped.state
    bare = begun(pole())
    bare.step(1)
    options = {"simulations": 40, "seed": 1, "horizon": 20}
    state = PlanningState(env)
    assert state.env is not env.unwrapped
    assert not isinstance(state.env, gymnasium.Wrapper)
    assert UCTAgent(env, **options).act() == UCTAgent(bare, **options).act()
    assert (env.unwrapped.state == before).all()


class Reversed(gymnasium.ActionWrapper):
    def action(self, action):
        return 1 - action


class Doubled(gymnasium.RewardWrapper):
    def reward(self, reward):
        return 2 * reward


def test_what_changes_actions_and_rewards_counts_between_what_is_looked_through():
    env = wrappers.RecordEpisodeStatistics(
        Doubled(wrappers.TimeAwareObservation(Reversed(wrappers.DtypeObservation(pole(), float))))
    )
    env.reset(seed=1)
    state = PlanningState(env)
    assert [type(state.env), type(state.env.env)] == [Doubled, Reversed]
    twin = begun(pole())
    twin.step(0)
    state.apply_action(1)
    assert state.returns() == [2.0]
    assert np.allclose(state.env.unwrapped.state, twin.unwrapped.state)
    assert env.unwrapped.steps_beyond_terminated is None
    assert env.env.env.env is not state.env.env


def test_steps_of_a_time_limit_inside_are_counted():
    env = begun(Halved(wrappers.TimeLimit(gymnasium.make("CartPole-v1").unwrapped, 3)))
    env.step(0)
    state = PlanningState(env)
    state.apply_action(0)
    assert not state.is_terminal()
    state.apply_action(1)
    assert state.is_terminal()


def test_a_value_function_sees_the_wrapped_observation():
    seen = []

    def value(state):
        seen.append(state.observation(0).shape)
        return 0.0

    env = begun(wrappers.ReshapeObservation(pole(), (2, 2)))
    UCTAgent(env, simulations=3, seed=1, horizon=2, evaluator=value).act()
    assert set(seen) == {(2, 2)}


class Secret(Doubled):
    def __init__(self, env):
        super().__init__(env)
        self.file = open(__file__)  # noqa: SIM115


def test_a_refusal_names_the_wrapper_and_says_what_to_do():
    env = begun(wrappers.TimeAwareObservation(Secret(pole())))
    with pytest.raises(CloneError, match=r"The wrapper .*Secret cannot be copied.*env\.env"):
        UCTAgent(env, simulations=3).act()
