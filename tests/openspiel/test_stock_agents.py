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


@pytest.mark.full(but=["ismcts"])
@pytest.mark.parametrize("name", GAMES)
def test_the_seed_decides_a_stock_agents_moves(name):
    """So many moves that a tie broken by chance would show."""
    state = position(GAMES[name])
    agents = [make_agent(f"{name}(simulations=8)", GAMES[name], seed=1) for _ in range(2)]
    moves = [[agent.step(state) for _ in range(20)] for agent in agents]
    assert moves[0] == moves[1]


def test_without_a_seed_the_cpp_bot_plays_where_the_game_resamples_worlds():
    agent = make_agent("ismcts(simulations=20)", "kuhn_poker")
    assert isinstance(agent.bot, pyspiel.ISMCTSBot)
    assert agent.step(position("kuhn_poker")) in (0, 1)


def test_a_state_of_another_framework_is_refused_by_name():
    agent = make_agent("mcts(simulations=20)", "tic_tac_toe", seed=1)
    with pytest.raises(TypeError, match=r"step takes a pyspiel.State"):
        agent.step(object())
