"""Sweeps over the whole tree against the textbook's CFR+, and when they begin."""

import time

import numpy as np
import pyspiel
import pytest
from helpers.textbook_regrets import TextbookCFRPlus, table_of
from open_spiel.python import policy
from open_spiel.python.algorithms import expected_game_score, exploitability
from rave_openspiel.states import OpenSpielState

from rave_agents.config.regrets import MCCFR
from rave_agents.equilibrium import regret_search
from rave_agents.equilibrium.questions import Questions, estimated_size
from rave_agents.equilibrium.regret_search import RegretSearch

SWEEPING = MCCFR(regret_power=1.0, average_power=1.0, sweeps=True)


def search_of(name, variant=SWEEPING, **parameters):
    game = pyspiel.load_game(name)
    start = OpenSpielState(game.new_initial_state())
    return RegretSearch(start, variant, np.random.SeedSequence(1), **parameters), game


@pytest.mark.parametrize("name", ["kuhn_poker", "kuhn_poker(players=3)", "matching_pennies_3p"])
def test_sweeps_equal_the_textbook(name, monkeypatch):
    monkeypatch.setattr(regret_search, "SHOWN_SWEEPS", 1)
    game = pyspiel.load_game(name)
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    start = OpenSpielState(game.new_initial_state())
    search = RegretSearch(start, SWEEPING, np.random.SeedSequence(1))
    search.run(1)
    search._phase = 1
    while search._sweeps is None:
        search._complete_slice(1e9, 1e9)
    textbook = TextbookCFRPlus(game)
    for _ in range(6):
        search._swept(1)
        textbook.iterate()
        for state in policy.TabularPolicy(game).states:
            key = state.current_player(), state.information_state_string()
            place = search.place_after(state.history(), key[0])
            first, count = search.sets.first[place], search.sets.size[place]
            rows = slice(first, first + count)
            assert search._sweeps.regret[rows] == pytest.approx(textbook.regrets[key], abs=1e-9)
            sums = textbook.strategies[key]
            if sums.sum() > 0:
                shares = search.known_strategy(int(place)).probabilities
                assert shares == pytest.approx(sums / sums.sum(), abs=1e-9)


def test_sweeps_begin_once_the_limit_allows_enough_of_them():
    search, _ = search_of("kuhn_poker")
    search.run(64)
    assert search.sweeps == 0
    search.run(2000)
    assert search.sweeps > 50
    assert search.iterations == 2064  # A sweep counts as many iterations.


def test_first_sweeps_count_as_no_simulations():
    search, game = search_of("kuhn_poker", SWEEPING._replace(first_sweeps=16))
    search.run(1)
    assert (search.sweeps, search.iterations) == (17, 1)
    search.run(10)
    assert (search.sweeps, search.iterations) == (27, 11)
    assert exploitability.nash_conv(game, table_of(search, game)) / 2 < 0.02


def test_first_sweeps_need_time():
    search, _ = search_of("kuhn_poker", SWEEPING._replace(first_sweeps=16))
    while search.run_slice(40, time.perf_counter() + 1e-5):
        pass
    assert search.sweeps == 0


@pytest.mark.parametrize(("tremble", "bets"), [(64.0, True), (0.0, False)])
def test_early_sweeps_answer_players_who_tremble(tremble, bets):
    variant = SWEEPING._replace(first_sweeps=40, tremble=tremble)
    search, game = search_of("kuhn_poker", variant)
    search.run(1)
    state = game.new_initial_state()
    for card in (1, 0):
        state.apply_action(card)
    # The queen gains by a bet if the others move at random for 64 sweeps, not in equilibrium.
    bet = search.strategy_at(OpenSpielState(state), 0).probabilities[1]
    assert bet > 0.95 if bets else bet < 0.2


def test_those_who_share_their_returns_find_the_best_convention():
    search, game = search_of("tiny_hanabi", SWEEPING._replace(first_sweeps=16))
    search.run(20)
    table = table_of(search, game)
    found = expected_game_score.policy_value(game.new_initial_state(), [table, table])
    assert found == pytest.approx([10.0, 10.0], abs=0.01)  # From uniform strategies 8.


def test_too_little_memory_leaves_it_at_samples():
    search, _ = search_of("leduc_poker", max_memory_mb=1.0)
    search.run(40)
    search._phase = 1
    while search._phase == 1:
        search._complete_slice(1e9, 1e9)
    assert search.memory_full
    search.run(5)
    assert search.sweeps == 0


def test_the_values_are_those_of_the_last_strategies():
    search, game = search_of("kuhn_poker")
    search.run(3000)
    state = game.new_initial_state()
    for action in (0, 2, 0, 1):  # The jack has passed, and the king bets.
        state.apply_action(action)
    found = search.strategy_at(OpenSpielState(state), 0)
    assert found.values == pytest.approx((-1.0, -2.0), abs=0.05)
    assert found.probabilities[0] > 0.99


@pytest.mark.parametrize(
    ("name", "histories", "entered"),
    [("kuhn_poker", 58, 14), ("leduc_poker", 9457, 60), ("phantom_ttt", None, None)],
)
def test_the_size_of_a_game_is_estimated(name, histories, entered):
    start = OpenSpielState(pyspiel.load_game(name).new_initial_state())
    found = estimated_size(Questions(start, np.zeros(4, np.int64)), 1e6)
    if histories is None:
        assert found is None
    else:
        assert found.histories == pytest.approx(histories, rel=0.3)
        assert found.entered == pytest.approx(entered, rel=0.4)
        assert not found.in_python


@pytest.mark.compiled
def test_leduc_poker_converges_fast():
    search, game = search_of("leduc_poker")
    search.run(100_000)
    assert exploitability.nash_conv(game, table_of(search, game)) / 2 < 0.02
