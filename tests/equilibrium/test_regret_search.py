"""The search of information sets against the textbook, OpenSpiel's solver, and known equilibria."""

import itertools

import numpy as np
import pyspiel
import pytest
from helpers.textbook_regrets import TextbookMCCFR, TextbookTargeted, table_of
from open_spiel.python import policy
from open_spiel.python.algorithms import expected_game_score, exploitability
from rave_openspiel.states import OpenSpielState

from rave_agents.config.regrets import MCCFR
from rave_agents.equilibrium import questions, regret_search
from rave_agents.equilibrium.records import ACTIONS, SETS, UNVISITED
from rave_agents.equilibrium.regret_search import RegretSearch
from rave_agents.errors import GameError, UnsupportedGameError
from rave_agents.simulate.random_stream import make_stream

PAPER = MCCFR()
LINEAR = MCCFR(regret_power=1.0, average_power=1.0)
PLUS = MCCFR(average_power=2.0, floor=True)


class InPython(OpenSpielState):
    """A state whose histories are visited through Python."""

    def visitor(self, visit):
        return None


def load(name):
    """A game in which one player moves at a time."""
    game = pyspiel.load_game(name)
    together = game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
    return pyspiel.convert_to_turn_based(game) if together else game


def search_of(game, variant=PAPER, seed=1, kind=OpenSpielState, **parameters):
    """A search of a game from its start."""
    seeds = np.random.SeedSequence(seed)
    return RegretSearch(kind(game.new_initial_state()), variant, seeds, **parameters)


def check_equals_textbook(name, variant, rounds, kind=OpenSpielState, targets=()):
    """Check regrets and cumulative strategies of all information sets after each round.

    Each target is a history to aim at before a round.
    """
    game = load(name)
    search = search_of(game, variant, seed=3, kind=kind)
    stream = make_stream(np.random.SeedSequence(3).spawn(2)[0])
    textbook = (TextbookTargeted if targets else TextbookMCCFR)(game, stream, *variant[:3])
    places = {}
    for iterations, target in itertools.zip_longest(rounds, targets):
        if target is not None:
            state = game.new_initial_state()
            for action in target:
                state.apply_action(action)
            search.aim(target, state.current_player())
            textbook.aim(target, state.current_player())
        search.run(iterations)
        for _ in range(iterations):
            textbook.iterate()
        assert search.iterations == textbook.iteration
        assert search.num_sets == len(textbook.regrets)
        for state in policy.TabularPolicy(game).states:
            key = state.current_player(), state.information_state_string()
            if key not in textbook.regrets:
                continue
            place = search.place_after(state.history(), state.current_player())
            places[key] = place
            first, count = search.sets.first[place], search.sets.size[place]
            rows = slice(first, first + count)
            assert search.actions.regret[rows] == pytest.approx(textbook.regrets[key], abs=1e-9)
            expected = pytest.approx(textbook.strategies[key], abs=1e-9)
            assert search.actions.strategy[rows] == expected
    assert len(set(places.values())) == search.num_sets


@pytest.mark.parametrize("variant", [PAPER, LINEAR, PLUS], ids=["paper", "linear", "plus"])
def test_kuhn_poker_equals_the_textbook_after_each_iteration(variant):
    check_equals_textbook("kuhn_poker", variant, [1] * 30)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("kuhn_poker(players=3)", OpenSpielState),
        ("kuhn_poker(players=3)", InPython),
        ("matching_pennies_3p", OpenSpielState),
        ("goofspiel(imp_info=True,num_cards=3,points_order=descending)", InPython),
    ],
)
def test_games_of_each_kind_equal_the_textbook(name, kind):
    check_equals_textbook(name, PAPER, [1, 4, 5], kind)


@pytest.mark.parametrize(
    ("name", "kind", "targets"),
    [
        ("kuhn_poker", OpenSpielState, [[0, 1], [0, 1, 1], [0, 1, 0, 1]]),
        ("kuhn_poker(players=3)", OpenSpielState, [[0, 1, 2, 0, 0], [1, 0, 2, 0, 0, 1]]),
        (
            "goofspiel(imp_info=True,num_cards=3,points_order=descending)",
            InPython,
            [[0, 1], [0, 1, 2]],
        ),
    ],
)
def test_directed_traversals_equal_the_textbook(name, kind, targets):
    variant = LINEAR._replace(targeting=0.5)
    check_equals_textbook(name, variant, [10] * len(targets), kind, targets)


@pytest.mark.compiled
def test_directed_traversals_of_leduc_poker_equal_the_textbook():
    targets = [[0, 5], [0, 5, 1, 1, 3], [0, 5, 1, 1, 3, 2]]
    check_equals_textbook("leduc_poker", PAPER._replace(targeting=0.5), [60] * 3, targets=targets)


@pytest.mark.compiled
def test_leduc_poker_equals_the_textbook():
    check_equals_textbook("leduc_poker", PAPER, [1] * 5 + [200])


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_as_exploitable_as_openspiels_own(name):
    game, iterations, seeds = load(name), 3000, range(20)
    ours, theirs = [], []
    for seed in seeds:
        search = search_of(game, seed=seed)
        search.run(iterations)
        ours.append(exploitability.nash_conv(game, table_of(search, game)) / 2)
        solver = pyspiel.ExternalSamplingMCCFRSolver(game, seed, pyspiel.MCCFRAverageType.SIMPLE)
        for _ in range(iterations):
            solver.run_iteration()
        theirs.append(pyspiel.nash_conv(game, solver.average_policy(), True) / 2)
    spread = np.hypot(np.std(ours), np.std(theirs)) / np.sqrt(len(seeds))
    assert abs(np.mean(ours) - np.mean(theirs)) < 4.0 * spread


@pytest.mark.compiled
def test_kuhn_poker_converges():
    game = load("kuhn_poker")
    search = search_of(game)
    search.run(200_000)
    assert exploitability.nash_conv(game, table_of(search, game)) / 2 < 0.003
    # The value of the game for the first player is -1/18.
    table = table_of(search, game)
    returns = expected_game_score.policy_value(game.new_initial_state(), [table, table])
    assert returns[0] == pytest.approx(-1 / 18, abs=0.005)


def test_players_who_move_together_do_not_see_each_other():
    game = pyspiel.load_game("goofspiel(imp_info=True,num_cards=3,points_order=descending)")
    search = search_of(game)
    search.run(20)
    turns = search_of(pyspiel.convert_to_turn_based(game))
    turns.run(20)
    state = game.new_initial_state()
    for player in (0, 1):
        assert search.strategy_at(OpenSpielState(state), player).actions == (0, 1, 2)
    # The same draws meet the same information sets in both forms.
    assert search.num_sets == turns.num_sets
    sets = search.control[SETS]
    assert search.actions.regret[: 3 * sets].tolist() == turns.actions.regret[: 3 * sets].tolist()


def test_arrays_grow_in_the_middle_of_a_traversal(monkeypatch):
    whole = search_of(load("leduc_poker"))
    whole.run(30)
    for name in ("FIRST_HISTORIES", "FIRST_SETS", "FIRST_ACTIONS", "FIRST_ENDS"):
        monkeypatch.setattr(regret_search, name, 2)
    monkeypatch.setattr(regret_search, "FIRST_DEPTHS", 2)
    monkeypatch.setattr(questions, "FIRST_DEPTHS", 2)
    monkeypatch.setattr(questions, "FIRST_LISTS", 1)
    grown = search_of(load("leduc_poker"))
    grown.run(30)
    assert grown.num_sets == whole.num_sets
    count = whole.control[ACTIONS]
    assert grown.actions.regret[:count].tolist() == whole.actions.regret[:count].tolist()


def test_below_the_memory_limit_playouts_give_the_values(monkeypatch):
    for name in ("FIRST_HISTORIES", "FIRST_SETS", "FIRST_ACTIONS", "FIRST_ENDS"):
        monkeypatch.setattr(regret_search, name, 128)
    search = search_of(load("leduc_poker"), max_memory_mb=0.1)
    search.run(100)
    assert search.memory_full
    assert not search.is_whole
    assert search.iterations == 100
    assert search.memory_bytes <= 0.1 * 2**20


@pytest.mark.compiled
def test_directed_traversals_update_the_information_set_of_the_position():
    state = load("phantom_ttt").new_initial_state()
    for action in (4, 4, 0, 0, 8):  # Each player tries a cell that the other has taken.
        state.apply_action(action)
    aimed = search_of(load("phantom_ttt"), MCCFR(growth=1.0, targeting=0.9))
    aimed.aim(state.history(), state.current_player())
    aimed.run(200)
    known = aimed.strategy_at(OpenSpielState(state), state.current_player())
    assert known.updates > 150
    assert 0 not in known.actions


def test_what_the_player_cannot_see_does_not_change_a_directed_search():
    game = load("leduc_poker")
    found = []
    for history in ([0, 5, 1, 1, 3], [0, 4, 1, 1, 3]):
        search = search_of(game, MCCFR(targeting=0.9))
        search.aim(history, 0)
        search.run(20)
        count = search.control[ACTIONS]
        found.append(search.actions.regret[:count].tolist())
    assert found[0] == found[1]


def test_without_memory_for_the_way_traversals_begin_at_the_start(monkeypatch):
    for name in ("FIRST_HISTORIES", "FIRST_SETS", "FIRST_ACTIONS", "FIRST_ENDS"):
        monkeypatch.setattr(regret_search, name, 128)
    search = search_of(load("leduc_poker"), MCCFR(targeting=0.9), max_memory_mb=0.1)
    search.run(100)
    search.aim([0, 5, 1, 1, 3, 2], 1)
    search.run(100)
    assert search.iterations == 200
    assert search.memory_bytes <= 0.1 * 2**20


def test_growth_bounds_the_histories_of_a_traversal():
    search = search_of(load("leduc_poker"), MCCFR(growth=3.0))
    search.run(1)
    visited = search.histories.player[: search.num_histories]
    assert (visited != UNVISITED).sum() == 2 * 3  # Two players, three histories each.
    assert not search.is_whole


def test_a_slice_ends_at_its_deadline():
    search = search_of(load("kuhn_poker"))
    assert not search.run_slice(np.inf, 0.0)
    assert search.iterations == 0


def test_an_error_of_the_game_comes_through():
    class Failing(InPython):
        def returns(self):
            raise RuntimeError("no returns today")

    search = search_of(load("kuhn_poker"), kind=Failing)
    with pytest.raises(RuntimeError, match="no returns today"):
        search.run(1)


def test_information_sets_with_different_actions_are_refused():
    class Blind(InPython):
        def view(self, player):
            return "nothing"

    search = search_of(load("leduc_poker"), kind=Blind)
    with pytest.raises(GameError, match="different legal actions"):
        search.run(5)


def test_a_state_without_history_is_refused():
    search = search_of(load("kuhn_poker"))
    search.run(1)

    class Forgetful:
        num_players = 2

    with pytest.raises(UnsupportedGameError, match="history"):
        search.strategy_at(Forgetful(), 0)
