"""Wrappers of PettingZoo's environments: looked through, counted, or refused by name."""

import gymnasium
import numpy as np
import pettingzoo
import pytest
import rave_gymnasium
from helpers import zoo
from pettingzoo.utils import wrappers
from rave_pettingzoo import AECState, ParallelState, UCTAgent, make_agent

from rave_agents import UnsupportedGameError
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


@pytest.mark.full(but=2)
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


@needs_supersuit
def test_a_function_of_a_wrapper_may_refer_to_a_space():
    class Uneven(zoo.Endless):
        def action_space(self, agent):
            return gymnasium.spaces.Discrete(3 if agent == "first" else 2)

    env = supersuit.pad_action_space_v0(Uneven())
    observations, _ = env.reset(seed=1)
    agent = UCTAgent(env, player="second", simulations=200, seed=1, horizon=1)
    assert agent.act(observations) in (1, 2)  # What is padded stands for the last one.


def noisy(space):
    """An environment that draws from a space to which its function refers."""

    class Noisy(zoo.Endless):
        def reset(self, seed=None, options=None):
            def draw():
                return space.sample()

            self.draw = draw
            return super().reset(seed, options)

        def step(self, actions):
            return super().step({a: float(self.draw() == x) for a, x in actions.items()})

    return Noisy()


@pytest.mark.full
def test_draws_from_a_space_in_a_function_are_chance_and_leave_the_live_one_alone():
    space = gymnasium.spaces.Discrete(3, seed=1)
    env = noisy(space)
    observations, _ = env.reset(seed=1)
    before = space.np_random.bit_generator.state
    agent = UCTAgent(env, player="first", simulations=200, seed=1, horizon=1)
    agent.act(observations)
    assert space.np_random.bit_generator.state == before
    assert agent.last_result.state.chance.found


class Secret(Bare):
    def step(self, action):
        super().step(action)


def test_a_refusal_names_the_wrapper_and_says_what_to_do():
    env = Secret(zoo.classic("tictactoe-v3"))
    with pytest.raises(CloneError, match=r"The wrapper .*Secret cannot be copied.*env\.env"):
        AECState(env)
    env.file.close()


@needs_supersuit
class TestVectors:
    """A row for each agent of Parallel environments."""

    def rows(self, count=1, base_class="gymnasium", env=None, num_cpus=1):
        vector = supersuit.pettingzoo_env_to_vec_env_v1(env or zoo.Endless())
        if count == 1 and base_class == "gymnasium":
            return vector
        return supersuit.concat_vec_envs_v1(vector, count, num_cpus, base_class)

    @pytest.mark.parametrize("count", [1, 2])
    def test_each_row_gets_the_action_of_its_agent(self, count):
        env = self.rows(count)
        observations, _ = env.reset(seed=1)
        agent = UCTAgent(env, simulations=200, seed=1, horizon=1)
        actions, state = agent.predict(observations, state="kept")
        assert actions.tolist() == [2] * 2 * count
        assert state == "kept"
        env.step(agent.act())
        assert len({member.seed for member in agent.members}) == 2 * count
        with pytest.raises(ValueError, match=f"bound to {2 * count} environments and was given 1"):
            agent.predict(observations[:1])

    @pytest.mark.needs("stable_baselines3")
    def test_evaluate_policy_takes_an_agent_of_the_vectorised_environment(self):
        from stable_baselines3.common.evaluation import evaluate_policy
        from stable_baselines3.common.vec_env import VecMonitor

        env = VecMonitor(self.rows(2, "stable_baselines3", rps()))
        agent = make_agent("uct(simulations=5,horizon=1)", env, seed=1)
        mean, _ = evaluate_policy(agent, env, n_eval_episodes=4)
        assert -3 <= mean <= 3

    def test_a_random_agent_plays_each_row_by_itself(self):
        env = self.rows(2)
        env.reset(seed=1)
        agent = make_agent("random", env, seed=1)
        assert len({tuple(agent.act()) for _ in range(20)}) > 5
        assert len({tuple(row) for row in np.transpose([agent.act() for _ in range(20)])}) == 4

    def test_a_row_whose_agent_is_out_waits(self):
        env = supersuit.vector.MarkovVectorEnv(zoo.Endless(), black_death=True)
        observations, _ = env.reset(seed=1)
        agent = UCTAgent(env, simulations=200, seed=1, horizon=1)
        env.par_env.agents = ["second"]
        assert agent.predict(observations)[0].tolist() == [0, 2]

    def test_a_vectorised_environment_is_to_be_reset_first(self):
        with pytest.raises(ValueError, match="reset"):
            UCTAgent(self.rows(env=rps()), simulations=5).act()

    def test_what_is_out_of_reach_is_refused_with_the_remedy(self):
        env = self.rows(2, num_cpus=2)
        with pytest.raises(UnsupportedGameError, match=r"ProcConcatVec.*num_cpus=1"):
            UCTAgent(env)
        env.close()
        with pytest.raises(UnsupportedGameError, match="rave_pettingzoo's agents plan in it"):
            rave_gymnasium.UCTAgent(self.rows())
        with pytest.raises(ValueError, match="player must be None for a vectorised"):
            UCTAgent(self.rows(), player="first")
