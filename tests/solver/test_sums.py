"""Positions of NoGo and Clobber: those of equal worth share a key, and wins are foreseen."""

import random

import numpy as np
import pytest
from helpers.lines_of_play import told_of, wins, wins_within

from rave_agents.games.clobber import Clobber
from rave_agents.games.kit.rules import NO_ACTION
from rave_agents.games.nogo import NoGo
from rave_agents.solver.proof_search import ProofSearch
from rave_agents.testing.more_stones import foreseen_end, foreseen_in_game

SIZES = [NoGo(board_size=size) for size in (2, 3, 4, 5)]


def of_nogo(board, to_move=0):
    """A position from rows of ``x``, Black's stones, ``o`` and ``.``, the last row first."""
    rows = board.split()[::-1]
    rules = NoGo(board_size=len(rows))
    state = rules.new_initial_state()

    def put(record):
        for player, letter in enumerate("xo"):
            for point, content in enumerate("".join(rows)):
                if content == letter:
                    record.player = player
                    rules.play(record, point)
        record.player = to_move

    state.change(put)
    return state


def nogo_told(board, to_move=0):
    """What tells a position from others: the cells and the number."""
    return told_of(of_nogo(board, to_move))


def test_where_the_free_moves_are_is_not_told():
    # Black may fill one of two eyes in each; White none.
    assert nogo_told(".x.x xxxx oooo o.oo") == nogo_told("x.x. xxxx oooo oo.o")
    assert nogo_told(".x.x xxxx oooo o.oo") != nogo_told(".x.x xxxx oooo o.o.")


def test_who_is_to_move_is_told_in_nogo():
    assert nogo_told(".x.x xxxx oooo o.oo", 0) != nogo_told(".x.x xxxx oooo o.oo", 1)


def test_who_has_more_free_moves_wins_whoever_moves():
    board = ".x.x. xxxxx ooooo o.o.o ooooo"
    for to_move in (0, 1):
        assert foreseen_end(of_nogo(board, to_move), 1 - to_move).winner == 0


def test_with_as_many_free_moves_who_moves_first_loses():
    board = ".x.xx xxxxx ooooo o.o.o ooooo"
    for to_move in (0, 1):
        assert foreseen_end(of_nogo(board, to_move), 1 - to_move).winner == 1 - to_move


def test_nothing_is_foreseen_on_an_empty_board():
    assert foreseen_end(SIZES[-1].new_initial_state(), 1) is None


def of_clobber(board, to_move=0):
    """A position from rows of ``o``, player 0's pieces, ``x`` and ``.``."""
    rows = board.split()
    rules = Clobber(rows=len(rows), columns=len(rows[0]))
    squares, state = "".join(rows), rules.new_initial_state()

    def put(record):
        bits = [sum(1 << at for at, each in enumerate(squares) if each == one) for one in "ox"]
        record.pieces[:] = np.array(bits, np.uint64)
        record.to_move, record.winner = to_move, NO_ACTION
        own, other = bits if to_move == 0 else bits[::-1]
        rules.find_moves(record, np.uint64(own), np.uint64(other))

    state.change(put)
    return state


def clobber_told(board, to_move=0):
    """What tells a position from others: the cells and the number."""
    return told_of(of_clobber(board, to_move))


def test_pieces_that_nobody_can_meet_are_nothing():
    assert clobber_told("oxox.oo xoxo.x.") != clobber_told("oxox... xoxo...")
    assert clobber_told("oxox.oo xoxo...") == clobber_told("oxox... xoxo...")


def test_pairs_are_counted_two_by_two_wherever_they_are():
    assert clobber_told("oxox... ......x ox....o") == clobber_told("oxox... ....... .......")
    assert clobber_told("ox.ox.. ......x ......o") == clobber_told("....... ...xo.. .......")


def test_three_in_a_row_or_around_a_corner_are_the_same():
    assert clobber_told("oox.... .......") == clobber_told("....oo. .....x.")
    assert clobber_told("oox.... .......") != clobber_told("xxo.... .......")
    assert clobber_told("oox.xxo ....... oxox...") == clobber_told("....... ....... oxox...")
    assert clobber_told("oxo.... .......") == clobber_told("ox..... .......")


def test_who_is_to_move_is_told_in_clobber():
    assert clobber_told("ox..... .......", 0) != clobber_told("ox..... .......", 1)


@pytest.mark.compiled
@pytest.mark.full(but=2)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("rules", SIZES[1:], ids=str)
def test_what_is_foreseen_is_so_and_in_so_many_moves(rules, seed):
    draw, found = random.Random(f"{rules} {seed}"), 0
    while found < 20:
        for state, foreseen in foreseen_in_game(rules, draw):
            if foreseen.moves <= 7:
                found += 1
                assert wins_within(state, foreseen.winner, foreseen.moves)


@pytest.mark.compiled
@pytest.mark.full(but=2)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("rules", [*SIZES, Clobber(rows=4, columns=4)], ids=str)
def test_positions_are_worth_what_all_lines_of_play_say(rules, seed):
    draw, known = random.Random(f"{rules} {seed}"), {}
    search = ProofSearch(rules.new_initial_state(), max_memory_mb=1)
    clobber = isinstance(rules, Clobber)
    lengths = range(2, 8) if clobber else range(max(1, rules.points - 9), rules.points)
    compared = 0
    while compared < 40:
        state = rules.new_initial_state()
        for _ in range(draw.choice(lengths)):
            if not state.is_terminal():
                state.apply_action(draw.choice(state.legal_actions()))
        if not state.is_terminal():
            assert search.prove(state, state.current_player(), 1.0) == wins(state, known)
            compared += 1
