"""Positions of Clobber that are sums of groups: what is worth nothing, or the same, is one key."""

import random

import numpy as np
import pytest
from helpers.lines_of_play import told_of, wins

from rave_agents.games.clobber import Clobber
from rave_agents.games.kit.rules import NO_ACTION
from rave_agents.solver.proof_search import ProofSearch


def position(board, to_move=0):
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


def told(board, to_move=0):
    """What tells a position from others: the cells and the number."""
    return told_of(position(board, to_move))


def test_pieces_that_nobody_can_meet_are_nothing():
    assert told("oxox.oo xoxo.x.") != told("oxox... xoxo...")
    assert told("oxox.oo xoxo...") == told("oxox... xoxo...")


def test_pairs_are_counted_two_by_two_wherever_they_are():
    assert told("oxox... ......x ox....o") == told("oxox... ....... .......")
    assert told("ox.ox.. ......x ......o") == told("....... ...xo.. .......")


def test_three_in_a_row_or_around_a_corner_are_the_same():
    assert told("oox.... .......") == told("....oo. .....x.")
    assert told("oox.... .......") != told("xxo.... .......")
    assert told("oox.xxo ....... oxox...") == told("....... ....... oxox...")
    assert told("oxo.... .......") == told("ox..... .......")


def test_who_is_to_move_is_told():
    assert told("ox..... .......", 0) != told("ox..... .......", 1)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(6))
def test_positions_are_worth_what_all_lines_of_play_say(seed):
    draw, rules, known = random.Random(seed), Clobber(rows=4, columns=4), {}
    search = ProofSearch(rules.new_initial_state(), max_memory_mb=1)
    compared = 0
    while compared < 40:
        state = rules.new_initial_state()
        for _ in range(draw.randrange(2, 8)):
            if not state.is_terminal():
                state.apply_action(draw.choice(state.legal_actions()))
        if not state.is_terminal():
            assert search.prove(state, state.current_player(), 1.0) == wins(state, known)
            compared += 1
