"""OpenSpiel's games that never end: every provider says so, and so does a match."""

import pyspiel
import pytest
from rave_openspiel import OpenSpielState, RaveEvaluator

from rave_agents import Limit, Searcher
from rave_agents.arena import play_match
from rave_agents.errors import GameError
from rave_agents.game import endless

PIG = "pig(horizon=100000000,winscore=100000000)"


def test_the_bridge_says_that_a_game_does_not_end():
    state = pyspiel.load_game(PIG).new_initial_state()
    with pytest.raises(GameError, match=r"A playout of pig\(.*\) has not ended after 1048576 move"):
        Searcher(seed=1).search(state, Limit(simulations=20))


def test_without_the_bridge_it_is_said_too(monkeypatch):
    monkeypatch.setattr(endless, "LONGEST_GAME", 1000)
    state = OpenSpielState(pyspiel.load_game(PIG).new_initial_state())
    monkeypatch.setattr("rave_openspiel.states.bridge", lambda: None)
    with pytest.raises(GameError, match="has not ended after 1000 moves"):
        Searcher(seed=1).search(state, Limit(simulations=20))


def test_an_evaluator_of_playouts_says_it(monkeypatch):
    monkeypatch.setattr(endless, "LONGEST_GAME", 1000)
    game = pyspiel.load_game(PIG)
    with pytest.raises(GameError, match="has not ended after 1000 moves"):
        RaveEvaluator(game, seed=1).evaluate(game.new_initial_state())


def test_a_match_of_an_endless_game_ends_with_an_error(monkeypatch):
    monkeypatch.setattr(endless, "LONGEST_GAME", 1000)
    with pytest.raises(Exception, match=r"A game of pig.* has not ended after 1000 moves"):
        play_match(PIG, "random", "random", games=2, seed=1)
