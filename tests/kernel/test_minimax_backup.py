"""Minimax backups, and best-first minimax: the line of the best moves is searched on."""

import numpy as np
import pyspiel
import pytest
from helpers.exhaustive import Exhaustive
from helpers.games import random_game
from helpers.race import Race
from helpers.spiel import after
from helpers.trees import dump, search_tree

from rave_agents import BatchEvaluator, Limit, SearchConfig, Searcher
from rave_agents.kernel.tree import ROOT, UNEXPANDED, edge_rows
from rave_agents.parts import Judging, MinimaxBackup

CHANCE, TERMINAL = -1, -4

PRESET = SearchConfig.preset("best_first_minimax")
WITHOUT_SOLVER = PRESET.replace(proofs="no_proofs", rule="greedy")


class Drawn:
    """A value that follows from the position alone, for each player; and even priors."""

    def __call__(self, state):
        numbers = np.random.default_rng([7, *state.history]).uniform(-1.0, 1.0, 3)
        return list(numbers[: state.num_players()])


class DrawnLeaves:
    """The same for leaves alone, as OpenSpiel's evaluators have it."""

    def evaluate(self, state):
        return Drawn()(state)

    def prior(self, state):
        if state.current_player() == CHANCE:
            return state.chance_outcomes()
        return [(action, 1 / len(state.legal_actions())) for action in state.legal_actions()]


def searched(state, evaluator, simulations=300, config=PRESET, seed=1):
    searcher = Searcher(config, seed=seed, evaluator=evaluator)
    return searcher, searcher.search(state, Limit(simulations=simulations))


class SlowBestFirst:
    """Unbounded best-first minimax by max^n, written for reading alone."""

    def __init__(self, state):
        self.root = {"state": state, "edges": None, "v": Drawn()(state), "n": 0}

    def simulate(self):
        path = [self.root]
        while path[-1]["edges"]:
            mover = path[-1]["state"].current_player()
            path.append(max(path[-1]["edges"], key=lambda edge: edge["v"][mover]))
            path[-1]["n"] += 1
        leaf = path[-1]
        if not leaf["state"].is_terminal():
            leaf["edges"] = []
            for action in leaf["state"].legal_actions():
                child = leaf["state"].clone()
                child.apply_action(action)
                v = child.returns() if child.is_terminal() else Drawn()(child)
                leaf["edges"].append({"state": child, "edges": None, "v": v, "n": 0})
        for node in reversed(path):
            if node["edges"]:
                mover = node["state"].current_player()
                node["v"] = max(node["edges"], key=lambda edge: edge["v"][mover])["v"]


@pytest.mark.parametrize("players", [2, 3, 1])
def test_without_a_solver_it_is_unbounded_best_first_minimax(players):
    game = random_game(5, num_players=players, width=5, depth=8, whole=False, zero_sum=False)
    slow = SlowBestFirst(game)
    for _ in range(200):
        slow.simulate()
    _, result = searched(game, Drawn(), 200, WITHOUT_SOLVER)
    mover = game.current_player()
    assert [row.visits for row in result.actions] == [edge["n"] for edge in slow.root["edges"]]
    for row, edge in zip(result.actions, slow.root["edges"], strict=True):
        if row.visits > 0:
            assert row.value == pytest.approx(edge["v"][mover], abs=1e-5)
    assert result.action == max(result.actions, key=lambda row: row.visits).action


def backed_up(whole, node, own):
    """The values of a node by those of its leaves; every edge of the tree must have its own.

    An edge without visits counts as the evaluation ``own`` of its node, if there is one.
    """
    tree, backup = whole.arrays, whole.running.backup
    values, ends = (each.reshape(-1, whole.num_players) for each in (backup.values, backup.ends))
    found, unvisited = [], False
    for edge in edge_rows(tree, node):
        child = int(tree.edge_child[edge])
        if tree.edge_visits[edge] == 0:
            unvisited = True
            continue
        expected = ends[edge]
        if child != UNEXPANDED and tree.node_edge_count[child]:
            expected = backed_up(whole, child, ends[edge])
        assert values[edge] == pytest.approx(expected, abs=1e-9)
        found.append(expected)
    found += [own] if (own is not None and unvisited) or not found else []
    return max(found, key=lambda each: each[int(tree.node_player[node])])


@pytest.mark.parametrize("players", [2, 3])
def test_where_leaves_alone_have_values_the_same_holds_at_every_node(players):
    game = random_game(5, num_players=players, width=5, depth=8, whole=False, zero_sum=False)
    searcher, result = searched(game, DrawnLeaves(), 300, WITHOUT_SOLVER)
    whole = search_tree(searcher)
    best = backed_up(whole, ROOT, None)[game.current_player()]
    width = game.max_utility() - game.min_utility()
    assert max(row.value for row in result.actions) == pytest.approx(
        game.min_utility() + best * width
    )
    assert all(row.visits > 0 for row in result.actions)


@pytest.mark.full(but=4)
@pytest.mark.parametrize("evaluator", [Drawn(), DrawnLeaves(), None], ids=["all", "leaves", "none"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [{}, {"whole": False}, {"num_players": 3, "whole": False}])
def test_what_is_solved_has_the_value_of_best_play_whatever_the_evaluator_says(
    seed, kind, evaluator
):
    game = random_game(seed, width=3, depth=5, **kind)
    best = Exhaustive(game.rules).values(())
    _, result = searched(game, evaluator, 3000)
    assert result.outcome is not None
    assert any(tuple(result.outcome) == pytest.approx(each) for each in best)


def test_where_chance_moves_its_mean_is_backed_up():
    game = random_game(2, width=3, depth=5, chance=0.4, whole=False, zero_sum=True)
    (values,) = Exhaustive(game.rules).values(())
    _, result = searched(game, Drawn(), 3000)
    assert result.outcome == pytest.approx(values, abs=1e-6)


def test_a_child_that_is_proven_counts_before_its_first_visit():
    # Every other move of the first player is lost by the evaluator, which is wrong about all.
    state = after("tic_tac_toe", 0, 3, 1, 4)
    _, result = searched(state, lambda state: -1.0, 50)
    assert (result.action, result.outcome) == (2, (1.0, -1.0))


@pytest.mark.full
@pytest.mark.parametrize("config", [PRESET, WITHOUT_SOLVER], ids=["solver", "none"])
def test_compiled_values_grow_the_tree_of_the_same_values_in_python(config):
    from searcher.test_values import Ahead, plain_ahead

    state = Race(goal=4).new_initial_state()
    fast, _ = searched(state, Ahead(), 200, config)
    slow, _ = searched(state, plain_ahead, 200, config)
    assert dump(fast.rooted_tree()) == dump(slow.rooted_tree())


@pytest.mark.parametrize(
    "judging", [Judging(playout_moves=2), Judging(minimax=1.0), Judging(least_expand_visits=1)]
)
def test_uses_of_values_that_it_does_not_make_are_refused(judging):
    with pytest.raises(ValueError, match=r"minimax_backup .* leave out playout_moves"):
        SearchConfig(backup=MinimaxBackup(), judging=judging)


def test_it_explores_if_told_to():
    game = random_game(5, width=5, depth=8, whole=False)
    few = [
        min(row.visits for row in searched(game, Drawn(), 200, config)[1].actions)
        for config in (WITHOUT_SOLVER, PRESET.replace(proofs="no_proofs", c=1.0))
    ]
    assert few[0] < few[1]


def test_leaves_that_wait_for_an_evaluator_of_batches_count_once_they_are_evaluated():
    def judge(batch):
        mask = batch.legal_actions_mask.astype(float)
        return mask / mask.sum(1, keepdims=True), np.full((len(mask), 2), 0.5) * [1, -1]

    state = pyspiel.load_game("connect_four").new_initial_state()
    evaluator = BatchEvaluator(judge, policy="probabilities")
    searcher, result = searched(state, evaluator, 60, WITHOUT_SOLVER.replace(leaves=4))
    backed_up(search_tree(searcher), ROOT, None)
    assert {row.value for row in result.actions} == {0.5}
