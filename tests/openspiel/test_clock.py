import time

import pyspiel
import pytest
from rave_openspiel import RaveBot, UCTBot, load_bot

from rave_agents.searcher.clock import Clock
from rave_agents.searcher.time_control import TimeControl


@pytest.fixture
def game():
    return pyspiel.load_game("hex(board_size=4)")


def test_a_bot_keeps_to_its_clock(game):
    bots = [
        RaveBot(game, clock="0.6+0.01, lag=0.1", seed=1),
        UCTBot(game, clock="0.6+0.01", seed=2),
    ]
    started = time.perf_counter()
    pyspiel.evaluate_bots(game.new_initial_state(), bots, 1)
    assert time.perf_counter() - started < 3.2
    assert not any(bot.clock.flagged for bot in bots)
    assert all(bot.clock.moves >= 3 for bot in bots)


def test_a_policy_that_was_asked_for_is_charged_once(game):
    bot = RaveBot(game, clock="0.5", seed=1)
    state = game.new_initial_state()
    bot.get_policy(state)
    left = bot.clock.main_left
    bot.step(state)
    assert bot.clock.main_left == left


@pytest.mark.parametrize("clock", ["5+1", 5, TimeControl(main=5.0), Clock(TimeControl(main=5.0))])
def test_a_clock_is_given_in_many_forms(game, clock):
    assert RaveBot(game, clock=clock).clock.main_left == 5.0


def test_load_bot_and_repr_know_the_clock(game):
    bot = load_bot("rave", game, 0, {"clock": "5+1", "seed": 3})
    assert repr(bot) == "RaveBot(hex(board_size=4), clock=5+1, seed=3)"


def test_a_bot_has_one_kind_of_time(game):
    with pytest.raises(ValueError, match="not both"):
        RaveBot(game, clock=5, seconds=1)
    with pytest.raises(ValueError, match="Not a clock: 'soon'"):
        RaveBot(game, clock="soon")
