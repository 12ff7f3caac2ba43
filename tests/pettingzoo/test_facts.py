"""Facts of an environment: asked once by an agent, and again only when something has changed."""

import pytest
from helpers import zoo
from pettingzoo.classic import tictactoe_v3
from pettingzoo.utils import wrappers
from rave_pettingzoo import AECState, UCTAgent, checks, register_worlds
from rave_pettingzoo.cloning import _registered, register_cloner

from rave_agents.game.facts import facts_of


@pytest.fixture
def env():
    return zoo.classic("tictactoe-v3")


@pytest.fixture
def agent(env):
    made = UCTAgent(env, simulations=10, seed=1)
    made.act()
    return made


def test_moves_and_resets_leave_the_facts_of_an_environment_alone(env, agent):
    known = agent._facts_of(env)
    env.step(agent.act())
    assert agent._facts_of(env) is known
    env.reset(seed=2)
    agent.act()
    assert agent._facts_of(env) is known


def replace_inner(env, agent):
    env.env.env.env = tictactoe_v3.raw_env()
    env.reset(seed=1)


def declare(env, agent):
    env.unwrapped.metadata = {**env.unwrapped.metadata, "hidden_information": None}


def add_agent(env, agent):
    env.unwrapped.possible_agents = [*env.unwrapped.possible_agents, "player_3"]
    env.unwrapped.action_spaces["player_3"] = env.action_space("player_1")


def look_less_far(env, agent):
    agent.horizon = 3


def register_copies(env, agent):
    register_cloner(type(env.unwrapped), lambda raw: raw)


def register_deals(env, agent):
    register_worlds(type(env.unwrapped), lambda env, agent, rng: env)


@pytest.mark.parametrize(
    "change",
    [replace_inner, declare, add_agent, look_less_far, register_copies, register_deals],
)
def test_a_change_between_two_moves_is_noticed(env, agent, change):
    known = agent._facts_of(env)
    try:
        change(env, agent)
        if change is not register_copies:  # A copy that is the original is refused.
            assert agent._facts_of(env) is not known
        assert not known.fits(env, known.options._replace(horizon=agent.horizon))
    finally:
        _registered.pop(type(env.unwrapped), None)
        checks._registered.pop(type(env.unwrapped), None)


def test_another_environment_has_facts_of_its_own(env, agent):
    other = wrappers.OrderEnforcingWrapper(tictactoe_v3.raw_env())
    other.reset(seed=1)
    other.step(4)
    assert agent(other) in set(range(9)) - {4}
    assert agent._facts_of(env).raw is env.unwrapped


@pytest.mark.parametrize("name", ["tictactoe-v3", "connect_four-v3"])
def test_a_search_goes_on_with_the_provider_of_the_last_move(name):
    env = zoo.classic(name)
    agent = UCTAgent(env, simulations=20, seed=1)
    providers = set()
    for _ in range(2):
        env.step(agent.act())
        providers.add(id(agent._searcher._trees.searches[0]._simulator))
        assert {each.action for each in agent.last_result.actions} >= {agent.last_result.action}
        env.step(AECState(env).legal_actions()[0])
    assert len(providers) == 1
    env.reset(seed=3)
    assert env.observe(env.agent_selection)["action_mask"][agent.act()]


def test_the_facts_of_the_game_are_kept_until_a_search_meets_chance():
    env = zoo.Counting()
    env.reset(seed=1)
    state = AECState(env)
    assert facts_of(state) is facts_of(state.clone())
    assert not facts_of(state).draws_chance
    state._shared.knowledge.add(["dice"])
    assert facts_of(state).draws_chance
