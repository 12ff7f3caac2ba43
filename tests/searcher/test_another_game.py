"""What a search learned of one game, such as how long actions stay legal, is of that game alone."""

import gymnasium
import pyspiel
import pytest
from helpers.trees import dump
from pettingzoo.classic import connect_four_v3, tictactoe_v3
from rave_gymnasium import PlanningState
from rave_openspiel import OpenSpielState
from rave_pettingzoo import AECState

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.games import rules_class


def openspiel_state(text):
    return OpenSpielState(pyspiel.load_game(text).new_initial_state())


def gymnasium_state(**options):
    env = gymnasium.make("FrozenLake-v1", **options)
    env.reset(seed=1)
    return PlanningState(env)


def pettingzoo_state(module):
    env = module.env()
    env.reset(seed=1)
    return AECState(env)


def test_a_search_in_another_game_of_the_same_shape_is_that_of_a_new_searcher():
    first, other = openspiel_state("tic_tac_toe"), openspiel_state("mnk(m=3,n=3,k=2)")
    config = SearchConfig.preset("auto").replace(endgame_share=0.0)  # Else there is no tree.
    limit = Limit(simulations=200)
    new, used = Searcher(config, seed=3), Searcher(config, seed=8)
    new.search(other, limit)
    used.search(first, limit)
    used.reseed(3)
    used.search(other, limit)
    assert dump(used) == dump(new)


def test_what_was_learned_is_kept_in_another_position_of_the_same_game():
    state, searcher = openspiel_state("tic_tac_toe"), Searcher(SearchConfig.preset("auto"), seed=3)
    searcher.search(state, Limit(simulations=100))
    before = searcher._trees.searches[0].tree.running.lifetimes.taken.sum()
    state.apply_action(0)
    searcher.search(state, Limit(simulations=1))
    assert searcher._trees.searches[0].tree.running.lifetimes.taken.sum() >= before > 0


@pytest.mark.parametrize(
    ("make", "one", "other"),
    [
        (openspiel_state, "hex(board_size=3)", "hex(board_size=4)"),
        (lambda name: rules_class(name)().new_initial_state(), "hex", "y"),
        (pettingzoo_state, tictactoe_v3, connect_four_v3),
        (lambda slips: gymnasium_state(is_slippery=slips), True, False),
    ],
    ids=["OpenSpiel", "compiled rules", "PettingZoo", "Gymnasium"],
)
def test_adapters_tell_games_apart(make, one, other):
    state = make(one)
    later = state.clone()
    later.apply_action(later.legal_actions()[0])
    assert state.game_key() == later.game_key() == make(one).game_key()
    assert state.game_key() != make(other).game_key()
