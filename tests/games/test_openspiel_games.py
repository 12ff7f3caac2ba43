"""The games of ``rave_agents.games`` that OpenSpiel has are OpenSpiel's, ply by ply."""

import random

import numpy as np
import pyspiel
import pytest
import scipy.stats
from helpers.trees import dump
from rave_openspiel import OpenSpielState, compiled_games

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.frameworks.adapters import as_game_state
from rave_agents.games import GAMES
from rave_agents.parts import Proofs, SteeredPlayouts
from rave_agents.simulate.frame import Header, Status
from rave_agents.simulate.random_stream import make_stream
from rave_agents.simulate.simulator import make_frame, simulated
from rave_agents.testing import check_game_state, check_rules

QUICK, FULL = 100, 10_000
"""Random games from the first position."""

SPECS = {
    "hex": [
        "hex(board_size=11)",
        "hex(board_size=2)",
        "hex(num_cols=3,num_rows=5)",
        "hex(num_cols=17,num_rows=4)",
        "hex(board_size=3,swap=true)",
        "hex(board_size=5,swap=true)",
    ],
    "othello": ["othello"],
    "y": ["y(board_size=9)", "y(board_size=1)", "y(board_size=4)", "y"],
    "breakthrough": [
        "breakthrough",
        "breakthrough(rows=5,columns=3)",
        "breakthrough(rows=6,columns=4)",
        "breakthrough(rows=2,columns=7)",
    ],
    "connect_four": [
        "connect_four",
        "connect_four(rows=4,columns=5,x_in_row=3)",
        "connect_four(rows=8,columns=7,x_in_row=5)",
        "connect_four(rows=1,columns=3,x_in_row=2)",
    ],
}
"""For each game the sizes and options that are compared; the first is the one that people play."""

PERFT = {
    "y(board_size=9)": [1, 45, 1980, 85140],
    "othello": [1, 4, 12, 56, 244, 1396, 8200, 55092],
    "hex(board_size=11)": [1, 121, 14520, 1727880],
    "breakthrough": [1, 22, 484, 11132, 256036],
    "connect_four": [1, 7, 49, 343, 2401, 16807, 117649],
}
"""How many paths of so many moves there are, as OpenSpiel's states have them."""

UNCOVERED = [
    "connect_four(rows=10,columns=10)",
    "hex(num_cols=63,num_rows=3)",
    "breakthrough(rows=9,columns=9)",
]
"""Games whose parameters the rules do not know."""

ALL = [spec for specs in SPECS.values() for spec in specs]
MAIN = [specs[0] for specs in SPECS.values()]


def rules_of(spec):
    found = compiled_games.rules_of(pyspiel.load_game(spec))
    assert found is not None
    return found


def after(spec, moves, seed):
    """A position after some random moves that is not terminal."""
    draw = random.Random(seed)
    state = pyspiel.load_game(spec).new_initial_state()
    for _ in range(moves):
        child = state.child(draw.choice(state.legal_actions()))
        if child.is_terminal():
            break
        state = child
    return state


def plain(rules):
    """The same rules without draws of their own: what the bridge draws is drawn."""
    kind = type(rules)
    changed = type(kind.__name__, (kind,), {})(**rules.parameters)
    changed.draws_itself = changed.plays_itself = False
    return changed


def test_every_game_of_openspiels_is_compared():
    assert set(SPECS) == set(GAMES) - {"nogo"}


@pytest.mark.parametrize("spec", ALL)
def test_random_games_are_openspiels(spec):
    game = pyspiel.load_game(spec)
    games = QUICK if spec in MAIN else QUICK // 5
    games = max(4, games // (1 + game.max_game_length() // 50))
    check_rules(rules_of(spec), game.new_initial_state, games=games, interpreted_games=1)


@pytest.mark.full
@pytest.mark.parametrize("spec", ALL)
def test_ten_thousand_random_games_are_openspiels(spec):
    game = pyspiel.load_game(spec)
    games = FULL if spec in MAIN else FULL // 10
    check_rules(rules_of(spec), game.new_initial_state, games=games, strings=False, seed=1)


def perft(state, depth):
    if depth == 0:
        return 1
    if depth == 1:
        return len(state.legal_actions())
    total = 0
    for action in state.legal_actions():
        child = state.clone()
        child.apply_action(action)
        total += perft(child, depth - 1)
    return total


@pytest.mark.parametrize("name", PERFT)
def test_perft(name):
    state = rules_of(name).new_initial_state()
    assert [perft(state, depth) for depth in range(len(PERFT[name]))] == PERFT[name]


@pytest.mark.parametrize("name", SPECS)
def test_positions_that_searches_reach_are_openspiels(name):
    rules = rules_of(SPECS[name][0])
    game = pyspiel.load_game(SPECS[name][0])
    for seed in range(2):
        searcher = Searcher(SearchConfig.preset("uct"), seed=seed)
        state, own = game.new_initial_state(), rules.new_initial_state()
        for _ in range(30):
            if state.is_terminal():
                break
            assert own.current_player() == state.current_player()
            assert own.legal_actions() == state.legal_actions()
            action = searcher.search(OpenSpielState(state), Limit(simulations=50)).action
            state.apply_action(action)
            own.apply_action(action)
        assert own.is_terminal() == state.is_terminal()
        assert own.returns() == state.returns()


@pytest.mark.parametrize("changes", [{}, {"proofs": Proofs()}, {"playouts": SteeredPlayouts()}])
@pytest.mark.parametrize("spec", MAIN)
def test_trees_are_those_of_the_bridge(spec, changes, monkeypatch):
    config = SearchConfig.preset("rave").replace(expand_visits=2, **changes)
    rules = plain(rules_of(spec))
    monkeypatch.setattr(compiled_games, "rules_of", lambda game: rules)
    state = after(spec, 6, seed=1)
    trees = []
    for switch, provider in (("compiled", "compiled rules"), ("openspiel", None)):
        monkeypatch.setenv("RAVE_AGENTS_GAMES", switch)
        searcher = Searcher(config, seed=3)
        result = searcher.search(OpenSpielState(state), Limit(simulations=300))
        assert (result.provider == "compiled rules") == (provider is not None)
        trees.append(dump(searcher))
    assert trees[0] == trees[1]


@pytest.mark.parametrize("spec", MAIN)
def test_playouts_draw_each_legal_action_equally_often(spec):
    state = compiled_games.same_position(after(spec, 9, seed=2), rules_of(spec))
    legal = state.legal_actions()
    playouts = 60 * len(legal)
    frame = make_frame(
        num_players=2,
        playouts=playouts,
        playout_stream=make_stream(np.random.SeedSequence(4)),
        move_capacity=playouts * max(state.rules.max_game_length, 100),
    )
    assert simulated(state.simulator(frame, None), frame) == Status.DONE
    firsts = frame.move_actions[np.r_[0, frame.playout_ends[:-1]]]
    assert set(firsts.tolist()) <= set(legal)
    counts = [(firsts == action).sum() for action in legal]
    assert scipy.stats.chisquare(counts).pvalue > 1e-4
    assert frame.header[Header.NUM_PLAYOUTS] == playouts


@pytest.mark.parametrize("spec", MAIN)
def test_it_is_a_game_state(spec):
    check_game_state(rules_of(spec).new_initial_state, games=1)


@pytest.mark.parametrize("spec", MAIN)
def test_a_search_uses_them_without_being_asked(spec, monkeypatch):
    state = OpenSpielState(after(spec, 4, seed=3))
    result = Searcher(seed=1).search(state, Limit(simulations=20))
    assert result.provider == "compiled rules"
    monkeypatch.setenv("RAVE_AGENTS_GAMES", "openspiel")
    result = Searcher(seed=1).search(state, Limit(simulations=20))
    assert result.provider != "compiled rules"


@pytest.mark.parametrize("spec", UNCOVERED)
def test_other_parameters_go_to_the_bridge(spec):
    game = pyspiel.load_game(spec)
    assert compiled_games.rules_of(game) is None
    assert compiled_games.reason_against(game)
    result = Searcher(seed=1).search(
        OpenSpielState(game.new_initial_state()), Limit(simulations=10)
    )
    assert result.provider != "compiled rules"


def test_the_switch_refuses_other_values(monkeypatch):
    monkeypatch.setenv("RAVE_AGENTS_GAMES", "maybe")
    with pytest.raises(
        ValueError, match="RAVE_AGENTS_GAMES must be openspiel, compiled or not set"
    ):
        compiled_games.is_on()
    assert "must be openspiel" in compiled_games.diagnosis()


def test_a_connect_four_that_begins_at_a_board_is_searched_from_there():
    game = pyspiel.load_game("connect_four")
    state = game.new_initial_state(after("connect_four", 8, seed=5).to_json())
    state.apply_action(state.legal_actions()[0])
    found = compiled_games.same_position(state, rules_of("connect_four"))
    assert found.legal_actions() == state.legal_actions()
    draw = random.Random(1)
    while not state.is_terminal():
        action = draw.choice(state.legal_actions())
        state.apply_action(action)
        found.apply_action(action)
        assert found.legal_actions() == state.legal_actions()
    assert found.returns() == state.returns()


def test_a_translated_pettingzoo_environment_is_searched_on_them_without_a_bridge(monkeypatch):
    connect_four_v3 = pytest.importorskip("pettingzoo.classic.connect_four_v3")
    monkeypatch.setenv("RAVE_AGENTS_NATIVE", "0")
    environment = connect_four_v3.env()
    environment.reset(seed=1)
    for column in (3, 3, 2):
        environment.step(column)
    result = Searcher(seed=1).search(as_game_state(environment), Limit(simulations=50))
    assert result.provider == "compiled rules"
