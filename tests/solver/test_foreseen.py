"""Wins that rules foresee, against every line of play."""

import random

import numpy as np
import pytest
from helpers.lines_of_play import after, played, wins_within

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.analysis.solve import solve_position
from rave_agents.errors import ConformanceError
from rave_agents.games.breakthrough import Breakthrough
from rave_agents.games.connect_four import ConnectFour
from rave_agents.games.hex import Hex
from rave_agents.games.kit.rules import NO_ACTION
from rave_agents.games.y import Y
from rave_agents.solver.proof_search import ProofSearch
from rave_agents.testing import check_rules
from rave_agents.testing.more_stones import foreseen_end, foreseen_in_game

CONNECT_FOUR = [
    ConnectFour(rows=4, columns=4),
    ConnectFour(rows=4, columns=5),
    ConnectFour(rows=6, columns=3),
    ConnectFour(rows=3, columns=5, x_in_row=3),
    ConnectFour(rows=12, columns=2, x_in_row=3),
    ConnectFour(rows=4, columns=4, x_in_row=2),
    ConnectFour(rows=5, columns=1, x_in_row=3),
]

BREAKTHROUGH = [
    Breakthrough(rows=3, columns=3),
    Breakthrough(rows=4, columns=4),
    Breakthrough(rows=5, columns=3),
    Breakthrough(rows=6, columns=3),
    Breakthrough(rows=7, columns=2),
]

BRIDGES = [
    Hex(num_cols=3, num_rows=3),
    Hex(num_cols=4, num_rows=3),
    Hex(num_cols=2, num_rows=5),
    Hex(num_cols=4, num_rows=4),
    Y(board_size=4),
    Y(board_size=5),
]


@pytest.mark.slow
@pytest.mark.full(but=4)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("rules", [*CONNECT_FOUR, *BREAKTHROUGH], ids=str)
def test_what_is_foreseen_is_so_and_in_so_many_moves(rules, seed):
    draw, found = random.Random(f"{rules} {seed}"), 0
    for _ in range(30):
        for state, foreseen in foreseen_in_game(rules, draw):
            found += 1
            search = ProofSearch(state, max_memory_mb=1, all_replies=True)
            assert search.prove(state, foreseen.winner, 1.0)
            assert wins_within(state, foreseen.winner, foreseen.moves)
    assert found > 0 or rules.board_shape[1] == 1


# Lines of Connect Four


def test_who_can_complete_a_line_wins_with_the_next_move():
    assert foreseen_end(played(ConnectFour(), [0, 6, 0, 6, 0, 5]), 1)[:2] == (0, 1)


def test_two_lines_at_once_are_not_both_blocked():
    assert foreseen_end(played(ConnectFour(), [3, 3, 2, 2, 4]), 0)[:2] == (0, 2)


def test_a_line_that_can_be_blocked_is_not_foreseen():
    assert foreseen_end(played(ConnectFour(), [0, 6, 0, 6, 0]), 0) is None
    assert foreseen_end(played(ConnectFour(), [3, 3, 2]), 0) is None


def test_no_square_lies_above_the_board():
    """Column 0 is full but for its top, above which player 0's pieces would make a line."""
    state = played(ConnectFour(rows=3, columns=1, x_in_row=3), [0, 0])
    assert foreseen_end(state, 1) is None


@pytest.mark.parametrize("rules", CONNECT_FOUR, ids=str)
def test_every_win_in_one_move_is_foreseen(rules):
    draw = random.Random(str(rules))
    for _ in range(20):
        state = rules.new_initial_state()
        while not state.is_terminal():
            player = state.current_player()
            ends = [after(state, column) for column in state.legal_actions()]
            if state.history() and any(end.returns()[player] == 1.0 for end in ends):
                assert foreseen_end(state, 1 - player)[:2] == (player, 1)
            state = draw.choice(ends)


def test_one_column_of_all_bits_has_no_line_to_the_side():
    state = played(ConnectFour(rows=63, columns=1), [0] * 62)
    assert not state.is_terminal()
    assert after(state, 0).returns() == [0.0, 0.0]


# Races of Breakthrough


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
    assert foreseen_end(BREAKTHROUGH[1].new_initial_state(), 1) is None


@pytest.mark.compiled
@pytest.mark.parametrize("rules", BREAKTHROUGH, ids=str)
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


# Bridges of Hex and Y


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
@pytest.mark.parametrize("rules", BRIDGES, ids=str)
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
