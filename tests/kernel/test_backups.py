"""Backups: the value of an edge by its statistics, and by the values of nodes."""

import math
from typing import NamedTuple

import numpy as np
import pyspiel
import pytest
from helpers.trees import search_tree

from rave_agents import BatchEvaluator, Limit, SearchConfig, Searcher
from rave_agents.errors import UnsupportedGameError
from rave_agents.kernel.players import TERMINAL
from rave_agents.kernel.selection import seen_node
from rave_agents.kernel.tree import ROOT, UNEXPANDED, edge_rows
from rave_agents.parts import (
    FixedUrgency,
    Node,
    PowerMean,
    ReducedParentValue,
    edge_value,
    implements,
    node_value,
    score,
    unvisited_value,
)


class Best(NamedTuple):
    """A node is worth its best edge, as in max^n."""


@implements(node_value, Best)
def best_edge(backup, search, node):
    best = 0.0
    for edge in edge_rows(search.tree, node):
        if search.tree.edge_visits[edge] > 0:
            best = max(best, edge_value(search.backup, search, node, edge))
    return best


class Quarter(NamedTuple):
    """Every edge is worth a quarter."""


@implements(edge_value, Quarter)
def quarter(backup, search, node, edge):
    return 0.25


def searched(game, simulations=400, *, preset="uct", seed=1, **changes):
    state = pyspiel.load_game(game).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    searcher = Searcher(SearchConfig.preset(preset).replace(**changes), seed=seed)
    return searcher, searcher.search(state, Limit(simulations=simulations))


def values_of(whole):
    """``[edge, player]`` the values that the part keeps."""
    edges = int(whole.arrays.used[1])
    return whole.running.backup.values.reshape(-1, whole.num_players)[:edges]


def assert_backed_up(whole, power):
    """Every edge with visited edges below it holds what they make of it, recomputed by hand."""
    tree, values, checked = whole.arrays, values_of(whole), 0
    for node in range(int(tree.used[0])):
        for edge in edge_rows(tree, node):
            child = int(tree.edge_child[edge])
            if child == UNEXPANDED or tree.node_player[child] == TERMINAL:
                continue
            below = np.array(edge_rows(tree, child))
            n = tree.edge_visits[below].astype(float)
            if n.sum() == 0:
                continue
            mean = (n[:, None] * values[below]).sum(0) / n.sum()
            mover = int(tree.node_player[child])
            expected = mean
            if mover >= 0:
                q = values[below, mover]
                own = ((n * q**power).sum() / n.sum()) ** (1 / power)
                best = below[np.argmax(np.where(n > 0, q, -1))]
                spread = values[best, mover] - mean[mover]
                share = (own - mean[mover]) / spread if spread > 0 else 0.0
                expected = mean + share * (values[best] - mean)
                assert expected[mover] == pytest.approx(own, abs=1e-9)
            backup = whole.running.backup
            ended, ends = backup.end_visits[edge], backup.ends.reshape(-1, whole.num_players)[edge]
            expected = (n.sum() * expected + ended * ends) / (n.sum() + ended)
            assert n.sum() + ended == tree.edge_visits[edge]
            assert values[edge] == pytest.approx(expected.clip(0, 1), abs=1e-9)
            checked += 1
    assert checked >= 5


@pytest.mark.parametrize(
    ("game", "changes"),
    [
        ("connect_four", {}),
        ("connect_four", {"preset": "rave"}),
        ("pig(players=3)", {}),
        ("y(board_size=5)", {"utility_range": "observed"}),
        ("oh_hell(players=3,num_suits=3,num_cards_per_suit=3)", {"hidden": "see"}),
    ],
    ids=str,
)
def test_a_power_mean_holds_at_every_node_of_the_tree(game, changes):
    searcher, _ = searched(game, backup=PowerMean(3.0), **changes)
    assert_backed_up(search_tree(searcher), 3.0)


def test_the_kept_tree_keeps_its_values():
    game = pyspiel.load_game("connect_four")
    searcher = Searcher(SearchConfig(backup=PowerMean(4.0)), seed=1)
    state = game.new_initial_state()
    for action in (3, 3):
        searcher.search(state, Limit(simulations=300))
        state.apply_action(action)
    searcher.search(state, Limit(simulations=300))
    assert_backed_up(search_tree(searcher), 4.0)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_result_has_the_values_of_the_backup(threads):
    game = pyspiel.load_game("tic_tac_toe")
    searcher = Searcher(SearchConfig(backup="best", threads=threads), seed=1)
    result = searcher.search(game.new_initial_state(), Limit(simulations=400))
    trees = [search.tree for search in searcher._trees.searches]
    for place, row in enumerate(result.actions):
        known = [
            (int(whole.arrays.edge_visits[edge]), values_of(whole)[edge, 0])
            for whole in trees
            for edge in [edge_rows(whole.arrays, ROOT)[place]]
        ]
        mean = sum(n * q for n, q in known) / sum(n for n, _ in known)
        assert row.value == pytest.approx(2 * mean - 1)


@pytest.mark.parametrize("preset", ["uct", "rave", "puct", "pn_mcts", "auto"])
def test_whoever_reads_a_value_reads_the_parts(preset):
    _, result = searched("connect_four", 60, preset=preset, backup=Quarter())
    assert {row.value for row in result.actions if row.visits > 0} == {-0.5}


def test_a_power_of_one_is_the_mean_of_the_simulations():
    searcher, _ = searched("hex(board_size=3)", backup="power_mean(p=1)")
    whole = search_tree(searcher)
    assert_backed_up(whole, 1.0)
    tree = whole.arrays
    for edge in edge_rows(tree, ROOT):
        mean = tree.edge_value_sum[edge] / tree.edge_visits[edge]
        assert values_of(whole)[edge, 0] == pytest.approx(mean)


# What a rule knows of the node


class Deep(NamedTuple):
    """A node's value counts the more, the deeper it lies."""


@implements(score, Deep)
def deep(rule, amaf, node, edge):
    return node.value * node.depth - edge.n


def test_an_unvisited_edge_has_its_nodes_value_less_what_is_explored():
    node = Node(N=10.0, term=0.0, value=0.6, depth=2, explored=0.25, edges=4)
    assert unvisited_value(ReducedParentValue(0.2), node, math.inf) == pytest.approx(0.5)
    assert unvisited_value(FixedUrgency(), node, 0.7) == 0.7


def test_a_rule_sees_the_nodes_value_its_depth_and_what_is_explored():
    searcher, _ = searched("connect_four", 200, rule=Deep())
    whole = search_tree(searcher)
    search = whole.search()
    tree = whole.arrays
    child = next(int(c) for c in tree.edge_child[:7] if c != UNEXPANDED)
    for node, depth in ((ROOT, 0), (child, 1)):
        rows = np.array(edge_rows(tree, node))
        visited = tree.edge_visits[rows] > 0
        value = tree.edge_value_sum[rows].sum() / tree.edge_visits[rows].sum()
        seen = seen_node(search, Deep(), node, depth)
        assert seen.value == pytest.approx(value)
        assert seen.explored == pytest.approx(tree.edge_prior[rows][visited].sum())
        assert (seen.depth, seen.N) == (depth, tree.node_visits[node])


def test_first_play_urgency_reduction_leaves_bad_moves_unvisited():
    state = pyspiel.load_game("hex(board_size=9)").new_initial_state()
    tried = {}
    for spec in ("fixed_urgency", "reduced_parent_value(reduction=0.3)"):
        searcher = Searcher(SearchConfig(first_play_value=spec), seed=1)
        result = searcher.search(state, Limit(simulations=60))
        tried[spec[:5]] = sum(row.visits > 0 for row in result.actions)
    assert tried["fixed"] == 59
    assert tried["reduc"] < 59


def test_what_is_proven_of_a_node_is_its_value():
    game = "nim(pile_sizes=1;2)"
    searcher, result = searched(game, 200, preset="pn_mcts", backup=PowerMean(2.0))
    whole = search_tree(searcher)
    rows = zip(edge_rows(whole.arrays, ROOT), result.actions, strict=True)
    proven = {edge: row.outcome for edge, row in rows if row.outcome is not None}
    assert proven
    for edge, outcome in proven.items():
        assert values_of(whole)[edge, 0] == pytest.approx((outcome + 1) / 2)


@pytest.mark.parametrize("backup", ["power_mean", "minimax_backup"])
@pytest.mark.parametrize("game", ["goofspiel(num_cards=3)", "kuhn_poker"])
def test_it_is_refused_where_an_edge_leads_to_several_nodes(game, backup):
    with pytest.raises(UnsupportedGameError, match=f"backup={backup} .* backup=mean_backup"):
        searched(game, 10, backup=backup)


def test_leaves_that_wait_for_an_evaluator_do_not_count():
    def judge(batch):
        mask = batch.legal_actions_mask.astype(float)
        values = np.full((len(mask), 2), 0.5) * [1, -1]
        return mask / mask.sum(1, keepdims=True), values

    state = pyspiel.load_game("connect_four").new_initial_state()
    evaluator = BatchEvaluator(judge, policy="probabilities")
    config = SearchConfig.preset("puct").replace(backup=PowerMean(2.0), leaves=4, expand_visits=1)
    searcher = Searcher(config, seed=1, evaluator=evaluator)
    searcher.search(state, Limit(simulations=40))
    assert values_of(search_tree(searcher))[:7, 0] == pytest.approx(0.75)
