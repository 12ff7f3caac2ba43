"""OpenSpiel's own bots as named agents."""

import pyspiel
import pytest
from rave_openspiel import OpenSpielState

from rave_agents import make_agent

GAMES = {"mcts": "tic_tac_toe", "mcts_py": "tic_tac_toe", "ismcts": "kuhn_poker"}


def position(game):
    state = pyspiel.load_game(game).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    return state


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("form", [lambda state: state, OpenSpielState], ids=["pyspiel", "ours"])
def test_a_stock_agent_takes_both_forms_of_a_state(name, form):
    state = position(GAMES[name])
    agent = make_agent(f"{name}(simulations=20)", GAMES[name], seed=1)
    assert agent.step(form(state)) in state.legal_actions()


def test_a_state_of_another_framework_is_refused_by_name():
    agent = make_agent("mcts(simulations=20)", "tic_tac_toe", seed=1)
    with pytest.raises(TypeError, match=r"step takes a pyspiel.State"):
        agent.step(object())
