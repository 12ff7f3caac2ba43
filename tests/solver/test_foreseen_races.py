"""Wins that Breakthrough foresees: pieces that nothing can stop, against every line of play."""

import random

import numpy as np
import pytest
from helpers.lines_of_play import wins_within

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.analysis.solve import solve_position
from rave_agents.games.breakthrough import Breakthrough
from rave_agents.games.kit.rules import NO_ACTION
from rave_agents.solver.proof_search import ProofSearch
from rave_agents.testing.more_stones import foreseen_end, foreseen_in_game

BOARDS = [
    Breakthrough(rows=3, columns=3),
    Breakthrough(rows=4, columns=4),
    Breakthrough(rows=5, columns=3),
    Breakthrough(rows=6, columns=3),
    Breakthrough(rows=7, columns=2),
]


def position(board, to_move):
    """A position from rows of ``b``, player 0's pieces, which go down, ``w`` and ``.``."""
    rows = board.split()
    rules = Breakthrough(rows=len(rows), columns=len(rows[0]))
    squares = "".join(rows)
    state = rules.new_initial_state()

    def put(record):
        for player, letter in enumerate("bw"):
            bits = sum(1 << place for place, each in enumerate(squares) if each == letter)
            record.pieces[player] = np.uint64(bits)
        record.to_move = to_move
        record.winner = NO_ACTION

    state.change(put)
    return state


def test_a_piece_that_is_past_all_others_has_won():
    assert foreseen_end(position(".... .... ..b. ...w w...", to_move=0), 1)[:2] == (0, 3)
    assert foreseen_end(position(".... .... ..b. w... ....", to_move=1), 0)[:2] == (0, 4)


def test_who_arrives_first_wins():
    race = ".... w..b .... .... ...."
    assert foreseen_end(position(race, to_move=0), 1)[:2] == (1, 2)
    assert foreseen_end(position(race, to_move=1), 0)[:2] == (1, 1)


def test_nothing_is_foreseen_where_a_piece_can_be_caught_or_stopped():
    assert foreseen_end(position(".... .bb. .... .w.. ....", to_move=1), 0) is None
    assert foreseen_end(position("b.. ... ... w.. ...", to_move=0), 1) is None
    assert foreseen_end(BOARDS[1].new_initial_state(), 1) is None


@pytest.mark.slow
@pytest.mark.full(but=2)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_what_is_foreseen_is_so_and_in_so_many_moves(rules, seed):
    draw, found = random.Random(f"{rules} {seed}"), 0
    while found < 20:
        for state, foreseen in foreseen_in_game(rules, draw):
            found += 1
            search = ProofSearch(state, max_memory_mb=1, all_replies=True)
            assert search.prove(state, foreseen.winner, 1.0)
            assert wins_within(state, foreseen.winner, foreseen.moves)


@pytest.mark.compiled
@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_games_are_worth_the_same_where_nothing_is_foreseen(rules):
    foreseen = solve_position(rules, max_memory_mb=8)
    played_out = solve_position(rules, max_memory_mb=8, all_replies=True)
    assert foreseen.bounds == played_out.bounds
    assert foreseen.positions < played_out.positions


def test_a_search_proves_a_race_as_soon_as_it_sees_it():
    state = position("..... ..... ....b w.... ..... .....", to_move=0)
    result = Searcher(SearchConfig.preset("auto"), seed=1).search(state, Limit(simulations=50))
    assert result.outcome == (1.0, -1.0)


class LosingBreakthrough(Breakthrough):
    """Who arrives loses."""

    name = "losing_breakthrough"
    turns = ("mirrored",)

    def returns(self, state, returns):
        returns[state.winner] = -1.0
        returns[1 - state.winner] = 1.0


def test_rules_made_of_these_foresee_nothing_of_themselves():
    assert not LosingBreakthrough(rows=4, columns=3).foresees
    assert Breakthrough(rows=4, columns=3).foresees
