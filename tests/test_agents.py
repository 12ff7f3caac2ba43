"""Agents by name: the grammar of specs, and what is refused."""

import pytest
from helpers.games import random_game

from rave_agents import (
    AgentSpec,
    Limit,
    SearchConfig,
    Searcher,
    UnknownNameError,
    agent_types,
    make_agent,
)
from rave_agents.agent import Effort
from rave_agents.agents import DEFAULT_SIMULATIONS

OF_TURNS = [name for name in SearchConfig.preset_names() if not SearchConfig.preset(name).mixes]
"""Presets that search games in which one player moves at a time."""


class Game:
    name = "random game"
    num_players = 2

    def new_initial_state(self):
        return random_game(4, depth=9)


@pytest.mark.parametrize(
    ("text", "name", "parameters"),
    [
        ("uct", "uct", {}),
        ("  rave ( ) ", "rave", {}),
        ("rave(simulations=500,rave_k=300.5)", "rave", {"simulations": 500, "rave_k": 300.5}),
        ("a(b=-3, c=1e3, d=inf)", "a", {"b": -3, "c": 1000.0, "d": float("inf")}),
        ("a(b=True,c=false,d=None)", "a", {"b": True, "c": False, "d": None}),
        ('a(b="x, (y",c="5")', "a", {"b": "x, (y", "c": "5"}),
        ("a(b=hex(board_size=5,num=2),c=1)", "a", {"b": "hex(board_size=5,num=2)", "c": 1}),
        ("a(b=,c=x=y)", "a", {"b": "", "c": "x=y"}),
    ],
)
def test_specs(text, name, parameters):
    spec = AgentSpec.parse(text)
    assert (spec.name, spec.parameters) == (name, parameters)
    assert [type(value) for value in spec.parameters.values()] == [
        type(value) for value in parameters.values()
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Not an agent's spec"),
        ("5", "Not an agent's spec"),
        ("rave(", "Not an agent's spec"),
        ("rave)x(", "Not an agent's spec"),
        ("rave(a=(1)", "Unbalanced"),
        ('rave(a="1)', "Unbalanced"),
        ("rave(a=1))", "Unbalanced"),
        ("rave(500)", "key=value"),
        ("rave(a=1,)", "key=value"),
        ("rave(,)", "key=value"),
        ("rave(1a=2)", "key=value"),
        ("rave(a=1,a=2)", "Given twice"),
    ],
)
def test_bad_specs(text, message):
    with pytest.raises(ValueError, match=message):
        AgentSpec.parse(text)


@pytest.mark.parametrize(
    "text", ["uct", "rave(simulations=500,rave_k=0.5)", 'a(b="x, y",c=None,d=True)', "a(b=x)"]
)
def test_specs_are_written_as_they_are_read(text):
    assert str(AgentSpec.parse(text)) == text
    assert AgentSpec.parse(str(AgentSpec.parse(text))) == AgentSpec.parse(text)


def test_unknown_names_are_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"Unknown agent 'ravee'\. Did you mean 'rave'"):
        make_agent("ravee", Game(), 0)
    with pytest.raises(UnknownNameError, match=r"parameter of rave 'rave_kk'.*'rave_k'"):
        make_agent("rave(rave_kk=3)", Game(), 0)
    with pytest.raises(ValueError, match="rave_k must be a number above 0"):
        make_agent("rave(rave_k=-3)", Game(), 0)
    with pytest.raises(TypeError, match="simulations must be an integer"):
        make_agent("rave(simulations=many)", Game(), 0)
    with pytest.raises(TypeError, match="seed must be an integer or None"):
        make_agent("random(seed=x)", Game(), 0)


def test_defaults_fill_what_the_spec_leaves_open():
    spec = AgentSpec.parse("rave(rave_k=3)")
    filled = spec.with_defaults({"simulations": 50, "seed": 2, "rave_k": 9, "unheard_of": 1})
    assert filled.parameters == {"simulations": 50, "seed": 2, "rave_k": 3}
    # A spec with a limit of its own takes no other.
    timed = AgentSpec.parse("rave(seconds=1)").with_defaults({"simulations": 50, "seed": 2})
    assert timed.parameters == {"seconds": 1, "seed": 2}
    assert AgentSpec.parse("random").with_defaults({"simulations": 9}).parameters == {}


def test_parameters_reach_the_searcher():
    agent = make_agent("rave(simulations=50,rave_k=7,final_move=max)", Game(), 0, seed=4)
    assert agent.searcher.config == SearchConfig.preset("rave").replace(rave_k=7, final_move="max")
    assert agent.limit == Limit(simulations=50)
    assert make_agent("uct", Game(), 0).limit == Limit(simulations=DEFAULT_SIMULATIONS)
    assert make_agent("uct(seconds=0.5)", Game(), 0).limit == Limit(seconds=0.5)
    both = make_agent("uct(seconds=0.5,simulations=3)", Game(), 0)
    assert both.limit == Limit(simulations=3, seconds=0.5)


@pytest.mark.parametrize("name", [*OF_TURNS, "random"])
def test_every_agent_plays_legal_moves_that_its_seed_decides(name):
    assert agent_types()[name].summary

    def game():
        agent = make_agent(name, Game(), 0, simulations=20, seed=3)
        state, moves = Game().new_initial_state(), []
        while not state.is_terminal():
            action = agent.step(state)
            assert action in state.legal_actions()
            agent.inform_action(state, state.current_player(), action)
            state.apply_action(action)
            moves.append(action)
        assert agent.effort.moves == len(moves)
        return moves, agent.effort.simulations

    assert game() == game()


def test_a_search_agent_plays_what_its_searcher_finds_and_keeps_its_tree():
    state = Game().new_initial_state()
    agent = make_agent("rave(simulations=300,exploration=0.3)", Game(), 0, seed=5)
    config = SearchConfig.preset("rave").replace(exploration=0.3)
    found = Searcher(config, seed=5).search(state, Limit(simulations=300))
    assert agent.step(state) == found.action
    assert agent.last_result.actions == found.actions
    agent.inform_action(state, 0, found.action)
    state.apply_action(found.action)
    agent.step(state)
    assert agent.last_result.root_visits == 300
    assert agent.last_result.simulations < 300
    assert agent.effort.simulations == 300 + agent.last_result.simulations
    agent.restart()
    assert agent.searcher.tree is None


def test_an_agent_that_is_not_to_reuse_its_tree_does_not():
    state = Game().new_initial_state()
    agent = make_agent("rave(simulations=300,exploration=0.3,reuse_tree=False)", Game(), 0, seed=5)
    action = agent.step(state)
    agent.inform_action(state, 0, action)
    state.apply_action(action)
    agent.step(state)
    assert agent.last_result.simulations == 300


def test_effort_adds_up():
    effort = Effort().plus(10, 0.5).plus(20, 0.25)
    assert effort == Effort(moves=2, simulations=30, seconds=0.75)
