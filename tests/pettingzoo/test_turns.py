"""Agents that take turns, and agents that move at the same time, in AEC environments."""

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium import spaces
from helpers import zoo
from pettingzoo.utils.conversions import (
    aec_to_parallel,
    parallel_to_aec,
    turn_based_aec_to_parallel,
)
from rave_pettingzoo import RandomLoopAgent, UCTAgent, make_agent
from rave_pettingzoo.checks import is_simultaneous
from rave_pettingzoo.turn_order import _takes_turns

from rave_agents.errors import UnsupportedGameError

AGENTS = ["a", "b"]


class Taking(pettingzoo.AECEnv):
    """The agents take 1 to 3 of ten in turn; who takes the last wins."""

    metadata = {"name": "taking", "hidden_information": None, "is_parallelizable": True}  # noqa: RUF012
    render_mode = None
    possible_agents = AGENTS
    shown = True

    def action_space(self, agent):
        return spaces.Discrete(3)

    def observation_space(self, agent):
        return spaces.Discrete(11)

    def observe(self, agent):
        return self.left

    def _begin(self):
        self.agents = AGENTS[:]
        self.agent_selection = "a"
        self.rewards, self._cumulative_rewards = dict.fromkeys("ab", 0), dict.fromkeys("ab", 0)
        self.terminations, self.truncations = dict.fromkeys("ab", False), dict.fromkeys("ab", False)
        self.infos = {"a": {}, "b": {}}

    def _masks(self):
        mover = self.agent_selection
        return {
            agent: np.array([agent == mover and self.left > k for k in range(3)], np.int8)
            for agent in AGENTS
        }

    def reset(self, seed=None, options=None):
        self._begin()
        self.left = 10
        self._tell()

    def _tell(self):
        self.infos = {agent: {"action_mask": mask} for agent, mask in self._masks().items()}

    def step(self, action):
        me = self.agent_selection
        if self.terminations[me]:
            return self._was_dead_step(action)
        self.left -= int(action) + 1
        self._cumulative_rewards[me] = 0
        self.rewards = dict.fromkeys("ab", 0)
        if self.left <= 0:
            self.rewards = {x: 1 if x == me else -1 for x in "ab"}
            self.terminations = dict.fromkeys("ab", True)
        self.agent_selection = "b" if me == "a" else "a"
        self._tell()
        return self._accumulate_rewards()


class Together(Taking):
    """Each adds to its own sum, unseen until both have; the sums show with every round."""

    metadata = {"name": "together", "hidden_information": None, "is_parallelizable": True}  # noqa: RUF012

    def reset(self, seed=None, options=None):
        self._begin()
        self.sums, self.chosen, self.rounds = {"a": 0, "b": 0}, {}, 0

    def observe(self, agent):
        return np.array([self.sums["a"], self.sums["b"]])

    def step(self, action):
        me = self.agent_selection
        if self.terminations[me]:
            return self._was_dead_step(action)
        self._cumulative_rewards[me] = 0
        self.rewards = dict.fromkeys("ab", 0)
        self.chosen[me] = int(action)
        if len(self.chosen) == 2:
            for agent, number in self.chosen.items():
                self.sums[agent] += number
                self.rewards[agent] = number
            self.chosen = {}
            self.rounds += 1
            self.terminations = dict.fromkeys("ab", self.rounds == 4)
        self.agent_selection = "b" if me == "a" else "a"
        return self._accumulate_rewards()


class DeclaredTurns(Together):
    metadata = {**Together.metadata, "simultaneous_moves": False}  # noqa: RUF012


class DeclaredTogether(Taking):
    metadata = {**Taking.metadata, "simultaneous_moves": True}  # noqa: RUF012


@pytest.fixture(autouse=True)
def nothing_is_known_yet():
    _takes_turns.clear()


def test_a_game_of_turns_is_played_in_turns_though_it_could_be_converted():
    env = Taking()
    env.reset(seed=1)
    assert not is_simultaneous(env)
    agent = UCTAgent(env, simulations=300, seed=1)
    assert agent.act(env.observe("a"), env.infos["a"]["action_mask"]) == 1
    env.step(1)
    assert env.left == 8  # The search has stepped copies alone.


def test_agents_that_see_nothing_until_all_have_moved_are_refused_in_turns():
    env = Together()
    env.reset(seed=1)
    with pytest.raises(UnsupportedGameError) as caught:
        UCTAgent(env, simulations=50)
    for said in (
        "together",
        "same time",
        "is_parallelizable",
        "Parallel form",
        "simultaneous_moves",
    ):
        assert said in str(caught.value)
    parallel = aec_to_parallel(Together())
    observations, infos = parallel.reset(seed=1)
    assert UCTAgent(parallel, player="b", simulations=100, seed=1).act(observations, infos) == 2


@pytest.mark.parametrize(("kind", "together"), [(DeclaredTurns, False), (DeclaredTogether, True)])
def test_a_declaration_decides(kind, together):
    env = kind()
    env.reset(seed=1)
    assert is_simultaneous(env) == together
    if together:
        with pytest.raises(UnsupportedGameError, match=r"'simultaneous_moves'. declares it"):
            UCTAgent(env, simulations=50)


class Guess(pettingzoo.ParallelEnv):
    """Both guess once."""

    metadata = {"name": "guess"}  # noqa: RUF012
    render_mode = None
    possible_agents = AGENTS

    def action_space(self, agent):
        return spaces.Discrete(3)

    def observation_space(self, agent):
        return spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        self.agents = AGENTS[:]
        return dict.fromkeys("ab", 0), {"a": {}, "b": {}}

    def step(self, actions):
        self.agents = []
        over = dict.fromkeys("ab", True)
        return dict.fromkeys("ab", 1), dict(actions), over, over, {"a": {}, "b": {}}


def test_what_parallel_to_aec_made_moves_at_the_same_time():
    env = parallel_to_aec(Guess())
    env.reset(seed=1)
    with pytest.raises(UnsupportedGameError, match="parallel_to_aec made it"):
        UCTAgent(env, simulations=50)


def test_rock_paper_scissors_moves_at_the_same_time():
    assert is_simultaneous(zoo.classic("rps-v2"))
    assert not is_simultaneous(zoo.classic("tictactoe-v3"))


def test_turns_that_are_taken_at_once_are_refused_with_the_cause():
    env = aec_to_parallel(Taking())
    env.reset(seed=1)
    said = r"taking .* mask of 'b' allows nothing while another is to move.*aec_to_parallel"
    with pytest.raises(UnsupportedGameError, match=said):
        UCTAgent(env, player="a", simulations=50)
    turns = turn_based_aec_to_parallel(Taking())
    turns.reset(seed=1)
    assert UCTAgent(turns, player="a", simulations=300, seed=1).act() == 1


class Bare(pettingzoo.AECEnv):
    metadata = {"name": "bare"}  # noqa: RUF012
    agents = AGENTS

    def action_space(self, agent):
        return spaces.Discrete(2)


@pytest.mark.parametrize("agents", [None, []])
def test_a_missing_list_of_agents_is_named(agents):
    env = Bare()
    if agents is not None:
        env.possible_agents = agents
    for make in (UCTAgent, RandomLoopAgent):
        with pytest.raises(TypeError, match=r"Bare has no possible_agents.*PettingZoo's API"):
            make(env)


def test_an_agent_that_nobody_knew_of_is_named():
    class Growing(Taking):
        def step(self, action):
            super().step(action)
            self.rewards["c"] = 1
            self._cumulative_rewards["c"] = 0

    env = Growing()
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"taking names the agent 'c', who is not in its possible"):
        UCTAgent(env, simulations=20, seed=1).act()


NUMBERS = [np.float32(1), np.array(1.0), np.array([1]), True, np.int8(1)]
NO_NUMBERS = [None, np.ones(2), "much", {"a": 1}]


@pytest.mark.parametrize("reward", NUMBERS + NO_NUMBERS)
def test_a_reward_may_be_any_number_and_nothing_else(reward):
    class Odd(Taking):
        def step(self, action):
            super().step(action)
            self.rewards = dict.fromkeys("ab", reward)

        def _accumulate_rewards(self):
            pass

    env = Odd()
    env.reset(seed=1)
    agent = UCTAgent(env, simulations=20, seed=1)
    if any(reward is each for each in NUMBERS):
        assert agent.act() in (0, 1, 2)
        return
    with pytest.raises(ValueError, match="A reward must be a number"):
        agent.act()


@pytest.mark.parametrize(
    ("space", "remedy"),
    [
        (spaces.Box(0, 1, (2,)), "DiscretizeAction"),
        (spaces.MultiDiscrete([2, 2]), "number their combinations"),
        (spaces.MultiBinary(3), "number their combinations"),
        (spaces.Tuple([spaces.Discrete(2)] * 2), "number their combinations"),
        (spaces.Discrete(3, start=1), "number the actions from 0"),
        (None, "missing"),
    ],
)
def test_other_spaces_of_actions_are_refused_with_a_remedy(space, remedy):
    class Spaced(Taking):
        def action_space(self, agent):
            return space

    env = Spaced()
    env.reset(seed=1)
    with pytest.raises(UnsupportedGameError, match=remedy):
        make_agent("uct", env, simulations=20)


def test_spaces_of_the_old_gym_are_named():
    class Discrete(gymnasium.spaces.Space):
        n = 3

        def __repr__(self):
            return "Discrete(3)"

    Discrete.__module__ = "gym.spaces.discrete"

    class Old(Taking):
        def action_space(self, agent):
            return Discrete()

    env = Old()
    env.reset(seed=1)
    with pytest.raises(UnsupportedGameError, match=r"old package gym.*import gymnasium"):
        UCTAgent(env, simulations=20)
