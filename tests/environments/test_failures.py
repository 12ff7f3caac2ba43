"""Exceptions of environments: said to be their own, and copies blamed only where they differ."""

import copy

import numpy as np
import pettingzoo
import pytest
import rave_gymnasium
import rave_pettingzoo
from gymnasium import spaces
from helpers.envs import Counting
from rave_pettingzoo.cloning import _registered, clone_env

from rave_agents.errors import CloneError, GameError


class Solo(Counting):
    """Divides by zero at its fourth step."""

    def step(self, action):
        self.time += 1
        return self.time, 1 / (self.time - 4), False, False, {}


class Last(Solo):
    """Its last step raises."""

    def step(self, action):
        self.time += 1
        if self.time == 6:
            raise KeyError("winner")
        return self.time, 0.0, self.time >= 6, False, {}


class TwoAgents:
    """The agents of an environment for two, and their spaces."""

    render_mode = None
    possible_agents = ["a", "b"]  # noqa: RUF012

    def observation_space(self, agent):
        return spaces.Discrete(10)

    def action_space(self, agent):
        return spaces.Discrete(2)


class Duo(TwoAgents, pettingzoo.AECEnv):
    """Divides by zero at its fourth step."""

    metadata = {"name": "duo", "hidden_information": None}  # noqa: RUF012

    def observe(self, agent):
        return self.time

    def reset(self, seed=None, options=None):
        self.agents, self.time, self.agent_selection = ["a", "b"], 0, "a"
        self.rewards, self._cumulative_rewards = dict.fromkeys("ab", 0), dict.fromkeys("ab", 0)
        self.terminations, self.truncations = dict.fromkeys("ab", False), dict.fromkeys("ab", False)
        self.infos = {"a": {}, "b": {}}

    def step(self, action):
        self.time += 1
        self.rewards = dict.fromkeys("ab", 1 / (self.time - 4))
        self.agent_selection = "b" if self.agent_selection == "a" else "a"


class Together(TwoAgents, pettingzoo.ParallelEnv):
    """Divides by zero at its fourth step."""

    metadata = {"name": "together", "hidden_information": None}  # noqa: RUF012

    def reset(self, seed=None, options=None):
        self.agents, self.time = ["a", "b"], 0
        return dict.fromkeys("ab", 0), {"a": {}, "b": {}}

    def step(self, actions):
        self.time += 1
        rewards = dict.fromkeys("ab", 1 / (self.time - 4))
        over = dict.fromkeys("ab", False)
        return dict.fromkeys("ab", self.time), rewards, over, over, {"a": {}, "b": {}}


AGENTS = {
    "solo": (Solo, rave_gymnasium.UCTAgent, {}),
    "duo": (Duo, rave_pettingzoo.UCTAgent, {}),
    "together": (Together, rave_pettingzoo.RegretMatchingAgent, {"player": "a"}),
}


def begun(kind):
    env = kind()
    env.reset(seed=1)
    return env


@pytest.mark.parametrize(("kind", "agent", "options"), AGENTS.values(), ids=AGENTS)
def test_an_environments_own_error_names_it_and_the_actions_before(kind, agent, options):
    env = begun(kind)
    with pytest.raises(GameError) as caught:
        agent(env, simulations=50, seed=1, **options).act()
    said = str(caught.value)
    name = "Solo" if kind is Solo else kind.metadata["name"]
    assert said.startswith(f"{name} raised ZeroDivisionError: division by zero in a simulation, at")
    assert "step 4 from the present position, after the actions " in said
    assert "action_mask" in said
    assert "cloned" not in said
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert env.time == 0


def test_an_error_in_the_last_step_is_the_environments_own():
    env = begun(Last)
    env.step(0)
    with pytest.raises(GameError, match=r"Last raised KeyError: 'winner' .* at step 5 from"):
        rave_gymnasium.UCTAgent(env, simulations=50, seed=1).act()
    assert rave_gymnasium.UCTAgent(env, simulations=50, horizon=3, seed=1).act() in (0, 1)


def test_the_last_actions_of_many_are_told():
    class Late(Solo):
        def step(self, action):
            self.time += 1
            return 0, 1 / (self.time - 60), False, False, {}

    env = begun(Late)
    with pytest.raises(
        GameError, match=r"step 60 .* after 40 others and the actions (\d, ){19}\d\."
    ):
        rave_gymnasium.UCTAgent(env, simulations=50, seed=1).act()


class Partial(Duo):
    """Needs a table that its reset makes."""

    def reset(self, seed=None, options=None):
        super().reset(seed)
        self.table = [1.0] * 10

    def step(self, action):
        if self.terminations[self.agent_selection]:
            return self._was_dead_step(action)
        self.time += 1
        self.rewards = dict.fromkeys("ab", self.table[self.time])
        self.terminations = dict.fromkeys("ab", self.time == 9)
        self.agent_selection = "b" if self.agent_selection == "a" else "a"
        return None


def test_a_copy_that_raises_what_a_reset_copy_does_not_is_blamed():
    def clone(env):
        new = copy.copy(env)
        new.rewards = new.rewards.copy()
        new.table = []
        return new

    rave_pettingzoo.register_cloner(Partial, clone)
    try:
        env = begun(Partial)
        with pytest.raises(CloneError, match=r"raised IndexError.*reset did not.*register_cloner"):
            clone_env(env)
    finally:
        _registered.clear()


class Caching(Duo):
    """Works out what it shows when it is first asked, as of legal moves."""

    def reset(self, seed=None, options=None):
        super().reset(seed)
        self.cache = {}

    def observe(self, agent):
        if agent not in self.cache:
            self.cache[agent] = np.arange(3) + self.time
        return self.cache[agent]

    def step(self, action):
        self.time += 1
        self.cache = {}
        self.rewards = {"a": float(action), "b": -float(action)}
        self.terminations = dict.fromkeys("ab", self.time == 5)
        self.agent_selection = "b" if self.agent_selection == "a" else "a"


class Noisy(Caching):
    """Draws from its generator when it is asked."""

    def reset(self, seed=None, options=None):
        super().reset(seed)
        self.random = np.random.default_rng(seed)

    def observe(self, agent):
        return self.random.random()


@pytest.mark.parametrize("kind", [Caching, Noisy])
def test_observing_may_fill_a_cache_and_the_live_environment_is_not_asked(kind):
    env = begun(kind)
    before = copy.deepcopy(vars(env))
    assert rave_pettingzoo.UCTAgent(env, simulations=50, seed=1).act() == 1
    assert env.cache == {}
    if kind is Noisy:
        assert env.random.bit_generator.state == before["random"].bit_generator.state


def test_a_step_of_four_values_is_named():
    class Old(Solo):
        def step(self, action):
            self.time += 1
            return self.time, 0.0, self.time == 5, {}

    env = begun(Old)
    with pytest.raises(GameError, match=r"returned 4 values.*GymV21CompatibilityV0"):
        rave_gymnasium.UCTAgent(env, simulations=20).act()


@pytest.mark.parametrize("reward", [np.ones(2), None, {"a": 1.0}])
def test_a_reward_that_is_no_number_is_named(reward):
    class Vector(Solo):
        def step(self, action):
            self.time += 1
            return self.time, reward, self.time == 5, False, {}

    env = begun(Vector)
    with pytest.raises(GameError, match=r"A reward must be a number.*LinearReward"):
        rave_gymnasium.UCTAgent(env, simulations=20).act()


def test_an_environment_of_the_old_gym_is_named():
    class OldEnv:
        action_space = observation_space = spaces.Discrete(2)

    OldEnv.__module__ = "gym.core"
    with pytest.raises(TypeError, match=r"old package gym.*GymV26CompatibilityV0.*shimmy"):
        rave_gymnasium.UCTAgent(OldEnv(), simulations=20)


@pytest.mark.parametrize("kind", [Solo, Duo])
def test_an_environment_before_its_reset_is_asked_to_be_reset(kind):
    agents = {Solo: rave_gymnasium.UCTAgent, Duo: rave_pettingzoo.UCTAgent}
    with pytest.raises((ValueError, TypeError), match=r"call env\.reset\(\) first|Call env\.reset"):
        agents[kind](kind(), simulations=20).act()
