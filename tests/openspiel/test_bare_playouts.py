"""Playouts without a search, as an agent."""

import pyspiel
import pytest
from rave_openspiel import OpenSpielState, native

from rave_agents import UnsupportedGameError
from rave_agents.agents.named_agents import make_agent
from rave_agents.arena.bench import run_bench
from rave_agents.frameworks.adapters import load_game


@pytest.fixture(autouse=True)
def _bridge():
    if native.bridge() is None:
        pytest.skip(native.diagnosis())


@pytest.mark.parametrize("name", ["connect_four", "pig", "backgammon"])
def test_plays_and_counts_playouts(name):
    game = load_game(name)
    agent = make_agent("playouts(simulations=50,seed=1)", game, 0)
    state = pyspiel.load_game(name).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    before = str(state), state.history()
    assert agent.step(OpenSpielState(state)) in state.legal_actions()
    assert agent.effort.simulations == 50
    assert (str(state), state.history()) == before


def test_is_a_baseline_of_benchmarks():
    result = run_bench(["tic_tac_toe"], ["uct"], baseline="playouts", rounds=1, round_seconds=0.02)
    assert result.rows[0].ratio > 0


@pytest.mark.parametrize(
    ("spec", "name", "error"),
    [
        ("playouts", "python_tic_tac_toe", UnsupportedGameError),
        ("playouts(simulations=0)", "tic_tac_toe", ValueError),
        ("playouts(simulations=many)", "tic_tac_toe", TypeError),
    ],
)
def test_refuses(spec, name, error):
    with pytest.raises(error, match=r"playouts|simulations"):
        make_agent(spec, load_game(name), 0)
