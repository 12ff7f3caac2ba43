"""What the agents of the three frameworks that search have in common: their constructors."""

import copy
import inspect

import gymnasium
import pyspiel
import pytest
import rave_gymnasium
import rave_openspiel
import rave_pettingzoo
from helpers.envs import begun
from pettingzoo.classic import tictactoe_v3

from rave_agents.agents.searching_agent import SEARCH_PARAMETERS, SearchingAgent


class Judge:
    """Every position is worth nothing, and all actions are alike."""

    def __init__(self, players, actions):
        self.players, self.actions = players, actions
        self.asked = 0

    def evaluate(self, state):
        self.asked += 1
        return [0.0] * self.players

    def prior(self, state):
        actions = state.legal_actions()
        return [(action, 1 / len(actions)) for action in actions]


class Game:
    """An agent of a framework, and how it is asked for a move and told of a new game."""

    def __init__(self, name):
        self.name = name
        if name == "openspiel":
            self.game = pyspiel.load_game("tic_tac_toe")
            self.kind = rave_openspiel.RaveBot
        elif name == "pettingzoo":
            self.game = tictactoe_v3.env()
            self.game.reset(seed=1)
            self.kind = rave_pettingzoo.RaveAgent
        else:
            self.game = gymnasium.make("FrozenLake-v1", is_slippery=False)
            self.game.reset(seed=1)
            self.kind = rave_gymnasium.RaveAgent

    def agent(self, **parameters):
        return self.kind(self.game, **parameters)

    def move(self, agent):
        if self.name == "openspiel":
            return agent.step(self.game.new_initial_state())
        return agent.act()

    def begin_anew(self, agent):
        (agent.restart if self.name == "openspiel" else agent.reset)()

    def judge(self):
        return Judge(1 if self.name == "gymnasium" else 2, 9)


@pytest.fixture(params=["openspiel", "pettingzoo", "gymnasium"])
def framework(request):
    return Game(request.param)


def test_every_constructor_names_the_common_parameters(framework):
    parameters = inspect.signature(framework.kind.__init__).parameters
    common = inspect.signature(SearchingAgent.__init__).parameters
    assert set(SEARCH_PARAMETERS) < set(common)
    for name in SEARCH_PARAMETERS:
        assert parameters[name].default is common[name].default
    assert set(framework.kind.own_parameters) == set(parameters) - set(common)


def test_a_clock_decides_the_time_of_each_move(framework):
    agent = framework.agent(clock="2, lag=0.01", simulations=200, seed=1)
    framework.move(agent)
    assert agent.last_result.root_visits <= 200
    assert agent.clock.moves == 1
    assert 2.0 - agent.clock.main_left >= agent.last_result.seconds > 0.0
    twin = copy.copy(agent)
    framework.begin_anew(agent)
    assert (agent.clock.moves, agent.clock.main_left) == (0, 2.0)
    assert twin.clock.moves == 1


def test_an_evaluator_stands_for_playouts(framework):
    judge = framework.judge()
    framework.move(framework.agent(evaluator=judge, simulations=20, seed=1))
    assert judge.asked > 0


def test_a_value_function_evaluates_positions(framework):
    asked = []

    def value(state):
        asked.append(state)
        return [0.0] * (1 if framework.name == "gymnasium" else 2)

    agent = framework.agent(evaluator=value, simulations=20, seed=1)
    framework.move(agent)
    assert asked
    assert agent.evaluator is value


def test_a_drawn_seed_is_told_and_gives_the_same_move_again(framework):
    agent = framework.agent(simulations=50)
    first = framework.move(agent)
    again = framework.agent(simulations=50, seed=agent.seed)
    assert framework.move(again) == first


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"simulation": 5}, "did you mean 'simulations'"),
        ({"simulations": 0}, "simulations must be"),
        ({"seconds": 1.0, "clock": "60"}, "Give seconds a move or a clock, not both"),
        ({"evaluator": 3}, "an evaluator must be a function of a state"),
        ({"value": 3}, "evaluator"),
        ({"value_function": len}, "parameter of .*value_function"),
    ],
)
def test_what_is_not_allowed_is_named(framework, parameters, message):
    with pytest.raises((TypeError, ValueError), match=f"(?i){message}"):
        framework.agent(**parameters)


def test_an_agent_of_pettingzoo_takes_a_clock_in_its_spec():
    env = begun(tictactoe_v3.env())
    agent = rave_pettingzoo.make_agent("rave(clock=5,simulations=50)", env, seed=1)
    agent.act()
    assert agent.clock.moves == 1
