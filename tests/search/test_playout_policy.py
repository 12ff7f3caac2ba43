"""Playouts that are steered to what won most in those before."""

import math

import numpy as np
import pyspiel
import pytest
from helpers.games import RandomEvaluator, random_game
from helpers.trees import dump
from rave_openspiel.states import OpenSpielState

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.search import playout_policy as module
from rave_agents.search.compiler import interpreted
from rave_agents.search.playout_policy import PLAYOUTS_BETWEEN_UPDATES, allocate_playout_policy
from rave_agents.search.simulator import Header, make_frame

learn_playouts = interpreted(module.learn_playouts)

GAMES = PLAYOUTS_BETWEEN_UPDATES


@pytest.fixture(autouse=True)
def interpreted_kernel(monkeypatch):
    """The module's functions are for the compiled kernel alone."""
    for name in ("count_playout", "weigh_actions"):
        monkeypatch.setattr(module, name, interpreted(getattr(module, name)))


def learnt(games, *, actions=3, temperature=0.5, low=-1.0, high=1.0):
    """The weights after games of [(player, action), ...] and their returns."""
    weights = np.ones((2, actions))
    policy = allocate_playout_policy(2, actions)
    stream = np.ones(4, np.int64)
    for moves, returns in games:
        frame = make_frame(num_players=2, playouts=1, playout_stream=stream, action_weights=weights)
        frame.header[Header.NUM_PLAYOUTS] = 1
        frame.playout_ends[0] = len(moves)
        frame.returns[0] = returns
        for index, (player, action) in enumerate(moves):
            frame.move_players[index], frame.move_actions[index] = player, action
        learn_playouts(policy, frame, temperature, low, high)
    return weights


WON = [(0, 0), (1, 1)], (1.0, -1.0)
LOST = [(0, 1), (1, 1)], (-1.0, 1.0)


def test_weights_follow_the_means_of_each_players_actions():
    weights = learnt([WON, LOST] * (GAMES // 2))
    wins, seen = GAMES // 2 + 1, GAMES // 2 + 1  # One win beside those seen.
    assert weights[0] == pytest.approx(
        [math.exp((wins / seen - 0.5) / 0.5), math.exp((1 / seen - 0.5) / 0.5), math.e]
    )
    always = (GAMES // 2 + 1) / (GAMES + 1)
    assert weights[1] == pytest.approx([math.e, math.exp((always - 0.5) / 0.5), math.e])


def test_weights_change_after_so_many_playouts():
    assert (learnt([WON] * (GAMES - 1)) == 1.0).all()
    assert (learnt([WON] * GAMES) != 1.0).any()


def test_a_lower_temperature_makes_more_of_the_same_means():
    warm, cold = (learnt([WON, LOST] * GAMES, temperature=t)[0] for t in (1.0, 0.25))
    assert np.log(cold) == pytest.approx(4.0 * np.log(warm))


def test_weights_do_not_depend_on_the_scale_of_utilities():
    scaled = [(moves, tuple(5.0 + 10.0 * r for r in returns)) for moves, returns in (WON, LOST)]
    weights = learnt(scaled * GAMES, low=-5.0, high=15.0)
    assert weights == pytest.approx(learnt([WON, LOST] * GAMES))


def test_utilities_that_are_all_equal_leave_playouts_uniform():
    draws = [(moves, (0.0, 0.0)) for moves, _ in (WON, LOST)]
    assert (learnt(draws * GAMES, low=0.0, high=0.0) == 1.0).all()


def test_ends_without_moves_are_not_counted():
    assert (learnt([WON] * (GAMES - 1) + [([], (1.0, -1.0))] * GAMES) == 1.0).all()


@pytest.mark.parametrize(("repeats", "trust"), [(0, 1.0), (1, 0.6), (4, 0.0), (8, 0.0)])
def test_trust_is_the_excess_of_first_over_repeated_moves(repeats, trust):
    moves = [(0, 0), (0, 1), (0, 2)] + [(1, 0)] * (1 + repeats)
    unseen = learnt([(moves, (-1.0, 1.0))] * GAMES, actions=4)[0, 3]
    assert math.log(unseen) == pytest.approx(trust * 1.0 / 0.5)


def test_what_each_player_takes_is_a_first_move_of_his_own():
    moves = [(0, 0), (1, 0), (0, 1), (1, 1)]
    unseen = learnt([(moves, (-1.0, 1.0))] * GAMES)[0, 2]
    assert math.log(unseen) == pytest.approx(1.0 / 0.5)


def tree_of(temperature, evaluator=None):
    state = random_game(1, depth=4, width=5)
    config = SearchConfig(playout_temperature=temperature)
    searcher = Searcher(config, seed=1, evaluator=evaluator)
    searcher.search(state, Limit(simulations=200))
    return dump(searcher.tree)


def test_a_search_steers_its_playouts():
    assert tree_of(0.05) != tree_of(math.inf)


def test_an_evaluator_has_no_playouts_to_steer():
    trees = [tree_of(t, evaluator=RandomEvaluator()) for t in (0.05, math.inf)]
    assert trees[0] == trees[1]


def test_each_search_begins_with_uniform_playouts():
    """What an earlier position's playouts have shown is not carried over."""
    state = OpenSpielState(pyspiel.load_game("hex(board_size=3)").new_initial_state())
    searcher = Searcher(SearchConfig(playout_temperature=0.05, reuse_tree=False), seed=1)
    searcher.search(state, Limit(simulations=200))
    fewer = PLAYOUTS_BETWEEN_UPDATES - 1
    searcher.reseed(7)
    searcher.search(state, Limit(simulations=fewer))
    uniform = Searcher(SearchConfig(reuse_tree=False), seed=7)
    uniform.search(state, Limit(simulations=fewer))
    assert dump(searcher.tree) == dump(uniform.tree)
