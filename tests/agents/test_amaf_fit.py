"""Agents that trust AMAF say where it misleads; ``auto`` does not need to."""

import math
import warnings

import gymnasium
import pyspiel
import pytest
import rave_gymnasium
import rave_openspiel
import rave_pettingzoo
from helpers.envs import begun

from rave_agents import make_agent
from rave_agents.agents import amaf_fit
from rave_agents.frameworks.adapters import load_game

SAYS_SO = "AMAF misleads in {}.*Use auto"


@pytest.fixture(autouse=True)
def _nothing_said_before(monkeypatch):
    """And all random games are played, however busy the machine is."""
    amaf_fit._seen.clear()
    monkeypatch.setattr(amaf_fit, "SECONDS", math.inf)


@pytest.mark.parametrize("name", ["connect_four", "mancala", "oware", "cursor_go", "pig"])
def test_actions_that_stay_legal_are_not_trusted(name):
    assert amaf_fit.action_trust(pyspiel.load_game(name).new_initial_state()) < 0.2


@pytest.mark.parametrize("name", ["checkers", "einstein_wurfelt_nicht", "backgammon"])
def test_actions_that_are_gone_when_not_taken_are_not_trusted(name):
    assert amaf_fit.action_trust(pyspiel.load_game(name).new_initial_state()) < 0.2


@pytest.mark.parametrize("name", ["hex", "go", "othello", "breakthrough", "dots_and_boxes"])
def test_actions_that_are_gone_when_taken_are_trusted(name):
    assert amaf_fit.action_trust(pyspiel.load_game(name).new_initial_state()) > 0.8


@pytest.mark.parametrize("name", ["go_fish", "phantom_ttt", "hearts"])
def test_hidden_cards_and_stones_that_are_as_good_later_are_trusted(name):
    assert amaf_fit.action_trust(load_game(name).new_initial_state()) > 0.8


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "liars_dice", "bargaining"])
def test_calls_and_bids_are_not_trusted(name):
    assert amaf_fit.action_trust(load_game(name).new_initial_state()) < 0.2


def test_nothing_is_known_where_players_move_at_once():
    state = pyspiel.load_game("oshi_zumo").new_initial_state()
    assert amaf_fit.action_trust(state) is None


def test_a_position_is_not_changed():
    state = pyspiel.load_game("backgammon").new_initial_state()
    amaf_fit.action_trust(state)
    assert not state.history()


def test_a_bot_that_trusts_amaf_says_once_where_it_misleads():
    game = pyspiel.load_game("connect_four")
    with pytest.warns(UserWarning, match=SAYS_SO.format("connect_four")):
        rave_openspiel.RaveBot(game, simulations=10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rave_openspiel.RaveBot(game, simulations=10)


@pytest.mark.parametrize("game", ["mancala", "leduc_poker"])
@pytest.mark.parametrize("spec", ["rave", "grave", "hrave(simulations=5)"])
def test_an_agent_of_a_match_says_so_too(spec, game):
    with pytest.warns(UserWarning, match=SAYS_SO.format(game)):
        make_agent(spec, load_game(game))


@pytest.mark.parametrize(
    ("spec", "game"),
    [("auto", "connect_four"), ("uct", "connect_four"), ("rave", "hex"), ("rave", "go_fish")],
)
def test_others_say_nothing(spec, game):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_agent(spec, load_game(game))


def test_the_agent_of_a_game_that_nothing_is_known_of_is_auto():
    game = load_game("tic_tac_toe")
    agent = make_agent(game=game, simulations=20, seed=1)
    agent.step(game.new_initial_state())
    assert agent.last_result.amaf_trust is not None


def test_an_agent_needs_a_game():
    with pytest.raises(TypeError, match="make_agent needs game"):
        make_agent("rave")


def test_an_agent_of_pettingzoo_says_so_at_its_first_move():
    pettingzoo_connect_four = pytest.importorskip("pettingzoo.classic.connect_four_v3")
    env = begun(pettingzoo_connect_four.env())
    with pytest.warns(UserWarning, match=SAYS_SO.format("connect_four")):
        rave_pettingzoo.RaveAgent(env, simulations=5).act()


def test_an_agent_of_gymnasium_says_so_at_its_first_move():
    env = begun(gymnasium.make("CartPole-v1"))
    with pytest.warns(UserWarning, match=SAYS_SO.format("CartPole")):
        rave_gymnasium.RaveAgent(env, simulations=5, horizon=5).act()
