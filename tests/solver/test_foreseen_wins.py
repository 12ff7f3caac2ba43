"""Wins that Hex and Y foresee by bridges, against every line of play."""

import random

import numpy as np
import pytest
from helpers.lines_of_play import played

from rave_agents.errors import ConformanceError
from rave_agents.games.hex import Hex
from rave_agents.games.y import Y
from rave_agents.solver.proof_search import ProofSearch
from rave_agents.testing import check_rules
from rave_agents.testing.more_stones import foreseen_end, foreseen_in_game

BOARDS = [
    Hex(num_cols=3, num_rows=3),
    Hex(num_cols=4, num_rows=3),
    Hex(num_cols=2, num_rows=5),
    Hex(num_cols=4, num_rows=4),
    Y(board_size=4),
    Y(board_size=5),
]


def with_stones(state, player, cells):
    """A position with more stones of a player's."""
    found = state.clone()

    def put(record):
        for cell in cells:
            state.rules.toggle(record, player, cell)

    found.change(put)
    return found


def test_a_stone_in_the_middle_of_a_small_board_has_won():
    state = played(Hex(num_cols=3, num_rows=3), [4])
    assert foreseen_end(state, 0).carrier == [1, 2, 6, 7]
    assert foreseen_end(played(Hex(num_cols=4, num_rows=4), [5]), 0) is None


def test_bridges_that_share_a_cell_are_not_both_kept():
    """The stone's two bridges to the sides, where an opponent's stone leaves one cell of one."""
    state = played(Hex(num_cols=3, num_rows=3), [4, 1])
    assert foreseen_end(state, 0) is None


def test_y_joins_three_sides():
    assert foreseen_end(played(Y(board_size=3), [4]), 0) is not None
    assert foreseen_end(played(Y(board_size=3), [0]), 0) is None


@pytest.mark.full(but=2)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_what_is_foreseen_is_so_even_with_all_other_cells_the_opponents(rules, seed):
    draw = random.Random(f"{rules} {seed}")
    found = 0
    while found < 6:
        for state, foreseen in foreseen_in_game(rules, draw):
            player = 1 - state.current_player()
            found += 1
            assert set(foreseen.carrier) <= set(state.legal_actions())
            others = set(state.legal_actions()) - set(foreseen.carrier)
            for position in (state, with_stones(state, 1 - player, others)):
                search = ProofSearch(position, max_memory_mb=1, all_replies=True)
                assert search.prove(position, player, 1.0)


def test_a_position_that_is_foreseen_takes_no_further_search():
    state = Hex(num_cols=3, num_rows=3).new_initial_state()
    search = ProofSearch(state, max_memory_mb=1)
    assert search.prove(state, 0, 1.0)
    assert search.positions == 1
    every = ProofSearch(state, max_memory_mb=1, all_replies=True)
    assert every.prove(state, 0, 1.0)
    assert every.positions > 1


class TooHopeful(Hex):
    """Whoever has a stone in the first row has won, it says."""

    turns = ()

    def foresee_end(self, state, player, carrier, room):
        return state.lines[player, 0] != 0


def test_check_rules_refuses_wins_that_are_none():
    with pytest.raises(ConformanceError, match="foresee_end"):
        check_rules(TooHopeful(num_cols=3, num_rows=3), games=20, interpreted_games=0)


def test_carriers_are_told_in_words_of_64_cells():
    rules = Hex(num_cols=9, num_rows=9)
    column = 4
    state = rules.new_initial_state()

    def fill(record):
        for row in range(1, 8):
            rules.toggle(record, 0, row * 9 + column)

    state.change(fill)
    assert foreseen_end(state, 0).carrier == [4, 5, 75, 76]
    assert np.ceil(81 / 64) == 2
