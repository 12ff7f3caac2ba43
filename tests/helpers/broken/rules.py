"""Compiled rules that break the interface."""

import math
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from helpers.broken import add_kind

from rave_agents import Limit, LinearValue, SearchConfig, Searcher
from rave_agents.compiler.dispatch import JIT_DISABLED, implements
from rave_agents.games import CHANCE, TERMINAL, Rules
from rave_agents.games.kit.values import position_value

NAN, INF = math.nan, math.inf

NONE, PLAYER, ACTION, SAME, COUNT, OVERRUN, OUTCOME, OUTCOMES, CHANCES, RETURNS, WINNER = range(11)
DRAW, PLAYOUT, BOARD = range(11, 14)
"""What goes wrong."""

PRESETS = ("uct", "rave", "auto", "uct_solver", "pn_mcts") if JIT_DISABLED else ("uct", "auto")
UNIFORM = ("uct", "uct_solver") if JIT_DISABLED else ("uct",)
"""Presets whose playouts go by a game's own ``draw`` and ``playout``."""

LENGTH = 7


class Faulty(Rules):
    """Seven plies, of which one is chance; what the record says goes wrong from a ply on."""

    name = "faulty"
    num_distinct_actions = 5
    fields: ClassVar = {
        "ply": np.int64,
        "last": np.int64,
        "fault": np.int64,
        "begins": np.int64,
        "given": np.int64,
        "number": np.float64,
    }
    board_shape = (2, 3)

    def goes_wrong(self, state, fault):
        return state.fault == fault and state.ply >= state.begins

    def player(self, state):
        if state.ply >= LENGTH:
            return TERMINAL
        if self.goes_wrong(state, PLAYER):
            return state.given
        return CHANCE if state.ply == 3 else state.ply % 2

    def legal_actions(self, state, actions):
        for action in range(5):
            actions[action] = action
        if self.goes_wrong(state, ACTION):
            actions[3] = state.given
        if self.goes_wrong(state, SAME):
            actions[3] = actions[state.given]
        if self.goes_wrong(state, OVERRUN):
            for place in range(state.given):
                actions[place] = place % 5
        wrong = self.goes_wrong(state, COUNT) or self.goes_wrong(state, OVERRUN)
        return state.given if wrong else 5

    def chance_outcomes(self, state, actions, probabilities):
        for outcome in range(2):
            actions[outcome] = outcome
            probabilities[outcome] = 0.5
        if state.fault == OUTCOME:
            actions[0] = state.given
        if state.fault == CHANCES:
            probabilities[0] = state.number
        return state.given if state.fault == OUTCOMES else 2

    def play(self, state, action):
        state.ply += 1
        state.last = action

    def returns(self, state, returns):
        won = 1.0 if state.last % 2 else -1.0
        returns[0], returns[1] = won, -won
        if state.fault == RETURNS:
            returns[state.given] = state.number
        if state.fault == WINNER:
            returns[state.given] = 1.0

    def describe_board(self, state, cells):
        for cell in range(6):
            cells[cell] = state.given if state.fault == BOARD else state.ply % 3


class Drawing(Faulty):
    """Draws actions itself."""

    def draw(self, state, stream):
        return state.given if self.goes_wrong(state, DRAW) else state.ply % 5


class Playing(Faulty):
    """Plays to the end itself."""

    def playout(self, state, players, actions, end, stream):
        if end + LENGTH > players.shape[0]:
            return -1
        while state.ply < LENGTH:
            players[end], actions[end] = state.ply % 2, state.ply % 5
            self.play(state, state.ply % 5)
            end += 1
        if state.fault == PLAYER:
            players[end - 1] = state.given
        if state.fault == ACTION:
            actions[end - 1] = state.given
        return state.given if state.fault == PLAYOUT else end


class Placing(Faulty):
    """Takes actions from one list, without chance."""

    placement = True

    def player(self, state):
        if state.ply >= 5:
            return TERMINAL
        return state.given if self.goes_wrong(state, PLAYER) else state.ply % 2


class Given(NamedTuple):
    """Values that a value function gives."""

    first: Annotated[float, "any"] = 0.0
    second: Annotated[float, "any"] = 0.0


@implements(position_value, Given)
def given_values(value, rules, state, returns):
    returns[0], returns[1] = value.first, value.second


def search(draw, rules, *, value=None, begins=(0, 1, 2), presets=PRESETS, **fault):
    """A search of rules whose record says what goes wrong."""
    preset = draw.choice(presets)
    config = SearchConfig.preset(preset).replace(expand_visits=draw.choice((1, 1, 5)))
    if value is not None:
        config = config.replace(playout_moves=draw.choice((0, 2)))
    elif draw.random() < 0.3:
        config = config.replace(threads=2)

    def change(record):
        for name, number in fault.items():
            setattr(record, name, number)
        record.begins = draw.choice(begins)

    state = rules.new_initial_state()
    state.change(change)
    searcher = Searcher(config, seed=draw.randrange(1000), evaluator=value)
    return searcher.search(state, Limit(simulations=300))


HUGE = 2**31 - 1

FAULTS = {
    PLAYER: (2, 3, 7, 127, 128, 100_000, -2, -3, -7),
    ACTION: (5, 99, 100_000, HUGE, -1, -100_000),
    SAME: (0, 2, 4),
    COUNT: (0, -1, 6, 1000, 1_000_000, 2**40, -(2**40)),
    OVERRUN: (6, 100, 1000),
    OUTCOME: (5, 1, -1, HUGE, -HUGE),
    OUTCOMES: (0, -1, 6, 1_000_000, 2**40),
}
NAMES = {
    PLAYER: "player()",
    ACTION: "legal action",
    SAME: "same action as",
    COUNT: "count of actions",
    OVERRUN: "actions beyond the list",
    OUTCOME: "outcome",
    OUTCOMES: "count of outcomes",
}
for fault, values in FAULTS.items():
    for number in values:
        add_kind(
            f"rules {NAMES[fault]} {number}",
            lambda d, f=fault, n=number: search(d, Faulty(), fault=f, given=n),
        )
for number in (0.1, 0.500002, -0.5, 1.5, NAN, INF, 1e308):
    add_kind(
        f"rules probability {number}",
        lambda d, n=number: search(d, Faulty(), fault=CHANCES, number=n),
    )
for place, number in ((0, 5.0), (1, -1.01), (0, NAN), (1, NAN), (0, INF), (1, 1e308), (0, 0.5)):
    add_kind(
        f"rules returns {number} at {place}",
        lambda d, p=place, n=number: search(d, Faulty(), fault=RETURNS, given=p, number=n),
    )
for number in (2, 9, 31, -9):
    add_kind(
        f"rules winner {number}",
        lambda d, n=number: search(d, Faulty(), fault=WINNER, given=n),
        refused=False,
    )
for number in (5, 99, -1, HUGE, -HUGE):
    add_kind(
        f"rules draw() {number}",
        lambda d, n=number: search(d, Drawing(), presets=UNIFORM, fault=DRAW, given=n),
    )
for number in (-2, 1_000_000, 2**40, -(2**40)):
    add_kind(
        f"rules playout() ends {number}",
        lambda d, n=number: search(d, Playing(), presets=UNIFORM, fault=PLAYOUT, given=n),
    )
for fault, number in ((PLAYER, 2), (PLAYER, -1), (ACTION, 5), (ACTION, -1), (ACTION, HUGE)):
    add_kind(
        f"rules playout() {NAMES[fault]} {number}",
        lambda d, f=fault, n=number: search(
            d, Playing(), presets=UNIFORM, fault=f, given=n, begins=(99,)
        ),
    )
for fault, number in ((PLAYER, 2), (ACTION, 99), (ACTION, -1), (COUNT, 0), (COUNT, 6)):
    add_kind(
        f"rules placement {NAMES[fault]} {number}",
        lambda d, f=fault, n=number: search(d, Placing(), fault=f, given=n),
    )
for first, second in ((NAN, 0.0), (5.0, -5.0), (0.0, INF)):
    add_kind(
        f"rules value function {first} {second}",
        lambda d, a=first, b=second: search(d, Faulty(), value=Given(a, b)),
    )


def cells(draw, number):
    """A learned value of a board that has other cells than it says."""
    rules = Faulty()
    weights = np.zeros((2, 1, 6 * 3 + 1), np.float32)
    value = LinearValue(
        str(rules),
        weights,
        utilities=(-1.0, 1.0),
        utility_sum=0.0,
        board=(2, 3, 3),
        shapes=((1, 1),),
    )
    return search(draw, rules, value=value, fault=BOARD, given=number)


for number in (3, 127, -1, -128):
    add_kind(f"rules cell {number}", lambda d, n=number: cells(d, n))


def stated(draw, **attributes):
    """Rules that state what no game has."""
    return search(draw, type("Stated", (Faulty,), attributes)())


STATED = {
    "num_players": (0, -1, 1000, 2.5, "2", None),
    "num_distinct_actions": (0, -5, 2.5, None, 2**40),
    "max_actions": (-5, 2.5),
    "min_utility": (NAN, 2.0, INF, None),
    "max_utility": (NAN, -2.0, -INF, "1"),
    "utility_sum": (NAN, INF, "0"),
}
for name, values in STATED.items():
    for number in values:
        add_kind(f"rules {name} {number}", lambda d, n=name, v=number: stated(d, **{n: v}))
