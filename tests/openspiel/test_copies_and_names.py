"""What scripts written for OpenSpiel's own bot do: copy bots, use its names, write games anew."""

import copy

import pyspiel
import pytest
from rave_openspiel import UCTBot, load_bot, refusal
from rave_openspiel.same_game import is_same_game
from rave_openspiel.states import OpenSpielState

from rave_agents import Limit, SearchConfig, Searcher, make_agent
from rave_agents.frameworks.adapters import load_game

# Copies.


def test_a_copy_of_a_searcher_has_a_tree_of_its_own():
    searcher = Searcher(SearchConfig(), seed=1)
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    searcher.search(state, Limit(simulations=50))
    twin = copy.copy(searcher)
    twin.advance(4)
    twin.reset()
    assert searcher.result().root_visits == 50
    assert searcher.search(state, Limit(simulations=50)).simulations == 50


def test_a_copy_of_an_agent_has_a_tree_of_its_own():
    game = load_game("tic_tac_toe")
    agent = make_agent("rave(simulations=40,seed=2)", game, 0)
    agent.step(game.new_initial_state())
    twin = copy.copy(agent)
    twin.restart()
    assert agent.searcher.result().root_visits == 40
    assert twin.searcher.tree is None


# Names of the stock bot's parameters.

TIC_TAC_TOE = pyspiel.load_game("tic_tac_toe")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("uct_c", "use c, halved: .* for utilities in"),
        ("max_simulations", "Did you mean .*'simulations'"),
        ("solve", "proofs='proofs'"),
        ("random_state", "use seed"),
        ("rollout_count", "use playout_count"),
        ("child_selection_fn", "use rule"),
        ("dirichlet_noise", "use root_noise"),
    ],
)
def test_the_stock_bots_parameters_are_answered_with_what_stands_for_them(name, advice):
    for make in (
        lambda: UCTBot(TIC_TAC_TOE, **{name: 1}),
        lambda: load_bot("rave", TIC_TAC_TOE, 0, {name: 1}),
        lambda: load_bot(f"rave({name}=1)", TIC_TAC_TOE, 0),
        lambda: make_agent(f"uct({name}=1)", load_game("tic_tac_toe"), 0),
    ):
        with pytest.raises((TypeError, ValueError), match=f"'{name}'.*{advice}"):
            make()


def test_uct_c_is_no_field_of_a_configuration():
    for make in (SearchConfig, SearchConfig.preset("rave").replace):
        with pytest.raises(TypeError, match=r"uct_c.*use c, halved"):
            make(uct_c=2)
    with pytest.raises(TypeError, match=r"'playout_counts'\. Did you mean 'playout_count'"):
        SearchConfig(playout_counts=1)


# A game, or its type.


def test_refusal_takes_a_game_or_its_type():
    game = pyspiel.load_game("tic_tac_toe")
    assert refusal(game) is None
    assert refusal(game.get_type()) is None
    sampled = pyspiel.load_game("stones_and_gems")
    assert "SAMPLED_STOCHASTIC" in refusal(sampled)
    assert refusal(sampled) == refusal(sampled.get_type())


@pytest.mark.parametrize("given", ["tic_tac_toe", None, 3])
def test_refusal_takes_nothing_else(given):
    with pytest.raises(
        TypeError, match=r"game_type must be a pyspiel\.GameType or a pyspiel\.Game"
    ):
        refusal(given)


# One game, written in two ways.

SAME = [
    ("hex(board_size=5)", "hex(num_rows=5,num_cols=5)"),
    ("hex(board_size=7,num_rows=5,num_cols=5)", "hex(board_size=5)"),
    ("dark_hex(board_size=3)", "dark_hex(num_rows=3,num_cols=3)"),
    ("connect_four", "connect_four(rows=6,columns=7)"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_a_game_is_the_same_however_it_is_written(one, other):
    games = [pyspiel.load_game(spec) for spec in (one, other)]
    assert str(games[0]) != str(games[1])
    assert is_same_game(*games)
    keys = [OpenSpielState(game.new_initial_state()).position_key() for game in games]
    assert keys[0] == keys[1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hex(board_size=5)", "hex(num_rows=5,num_cols=4)"),
        ("hex(board_size=5)", "hex(board_size=5,swap=True)"),
        ("havannah(board_size=4)", "havannah(board_size=5)"),
        ("tic_tac_toe", "connect_four"),
        ("misere(game=tic_tac_toe())", "tic_tac_toe"),
    ],
)
def test_other_games_stay_others(one, other):
    assert not is_same_game(pyspiel.load_game(one), pyspiel.load_game(other))


def test_a_bot_plays_its_game_however_it_is_written_and_keeps_its_tree():
    bot = UCTBot(pyspiel.load_game("hex(board_size=4)"), simulations=200, seed=1)
    state = pyspiel.load_game("hex(num_rows=4,num_cols=4)").new_initial_state()
    for _ in range(2):
        state.apply_action(bot.step(state))
    assert bot.last_result.root_visits > 200
    with pytest.raises(ValueError, match="the state is of hex"):
        bot.step(pyspiel.load_game("hex(num_rows=4,num_cols=5)").new_initial_state())
