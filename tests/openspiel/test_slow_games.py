"""Games whose every call takes long: a move takes the time that it has."""

import time

import pytest
from helpers import slow_cards  # noqa: F401  (registers the game)
from helpers.spiel import after
from rave_openspiel import OpenSpielState, RaveBot

from rave_agents import Limit, SearchConfig, Searcher


def dealt(moves=0):
    return after("python_slow_cards", 3, 7, *[1] * moves)


@pytest.mark.full(but=["0"])
@pytest.mark.parametrize("moves", [0, 12, 24])
def test_a_move_of_a_slow_game_with_hidden_information_takes_its_time(moves):
    state = OpenSpielState(dealt(moves))
    searcher = Searcher(SearchConfig.preset("uct"), seed=1)
    searcher.prepare(state)
    started = time.perf_counter()
    result = searcher.search(state, Limit(seconds=0.4))
    assert time.perf_counter() - started < 0.4 * 1.3 + 0.05
    assert result.action in range(5)


@pytest.mark.full
def test_the_moves_of_a_bot_in_a_slow_game_take_a_second():
    state = dealt()
    bot = RaveBot(state.get_game(), seconds=1, seed=1)
    Searcher(bot.config).prepare(OpenSpielState(state))
    simulations = 0
    for _ in range(3):
        started = time.perf_counter()
        action = bot.step(state)
        assert time.perf_counter() - started < 1.25
        simulations += bot.last_result.simulations
        state.apply_action(action)
        state.apply_action(2)
    assert simulations > 0


def test_the_time_of_a_clock_is_told_without_playing_a_slow_game_to_its_end():
    from rave_agents.searcher.timed_search import expected_moves

    state = OpenSpielState(dealt())
    started = time.perf_counter()
    assert expected_moves(state) == 40
    assert time.perf_counter() - started < 0.06
