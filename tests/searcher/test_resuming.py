"""``search(state, resume=True)``: the search of the same position goes on."""

import pyspiel
import pytest
from helpers.own_games.subtraction import Subtraction

from rave_agents import Limit, SearchConfig, Searcher, as_game

STATES = {
    "openspiel": lambda: pyspiel.load_game("tic_tac_toe").new_initial_state(),
    "compiled": lambda: as_game("connect_four").new_initial_state(),
    "own": lambda: Subtraction(13),
    "simultaneous": lambda: pyspiel.load_game("matrix_rps").new_initial_state(),
}


def player_of(name):
    return 0 if name == "simultaneous" else None


@pytest.mark.parametrize("name", STATES)
def test_a_search_goes_on_with_the_tree_of_the_same_position(name):
    searcher, state, player = Searcher(seed=1), STATES[name](), player_of(name)
    first = searcher.search(state, Limit(simulations=20), player=player)
    result = searcher.search(state.clone(), Limit(simulations=30), player=player, resume=True)
    assert (result.simulations, result.root_visits) == (30, 50)
    before = {row.action: row.visits for row in first.actions}
    assert all(row.visits >= before[row.action] for row in result.actions)


def test_an_interrupted_search_is_resumed():
    searcher, state = Searcher(seed=1), Subtraction(13)

    def stop(result):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        searcher.search(state, Limit(seconds=20.0), progress=stop)
    before = searcher.result().root_visits
    result = searcher.search(state, Limit(simulations=10), resume=True)
    assert result.root_visits == before + 10


def test_the_position_that_was_advanced_to_is_resumed():
    searcher, state = Searcher(seed=1), Subtraction(13)
    searcher.search(state, Limit(simulations=100))
    searcher.advance(1)
    state.apply_action(1)
    kept = searcher.result().root_visits
    assert searcher.search(state, Limit(simulations=10), resume=True).root_visits == kept + 10


@pytest.mark.parametrize("name", STATES)
def test_another_position_is_refused_and_the_tree_kept(name):
    searcher, state, player = Searcher(seed=1), STATES[name](), player_of(name)
    searcher.search(state, Limit(simulations=20), player=player)
    other = state.clone()
    if name == "simultaneous":
        other, message = pyspiel.load_game("matrix_pd").new_initial_state(), "not the position"
    else:
        other.apply_action(other.legal_actions()[0])
        message = "not the position that was searched last. After a move, call"
    with pytest.raises(ValueError, match=message):
        searcher.search(other, Limit(simulations=20), player=player, resume=True)
    assert searcher.result().root_visits == 20


def test_nothing_to_resume_is_refused():
    searcher = Searcher(seed=1)
    with pytest.raises(ValueError, match="nothing to resume: nothing was searched yet"):
        searcher.search(Subtraction(), Limit(simulations=20), resume=True)


@pytest.mark.parametrize("given", [{"moves": []}, {"reuse": True}])
def test_other_ways_to_keep_the_tree_are_refused_with_it(given):
    searcher = Searcher(seed=1)
    searcher.search(Subtraction(), Limit(simulations=20))
    with pytest.raises(ValueError, match="only one of resume, moves and reuse"):
        searcher.search(Subtraction(), Limit(simulations=20), resume=True, **given)


def test_another_player_is_refused_where_players_move_at_the_same_time():
    searcher, state = Searcher(seed=1), STATES["simultaneous"]()
    searcher.search(state, Limit(simulations=20), player=0)
    with pytest.raises(ValueError, match="the last search was for player 0, got player=1"):
        searcher.search(state, Limit(simulations=20), player=1, resume=True)


def test_hidden_information_is_refused():
    searcher, state = Searcher(seed=1), pyspiel.load_game("kuhn_poker").new_initial_state()
    for outcome in (0, 1):
        state.apply_action(outcome)
    searcher.search(state, Limit(simulations=20))
    with pytest.raises(ValueError, match="hidden information"):
        searcher.search(state, Limit(simulations=20), resume=True)


def test_a_tree_of_other_parts_is_refused():
    searcher, state = Searcher(seed=1), Subtraction(13)
    searcher.search(state, Limit(simulations=20))
    searcher.config = SearchConfig.preset("rave")
    with pytest.raises(ValueError, match="configuration or one of its formulas has changed"):
        searcher.search(state, Limit(simulations=20), resume=True)
