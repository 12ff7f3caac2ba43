"""How far the bonus of proof numbers is trusted.

Values that contradict it count as far as actions pass; nor is it trusted in placement games.
"""

import copy
from types import SimpleNamespace

import numpy as np
import pyspiel
import pytest
from helpers.trees import find_records

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.kernel.backup import MeanBackup
from rave_agents.kernel.measures.action_persistence import (
    LEFT,
    STILL_LEGAL,
    CountLifetimes,
    Lifetimes,
)
from rave_agents.kernel.measures.root_sums import (
    EARLIER_FIRST,
    EARLIER_SECOND,
    FIRST,
    KEPT,
    SECOND,
    RootSums,
)
from rave_agents.kernel.proofs.trust import (
    LearnedBonusTrust,
    MeasuredTrust,
    bonus_trust,
    compare_with_values,
    compared,
    distrust,
)
from rave_agents.kernel.tree import UNEXPANDED


def tree_of(edges, player=0):
    """A root with such edges: visits, mean value, and whether there is a node behind."""
    visits, means, expanded = (np.array(column) for column in zip(*edges, strict=True))
    return SimpleNamespace(
        used=np.array([1, len(edges), 0, 0]),
        node_player=np.array([player]),
        node_visits=np.array([visits.sum()]),
        node_first_edge=np.array([0]),
        node_edge_count=np.array([len(edges)]),
        edge_visits=visits,
        edge_value_sum=visits * means,
        edge_child=np.where(expanded, 1, UNEXPANDED),
    )


def test_sums_are_of_differences_from_the_nodes_means():
    tree = tree_of([(4, 0.75, True), (4, 0.25, True)])
    # Bonuses 1 and 0, values 0.75 and 0.25: each edge differs by 0.5 and by 0.25, with weight 4.
    assert compared(search_of(tree), np.array([1.0, 0.0])) == (
        pytest.approx(2.0),
        pytest.approx(1.0),
    )


def test_a_mean_counts_for_at_most_ten_visits():
    bonuses = np.array([1.0, 0.0])
    few = compared(search_of(tree_of([(10, 0.75, True), (10, 0.25, True)])), bonuses)
    assert compared(search_of(tree_of([(900, 0.75, True), (90, 0.25, True)])), bonuses) == few


@pytest.mark.parametrize(
    "unknown", [(0, 1.0, True), (5, 1.0, False)], ids=["no visit", "no node behind"]
)
def test_an_edge_of_which_too_little_is_known_does_not_count(unknown):
    known = [(4, 0.75, True), (4, 0.25, True)]
    without = compared(search_of(tree_of(known)), np.array([1.0, 0.0]))
    assert compared(search_of(tree_of([*known, unknown])), np.array([1.0, 0.0, 1.0])) == without


def test_chance_outcomes_do_not_count():
    tree = tree_of([(4, 0.75, True), (4, 0.25, True)], player=-1)
    assert compared(search_of(tree), np.array([1.0, 0.0])) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("squares", "slope", "trust"),
    [(0, 0, 1), (1e6, 0.2, 1), (1e6, -0.05, 1), (1e6, -0.075, 0.5), (1e6, -0.1, 0), (10, -0.2, 1)],
)
def test_trust_falls_with_the_slope_as_far_as_it_is_known(squares, slope, trust):
    assert 1.0 - distrust(squares, squares * slope) == pytest.approx(trust, abs=1e-3)


def search_of(tree, left=0, still_legal=0):
    """A search with such a tree, in which so many of the actions left stayed legal."""
    lifetimes = Lifetimes(
        CountLifetimes(),
        taken=np.zeros(2, np.int64),
        left=np.zeros(3, np.int64),
        chance=np.zeros(1, np.int64),
        trust=np.zeros(1),
    )
    lifetimes.left[[LEFT, STILL_LEGAL]] = left, still_legal
    return SimpleNamespace(tree=tree, lifetimes=lifetimes, backup=MeanBackup())


def seen_of(searcher):
    """A copy of what a search has seen of its bonuses."""
    (seen,) = find_records(searcher._trees.searches[0].tree.running.proofs, MeasuredTrust)
    return copy.deepcopy(seen)


def nothing_seen():
    """What is known of bonuses before the first simulation."""
    measured = RootSums(np.zeros(4), np.zeros(1, np.int64))
    return MeasuredTrust(LearnedBonusTrust(), measured, np.zeros(1))


def test_earlier_roots_are_remembered_the_less_the_longer_ago():
    trust = nothing_seen()
    tree = tree_of([(4, 0.75, True), (4, 0.25, True)])
    for _ in range(3):
        trust.measured.visits[0] = 0  # As the tree does at a new root.
        compare_with_values(trust, search_of(tree), np.array([1.0, 0.0]), idle=False)
    sums = trust.measured.sums
    assert sums.tolist() == pytest.approx([2.0, 1.0, 2.0 * (0.9 + 0.81), 0.9 + 0.81])


@pytest.mark.parametrize(("seen", "looks"), [(5, False), (4, True), (3, True), (0, True)])
def test_the_tree_is_looked_at_when_visits_have_at_least_doubled(seen, looks):
    trust = nothing_seen()
    sums, visits = trust.measured
    visits[0] = seen
    tree = tree_of([(4, 0.75, True), (4, 0.25, True)])
    compare_with_values(trust, search_of(tree), np.array([1.0, 0.0]), idle=False)
    assert (sums[:2].tolist(), visits[0]) == (([2, 1], 8) if looks else ([0, 0], seen))


def test_the_sums_of_a_root_are_kept_when_a_reply_with_much_of_its_tree_is_the_next_root():
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    state.apply_action(0)
    searcher = Searcher(SearchConfig.preset("auto"), seed=2)
    searcher.search(state, Limit(simulations=127))  # Looked at after 64.
    before = seen_of(searcher)
    action = max(searcher.result().actions, key=lambda row: row.visits).action
    searcher.advance(action)
    state.apply_action(action)
    kept = searcher.tree.node_visits[0]
    searcher.search(state, Limit(simulations=1))
    after = seen_of(searcher)
    assert kept > 64
    assert after.measured.visits[0] == kept + 1
    sums = before.measured.sums[[FIRST, SECOND]]
    assert after.measured.sums[[EARLIER_FIRST, EARLIER_SECOND]] == pytest.approx(KEPT * sums)


@pytest.mark.parametrize(
    ("left", "still_legal", "trust"),
    [(0, 0, 0.0), (100, 50, 0.0), (100, 60, 0.5), (100, 90, 1.0)],
    ids=["nothing known", "actions pass", "some pass", "actions last"],
)
def test_lower_values_count_against_a_bonus_as_far_as_actions_pass(left, still_legal, trust):
    measured = nothing_seen()
    measured.measured.sums[[EARLIER_FIRST, EARLIER_SECOND]] = 1e6, -1e6
    tree = tree_of([(4, 0.75, True), (4, 0.25, True)])
    compare_with_values(
        measured, search_of(tree, left, still_legal), np.array([1.0, 0.0]), idle=False
    )
    assert bonus_trust(measured) == pytest.approx(trust)


def played(name, searches):
    """The result of the last of some searches in one game, after each of which its move is made."""
    state = pyspiel.load_game(name).new_initial_state()
    searcher = Searcher(SearchConfig.preset("auto").replace(known=False), seed=1)
    for _ in range(searches):
        result = searcher.search(state, Limit(simulations=200))
        state.apply_action(result.action)
    return result


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "searches", "least", "most"),
    [
        ("checkers", 10, 0.0, 0.5),  # Forcing moves are sacrifices.
        ("hex(board_size=5)", 2, 0.0, 0.1),  # All moves leave as many replies.
        ("mnk(m=6,n=6,k=4)", 2, 0.0, 0.1),
        ("breakthrough(rows=6,columns=6)", 4, 1.0, 1.0),
        ("connect_four", 4, 1.0, 1.0),
        ("lines_of_action", 4, 1.0, 1.0),
    ],
)
def test_proof_numbers_keep_their_weight_where_they_tell_something(name, searches, least, most):
    result = played(name, searches)
    assert least <= result.proof_trust <= most
    assert result.to_dict()["proof_trust"] == result.proof_trust
    told = [line for line in result.remarks if line.startswith("proof numbers trusted")]
    assert len(told) == (result.proof_trust < 1.0)


@pytest.mark.parametrize("name", ["uct_solver", "pn_mcts", "rave"])
def test_a_search_that_learns_no_trust_in_proof_numbers_tells_none(name):
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    result = Searcher(SearchConfig.preset(name), seed=1).search(state, Limit(simulations=20))
    assert result.proof_trust is None
