"""Searches that look ahead for some moves only, with discounted rewards and value functions."""

import copy
import inspect
from typing import ClassVar

import pettingzoo
import pytest
import rave_gymnasium
import rave_pettingzoo
from gymnasium import spaces
from helpers import zoo
from rave_pettingzoo import AECState, ParallelState, RaveAgent, UCTAgent, make_agent

from rave_agents import GameError
from rave_agents.environments.plan import AUTO


class Endless(pettingzoo.AECEnv):
    """Two agents who each gain what they say, 0 to 2, for ever."""

    metadata: ClassVar = {"name": "endless_v0", "hidden_information": None}
    render_mode = None

    def __init__(self):
        self.possible_agents = ["first", "second"]

    def observation_space(self, agent):
        return spaces.Discrete(1)

    def action_space(self, agent):
        return spaces.Discrete(3)

    def reset(self, seed=None, options=None):
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = "first"

    def observe(self, agent):
        return 0

    def step(self, action):
        mover = self.agent_selection
        self.rewards = {agent: float(action) * (agent == mover) for agent in self.agents}
        self.agent_selection = "second" if mover == "first" else "first"


def begun(kind=Endless):
    env = kind()
    env.reset(seed=1)
    return env


def ended(state, actions):
    for action in actions:
        assert not state.is_terminal()
        state.apply_action(action)
    return state


def test_a_simulation_ends_at_the_horizon_with_the_rewards_so_far():
    state = ended(AECState(begun(), horizon=3), [2, 1, 2])
    assert state.is_terminal()
    assert state.returns() == [4.0, 1.0]


def test_rewards_are_discounted_by_the_moves_before_them():
    state = ended(AECState(begun(), horizon=3, discount=0.5), [2, 1, 2])
    assert state.returns() == [2.5, 0.5]


@pytest.mark.slow
def test_a_value_function_tells_what_is_still_to_come():
    def value(state):
        assert [state.observation(seat) for seat in (0, 1)] == [0, 0]
        assert state.env.agent_selection == "first"
        assert state.current_player() == 0
        return [8.0, -8.0]

    state = AECState(begun(), horizon=2, discount=0.5, evaluator=value)
    assert ended(state, [1, 2]).returns() == [3.0, -1.0]
    with pytest.raises(GameError, match="expected returns of all 2 players"):
        ended(AECState(begun(), horizon=1, evaluator=lambda state: [1.0]), [0])


@pytest.mark.slow
def test_a_value_function_judges_where_agents_act_together():
    env = begun(zoo.Endless)
    told = dict.fromkeys(env.agents, 0), {agent: {} for agent in env.agents}

    def value(state):
        return [float(state.observation(seat)[0]) + 4.0 for seat in (0, 1)]

    state = ParallelState(env, observations=told[0], infos=told[1], horizon=1, evaluator=value)
    state.apply_actions([2, 1])
    assert state.is_terminal()
    assert state.returns() == [8.0, 6.0]


def test_what_was_earned_before_a_judged_position_counts():
    search = {"playout_moves": 0, "minimax": 0, "first_play": False, "simulations": 4, "seed": 1}
    agent = UCTAgent(begun(), evaluator=lambda state: [0.0, 0.0], horizon=9, **search)
    agent.act()
    assert [row.value for row in agent.last_result.actions] == [0.0, 1.0, 2.0]


def test_each_environment_of_a_vectorised_one_has_the_value_function():
    env = zoo.classic("tictactoe-v3")
    agent = UCTAgent(env, evaluator=lambda state: [0.0, 0.0], simulations=10, seed=1)
    agent._seed_member(3)
    assert agent._searcher.evaluator is agent.evaluator


@pytest.mark.slow
def test_joint_moves_are_counted_in_a_parallel_environment():
    env = begun(zoo.Endless)
    told = dict.fromkeys(env.agents, 0), {agent: {} for agent in env.agents}
    state = ParallelState(env, observations=told[0], infos=told[1], horizon=2, discount=0.5)
    state.apply_actions([2, 1])
    assert not state.is_terminal()
    state.apply_actions([2, 1])
    assert state.is_terminal()
    assert state.returns() == [3.0, 1.5]


@pytest.mark.full
@pytest.mark.parametrize("horizon", [AUTO, 4])
def test_agents_play_environments_that_never_end(horizon):
    agent = UCTAgent(begun(), simulations=30, seed=1, horizon=horizon)
    assert agent.act() in (0, 1, 2)
    assert UCTAgent(begun(), simulations=100, seed=1, horizon=3).act() == 2
    together = begun(zoo.Endless)
    agent = UCTAgent(together, player="second", simulations=200, seed=1, horizon=2)
    assert agent.act([0.0]) == 2


def test_a_classic_game_looks_ahead_to_its_end_unless_it_is_told_otherwise():
    env = zoo.classic("tictactoe-v3")
    assert AECState(env)._plan.is_whole_game
    assert not AECState(begun())._plan.is_whole_game
    agent = RaveAgent(env, simulations=50, horizon=2, seed=1)
    agent.act()
    assert agent.last_result.value == 0.0  # Nobody has won after two moves.


@pytest.mark.parametrize("name", ["RaveAgent", "UCTAgent", "GraveAgent"])
def test_the_agents_of_both_frameworks_have_one_signature(name):
    kinds = (getattr(rave_pettingzoo, name), getattr(rave_gymnasium, name))
    ours, theirs = (dict(inspect.signature(kind).parameters) for kind in kinds)
    for several_agents in ("player", "translate"):  # Of many agents, and of OpenSpiel's games.
        del ours[several_agents]
    assert list(ours.values()) == list(theirs.values())


def test_a_spec_sets_horizon_and_discount():
    agent = make_agent("uct(simulations=10,horizon=5,discount=0.5)", begun())
    assert (agent.horizon, agent.discount) == (5, 0.5)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"horizon": 0}, ValueError, "horizon must be an integer of at least 1"),
        (
            {"horizon": "soon"},
            ValueError,
            "horizon must be an integer of at least 1, 'auto' or None",
        ),
        ({"discount": 0}, ValueError, "discount must be a number in .0, 1."),
        ({"evaluator": 3}, TypeError, "an evaluator must be a function"),
        ({"value_function": 3}, TypeError, "value_function"),
    ],
)
def test_what_is_not_allowed_is_refused_by_the_constructor(options, error, message):
    with pytest.raises(error, match=message):
        UCTAgent(begun(), **options)


def test_a_deep_copy_of_an_agent_is_bound_to_the_same_environment():
    env = zoo.classic("connect_four-v3")
    agent = RaveAgent(env, simulations=50, seed=1)
    twin = copy.deepcopy(agent)
    assert twin.env is env
    assert twin.act() == agent.act()


def test_predict_answers_an_array_of_one_observation_with_an_array():
    env = zoo.classic("connect_four-v3")
    observation = env.last()[0]
    agent = RaveAgent(env, simulations=20, seed=1)
    batch = {name: value[None] for name, value in observation.items()}
    actions, state = agent.predict(batch, state=None, episode_start=[True])
    assert actions.shape == (1,)
    assert state is None
