"""Hidden information in Gymnasium: each simulation begins in another world."""

import copy

import gymnasium
import numpy as np
import pytest
from helpers.envs import begun
from rave_gymnasium import UCTAgent
from rave_gymnasium.states import PlanningState

from rave_agents import GameError, UnsupportedGameError


def blackjack(player, dealer):
    env = begun(gymnasium.make("Blackjack-v1"))
    env.unwrapped.player, env.unwrapped.dealer = list(player), list(dealer)
    return env


def deal(env, agent, rng):
    """Another card that the dealer hides, and other cards to come."""
    assert agent is None
    env.unwrapped.dealer[1] = min(int(rng.integers(1, 14)), 10)
    return env


def values(agent):
    return {action.action: (action.visits, action.value) for action in agent.last_result.actions}


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize(("player", "action"), [((10, 10), 0), ((5, 4), 1)])
def test_blackjack_is_planned_in_by_worlds(player, action):
    agent = UCTAgent(blackjack(player, (10, 7)), worlds=deal, simulations=600, seed=1)
    assert agent.act() == action
    assert agent.last_result.worlds is not None


@pytest.mark.slow
def test_the_hidden_card_changes_nothing_that_the_agent_thinks():
    found = []
    for hidden in (2, 10):
        agent = UCTAgent(blackjack((10, 6), (10, hidden)), worlds=deal, simulations=200, seed=1)
        agent.act()
        found.append(values(agent))
    assert found[0] == found[1]


class Boxes(gymnasium.Env):
    """The prize is in one of two boxes, which is drawn at reset and never shown."""

    observation_space = gymnasium.spaces.Discrete(1)
    action_space = gymnasium.spaces.Discrete(3)  # Open a box, or leave with a half.

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.prize = [int(self.np_random.integers(2))]
        return 0, {}

    def step(self, action):
        won = 0.6 if action == 2 else float(action == self.prize[0])
        return 0, won, True, False, {}


def shuffled(env, agent, rng):
    env.prize[0] = int(rng.integers(2))  # In place, which must not reach the live environment.
    return env


def rebuilt(env, agent, rng):
    new = Boxes()
    new.reset(seed=int(rng.integers(1000)))
    return new


@pytest.mark.full
@pytest.mark.parametrize("worlds", [shuffled, rebuilt])
def test_worlds_keep_a_plan_from_knowing_what_is_hidden(worlds):
    for seed in range(4):
        env = begun(Boxes(), seed)
        before = copy.deepcopy(env.prize), env.np_random.bit_generator.state
        agent = UCTAgent(env, worlds=worlds, simulations=200, seed=seed)
        assert agent.act() == 2
        assert (env.prize, env.np_random.bit_generator.state) == before
    seeing = UCTAgent(env, worlds=worlds, simulations=200, seed=1, hidden="see")
    assert seeing.act() == env.prize[0]


def test_worlds_are_for_all_of_a_vectorised_environment():
    env = begun(gymnasium.vector.SyncVectorEnv([Boxes, Boxes]))
    agent = UCTAgent(env, worlds=shuffled, simulations=200, seed=1)
    assert agent.act().tolist() == [2, 2]


@pytest.mark.parametrize(
    ("worlds", "message"),
    [
        (lambda env, agent, rng: None, "worlds must return an environment, got None"),
        (lambda env, agent, rng: gymnasium.make("CartPole-v1"), "worlds returned the environment"),
    ],
)
def test_what_is_no_world_is_refused(worlds, message):
    env = begun(Boxes())
    with pytest.raises(GameError, match=message):
        UCTAgent(env, worlds=worlds, simulations=5).act()


def test_worlds_are_named_where_they_are_missing():
    with pytest.raises(TypeError, match="worlds must be a function"):
        UCTAgent(Boxes(), worlds=3)
    with pytest.raises(UnsupportedGameError, match=r"function\(env, agent, rng\) returns"):
        UCTAgent(blackjack((10, 6), (10, 2)))
    env = begun(Boxes())
    assert PlanningState(env, worlds=shuffled).hides_information()


@pytest.mark.parametrize("name", ["player", "translate"])
def test_parameters_of_pettingzoos_agents_without_a_meaning_here_are_refused_by_name(name):
    with pytest.raises(TypeError, match=f"UCTAgent has no '{name}'.*Leave it out"):
        UCTAgent(Boxes(), **{name: None})


def test_a_world_draws_its_own_outcomes():
    class Coin(Boxes):
        def step(self, action):
            return 0, float(self.np_random.integers(2) == action), True, False, {}

    env = begun(Coin())
    agent = UCTAgent(env, worlds=shuffled, simulations=400, seed=1)
    agent.act()
    rates = [value for action, (_, value) in values(agent).items() if action < 2]
    assert np.allclose(rates, 0.5, atol=0.15)
