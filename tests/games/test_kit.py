"""The kit: what is written once for all games."""

import os
import pickle
import subprocess
import sys
from typing import ClassVar

import cloudpickle
import numpy as np
import pyspiel
import pytest
from helpers.race import PlainRace, Race
from rave_openspiel import OpenSpielGame, OpenSpielState, register_rules

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.errors import ConformanceError, GameError
from rave_agents.game import endless
from rave_agents.games import CHANCE, GAMES, TERMINAL, Rules, rules_class
from rave_agents.games.hex import Hex
from rave_agents.games.kit import machine, playing, playouts
from rave_agents.games.kit.rules_simulator import RulesSimulator
from rave_agents.simulate.frame import Header, Status
from rave_agents.simulate.random_stream import make_stream
from rave_agents.simulate.simulator import grown_frame, make_frame, simulated
from rave_agents.testing import check_game_state, check_rules


def test_three_players_and_chance_are_those_of_the_plain_form():
    check_rules(Race(), PlainRace, games=100)
    check_rules(Race(goal=2, rounds=1), lambda: PlainRace(2, 1), games=20)


def test_it_is_a_game_state():
    check_game_state(Race().new_initial_state, games=2)


class OwnHex(Hex):
    """Hex as a user may change it."""


def test_moves_are_checked_but_for_the_games_of_the_package():
    assert all(not rules_class(name)().is_checked for name in GAMES)
    assert OwnHex().is_checked
    assert Race().is_checked


def test_a_search_with_chance_runs_compiled_and_finds_the_longest_step():
    state = Race(goal=3, rounds=1).new_initial_state()
    result = Searcher(SearchConfig.preset("uct"), seed=1).search(state, Limit(simulations=2000))
    assert result.provider == "compiled rules"
    assert result.action == 2


def test_playouts_draw_chance_by_its_probabilities():
    state = Race(goal=2, rounds=1).new_initial_state()
    state.apply_action(1)
    playouts = 3000
    frame = make_frame(
        num_players=3,
        playouts=playouts,
        playout_stream=make_stream(np.random.SeedSequence(2)),
        move_capacity=3 * playouts,
    )
    assert simulated(state.simulator(frame, None), frame) == Status.DONE
    assert (frame.returns[:, 0] == 2.0).mean() == pytest.approx(2 / 3, abs=0.03)


class Wheel(Rules):
    """Chance stops a wheel with as many numbers as the player has said; that is what is won."""

    fields: ClassVar = {"numbers": np.int64, "shown": np.int64}
    num_distinct_actions = 8
    num_players, max_utility, utility_sum = 1, 8.0, None

    def player(self, state):
        if state.shown > 0:
            return TERMINAL
        return CHANCE if state.numbers > 0 else 0

    def legal_actions(self, state, actions):
        for number in range(8):
            actions[number] = number
        return 8

    def even_outcomes(self, state):
        return state.numbers

    def play(self, state, action):
        if state.numbers > 0:
            state.shown = action + 1
        else:
            state.numbers = action + 1

    def returns(self, state, returns):
        returns[0] = state.shown


def test_outcomes_that_are_equally_probable_are_only_counted():
    state = Wheel().new_initial_state()
    assert state.has_chance_nodes()
    state.apply_action(4)
    assert state.chance_outcomes() == [(outcome, 0.2) for outcome in range(5)]
    frame = make_frame(
        num_players=1, playouts=600, playout_stream=make_stream(np.random.SeedSequence(2))
    )
    assert simulated(state.simulator(frame, None), frame) == Status.DONE
    counts = np.bincount(frame.returns[:, 0].astype(int), minlength=6)[1:6]
    assert counts / 600 == pytest.approx(0.2, abs=0.05)
    check_game_state(state.clone, games=1)


class WrongReturns(Race):
    def returns(self, state, returns):
        returns[0] = 2.0


class WrongTurn(Race):
    def player(self, state):
        return TERMINAL if state.turn == 9 or state.winner >= 0 else 0


class Endless(Race):
    def player(self, state):
        return state.turn % 3


class Unsorted(Race):
    def legal_actions(self, state, actions):
        for step in range(3):
            actions[step] = 2 - step
        return 3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (WrongReturns, r"returns\(\) is .* not"),
        (WrongTurn, r"current_player\(\) is 0, not -1"),
        (Unsorted, "ascending"),
        (Endless, "more than 4096 moves"),
    ],
)
def test_check_rules_tells_what_is_wrong(wrong, message):
    with pytest.raises(ConformanceError, match=message):
        check_rules(wrong(), PlainRace, games=50)


def test_what_tells_positions_apart_is_no_parameter():
    for name in GAMES:
        assert not {"aside", "unordered"} & rules_class(name).parameter_defaults().keys()


def test_a_parameter_that_there_is_not_is_refused_with_the_nearest():
    with pytest.raises(ValueError, match="Did you mean 'goal'"):
        Race(gaol=3)


@pytest.mark.parametrize(("value", "kind"), [("3", "an integer"), (True, "an integer")])
def test_a_parameter_of_another_type_is_refused(value, kind):
    with pytest.raises(TypeError, match=f"goal must be {kind}, got {value!r}"):
        Race(goal=value)


class BadField(Race):
    def setup(self):
        self.fields = {"size": np.int64}


def test_a_field_that_a_record_has_already_is_refused():
    with pytest.raises(ValueError, match="A field cannot be called 'size'"):
        BadField()


@pytest.mark.parametrize("kind", ["in64", object, (object, 3)])
def test_a_field_that_is_no_number_is_refused(kind):
    class NoNumber(Race):
        def setup(self):
            self.fields = {"turn": kind}

    with pytest.raises(TypeError, match="The field 'turn' must have a NumPy type of numbers"):
        NoNumber()


class Steps(Rules):
    """Two players step in turn, four times; the first wins."""

    fields: ClassVar = {"moves": np.int64}

    num_distinct_actions = 3
    values = np.array([1.0, -1.0])

    def player(self, state):
        return TERMINAL if state.moves >= 4 else state.moves % 2

    def legal_actions(self, state, actions):
        for action in range(3):
            actions[action] = action
        return 3

    def play(self, state, action):
        state.moves += 1

    def returns(self, state, returns):
        returns[0], returns[1] = self.values[0], self.values[1]


class TooMany(Steps):
    max_actions = 2


class NoMoves(Steps):
    def legal_actions(self, state, actions):
        actions[0], actions[1] = 0, 1
        return 2 if state.moves == 0 else 0


@pytest.mark.compiled
@pytest.mark.full
@pytest.mark.parametrize(("rules", "count"), [(TooMany, 3), (NoMoves, 0)])
def test_a_number_of_actions_beyond_what_the_rules_say_is_an_error(rules, count):
    told = rf"after \[.*max_actions, {rules().max_actions}, legal .* of chance: it has {count}"
    with pytest.raises(ConformanceError, match=told):
        check_rules(rules(), games=2)


def test_a_search_tells_that_a_position_has_no_actions():
    state = NoMoves().new_initial_state()
    with pytest.raises(GameError, match="must have from 1 to max_actions, 3, legal actions"):
        Searcher(SearchConfig(), seed=1).search(state, Limit(simulations=20))


class Unbalanced(Steps):
    values = np.array([1.0, 1.0])


class NotANumber(Steps):
    values = np.array([np.nan, 0.0])


class ThirdOfTwo(Steps):
    def player(self, state):
        return TERMINAL if state.moves >= 4 else 2 * state.moves


class UnlikelyChance(Steps):
    def player(self, state):
        return TERMINAL if state.moves >= 4 else CHANCE if state.moves == 1 else 0

    def chance_outcomes(self, state, actions, probabilities):
        actions[0], probabilities[0] = 0, 0.6
        return 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Unbalanced, "must sum up to utility_sum, 0.0"),
        (NotANumber, "must give each player a finite number"),
        (ThirdOfTwo, "a player from 0 to 1, got 2"),
        (UnlikelyChance, r"sum up to 1: chance_outcomes\(\) of UnlikelyChance\(\) gives \[0.6\]"),
    ],
)
def test_check_rules_tells_what_breaks_the_interface(wrong, message):
    check_rules(Steps(), games=1)
    with pytest.raises(ConformanceError, match=message):
        check_rules(wrong(), games=2)


@pytest.mark.parametrize("name", ["player", "legal_actions", "play", "returns"])
def test_rules_without_a_method_are_refused(name):
    methods = {key: value for key, value in vars(Steps).items() if key != name}
    with pytest.raises(TypeError, match=rf"Cut has no method {name}\(\)"):
        type("Cut", (Rules,), methods)()


@pytest.mark.parametrize("name", ["fields", "num_distinct_actions"])
def test_rules_that_say_no_sizes_are_refused(name):
    attributes = {key: value for key, value in vars(Steps).items() if key != name}
    with pytest.raises(TypeError, match=f"Cut sets no {name}"):
        type("Cut", (Rules,), attributes)()


def test_rules_with_other_arrays_are_other_code():
    other = type("Steps", (Steps,), {"values": np.array([0.5, -0.5]), "__module__": __name__})
    assert machine.place_on_disk(other()) != machine.place_on_disk(Steps())


def test_an_illegal_action_is_refused_and_changes_nothing():
    state = Race().new_initial_state()
    with pytest.raises(ValueError, match="Action 3 is not legal"):
        state.apply_action(3)
    assert state.history() == []


def test_rules_travel_to_other_processes():
    rules = pickle.loads(pickle.dumps(Race(goal=4)))
    assert rules == Race(goal=4) != Race(goal=5)
    assert hash(rules) == hash(Race(goal=4))


def test_openspiel_knows_a_registered_game_with_its_tensor(capfd):
    register_rules(Race)
    game = pyspiel.load_game("test_race(goal=3)")
    assert game.num_players() == 3
    state = game.new_initial_state()
    state.apply_action(2)
    assert state.is_chance_node()
    state.apply_action(0)
    assert state.observation_tensor(0)[0] == 2.0
    result = Searcher(seed=1).search(OpenSpielState(state), Limit(simulations=50))
    assert result.provider == "compiled rules"
    pyspiel.random_sim_test(game, num_sims=3, serialize=True, verbose=False)
    capfd.readouterr()


@pytest.mark.parametrize("value", [3, Race(), "race"])
def test_what_is_no_class_of_rules_is_not_registered(value):
    with pytest.raises(TypeError, match="rules must be a class of Rules"):
        register_rules(value)


def test_an_unknown_game_is_refused_with_the_nearest():
    with pytest.raises(ValueError, match="Did you mean 'othello'"):
        rules_class("otello")


def test_an_error_of_interpreted_rules_is_raised_as_it_is():
    state = Race().new_initial_state()
    frame = make_frame(num_players=3, playouts=1, playout_stream=np.ones(4, np.int64))
    simulator = RulesSimulator(BrokenRace(), state.root, frame, interpreted=True)
    assert simulated(simulator, frame) == Status.FAILED
    with pytest.raises(ZeroDivisionError, match="broken"):
        simulator.raise_pending()


class BrokenRace(Race):
    def player(self, state):
        raise ZeroDivisionError("broken")


@pytest.mark.full
def test_compiled_rules_are_loaded_again_without_numba():
    script = (
        "import sys\n"
        "from rave_agents.games.connect_four import ConnectFour\n"
        "state = ConnectFour().new_initial_state()\n"
        "state.apply_action(3)\n"
        "print('numba' in sys.modules)\n"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0"}
    told = [
        subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=100,
        ).stdout
        for _ in range(2)
    ]
    assert told[1] == "False\n"


def led_on(state, moves, **changes):
    """The provider of a position that has led on to the one after these moves, and its frame."""
    frame = make_frame(
        num_players=3,
        playouts=20,
        playout_stream=np.ones(4, np.int64),
        path_capacity=2,
        move_capacity=1024,
        **changes,
    )
    simulator = state.simulator(frame, None)
    later = state.clone()
    later.play_through(moves)
    return simulator, frame, later


def test_a_provider_goes_on_to_the_next_root_of_a_game():
    state = Race(goal=20).new_initial_state()
    state.play_through([0])
    simulator, frame, later = led_on(state, [1, 0, 2, 1, 2])
    assert simulator.set_root(later, [1, 0, 2, 1, 2])
    for name in simulator.rules.fields:
        assert simulator.root[name].tolist() == later.root[name].tolist()
    fresh, own_frame, _ = led_on(later, [])
    frame.playout_stream[:] = 1
    frame.header[Header.EXPAND] = own_frame.header[Header.EXPAND] = 1
    frame.header[Header.PATH_LENGTH] = 0
    assert simulated(simulator, frame) == simulated(fresh, own_frame) == Status.DONE
    assert frame.returns.tolist() == own_frame.returns.tolist()
    assert simulator.set_root(later)


def test_a_provider_goes_on_to_the_next_game():
    state = Race(goal=20).new_initial_state()
    state.play_through([0, 1])
    simulator, _, _ = led_on(state, [])
    other = Race(goal=20).new_initial_state()
    other.play_through([1])
    assert simulator.set_root(other)
    for name in simulator.rules.fields:
        assert simulator.root[name].tolist() == other.root[name].tolist()


class Elsewhere:
    """What says of itself that it is a later position, and is another one."""

    def __init__(self, state, actions):
        self.current_player = state.current_player
        self.legal_actions = lambda: actions


def test_a_provider_does_not_go_on_where_other_actions_are_legal():
    state = Race(goal=20).new_initial_state()
    simulator, _, later = led_on(state, [0, 0, 1])
    assert not simulator.set_root(Elsewhere(later, [0]), [0, 0, 1])
    assert not simulator.set_root(later, [10**6])


class EndlessChance(Race):
    def player(self, state):
        return CHANCE if state.turn else 0

    def play(self, state, action):
        state.turn = 1


@pytest.mark.parametrize("rules", [Endless, EndlessChance])
def test_interpreted_rules_that_never_end_say_so(rules, monkeypatch):
    for module in (playing, playouts, endless):
        monkeypatch.setattr(module, "LONGEST_GAME", 1000)
    state = rules().new_initial_state()
    _, frame, _ = led_on(state, [])
    simulator = RulesSimulator(rules(), state.root, frame, interpreted=True)
    while (status := simulated(simulator, frame)) == Status.FRAME_FULL:
        frame = grown_frame(frame)
        simulator.bind(frame)
    assert status == Status.FAILED
    with pytest.raises(GameError, match=r"has not ended after 1000 moves: player\(\) must give"):
        simulator.raise_pending()


@pytest.mark.full
@pytest.mark.compiled
@pytest.mark.parametrize("rules", [Endless, EndlessChance])
def test_a_search_of_a_game_that_never_ends_says_so(rules):
    with pytest.raises(GameError, match=r"has not ended after 1048576 moves: player\(\) must give"):
        Searcher(seed=1).search(rules().new_initial_state(), Limit(simulations=2))


def test_a_game_that_is_registered_travels_to_a_process_that_does_not_know_it():
    register_rules(Race)
    packed = cloudpickle.dumps(OpenSpielGame(pyspiel.load_game("test_race(goal=3)")))
    script = (
        "import pickle, sys\n"
        "import pyspiel, rave_openspiel\n"
        "game = pickle.loads(sys.stdin.buffer.read())\n"
        "print(game.game)\n"
        "print(pyspiel.load_game('test_race', {'goal': 4, 'rounds': 2}))\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", script],
        input=packed,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=True,
        timeout=100,
    )
    assert told.stdout.split() == [b"test_race(goal=3,rounds=3)", b"test_race(goal=4,rounds=2)"]


def changed_connect_four(*rows):
    """A board of four by four, three in a row; the lowest row first."""
    state = rules_class("connect_four")(rows=4, columns=4, x_in_row=3).new_initial_state()
    cells = [["xo".find(cell) for cell in row] for row in (*rows, "....", "....")]
    state.change(lambda record: state.rules.place(record, cells, 0))
    return state


def test_a_changed_record_is_another_position():
    one, other = changed_connect_four("xx.o", "...o"), changed_connect_four("oo.x", "x...")
    assert one.position_key() == changed_connect_four("xx.o", "...o").position_key()
    assert one.position_key() != other.position_key()
    assert one.clone().position_key() == one.position_key()
    for state in (one, other):
        state.apply_action(3)
    assert one.position_key() != other.position_key()


@pytest.mark.parametrize("preset", ["uct_solver", "auto", "uct"])
def test_a_kept_tree_of_another_record_goes(preset):
    one, other = changed_connect_four("xx.o", "...o"), changed_connect_four("oo.x", "x...")
    keeping, new = (Searcher(SearchConfig.preset(preset), seed=1) for _ in range(2))
    keeping.search(one, Limit(simulations=300))
    keeping.advance(3, state=other)
    other.apply_action(3)
    keeping.reseed(4)
    new.reseed(4)
    kept, fresh = (each.search(other, Limit(simulations=300)) for each in (keeping, new))
    assert (kept.actions, kept.outcome) == (fresh.actions, fresh.outcome)
    assert kept.outcome in (None, (-1.0, 1.0))


@pytest.mark.parametrize("name", sorted(GAMES))
def test_records_are_the_same_whatever_way_led_to_them(name):
    rules = rules_class(name)()
    state, draw = rules.new_initial_state(), np.random.default_rng(1)
    for _ in range(min(8, rules.max_game_length // 4)):
        state.apply_action(int(draw.choice(state.legal_actions())))
    at_once = rules.new_initial_state()
    at_once.play_through(state.history())
    assert at_once.position_key() == state.position_key() == state.clone().position_key()


def test_no_moves_lead_to_a_position_that_was_written():
    state = rules_class("connect_four")().new_initial_state()
    written = state.clone()
    written.change(lambda record: written.rules.place(record, [[0] + [-1] * 6] + [[-1] * 7] * 5, 1))
    assert state.moves_to(state.clone()) == []
    assert state.moves_to(written) is None
