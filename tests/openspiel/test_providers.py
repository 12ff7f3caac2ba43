import pyspiel
from rave_openspiel import RaveBot, native

NAMES = {"bridge": "native", "python": "python with C++ playouts"}


def test_a_case_runs_on_the_provider_that_it_is_named_after(provider):
    bot = RaveBot(pyspiel.load_game("hex(board_size=4)"), simulations=10, seed=1)
    bot.step(bot.game.new_initial_state())
    assert bot.last_result.provider == NAMES[provider]


def test_the_bridge_is_off_in_the_cases_named_python(provider):
    assert (native.bridge() is None) == (provider == "python")
