"""The tree's arrays: their size, growth and re-rooting."""

import numpy as np
import pytest
from helpers.games import random_game, written_game
from helpers.trees import check_tree, dump

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.search import tree as trees
from rave_agents.search.tree import ROOT, UNEXPANDED

MEGABYTE = 2**20


def searched(seed=1, simulations=2000, *, state=None, **changes):
    searcher = Searcher(SearchConfig(**{"amaf": "node", "expand_visits": 1, **changes}), seed=seed)
    state = state or random_game(seed, depth=12, width=8)
    return searcher, searcher.search(state, Limit(simulations=simulations))


def test_bytes_of_an_edge():
    tree = trees.allocate(100, 1000, amaf=True, winning_moves=True, squares=True)
    assert trees.edge_bytes(True, True, True) == sum(
        getattr(tree, name).itemsize for name in tree._fields if name.startswith("edge_")
    )
    assert trees.edge_bytes(True, True, True) == 56
    assert trees.edge_bytes(True, True) == 48
    assert trees.edge_bytes(True) == 40
    assert trees.edge_bytes(False) == 24
    for flags in [(True, True, True), (True, True), (True, False), (False, False)]:
        expected = 16 + 100 * trees.NODE_BYTES + 1000 * trees.edge_bytes(*flags)
        assert trees.memory_bytes(trees.allocate(100, 1000, *flags)) == expected


def test_without_amaf_its_arrays_take_nothing():
    with_amaf, without = trees.allocate(10, 100, amaf=True), trees.allocate(10, 100, amaf=False)
    assert trees.has_amaf(with_amaf)
    assert not trees.has_amaf(without)
    assert without.edge_amaf_visits.nbytes == without.edge_amaf_value_sum.nbytes == 0
    trees.grow(without, 20, 200)
    assert not trees.has_amaf(without)
    assert len(without.edge_visits) == 200


def test_without_winning_moves_their_arrays_take_nothing():
    with_wins, without = (trees.allocate(10, 100, True, wins) for wins in (True, False))
    assert trees.has_winning_moves(with_wins)
    assert not trees.has_winning_moves(without)
    trees.grow(with_wins, 20, 200)
    trees.grow(without, 20, 200)
    assert len(with_wins.edge_amaf_wins) == len(with_wins.edge_amaf_win_moves) == 200
    assert without.edge_amaf_wins.nbytes == without.edge_amaf_win_moves.nbytes == 0


@pytest.mark.parametrize(("nodes", "edges"), [(10_000, 100_000), (None, 50_000), (5_000, None)])
def test_growth_keeps_everything(nodes, edges):
    searcher, _ = searched(count_winning_moves=True, selection="ucb1_tuned")
    tree = searcher.tree
    before = dump(tree)
    used_nodes, used_edges = tree.used.tolist()
    trees.grow(tree, nodes or used_nodes, edges or used_edges)
    assert dump(tree) == before
    sizes = {name: len(getattr(tree, name)) for name in tree._fields[1:]}
    assert {sizes[name] for name in sizes if name.startswith("node_")} == {nodes or used_nodes}
    assert {sizes[name] for name in sizes if name.startswith("edge_")} == {edges or used_edges}


@pytest.mark.parametrize("rows", [3, 300])
def test_interrupted_growth_never_promises_room_that_is_not_there(rows, monkeypatch):
    """The loop reads the room from the first array of nodes and of edges."""
    tree = trees.allocate(30, 30, amaf=True, winning_moves=True, squares=True)
    seen = []

    class Watched:
        def __init__(self, array):
            self.array = array

        def __len__(self):
            return len(self.array)

        def resize(self, rows, refcheck):
            self.array.resize(rows, refcheck=refcheck)
            seen.append([len(getattr(tree, name)) for name in tree._fields[1:]])

    watched = trees.Tree(tree.used, *(Watched(array) for array in tree[1:]))
    trees.grow(watched, rows, rows)
    assert len(seen) == len(tree) - 1
    for lengths in seen:
        assert lengths[0] == min(lengths[:4])
        assert lengths[4] == min(lengths[4:])


@pytest.mark.parametrize("amaf", ["none", "node"])
@pytest.mark.parametrize("seed", range(5))
def test_keep_subtree_keeps_exactly_the_subtree(amaf, seed):
    searcher, _ = searched(seed, amaf=amaf)
    tree = searcher.tree
    whole = dump(tree)
    for edge in trees.edge_rows(tree, ROOT):
        child = int(tree.edge_child[edge])
        if child == UNEXPANDED:
            continue
        copy = trees.Tree(*(array.copy() for array in tree))
        trees.keep_subtree(copy, child)
        action = int(tree.edge_action[edge])
        expected = {path[1:]: node for path, node in whole.items() if path[:1] == (action,)}
        assert dump(copy) == expected
        assert copy.used[0] == len(expected)
        check_tree(copy)


def test_keep_subtree_of_the_root_changes_nothing():
    searcher, _ = searched()
    before = [array.copy() for array in searcher.tree]
    used = int(searcher.tree.used[0])
    new_rows, _ = trees.keep_subtree(searcher.tree, ROOT)
    assert new_rows.tolist() == list(range(used))
    for name, old, new in zip(searcher.tree._fields, before, searcher.tree, strict=True):
        rows = int(searcher.tree.used[0 if name.startswith("node_") else 1])
        rows = 2 if name == "used" else rows
        np.testing.assert_array_equal(old[:rows], new[:rows])


def wide_search(simulations, **changes):
    """A search that spreads over a large game; its state and result too."""
    state = random_game(1, depth=20, width=9, low=0.0, high=5.0)
    changes = {"exploration": 50.0, **changes}
    return state, *searched(state=state, simulations=simulations, **changes)


@pytest.mark.parametrize("megabytes", [0.1, 0.3, 1.0])
def test_full_memory_ends_expansion_but_not_the_search(megabytes):
    _, searcher, result = wide_search(12_000, max_memory_mb=megabytes)
    assert result.memory_full
    assert result.root_visits == result.simulations == 12_000
    assert result.memory_bytes <= megabytes * MEGABYTE
    tables = searcher.rooted_tree().tables
    proofs = searcher.rooted_tree().proofs
    assert result.memory_bytes == sum(a.nbytes for a in (*searcher.tree, *tables, *proofs))
    # Most of what may be used is used.
    tree = searcher.tree
    used = tree.used[0] * trees.NODE_BYTES + tree.used[1] * trees.edge_bytes(True)
    assert used > 0.6 * megabytes * MEGABYTE
    check_tree(tree)
    assert result.nodes < wide_search(12_000)[2].nodes


def test_a_kept_subtree_makes_room_again():
    state, searcher, result = wide_search(12_000, max_memory_mb=0.3)
    assert result.memory_full
    searcher.advance(result.action)
    state.apply_action(result.action)
    kept = int(searcher.tree.used[0])
    assert kept < result.nodes
    again = searcher.search(state, Limit(simulations=13_000))
    assert again.nodes > kept
    assert again.memory_bytes <= 0.3 * MEGABYTE
    check_tree(searcher.tree)


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
    check_tree(searcher.tree)


def test_the_root_gets_its_node_if_it_has_more_actions_than_the_budget_has_edges():
    state = written_game(
        {(): (0, range(3000)), **{(a,): [a / 3000, 0.0] for a in range(3000)}},
        num_distinct_actions=3000,
    )
    searcher, result = searched(state=state, simulations=20, max_memory_mb=1e-6)
    assert result.root_visits == 20
    assert searcher.tree.used.tolist() == [1, 3000]
    check_tree(searcher.tree)
