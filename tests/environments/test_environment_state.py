"""EnvironmentState: what positions of all frameworks' environments do alike."""

import copy
import pickle

import gymnasium
import pytest
from helpers import zoo
from helpers.envs import begun
from rave_gymnasium.states import PlanningState
from rave_pettingzoo import AECState, ParallelState

from rave_agents.game.game_state import has_chance_nodes


def planning():
    env = begun(gymnasium.make("FrozenLake-v1"))
    return PlanningState(env)


def turns():
    return AECState(zoo.classic("tictactoe-v3"))


def together():
    env = zoo.Endless()
    observations, infos = env.reset(seed=1)
    return ParallelState(env, observations=observations, infos=infos, horizon=3)


@pytest.fixture(params=[planning, turns, together], ids=lambda make: make.__name__)
def state(request):
    return request.param()


def step(state):
    if hasattr(state, "apply_actions"):
        state.apply_actions([1, 2])
    else:
        state.apply_action(state.legal_actions()[-1])


def test_copies_go_on_independently(state):
    for other in (state.clone(), copy.deepcopy(state), state.seeing()):
        before = state.view(0), list(state.returns())
        step(other)
        assert (state.view(0), list(state.returns())) == before
        assert other.collected()[0] == other.returns()


def test_a_state_is_not_pickled_since_it_would_lose_the_position(state):
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(state)


def test_environments_play_chance_themselves(state):
    assert not has_chance_nodes(state)
    assert not state.is_chance_node()
    assert state.draws_chance() is state.chance.found
