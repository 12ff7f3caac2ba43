"""Where something is hidden, AMAF is trusted if values of actions taken later differ little."""

import copy
import random
from types import SimpleNamespace

import gymnasium
import numpy as np
import pyspiel
import pytest
from helpers.spiel import decision, drawn_action
from helpers.trees import find_records
from rave_gymnasium import PlanningState
from rave_openspiel.states import OpenSpielState

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.kernel.amaf.hidden_trust import (
    HiddenTrust,
    MeasuredSpread,
    squares,
    trust_by_spread,
)
from rave_agents.kernel.amaf.trust import FullTrust, LearnedTrust
from rave_agents.tree.composition import searched_game

AUTO = SearchConfig.preset("auto").replace(regrets="no_regrets")  # With regrets there is no AMAF.


def squares_of(edges):
    """What is seen at a root with such edges: visits, value, later visits and their value."""
    visits, own, later_visits, later = np.array(edges, float).T
    tree = SimpleNamespace(
        node_first_edge=np.array([0]),
        node_edge_count=np.array([len(edges)]),
        edge_visits=visits.astype(int),
        edge_value_sum=visits * own,
    )
    return squares(tree, visits + later_visits, visits * own + later_visits * later)


def test_values_of_actions_taken_later_are_those_without_the_edges_visits():
    # Later 0.6 and 0.4, each 0.1 from the mean; own 0.75 and 0.25, each 0.25 from it.
    assert squares_of([(4, 0.75, 20, 0.6), (8, 0.25, 10, 0.4)]) == pytest.approx((0.02, 0.125))


@pytest.mark.parametrize(
    "unknown", [(1, 1.0, 20, 1.0), (20, 1.0, 1, 1.0)], ids=["few visits", "seldom taken later"]
)
def test_an_edge_of_which_too_little_is_known_does_not_count(unknown):
    known = [(4, 0.75, 20, 0.6), (8, 0.25, 10, 0.4)]
    assert squares_of([*known, unknown]) == pytest.approx(squares_of(known))


def test_nothing_is_seen_where_no_edge_is_known():
    assert squares_of([(1, 0.5, 0, 0.0)]) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("spread", "trust"), [(0.0, 1.0), (0.4, 1.0), (0.5, 0.5), (0.6, 0.0), (3.0, 0.0)]
)
def test_trust_falls_with_the_spread_of_values_of_actions_taken_later(spread, trust):
    assert trust_by_spread(4.0 * spread**2, 4.0) == pytest.approx(trust)


def test_nothing_is_trusted_until_own_values_differ():
    assert trust_by_spread(0.0, 0.0) == 0.0


def play(state, action, generator):
    """Apply an action, and the outcomes of chance after it."""
    state.apply_action(action)
    while state.is_chance_node():
        state.apply_action(drawn_action(state, generator))


def played(name, searches=6, simulations=100):
    """A searcher, and its last result, after some searches of a game, each but the last's move."""
    state, generator = decision(name, seed=1), random.Random(1)
    searcher = Searcher(AUTO, seed=1)
    for _ in range(searches - 1):
        action = searcher.search(state, Limit(simulations=simulations)).action
        play(state, action, generator)
    return searcher, searcher.search(state, Limit(simulations=simulations))


@pytest.mark.full
def test_asking_for_a_rank_is_as_good_later_though_legal_again():
    searcher, result = played("go_fish")
    lifetimes = searcher.rooted_tree().running.lifetimes
    assert lifetimes.trust[0] < 0.1
    assert result.amaf_trust > 0.9
    assert any(line.startswith("AMAF trusted") for line in result.remarks)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["leduc_poker", "liars_dice", "bargaining"])
def test_a_call_or_an_answer_means_something_else_later(name):
    _, result = played(name, searches=2, simulations=200)
    assert result.amaf_trust < 0.2


@pytest.mark.slow
def test_actions_that_are_gone_are_trusted_whatever_their_spread():
    searcher, result = played("phantom_ttt", searches=4)
    tree = searcher.rooted_tree()
    (spread,) = find_records(tree.running.amaf, MeasuredSpread)
    assert result.amaf_trust == max(tree.running.lifetimes.trust[0], spread.by_spread[0]) > 0.9


def test_what_the_search_of_a_position_has_seen_counts_at_the_next_one():
    state = decision("go_fish", seed=1)
    searcher = Searcher(AUTO, seed=1)
    action = searcher.search(state, Limit(simulations=64)).action
    (before,) = copy.deepcopy(find_records(searcher.rooted_tree().running, MeasuredSpread))
    play(state, action, random.Random(1))
    searcher.search(state, Limit(simulations=2))
    (after,) = find_records(searcher.rooted_tree().running, MeasuredSpread)
    assert after.measured.sums[2:] == pytest.approx(0.9 * before.measured.sums[:2])


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        (AUTO, HiddenTrust),
        (AUTO.replace(hidden="see"), LearnedTrust),
        (SearchConfig.preset("rave"), FullTrust),
    ],
    ids=["auto", "auto that sees all", "rave"],
)
def test_learned_trust_alone_looks_at_the_spread_where_something_is_hidden(config, kind):
    state = OpenSpielState(pyspiel.load_game("leduc_poker").new_initial_state())
    assert type(searched_game(state, config).parts.amaf.trust) is kind


def test_chance_alone_hides_nothing():
    env = gymnasium.make("FrozenLake-v1", is_slippery=True)
    env.reset(seed=1)
    game = searched_game(PlanningState(env), AUTO)
    assert game.determinizes
    assert type(game.parts.amaf.trust) is LearnedTrust


def test_it_can_be_asked_for_where_nothing_is_hidden():
    config = SearchConfig.preset("rave").replace(**{"amaf.trust": "hidden_trust"})
    state = pyspiel.load_game("hex(board_size=5)").new_initial_state()
    assert Searcher(config, seed=1).search(state, Limit(simulations=200)).amaf_trust > 0.8
