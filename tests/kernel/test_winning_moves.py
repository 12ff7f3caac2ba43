"""The proposal of 31 March 2013 on the Computer-go list: its arithmetic."""

import itertools

import pytest
from helpers.games import written_game

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.parts import (
    GRAVE,
    HRAVE,
    NodeAmaf,
    NoWinningMoves,
    VisitedEdges,
    WinningMoves,
)

KINDS = [NodeAmaf(), GRAVE(), HRAVE()]


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


def test_winning_moves_are_counted_only_where_asked_for():
    config = SearchConfig(amaf=NodeAmaf(winning=NoWinningMoves()))
    rows = Searcher(config, seed=1).search(arithmetic_game(), Limit(simulations=10)).actions
    assert {row.winning_move_number for row in rows} == {None}
    assert {row.weighted_win_rate for row in rows} == {0.0}
