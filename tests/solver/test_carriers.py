"""Proofs that leave out replies outside of their carriers, against every line of play."""

import functools
import pickle
import random

import numpy as np
import pytest
from helpers.lines_of_play import after

from rave_agents.analysis.certify import certify
from rave_agents.analysis.solve import solve_position
from rave_agents.certificates.certificate_file import verify_certificate
from rave_agents.errors import ConformanceError
from rave_agents.games.hex import Hex
from rave_agents.games.mnk import MNK
from rave_agents.games.y import Y
from rave_agents.solver.proof_search import ProofSearch
from rave_agents.testing import check_rules

SMALL = [
    Hex(num_cols=3, num_rows=3),
    Hex(num_cols=3, num_rows=4),
    Hex(num_cols=5, num_rows=2),
    Y(board_size=4),
]
"""Games that can be looked at to the last position, with turns and without."""


def truth_of(state, known):
    """Player 0's return under best play, by looking at everything; ``known`` keeps the values."""
    if state.is_terminal():
        return state.returns()[0]
    key = str(state)
    if key not in known:
        best = max if state.current_player() == 0 else min
        values = (truth_of(after(state, action), known) for action in state.legal_actions())
        known[key] = best(values)
    return known[key]


def drawn_position(rules, draw, moves):
    """A position after random moves, in which nobody has won yet."""
    while True:
        state = rules.new_initial_state()
        for _ in range(moves):
            state.apply_action(draw.choice(state.legal_actions()))
            if state.is_terminal():
                break
        else:
            return state


def check_answers(search, state, truths):
    """What the table says of a position and those after it is right, and its actions keep it."""
    for now in [state, *(after(state, action) for action in state.legal_actions())]:
        told = search.answer(now, 0, 1.0)
        if told is None or now.is_terminal():
            continue
        truth = truths(now)
        assert told.proven == (truth == 1.0)
        if told.action is not None:
            assert truths(after(now, told.action)) == truth


@pytest.mark.compiled
@pytest.mark.parametrize("rules", SMALL, ids=str)
@pytest.mark.parametrize("threads", [1, 2])
def test_proofs_are_right_at_every_position(rules, threads):
    draw = random.Random(str(rules))
    truths = functools.partial(truth_of, known={})
    search = ProofSearch(rules.new_initial_state(), max_memory_mb=1, threads=threads)
    for number in range(30):
        state = drawn_position(rules, draw, number % 5)
        assert search.prove(state, 0, 1.0) == (truths(state) == 1.0)
        check_answers(search, state, truths)


@pytest.mark.full
@pytest.mark.parametrize(
    "rules", [Hex(num_cols=9, num_rows=9), Hex(num_cols=12, num_rows=7)], ids=str
)
def test_cells_beyond_one_word_are_carried(rules):
    draw = random.Random(str(rules))
    for _ in range(10):
        state = drawn_position(rules, draw, rules.num_distinct_actions - 6)
        search = ProofSearch(state, max_memory_mb=1)
        assert search.prove(state, 0, 1.0) == (truth_of(state, {}) == 1.0)


@pytest.mark.compiled
@pytest.mark.parametrize("rules", [Hex(num_cols=4, num_rows=4), Y(board_size=4)], ids=str)
def test_carriers_save_positions(rules):
    state = rules.new_initial_state()
    with_carriers = ProofSearch(state, max_memory_mb=8)
    assert with_carriers.prove(state, 0, 1.0)
    assert with_carriers.table.stride == 3
    start = as_plain(rules).new_initial_state()
    plain = ProofSearch(start, max_memory_mb=8)
    assert plain.prove(start, 0, 1.0)
    assert plain.table.stride == 2
    assert with_carriers.positions < 0.7 * plain.positions


def as_plain(rules):
    """The same rules, without a word of more stones."""

    class Plain(type(rules)):
        turns = type(rules).turns

        def setup(self):
            super().setup()
            self.more_stones_never_hurt = False

    return Plain(**rules.parameters)


@pytest.mark.slow
def test_every_reply_at_a_lost_root_is_known():
    state = Hex(num_cols=4, num_rows=4).new_initial_state()
    state.apply_action(6)
    search = ProofSearch(state, max_memory_mb=1)
    assert search.prove(state, 0, 1.0)
    for action in state.legal_actions():
        assert search.answer(after(state, action), 0, 1.0).proven


@pytest.mark.compiled
def test_carriers_are_kept_by_pickles_and_files(tmp_path):
    state = Hex(num_cols=4, num_rows=4).new_initial_state()
    search = ProofSearch(state, max_memory_mb=1)
    assert search.prove(state, 0, 1.0)
    search.save(tmp_path / "table", "hex 4", "rules")
    read = ProofSearch(state, max_memory_mb=1)
    read.load(tmp_path / "table", "hex 4", "rules")
    for copy in (pickle.loads(pickle.dumps(search)), read):
        known = copy.positions
        assert copy.prove(state, 0, 1.0)
        assert copy.positions == known


@pytest.mark.slow
@pytest.mark.parametrize(("place", "number"), [(2, 1 << 16), (1, 16 << 16)], ids=["cell", "move"])
def test_a_file_with_cells_that_no_board_has_is_refused(tmp_path, place, number):
    state = Hex(num_cols=4, num_rows=4).new_initial_state()
    search = ProofSearch(state, max_memory_mb=1)
    assert search.prove(state, 0, 1.0)
    words = search.table.words
    settled = np.flatnonzero(words[2::3])[0] * 3
    words[settled + place] |= np.uint64(number)
    search.save(tmp_path / "table", "hex 4", "rules")
    with pytest.raises(ValueError, match="is damaged"):
        ProofSearch(state, max_memory_mb=1).load(tmp_path / "table", "hex 4", "rules")


@pytest.mark.slow
@pytest.mark.parametrize("rules", SMALL, ids=str)
def test_certificates_answer_replies_that_were_left_out(rules, tmp_path):
    solution = solve_position(rules, max_memory_mb=1)
    certify(tmp_path / "proof", solution, rules)
    assert verify_certificate(tmp_path / "proof", rules).header.statements


class HastyMNK(MNK):
    """Says of a game in which two race for a line that more stones never hurt."""

    name = "hasty_mnk"
    more_stones_never_hurt = True


def test_a_wrong_declaration_is_told():
    with pytest.raises(ConformanceError, match="more_stones_never_hurt is set"):
        check_rules(HastyMNK(m=4, n=4, k=3), interpreted_games=0)
