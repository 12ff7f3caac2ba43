"""The proposal of 31 March 2013 on the Computer-go list: its arithmetic and its two cases."""

import itertools

import pytest
from helpers.games import Position, written_game

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.parts import (
    GRAVE,
    HRAVE,
    Greedy,
    Linear,
    NodeAmaf,
    NoWinningMoves,
    Stepped,
    VisitedEdges,
    WinningMoves,
)

SAMPLES = 4000

KINDS = [NodeAmaf(), GRAVE(), HRAVE()]


class OrderedRules:
    """Both players take moves of their own until each has made ``turns``; ``won`` tells who wins.

    ``won(moves of player 0, moves of player 1)`` is whether player 0 wins.
    """

    low, high, num_players, num_distinct_actions = 0.0, 1.0, 2, 20

    def __init__(self, moves, turns, won):
        self.moves, self.turns, self.won = moves, turns, won
        self.seats = [player for player in range(2) if moves[player]]

    def player(self, history):
        if len(history) == self.turns * len(self.seats):
            return -4
        return self.seats[len(history) % len(self.seats)]

    def actions(self, history):
        return [a for a in self.moves[self.player(history)] if a not in history]

    def returns(self, history):
        if self.player(history) != -4:
            return [0.0, 0.0]
        won = self.won(*([a for a in history if a in moves] for moves in self.moves))
        return [float(won), float(not won)]


def sampled(state, **changes):
    """{action: statistics} of the root after so many random games from it, and no other choice."""
    config = SearchConfig(amaf=NodeAmaf(), playout_count=SAMPLES).replace(
        **{"winning": WinningMoves(), **changes}
    )
    result = Searcher(config, seed=1).search(state, Limit(simulations=1))
    return {row.action: row for row in result.actions}


def visits(state, action, preset, simulations, seeds=range(12), **changes):
    """Mean share of an action in the root's visits."""
    config = SearchConfig.preset(preset).replace(**changes)
    total = 0
    for seed in seeds:
        result = Searcher(config, seed=seed).search(state, Limit(simulations=simulations))
        total += sum(row.visits for row in result.actions if row.action == action)
    return total / simulations / len(seeds)


# The arithmetic: ten simulations, six of them with B4 at these moves, the first three won.
B4, FILLER = 9, 10
LINES = [(20, 1.0), (25, 1.0), (72, 1.0), (3, 0.0), (30, 0.0), (50, 0.0)]


def arithmetic_game():
    """The first move decides the line; lines 0 to 5 have B4 somewhere, 6 to 8 have not."""
    nodes = {(): (0, range(10)), (B4,): [0.0, 1.0]}
    for line in range(9):
        move_of_b4, value = LINES[line] if line < len(LINES) else (None, 1.0)
        history = (line,)
        for move in range(2, 80):
            action = B4 if move == move_of_b4 else FILLER
            nodes[history] = (0, [action])
            history = (*history, action)
        nodes[history] = [value, 1.0 - value]
    return written_game(nodes, num_distinct_actions=11)


@pytest.mark.full(but=1)
@pytest.mark.parametrize("amaf", KINDS)
def test_the_lists_numbers_are_a_statistic_of_the_roots_move(amaf):
    state = arithmetic_game()
    config = SearchConfig(amaf=amaf._replace(winning=WinningMoves(), edges=VisitedEdges()))
    for seed in itertools.count():
        result = Searcher(config, seed=seed).search(state, Limit(simulations=10))
        row = result.actions[B4]
        # Each line once, by an edge without visits; the first, from the root itself, without B4.
        if row.visits == 0 and row.amaf_visits == 6:
            break
    assert row.amaf_value == 0.5
    assert row.winning_move_number == (20 + 25 + 72) / 3 == 39
    assert row.weighted_win_rate == pytest.approx(0.5 / 39)
    assert row.weighted_win_rate == pytest.approx(0.01282, abs=5e-6)
    # A move of a line itself is always the first one.
    assert {result.actions[line].winning_move_number for line in (0, 1, 2)} == {1.0}
    assert {result.actions[line].winning_move_number for line in (3, 4, 5)} == {None}


# Case 1: A is good at any time, E is critical and must come first. No game is won without A; some
# are won without E, if the opponent overlooks both of his answers until it is too late.
A, E, ANSWERS = 0, 1, {10, 11}


def any_time_or_at_once():
    return Position(
        OrderedRules(
            ([A, E, 2, 3, 4, 5], [*ANSWERS, 12, 13, 14]),
            4,
            lambda ours, theirs: A in ours and (ours[0] == E or not ANSWERS & set(theirs[:3])),
        )
    )


@pytest.mark.full(but=1)
@pytest.mark.parametrize("amaf", KINDS)
def test_winning_move_numbers_rank_the_critical_move_above_the_one_for_any_time(amaf):
    rows = sampled(any_time_or_at_once(), amaf=amaf)
    assert rows[E].winning_move_number < rows[A].winning_move_number
    assert rows[E].weighted_win_rate > 1.1 * rows[A].weighted_win_rate
    assert rows[E].weighted_win_rate == max(row.weighted_win_rate for row in rows.values())


# Case 2: three moves win, in this order only.
B2, B3, C3 = 0, 1, 2


def only_in_order():
    def won(ours, theirs):
        return [a for a in ours if a in (B2, B3, C3)] == [B2, B3, C3]

    return Position(OrderedRules(([B2, B3, C3, 3, 4], []), 4, won))


@pytest.mark.full(but=1)
@pytest.mark.parametrize("amaf", KINDS)
def test_winning_move_numbers_tell_the_order(amaf):
    rows = sampled(only_in_order(), amaf=amaf)
    numbers = [rows[action].winning_move_number for action in (B2, B3, C3)]
    rates = [rows[action].weighted_win_rate for action in (B2, B3, C3)]
    assert numbers[0] < numbers[1] - 0.5 < numbers[2] - 1.0
    assert rates[0] > 1.2 * rates[1] > 1.4 * rates[2]


@pytest.mark.full(but=1)
@pytest.mark.parametrize("amaf", KINDS)
@pytest.mark.parametrize("weighting", [Linear(), Stepped()])
def test_weights_by_distance_tell_the_order(weighting, amaf):
    rows = sampled(only_in_order(), amaf=amaf, weighting=weighting)
    values = [rows[action].amaf_value for action in (B2, B3, C3)]
    assert values[0] > values[1] + 0.01 > values[2] + 0.02


@pytest.mark.slow
def test_the_bias_is_scaled_to_the_siblings():
    """At weight 1 the AMAF values' best goes to the most urgent sibling, the rest in proportion."""
    state = only_in_order()
    rows = sampled(state)
    best = max(row.amaf_value for row in rows.values())
    rate = max(row.weighted_win_rate for row in rows.values())
    blended = {action: best * row.weighted_win_rate / rate for action, row in rows.items()}
    assert max(blended, key=blended.get) == B2
    # With nothing but AMAF to go by, the second simulation takes that very action.
    amaf = NodeAmaf(winning=WinningMoves(weight=1.0))
    config = SearchConfig(rule=Greedy(), amaf=amaf, playout_count=SAMPLES)
    result = Searcher(config, seed=1).search(state, Limit(simulations=2))
    assert [row.action for row in result.actions if row.visits] == [B2]


def test_winning_moves_are_counted_only_where_asked_for():
    rows = sampled(only_in_order(), winning=NoWinningMoves(), playout_count=100)
    assert {row.winning_move_number for row in rows.values()} == {None}
    assert {row.weighted_win_rate for row in rows.values()} == {0.0}
