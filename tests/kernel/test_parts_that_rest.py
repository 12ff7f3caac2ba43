"""Parts of `auto` that rest where the search sees that they cannot pay."""

import copy

import numpy as np
import pyspiel
import pytest
from helpers.trees import find_records

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.kernel.proofs.numbers import Numbers, rest_or_resume
from rave_agents.kernel.proofs.part import QUIET, CheckRefutations
from rave_agents.kernel.tree import UNEXPANDED

AUTO = SearchConfig.preset("auto").replace(known=False)


def searched(name, simulations, config=AUTO, moves=()):
    state = pyspiel.load_game(name).new_initial_state()
    for move in moves:
        state.apply_action(move)
    searcher = Searcher(config, seed=1)
    result = searcher.search(state, Limit(simulations=simulations))
    return result, searcher._trees.searches[0].tree


def numbers_of(tree):
    (numbers,) = find_records(tree.running.proofs, Numbers)
    return numbers


def nodes_per_simulation(tree):
    """New nodes for each simulation, but for the ends of games."""
    players = tree.arrays.node_player[: tree.arrays.used[0]]
    return np.count_nonzero(players >= 0) / tree.arrays.node_visits[0]


@pytest.mark.full
def test_nodes_come_on_the_second_visit_where_amaf_values_are_trusted():
    _, tree = searched("hex(board_size=5)", 600)
    assert nodes_per_simulation(tree) < 0.9
    _, again = searched("hex(board_size=5)", 600, AUTO.replace(amaf=on_first_visits()))
    assert nodes_per_simulation(again) > 0.95


def on_first_visits():
    return AUTO.amaf._replace(trust=AUTO.amaf.trust._replace(expand_visits=1))


@pytest.mark.full
def test_nodes_come_on_the_first_visit_where_they_are_not():
    _, tree = searched("connect_four", 400)
    assert nodes_per_simulation(tree) > 0.95


@pytest.mark.full
def test_proof_numbers_are_kept_only_while_their_bonus_is_trusted():
    result, tree = searched("hex(board_size=5)", 300)
    assert numbers_of(tree).idle[0] == 1
    assert result.proof_number is None
    result, tree = searched("connect_four", 300)
    assert numbers_of(tree).idle[0] == 0
    assert result.proof_number > 0


@pytest.mark.full
def test_numbers_that_are_needed_again_are_those_of_the_whole_tree():
    _, tree = searched("connect_four", 300, moves=[3, 3, 2])
    numbers, search = numbers_of(tree), tree.search()
    expected = copy.deepcopy(numbers)
    nodes, edges = tree.arrays.used[:2]
    inner = np.flatnonzero(tree.arrays.node_edge_count[:nodes] > 0)
    for array in (numbers.proof, numbers.disproof):
        array.reshape(-1, 2)[inner] = 1.0
    numbers.edge_bonus[:edges] = 0.0
    numbers.idle[0] = 1
    rest_or_resume(numbers, search)
    assert numbers.idle[0] == 0
    for name in ("proof", "disproof", "edge_bonus"):
        np.testing.assert_array_equal(getattr(numbers, name), getattr(expected, name))


def patient(patience):
    return AUTO.replace(
        proofs=AUTO.proofs._replace(checks=CheckRefutations(patience=patience)),
        learning=SearchConfig().learning,
        endgame_share=0.0,  # A proven win has no tree.
    )


def terminal_children(tree):
    """Share of the known ends behind edges that no simulation has taken."""
    arrays = tree.arrays
    edges = arrays.used[1]
    child, visits = arrays.edge_child[:edges], arrays.edge_visits[:edges]
    return np.count_nonzero((visits == 0) & (child != UNEXPANDED))


def test_few_new_nodes_are_checked_where_no_ends_are_found_for_long():
    """Othello has no ends near its start; near the end of Tic-Tac-Toe they are everywhere."""
    _, tree = searched("othello", 60, patient(20.0))
    assert tree.running.proofs.facts[QUIET] > 20
    _, tree = searched("tic_tac_toe", 60, patient(1.0), [4, 0, 2])
    assert tree.running.proofs.facts[QUIET] < 60
    assert terminal_children(tree) > 0


@pytest.mark.parametrize("patience", [1.0, float("inf")])
def test_what_is_proven_is_right_however_few_nodes_are_checked(patience):
    """O is to move and has lost: X threatens to win in two ways."""
    result, _ = searched("tic_tac_toe", 400, patient(patience), [4, 1, 0, 8, 3])
    assert result.outcome == (1.0, -1.0)
    assert {row.outcome for row in result.actions} <= {None, -1.0}
