"""Agents by name: the grammar of specs, and what is refused."""

import pytest
from helpers.games import RandomGame

from rave_agents import (
    AgentSpec,
    Limit,
    SearchConfig,
    Searcher,
    UnknownNameError,
    agent_types,
    make_agent,
)
from rave_agents.agents.named_agents import without_amaf
from rave_agents.config.limit import DEFAULT_SIMULATIONS
from rave_agents.frameworks.agent import Effort
from rave_agents.parts import (
    GRAVE,
    PUCT,
    UCB1,
    AdaptiveUCB1,
    HandSelected,
    MaxChild,
    NoAmaf,
    NodeAmaf,
    WinningMoves,
)

OF_TURNS = [name for name in SearchConfig.preset_names() if not SearchConfig.preset(name).mixes]
"""Presets that search games in which one player moves at a time."""


@pytest.mark.parametrize(
    ("text", "name", "parameters"),
    [
        ("uct", "uct", {}),
        ("  rave ( ) ", "rave", {}),
        ("rave(simulations=500,bias=0.5)", "rave", {"simulations": 500, "bias": 0.5}),
        ("a(b=-3, c=1e3, d=inf)", "a", {"b": -3, "c": 1000.0, "d": float("inf")}),
        ("a(b=True,c=false,d=None)", "a", {"b": True, "c": False, "d": None}),
        ('a(b="x, (y",c="5")', "a", {"b": "x, (y", "c": "5"}),
        ("a(b=hex(board_size=5,num=2),c=1)", "a", {"b": "hex(board_size=5,num=2)", "c": 1}),
        ("rave(amaf.schedule.bias=0.1)", "rave", {"amaf.schedule.bias": 0.1}),
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
        ("", "as an agent's spec is"),
        ("5", "as an agent's spec is"),
        ("rave(", "as an agent's spec is"),
        ("rave)x(", "as an agent's spec is"),
        ("rave(a=(1)", "Unbalanced"),
        ('rave(a="1)', "Unbalanced"),
        ("rave(a=1))", "Unbalanced"),
        ("rave(500)", "key=value"),
        ("rave(a=1,)", "key=value"),
        ("rave(,)", "key=value"),
        ("rave(1a=2)", "key=value"),
        ("rave(a.=2)", "key=value"),
        ("rave(.a=2)", "key=value"),
        ("rave(a=1,a=2)", "Given twice"),
    ],
)
def test_bad_specs(text, message):
    with pytest.raises(ValueError, match=message):
        AgentSpec.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "uct",
        "rave(simulations=500,bias=0.5)",
        'a(b="x, y",c=None,d=True)',
        "a(b=x)",
        "rave(schedule=hand_selected(k=300),amaf.edges=visited_edges)",
    ],
)
def test_specs_are_written_as_they_are_read(text):
    assert str(AgentSpec.parse(text)) == text
    assert AgentSpec.parse(str(AgentSpec.parse(text))) == AgentSpec.parse(text)


def test_unknown_names_are_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"Unknown agent 'ravee'\. Did you mean 'rave'"):
        make_agent("ravee", RandomGame(), 0)
    with pytest.raises(UnknownNameError, match=r"parameter of rave 'schedul'.*'schedule'"):
        make_agent("rave(schedul=fuego)", RandomGame(), 0)
    with pytest.raises(UnknownNameError, match=r"'k': it .* as in schedule=hand_selected\(k=...\)"):
        make_agent("rave(k=3)", RandomGame(), 0)
    with pytest.raises(UnknownNameError, match=r"schedule 'hand_select'.*'hand_selected'"):
        make_agent("rave(schedule=hand_select)", RandomGame(), 0)
    with pytest.raises(UnknownNameError, match=r"parameter of hand_selected 'kk'.*'k'"):
        make_agent("rave(schedule=hand_selected(kk=3))", RandomGame(), 0)
    with pytest.raises(ValueError, match=r"k must be a finite number above 0, got -3\."):
        make_agent("rave(schedule=hand_selected(k=-3))", RandomGame(), 0)
    with pytest.raises(TypeError, match="simulations must be an integer"):
        make_agent("rave(simulations=many)", RandomGame(), 0)
    with pytest.raises(TypeError, match="seed must be an integer of at least 0 or None"):
        make_agent("random(seed=x)", RandomGame(), 0)


def test_defaults_fill_what_the_spec_leaves_open():
    spec = AgentSpec.parse("rave(bias=0.1)")
    filled = spec.with_defaults({"simulations": 50, "seed": 2, "bias": 0.9, "unheard_of": 1})
    assert filled.parameters == {"simulations": 50, "seed": 2, "bias": 0.1}
    # A field of a part is a parameter where the part is in use.
    assert AgentSpec("rave").with_defaults({"bias": 0.9}).parameters == {"bias": 0.9}
    assert AgentSpec("uct").with_defaults({"bias": 0.9}).parameters == {}
    # A spec with a limit of its own takes no other.
    timed = AgentSpec.parse("rave(seconds=1)").with_defaults({"simulations": 50, "seed": 2})
    assert timed.parameters == {"seconds": 1, "seed": 2}
    assert AgentSpec.parse("random").with_defaults({"simulations": 9}).parameters == {}


def test_parameters_reach_the_searcher():
    spec = "rave(simulations=50,schedule=hand_selected(k=7),final_move=max_child,c=0.2)"
    agent = make_agent(spec, RandomGame(), 0, seed=4)
    assert agent.searcher.config == SearchConfig.preset("rave").replace(
        schedule=HandSelected(k=7), final_move=MaxChild(), c=0.2
    )
    assert agent.searcher.config.rule == AdaptiveUCB1(c=0.2, chance_c=0.7)
    assert agent.limit == Limit(simulations=50)
    assert make_agent("uct", RandomGame(), 0).limit == Limit(simulations=DEFAULT_SIMULATIONS)
    assert make_agent("uct(seconds=0.5)", RandomGame(), 0).limit == Limit(seconds=0.5)
    both = make_agent("uct(seconds=0.5,simulations=3)", RandomGame(), 0)
    assert both.limit == Limit(simulations=3, seconds=0.5)


@pytest.mark.full(but=7)
@pytest.mark.parametrize("name", [*OF_TURNS, "random"])
def test_every_agent_plays_legal_moves_that_its_seed_decides(name):
    assert agent_types()[name].summary

    def game():
        agent = make_agent(name, RandomGame(), 0, simulations=20, seed=3)
        state, moves = RandomGame().new_initial_state(), []
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
    state = RandomGame().new_initial_state()
    agent = make_agent("rave(simulations=300,c=0.3)", RandomGame(), 0, seed=5)
    config = SearchConfig.preset("rave").replace(rule=UCB1(c=0.3))
    found = Searcher(config, seed=5).search(state, Limit(simulations=300))
    assert agent.step(state) == found.action
    assert agent.last_result.actions == found.actions
    agent.inform_action(state, 0, found.action)
    state.apply_action(found.action)
    agent.step(state)
    assert agent.last_result.root_visits > 300
    assert agent.last_result.simulations == 300
    assert agent.effort.simulations == 600
    agent.restart()
    assert agent.searcher.tree is None


def test_an_agent_that_is_not_to_reuse_its_tree_does_not():
    state = RandomGame().new_initial_state()
    agent = make_agent("rave(simulations=300,c=0.3,reuse_tree=False)", RandomGame(), 0, seed=5)
    action = agent.step(state)
    agent.inform_action(state, 0, action)
    state.apply_action(action)
    agent.step(state)
    assert agent.last_result.simulations == 300


def config_of(spec):
    return make_agent(spec, RandomGame(), 0).searcher.config


def test_parts_are_written_as_specs_and_read_again():
    part = GRAVE(ref=50, schedule=HandSelected(k=300), winning=WinningMoves(weight=0.1))
    spec = AgentSpec("rave", {"amaf": part, "rule": PUCT(c=0.5)})
    nested = "schedule=hand_selected(k=300),winning=winning_moves(weight=0.1)"
    assert str(spec) == f"rave(amaf=grave(ref=50,{nested}),rule=puct(c=0.5))"
    expected = SearchConfig.preset("rave").replace(amaf=part, rule=PUCT(c=0.5))
    assert config_of(str(spec)) == config_of(spec) == expected


@pytest.mark.parametrize(
    ("spec", "rule"),
    [
        # RAVE does not explore; plain UCT has to.
        ("rave", UCB1(c=0.5)),
        ("rave(schedule=hand_selected(k=300))", UCB1(c=0.5)),
        ("grave(ref=50,winning=winning_moves(weight=0.1))", UCB1(c=0.5)),
        ("rave_pn(rule=puct(c=0))", UCB1(c=0.5)),
        # A search that explores goes on as it does.
        ("rave(c=0.25,expand_visits=3)", AdaptiveUCB1(c=0.25, chance_c=0.7)),
        ("rave(rule=puct(c=0.25),amaf=hrave)", PUCT(c=0.25)),
        ("uct(amaf=hrave)", UCB1(c=0.5)),
    ],
)
def test_without_amaf_all_else_is_the_same(spec, rule):
    given, without = config_of(spec), config_of(without_amaf(spec))
    kept = {"simultaneous": given.simultaneous}
    assert without == given.replace(amaf=NoAmaf(), rule=rule, **kept)


def test_without_amaf_the_limit_and_the_seed_stay():
    plain = without_amaf("rave(schedule=hand_selected(k=300),simulations=50,seed=2)")
    assert (plain.name, plain.parameters["simulations"], plain.parameters["seed"]) == (
        "rave",
        50,
        2,
    )
    assert plain.parameters["amaf"] == "no_amaf"
    assert "schedule" not in plain.parameters
    assert AgentSpec.parse(str(plain)) == plain
    assert without_amaf("grave(clock=5)").parameters["clock"] == 5


def test_without_amaf_parts_may_be_objects():
    spec = AgentSpec("rave", {"rule": PUCT(c=0.25), "amaf": NodeAmaf(HandSelected())})
    assert isinstance(config_of(without_amaf(spec)).rule, PUCT)
    assert isinstance(config_of(without_amaf(spec)).amaf, NoAmaf)


@pytest.mark.parametrize("spec", ["uct", "random", "rave(amaf=no_amaf)"])
def test_what_has_no_amaf_cannot_do_without(spec):
    with pytest.raises(ValueError, match="has no AMAF statistics to remove"):
        without_amaf(spec)
    with pytest.raises(UnknownNameError, match="Did you mean 'rave'"):
        without_amaf("ravee")


def test_effort_adds_up():
    effort = Effort().plus(10, 0.5).plus(20, 0.25)
    assert effort == Effort(moves=2, simulations=30, seconds=0.75)
