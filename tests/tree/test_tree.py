"""The tree's arrays: their size, growth and re-rooting."""

import copy
import pickle

import numpy as np
import pyspiel
import pytest
from helpers.games import random_game, written_game
from helpers.trees import all_arrays, check_tree, dump, search_tree, stored

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.compiler.arrays import EDGE, LANES, NODE, Axis
from rave_agents.kernel import tree as trees
from rave_agents.kernel.tree import ROOT, UNEXPANDED
from rave_agents.parts import UCB1, NoAmaf, NodeAmaf, UCB1Tuned, WinningMoves
from rave_agents.tree.pruning import Pruning


def searched(seed=1, simulations=2000, *, state=None, **changes):
    config = SearchConfig(amaf=NodeAmaf(), expand_visits=1).replace(**changes)
    searcher = Searcher(config, seed=seed)
    state = state or random_game(seed, depth=12, width=8)
    return searcher, searcher.search(state, Limit(simulations=simulations))


@pytest.mark.slow
@pytest.mark.full(but=["rave_pn-4"])
@pytest.mark.parametrize("protocol", [4, pickle.HIGHEST_PROTOCOL])
@pytest.mark.parametrize("preset", ["rave", "grave", "rave_pn"])
def test_a_pickled_tree_holds_the_same_and_grows(preset, protocol):
    searcher = Searcher(SearchConfig.preset(preset), seed=1)
    state = pyspiel.load_game("breakthrough(rows=5,columns=4)").new_initial_state()
    searcher.search(state, Limit(simulations=500))
    grown = search_tree(searcher)
    twin = pickle.loads(pickle.dumps(grown, protocol=protocol))
    for own, other in zip(grown.storage.values(), twin.storage.values(), strict=True):
        assert np.array_equal(own, other, equal_nan=own.dtype.kind == "f")
    twin.storage.resize({Axis.NODE: 10_000, Axis.EDGE: 100_000})
    used = int(grown.arrays.used[NODE])
    assert twin.arrays.capacity[NODE] == 10_000
    assert np.array_equal(grown.arrays.node_visits[:used], twin.arrays.node_visits[:used])


def row_bytes(axis, **changes):
    searcher, _ = searched(simulations=20, **changes)
    return int(search_tree(searcher).storage.row_bytes[axis])


def test_bytes_of_a_node_and_of_an_edge():
    assert row_bytes(NODE) == 13
    assert row_bytes(EDGE, amaf=NoAmaf()) == 24
    assert row_bytes(EDGE) == 40
    assert row_bytes(EDGE, winning=WinningMoves()) == 48
    assert row_bytes(EDGE, winning=WinningMoves(), rule=UCB1Tuned()) == 56


def test_without_amaf_and_winning_moves_there_are_no_arrays_of_them():
    edges = {
        name: sum(
            rows.axis == EDGE for _, rows in all_arrays(searched(simulations=20, **changes)[0])
        )
        for name, changes in {
            "none": {"amaf": NoAmaf()},
            "amaf": {},
            "wins": {"winning": WinningMoves()},
        }.items()
    }
    assert edges == {"none": 5, "amaf": 7, "wins": 9}


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize(("nodes", "edges"), [(10_000, 100_000), (None, 50_000), (5_000, None)])
def test_growth_keeps_everything(nodes, edges):
    searcher, _ = searched(winning=WinningMoves(), rule=UCB1Tuned())
    shown = search_tree(searcher)
    before, rows_before = dump(searcher), stored(searcher)
    used_nodes, used_edges = shown.arrays.used.tolist()[:2]
    sizes = {Axis.NODE: nodes or used_nodes, Axis.EDGE: edges or used_edges}
    shown.storage.resize(sizes)
    assert dump(searcher) == before
    assert stored(searcher) == rows_before
    for axis, size in sizes.items():
        lengths = {len(array) for array, rows in all_arrays(searcher) if rows.axis == axis}
        assert lengths == {size}
        spare = LANES if axis is Axis.EDGE else 0
        assert shown.arrays.capacity[axis] == size - spare


def keep(whole, node):
    Pruning(whole.arrays, whole.storage, whole.running).keep_below(node)


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize("amaf", [NoAmaf(), NodeAmaf()])
@pytest.mark.parametrize("seed", range(5))
def test_keep_subtree_keeps_exactly_the_subtree(amaf, seed):
    searcher, _ = searched(seed, amaf=amaf)
    tree = searcher.tree
    whole = dump(searcher)
    for edge in trees.edge_rows(tree, ROOT):
        child = int(tree.edge_child[edge])
        if child == UNEXPANDED:
            continue
        copied = copy.deepcopy(search_tree(searcher))
        keep(copied, child)
        action = int(tree.edge_action[edge])
        expected = {path[1:]: node for path, node in whole.items() if path[:1] == (action,)}
        assert dump(copied) == expected
        assert copied.arrays.used[NODE] == len(expected)
        check_tree(copied)


@pytest.mark.slow
def test_keep_subtree_of_the_root_changes_nothing():
    searcher, _ = searched()
    before, used = stored(searcher), searcher.tree.used.tolist()
    keep(search_tree(searcher), ROOT)
    assert stored(searcher) == before
    assert searcher.tree.used.tolist() == used


def wide_search(simulations, **changes):
    """A search that spreads over a large game; its state and result too."""
    state = random_game(1, depth=20, width=9, low=0.0, high=5.0)
    changes = {"rule": UCB1(50.0), **changes}
    return state, *searched(state=state, simulations=simulations, **changes)


def test_a_kept_subtree_of_a_tree_too_small_to_forget_makes_room_again():
    state, searcher, result = wide_search(300, max_memory_mb=0.004)
    assert search_tree(searcher).full
    searcher.advance(result.action)
    state.apply_action(result.action)
    kept = int(searcher.tree.used[NODE])
    assert 0 < kept < searcher.search(state, Limit(simulations=100)).nodes


@pytest.mark.slow
def test_a_dropped_tree_makes_room_again():
    """An action that has no node yet drops the whole tree, and with it the full memory."""
    state, searcher, result = wide_search(1000, max_memory_mb=1e-6)
    assert result.memory_full
    tree = searcher.tree
    edge = next(e for e in trees.edge_rows(tree, ROOT) if tree.edge_child[e] == UNEXPANDED)
    searcher.advance(int(tree.edge_action[edge]))
    state.apply_action(int(tree.edge_action[edge]))
    assert searcher.tree is None
    searcher.config = searcher.config.replace(max_memory_mb=64, search_forced_moves=True)
    again = searcher.search(state, Limit(simulations=200))
    assert not again.memory_full
    assert again.nodes > 1


def test_the_root_gets_its_node_whatever_the_budget():
    searcher, result = searched(simulations=50, max_memory_mb=1e-6)
    assert result.root_visits == 50
    assert result.nodes >= 1
    check_tree(searcher)


def test_the_root_gets_its_node_if_it_has_more_actions_than_the_budget_has_edges():
    state = written_game(
        {(): (0, range(600)), **{(a,): [a / 600, 0.0] for a in range(600)}},
        num_distinct_actions=600,
    )
    searcher, result = searched(state=state, simulations=20, max_memory_mb=1e-6)
    assert result.root_visits == 20
    assert searcher.tree.used.tolist() == [1, 600, 0, 0]
    check_tree(searcher)
