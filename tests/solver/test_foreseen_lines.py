"""Lines that Connect Four foresees: moves that are forced, against every line of play."""

import random

import pytest
from helpers.lines_of_play import after, played, wins_within

from rave_agents.games.connect_four import ConnectFour
from rave_agents.solver.proof_search import ProofSearch
from rave_agents.testing.more_stones import foreseen_end, foreseen_in_game

BOARDS = [
    ConnectFour(rows=4, columns=4),
    ConnectFour(rows=4, columns=5),
    ConnectFour(rows=6, columns=3),
    ConnectFour(rows=3, columns=5, x_in_row=3),
    ConnectFour(rows=12, columns=2, x_in_row=3),
    ConnectFour(rows=4, columns=4, x_in_row=2),
    ConnectFour(rows=5, columns=1, x_in_row=3),
]


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


@pytest.mark.slow
@pytest.mark.full(but=2)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_what_is_foreseen_is_so_and_in_so_many_moves(rules, seed):
    draw, found = random.Random(f"{rules} {seed}"), 0
    for _ in range(30):
        for state, foreseen in foreseen_in_game(rules, draw):
            found += 1
            search = ProofSearch(state, max_memory_mb=1, all_replies=True)
            assert search.prove(state, foreseen.winner, 1.0)
            assert wins_within(state, foreseen.winner, foreseen.moves)
    assert found > 0 or rules.columns == 1


@pytest.mark.parametrize("rules", BOARDS, ids=str)
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
