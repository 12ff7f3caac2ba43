"""Playouts that are steered to what won most in those before."""

import math
import random
from unittest import mock

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
from rave_agents.tree_search import SearchTree, TreeSearch

GAMES = PLAYOUTS_BETWEEN_UPDATES


INTERPRETED = {
    name: interpreted(getattr(module, name))
    for name in ("learn_playouts", "count_playout", "weigh_actions", "bounded_exponential")
}
"""The module's functions are for the compiled kernel alone."""


def learnt(games, *, actions=3, temperature=0.5, low=-1.0, high=1.0, gone=10**12, again=0):
    """The weights after games of [(player, action), ...] and their returns."""
    weights = np.ones((2, actions))
    policy = allocate_playout_policy(2, actions)
    policy.counts[module.GONE] += gone
    policy.counts[module.LEGAL_AGAIN] += again
    stream = np.ones(4, np.int64)
    for moves, returns in games:
        frame = make_frame(num_players=2, playouts=1, playout_stream=stream, action_weights=weights)
        frame.header[Header.NUM_PLAYOUTS] = 1
        frame.playout_ends[0] = len(moves)
        frame.returns[0] = returns
        for index, (player, action) in enumerate(moves):
            frame.move_players[index], frame.move_actions[index] = player, action
        with mock.patch.multiple(module, **INTERPRETED):
            module.learn_playouts(policy, frame, temperature, low, high)
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


@pytest.mark.parametrize(
    ("gone", "again", "trust"), [(0, 0, 0.0), (9, 0, 0.8), (6, 1, 0.5), (2, 2, 0.0), (0, 9, 0.0)]
)
def test_trust_is_the_excess_of_actions_that_are_gone_over_those_legal_again(gone, again, trust):
    """One counts as legal again beforehand."""
    weights = learnt([WON] * GAMES, gone=gone, again=again)
    assert math.log(weights[1, 0]) == pytest.approx(trust * 1.0 / 0.5)


def test_returns_beyond_the_stated_bounds_keep_weights_finite():
    beyond = [(moves, (1e6 * r, -1e6 * r)) for moves, (r, _) in (WON, LOST)]
    weights = learnt(beyond * GAMES, temperature=0.01)
    assert np.isfinite(weights).all()
    assert (weights > 0.0).all()


def weights_after(state, simulations, temperature=0.05):
    config = SearchConfig(playout_temperature=temperature)
    tree = SearchTree(config)
    tree.reseed(*np.random.SeedSequence(1).spawn(3))
    search = TreeSearch(tree, OpenSpielState(state), state.current_player(), config, None)
    search.begin(simulations=simulations, deadline=math.inf, memory_share=1.0)
    while search.run_slice():
        pass
    return search._frame.action_weights


@pytest.mark.parametrize(
    ("name", "moves", "steered"),
    [
        ("hex(board_size=4)", 0, True),
        ("breakthrough(rows=6,columns=4)", 6, True),
        ("connect_four", 0, False),
        ("connect_four", 20, False),
        ("pig", 0, False),
    ],
)
def test_actions_that_are_legal_again_and_again_leave_playouts_uniform(name, moves, steered):
    state = pyspiel.load_game(name).new_initial_state()
    draw = random.Random(1)
    for _ in range(moves):
        state.apply_action(draw.choice(state.legal_actions()))
    weights = weights_after(state, 400)
    assert (weights.max() > 2.0) == steered
    assert (weights == 1.0).all() == (not steered)


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
