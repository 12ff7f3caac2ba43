"""The conformance checks: what is whole passes, each violation is named."""

import itertools
import random

import pyspiel
import pytest
from helpers.games import JointPosition, Position, joint_random_game, random_game
from rave_openspiel import OpenSpielState

from rave_agents import testing
from rave_agents.errors import ConformanceError
from rave_agents.simulate.python_simulator import PythonSimulator
from rave_agents.simulate.simulator import Header


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rules", [{}, {"chance": 0.4}, {"num_players": 1, "stated": False}])
def test_whole_games_conform(seed, rules):
    testing.check_game_state(lambda: random_game(seed, **rules), seed=seed)


def broken(rules=None, **methods):
    """A game with some methods replaced."""
    kind = type("Broken", (Position,), methods)
    rules = random_game(2, chance=0.3, depth=8, **(rules or {})).rules
    return lambda: kind(rules)


def shares_history(self):
    clone = Position.clone(self)
    clone.moves = self.moves = getattr(self, "moves", [])
    return clone


def applies_to_shared(self, action):
    self.moves = getattr(self, "moves", [])
    self.moves.append(action)
    Position.apply_action(self, action)


def legal_from_shared(self):
    return [0] if len(getattr(self, "moves", [])) % 2 else [0, 1]


class Shuffled(Position):
    draw = random.Random(1)

    def legal_actions(self):
        actions = super().legal_actions()
        self.draw.shuffle(actions)
        return actions


class Forgetful(Position):
    """Its moves depend on more than the position."""

    counter = itertools.count()

    def apply_action(self, action):
        super().apply_action(action)
        self.mark = next(self.counter)

    def position_key(self):
        return (self.history, getattr(self, "mark", 0))

    def clone(self):
        clone = super().clone()
        clone.mark = getattr(self, "mark", 0)
        return clone


VIOLATIONS = {
    r"legal_actions\(\) must not be empty": broken(legal_actions=lambda self: []),
    r"legal_actions\(\) has an action twice": broken(legal_actions=lambda self: [1, 1]),
    r"from -1 to 0": broken(legal_actions=lambda self: [0, -1]),
    r"from 0 to 99": broken(legal_actions=lambda self: [0, 99]),
    r"current_player\(\) must be from 0 to 1, or one of": broken(current_player=lambda self: 2),
    r"is_terminal\(\) is False": broken(is_terminal=lambda self: False),
    r"is_chance_node\(\) is False": broken(is_chance_node=lambda self: False),
    r"chance_outcomes\(\) must not be empty": broken(chance_outcomes=lambda self: []),
    r"has an outcome twice": broken(chance_outcomes=lambda self: [(0, 0.5), (0, 0.5)]),
    r"must sum to 1": broken(chance_outcomes=lambda self: [(0, 0.5)]),
    r"probabilities in \[0, 1\]": broken(chance_outcomes=lambda self: [(0, 2.0), (1, -1.0)]),
    r"one number for each of 2 players": broken(returns=lambda self: [1.0]),
    r"must be finite": broken(returns=lambda self: [1.0, float("nan")]),
    r"must be from min_utility\(\) -1.0": broken(returns=lambda self: [0.0, 1.5]),
    r"must not be above max_utility": broken(min_utility=lambda self: 9.0),
    r"num_players\(\) must be at least 1": broken(num_players=lambda self: 0),
    r"clone\(\) must make a new state": broken(clone=lambda self: self),
    r"clone\(\) must share nothing": broken(
        clone=shares_history, apply_action=applies_to_shared, legal_actions=legal_from_shared
    ),
    r"clone\(\) must give an equal state": lambda: Shuffled(random_game(2).rules),
    r"must do the same on equal states": lambda: Forgetful(random_game(2).rules),
    r"position_key\(\) must be hashable": broken(position_key=lambda self: []),
    r"action_to_string\(\) must give a string": broken(action_to_string=lambda self, p, a: None),
}


@pytest.mark.parametrize("message", VIOLATIONS)
def test_violations_are_named(message):
    with pytest.raises(ConformanceError, match=message):
        testing.check_game_state(VIOLATIONS[message], games=20)


@pytest.mark.parametrize("rules", [{}, {"chance": 0.4}, {"num_players": 3}])
def test_whole_games_with_simultaneous_moves_conform(rules):
    testing.check_game_state(lambda: joint_random_game(3, depth=8, **rules))


@pytest.mark.full(but=3)
@pytest.mark.parametrize("spec", ["oshi_zumo", "leduc_poker", "go_fish", "matrix_pd", "pig"])
def test_openspiels_games_of_every_kind_conform(spec):
    game = pyspiel.load_game(spec)
    testing.check_game_state(lambda: OpenSpielState(game.new_initial_state()), games=2)


def joint_broken(**methods):
    kind = type("Broken", (JointPosition,), methods)
    rules = joint_random_game(3, depth=8).rules
    return lambda: kind(rules)


def alone(self, player=None):
    return [] if player is not None else Position.legal_actions(self)


class Hinting(JointPosition):
    """After moves at the same time it differs from its clones."""

    counter = itertools.count()

    def apply_actions(self, actions):
        super().apply_actions(actions)
        self.mark = next(self.counter)

    def clone(self):
        clone = super().clone()
        clone.mark = getattr(self, "mark", 0)
        return clone

    def position_key(self):
        return (self.history, getattr(self, "mark", 0))


JOINT_VIOLATIONS = {
    r"must not be empty for all players": joint_broken(legal_actions=alone),
    r"legal_actions\(\d\) has an action twice": joint_broken(
        legal_actions=lambda self, player=None: [0, 0]
    ),
    r"apply_actions\(\) with .* must do the same": lambda: Hinting(joint_random_game(3).rules),
    r"one of CHANCE \(-1\), TERMINAL \(-4\), got -2": joint_broken(
        has_simultaneous_moves=lambda self: False
    ),
}


@pytest.mark.parametrize("message", JOINT_VIOLATIONS)
def test_violations_where_players_move_at_the_same_time_are_named(message):
    with pytest.raises(ConformanceError, match=message):
        testing.check_game_state(JOINT_VIOLATIONS[message], games=20)


class Telling(OpenSpielState):
    """Its worlds show the player another hand."""

    def worlds(self, player, unit):
        def other():
            state = self.state.get_game().new_initial_state()
            for action in (self.state.history()[0] + 2, 0, *self.state.history()[2:]):
                state.apply_action(action % 6)
            return type(self)(state)

        return other


def test_worlds_that_the_player_can_tell_are_found():
    game = pyspiel.load_game("leduc_poker")
    with pytest.raises(ConformanceError, match=r"look the same to the player: view\(\) differs"):
        testing.check_game_state(lambda: Telling(game.new_initial_state()))


def test_make_state_must_make_new_states():
    state = random_game(1)
    with pytest.raises(ConformanceError, match="must make a new state"):
        testing.check_game_state(lambda: state)


class Simulating(Position):
    """A game with a simulator of its own."""

    kind: type

    def simulator(self, frame, evaluator):
        return self.kind(self.clone(), frame, num_distinct_actions=self.num_distinct_actions())


def simulating(kind, **rules):
    state_type = type("State", (Simulating,), {"kind": kind})
    rules = random_game(2, depth=8, **rules).rules
    return lambda: state_type(rules)


def altered(change):
    """A simulator whose simulations are changed before they are given back."""

    class Altered(PythonSimulator):
        def _simulate(self):
            status = super()._simulate()
            change(self.frame)
            return status

    return Altered


def swap_players(frame):
    frame.move_players[: frame.playout_ends[0]] ^= 1


def set_header(field, value):
    def change(frame):
        frame.header[field] = value

    return change


def change_returns(frame):
    frame.returns[0] = -frame.returns[0][::-1] * 0.5 + 0.1


def change_action(frame):
    frame.actions[0] += 1


def drop_last_move(frame):
    if frame.header[Header.NUM_PLAYOUTS] == 2:
        frame.playout_ends[1] -= 1


def set_path(frame):
    frame.path[0] += 1


def test_simulators_that_ignore_weights_are_found():
    class Uniform(PythonSimulator):
        def bind(self, frame):
            super().bind(frame)
            self._action_weights = None

    with pytest.raises(ConformanceError, match="not by action_weights"):
        testing.check_game_state(simulating(Uniform), games=20)


@pytest.mark.parametrize("rules", [{}, {"chance": 0.4}])
def test_whole_simulators_conform(rules):
    testing.check_game_state(simulating(PythonSimulator, **rules))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (swap_players, "recorded the moves"),
        (set_header(Header.PLAYER, 1), "moves at the leaf"),
        (set_header(Header.NUM_PLAYOUTS, 1), "must run 2 playouts"),
        (set_header(Header.NUM_ACTIONS, 0), "list the leaf's actions"),
        (change_returns, "gave the returns"),
        (change_action, "list the leaf's actions"),
        (drop_last_move, "play to the end"),
        (set_path, "keep the path"),
    ],
)
def test_broken_simulators_are_found(change, message):
    with pytest.raises(ConformanceError, match=message):
        testing.check_game_state(simulating(altered(change)), games=20)


def test_a_simulators_error_comes_out():
    class Failing(PythonSimulator):
        def playout(self, state):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        testing.check_simulator(simulating(Failing)())


class Game:
    def __init__(self, chance=0.0):
        self.chance = chance

    def new_initial_state(self):
        return random_game(7, depth=7, chance=self.chance)


class Bot:
    """A whole bot; the tests break parts of it."""

    def __init__(self, player, seed):
        self.player = player
        self.random = random.Random(seed)

    def restart(self):
        pass

    def inform_action(self, state, player, action):
        pass

    def provides_policy(self):
        return True

    def get_policy(self, state):
        actions = state.legal_actions()
        return [(action, 1 / len(actions)) for action in actions]

    def step(self, state):
        return self.random.choice(state.legal_actions())

    def step_with_policy(self, state):
        return self.get_policy(state), self.step(state)


class PlainBot(Bot):
    """Like a bot that provides no policy."""

    get_policy = step_with_policy = None

    def provides_policy(self):
        return False


@pytest.mark.parametrize("kind", [Bot, PlainBot])
@pytest.mark.parametrize("chance", [0.0, 0.4])
def test_whole_bots_conform(kind, chance):
    testing.check_bot(kind, Game(chance), games=3)


def first(state):
    return state.legal_actions()[0]


def changes_state(self, state, *arguments):
    state.apply_action(first(state))
    return 0


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"step": lambda self, state: 99}, r"step\(\) gave 99"),
        ({"step": lambda self, state: None}, r"step\(\) gave None"),
        ({"step": changes_state}, r"step\(\) must leave the state"),
        ({"inform_action": changes_state}, r"inform_action\(\) must leave the state"),
        (
            {"step": lambda self, state: random.SystemRandom().choice(state.legal_actions())},
            "same moves for the same seed",
        ),
        ({"get_policy": lambda self, state: [(first(state), 1.0)]}, "cover exactly"),
        (
            {"get_policy": lambda self, state: [(a, 0.9) for a in state.legal_actions()]},
            "sum to 1",
        ),
        (
            {"step_with_policy": lambda self, state: ([], first(state))},
            r"step_with_policy\(\) must cover",
        ),
    ],
)
def test_broken_bots_are_found(methods, message):
    with pytest.raises(ConformanceError, match=message):
        testing.check_bot(type("Broken", (Bot,), methods), Game(), games=6)


def test_conformance_errors_are_assertion_errors():
    assert issubclass(ConformanceError, AssertionError)
