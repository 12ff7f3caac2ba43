"""Proofs by several threads that share a table."""

import copy
import random

import numpy as np
import pytest
from helpers.graphs import GraphRules, GraphState

from rave_agents.analysis.solve import solve_position
from rave_agents.frameworks.own_games import as_game
from rave_agents.games import rules_class
from rave_agents.solver.proof_search import ProofSearch
from rave_agents.solver.table import look_up, make_table, packed_open, packed_settled, store


def search_of(name, threads, **parameters):
    state = as_game(rules_class(name)(**parameters)).new_initial_state()
    return state, ProofSearch(state, max_memory_mb=1, repetition=0.0, threads=threads)


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("loops", [True, False])
def test_proofs_of_random_games_are_right(threads, loops):
    for seed in range(20):
        draw = random.Random(seed)
        rules = GraphRules(seed, nodes=draw.randint(3, 60), loops=loops, values=range(-5, 6))
        repetition = draw.choice([None, -1.0, 0.0, 1.0])
        search = ProofSearch(
            GraphState(rules), max_memory_mb=1, repetition=repetition, threads=threads
        )
        for at_least in (0.0, 1.0):
            truth = rules.forced(0, at_least, repetition)
            assert search.prove(GraphState(rules), 0, at_least) == truth[0]
            for node in range(len(rules.players)):
                known = search.answer(GraphState(rules, node), 0, at_least)
                assert known is None or known.proven == truth[node], (seed, node)


@pytest.mark.full
def test_a_full_table_is_collected():
    state, search = search_of("clobber", 3, rows=4, columns=5)
    assert search.prove(state, 0, 1.0)
    assert (search.megabytes, search.table_share < 0.9) == (1.0, True)
    used = np.count_nonzero(search.table.words[1::2])
    assert search.table.counts[0] == pytest.approx(used, rel=0.01)


def test_an_entry_that_two_threads_have_written_half_each_is_none():
    table, draw = make_table(1), random.Random(1)
    words = [packed_open(3, 4, 5), packed_settled(1, 2, 3, 4), packed_settled(2, 2, 3, 4)]
    with np.errstate(over="ignore"):
        keys = [[np.uint64(draw.getrandbits(64)) for _ in range(2)] for _ in range(2)]
        keys[1][1] = keys[0][1]  # One bucket.
        store(table, *keys[0], words[0])
        place = int(np.flatnonzero(table.words)[0])
        for first, second, word in [(*keys[0], words[1]), (*keys[1], words[2])]:
            before = table.words[place : place + 2].copy()
            for half in range(2):
                table.words[place : place + 2] = before
                table.words[place + half] = (first ^ word, word)[half]
                assert look_up(table, first, second) == 0
                assert look_up(table, *keys[0]) == 0
            table.words[place : place + 2] = before


@pytest.mark.full
def test_the_limit_of_positions_is_that_of_all_threads():
    state, search = search_of("connect_four", 3, rows=6, columns=6)
    assert search.prove(state, 0, 1.0, positions=500) is None
    assert search.positions == 500


@pytest.mark.full
def test_a_table_goes_on_with_another_number_of_threads(tmp_path):
    options = {"max_memory_mb": 1, "table": tmp_path / "proof.table"}
    game = rules_class("connect_four")(rows=4, columns=4)
    first = solve_position(game, positions=3000, threads=3, **options)
    second = solve_position(game, threads=1, **options)
    third = solve_position(game, threads=2, **options)
    assert (first.end, second.end, third.end) == ("positions", "solved", "solved")
    assert second.value == third.value == 0.0
    assert third.positions == 0


@pytest.mark.full
def test_a_copy_goes_on_with_what_is_known():
    state, search = search_of("connect_four", 2, rows=4, columns=4)
    assert search.prove(state, 0, 1.0) is False
    other = copy.deepcopy(search)
    assert other.answer(state, 0, 1.0) == search.answer(state, 0, 1.0)
    assert other.prove(state, 0, 0.0)


def test_an_error_of_the_game_is_raised_and_ends_no_search():
    class Broken(GraphState):
        fails = True

        def legal_actions(self):
            if type(self).fails and self.node > 20:
                raise LookupError(self.node)
            return super().legal_actions()

    rules = GraphRules(1, nodes=60, width=3)
    search = ProofSearch(Broken(rules), max_memory_mb=1, threads=4)
    with pytest.raises(LookupError):
        search.prove(Broken(rules), 0, 1.0)
    Broken.fails = False
    assert search.prove(Broken(rules), 0, 1.0) == rules.forced(0, 1.0)[0]


@pytest.mark.parametrize(
    ("threads", "error"), [(0, ValueError), (257, ValueError), (1.5, TypeError), (True, TypeError)]
)
def test_numbers_of_threads_that_are_not_allowed_are_refused(threads, error):
    with pytest.raises(error, match="threads must be"):
        solve_position("tic_tac_toe", threads=threads)
