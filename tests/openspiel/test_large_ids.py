"""OpenSpiel's games whose ids are large."""

import pyspiel
import pytest
from helpers.large_ids import FarCells
from rave_openspiel import RaveBot, RaveEvaluator, register_rules
from rave_openspiel.search_node import SearchNode

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.simulate import action_numbers
from rave_agents.testing import check_game_state


@pytest.fixture
def game():
    register_rules(FarCells)
    return pyspiel.load_game("test_far_cells")


def test_a_bot_plays_actions_of_large_ids(game):
    state = game.new_initial_state()
    bot = RaveBot(game, simulations=50, seed=1)
    assert bot.step(state) in state.legal_actions()
    assert len(bot.last_result.actions) == 10


def test_nodes_of_a_tree_tell_actions_of_large_ids(game):
    state = game.new_initial_state()
    searcher = Searcher(SearchConfig.preset("rave"), seed=1)
    searcher.search(state, Limit(simulations=50))
    root = SearchNode(searcher.rooted_tree())
    assert [child.action for child in root.children] == state.legal_actions()


def test_an_evaluator_keeps_what_occurs(game, monkeypatch):
    monkeypatch.setattr(action_numbers, "FIRST_CAPACITY", 4)
    state = game.new_initial_state()
    evaluator = RaveEvaluator(game, seed=1)
    prior = evaluator.prior(state)
    assert [action for action, _ in prior] == state.legal_actions()
    assert len({chance for _, chance in prior}) > 1


def test_a_bridge_that_has_no_table_of_all_ids_is_not_used(monkeypatch):
    state = pyspiel.load_game("breakthrough").new_initial_state()
    if Searcher(seed=1).search(state, Limit(simulations=10)).provider.startswith("python"):
        pytest.skip("there is no bridge")
    monkeypatch.setattr(action_numbers, "MOST_ROWS", 100)
    monkeypatch.setattr(action_numbers, "MOST_DENSE", 10)
    found = Searcher(seed=1).search(state, Limit(simulations=10)).provider
    assert found.startswith("python")


def test_states_of_large_ids_keep_the_interface(game):
    check_game_state(lambda: FarCells().new_initial_state(), games=1)
