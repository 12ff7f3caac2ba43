"""Whether chance has a part in a game is seen in the tree."""

import pyspiel
import pytest
from rave_openspiel import OpenSpielState

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.kernel.adaptive_rule import AdaptiveUCB1
from rave_agents.kernel.rules import Greedy
from rave_agents.parts import UCB1

PARTS = {"tic_tac_toe": 0, "nim": 0, "pig": 1, "leduc_poker": 1}


class Untold(OpenSpielState):
    """A position that does not tell whether chance ever moves."""

    def has_chance_nodes(self):
        return True


def searched(name, rule, kind=OpenSpielState, simulations=100):
    """The searcher after a search, and how often it took each move."""
    state = kind(pyspiel.load_game(name).new_initial_state())
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    searcher = Searcher(SearchConfig(rule=rule), seed=1)
    result = searcher.search(state, Limit(simulations=simulations))
    return searcher, [row.visits for row in result.actions]


@pytest.mark.parametrize("name", PARTS)
def test_chance_is_seen_where_it_has_a_part(name):
    """Also where something is hidden, and there are no chance nodes in the tree."""
    searcher, _ = searched(name, AdaptiveUCB1(), Untold)
    assert searcher.rooted_tree().running.rule.seen[0] == PARTS[name]


@pytest.mark.parametrize(("c", "rule"), [(0.5, UCB1(0.5)), (0.0, Greedy())])
def test_where_chance_never_moves_nothing_is_computed_in_case_it_does(c, rule):
    searcher, _ = searched("tic_tac_toe", AdaptiveUCB1(c, chance_c=0.7))
    assert type(searcher.rooted_tree().running.rule) is type(rule)
    assert searcher.rooted_tree().running.rule == rule
    searcher, _ = searched("pig", AdaptiveUCB1(c, chance_c=0.7))
    assert searcher.rooted_tree().running.rule.options == AdaptiveUCB1(c, chance_c=0.7)


@pytest.mark.slow
def test_a_move_that_amaf_has_wrong_is_looked_at_again():
    """Late exploration takes each move of a small game's root again and again."""
    late = AdaptiveUCB1(c=0.0, late_c=0.7, late_visits=10)
    _, visits = searched("tic_tac_toe", late, simulations=9 * 60)
    assert min(visits) >= 5
    _, visits = searched("tic_tac_toe", AdaptiveUCB1(c=0.0), simulations=9 * 60)
    assert min(visits) < 5


@pytest.mark.full
@pytest.mark.parametrize("name", PARTS)
def test_the_trust_in_amaf_sees_chance_as_well(name):
    state = pyspiel.load_game(name).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    searcher = Searcher(SearchConfig.preset("auto"), seed=1)
    searcher.search(state, Limit(simulations=100))
    assert searcher.rooted_tree().running.lifetimes.chance[0] == PARTS[name]


def test_without_chance_it_is_ucb1():
    _, visits = searched("tic_tac_toe", AdaptiveUCB1(c=0.3, chance_factor=5.0))
    assert visits == searched("tic_tac_toe", UCB1(c=0.3))[1]


def test_with_chance_moves_are_explored_more():
    _, visits = searched("pig", AdaptiveUCB1(c=0.5, chance_factor=100.0))
    assert abs(visits[0] - visits[1]) <= 4
