"""Planning with Gumbel: the plain algorithm's choices, and what the paper promises."""

import random

import numpy as np
import pyspiel
import pytest
from helpers.games import JointRandomRules, WrittenRules, written_game
from helpers.observed import (
    JointObserved,
    Observed,
    best,
    drawing,
    long_game,
    observed_game,
    read,
    truth_of,
    truthful,
)
from helpers.spiel import after
from helpers.textbook_gumbel import PlainGumbel

from rave_agents import BatchEvaluator, Limit, SearchConfig, Searcher, search_many, self_play
from rave_agents.kernel.gumbel import mixed_value, sequential_halving
from rave_agents.kernel.tree import ROOT
from rave_agents.parts import Gumbel, NodeAmaf, Proofs, RobustChild, Solver

GUMBEL = SearchConfig.preset("gumbel")


def told(seed, history, actions, players):
    """A prior for each action and a value for each player, which follow from the history."""
    draw = random.Random(f"{seed} {history}")
    weights = [draw.random() ** 2 + 0.01 for _ in actions]
    prior = {a: weight / sum(weights) for a, weight in zip(actions, weights, strict=True)}
    return prior, [draw.uniform(-1, 1) for _ in range(players)]


def telling(seed, players):
    def judge(batch):
        policy = np.zeros(batch.legal_actions_mask.shape)
        values = np.zeros((len(policy), players))
        for row, (seen, mask) in enumerate(
            zip(batch.observations, batch.legal_actions_mask, strict=True)
        ):
            actions = np.flatnonzero(mask).tolist()
            prior, values[row] = told(seed, read(seen), actions, players)
            for action, p in prior.items():
                policy[row, action] = p
        return policy, values

    return BatchEvaluator(judge, policy="probabilities")


def searched(state, evaluator, simulations, *, config=GUMBEL, seed=1):
    return Searcher(config, seed=seed, evaluator=evaluator).search(
        state, Limit(simulations=simulations)
    )


def visits(result):
    return [row.visits for row in result.actions]


# Sequential halving


@pytest.mark.parametrize(
    ("simulations", "considered", "expected"),
    [
        (16, 4, [0] * 4 + [1] * 4 + [2, 2, 3, 3, 4, 4, 5, 5]),
        (16, 16, [0] * 16),
        (12, 16, [0] * 12),
        (32, 16, [0] * 16 + [1] * 8 + [2] * 4 + [3] * 4),
        (5, 2, [0, 0, 1, 1, 2]),
        (4, 1, [0, 1, 2, 3]),
        (20, 7, [0] * 7 + [1] * 3 + [2] * 3 + [3, 3, 4, 4, 5, 5, 6]),
    ],
)
def test_simulations_are_shared_out_by_halves(simulations, considered, expected):
    turns = [sequential_halving(k, simulations, considered)[0] for k in range(simulations)]
    assert turns == expected


def test_values_are_completed_by_the_mixed_value():
    assert mixed_value(0.25, 0.0, 0.0, 0.0) == 0.25
    assert mixed_value(0.2, 3.0, 0.3 * 0.8 + 0.1 * 0.4, 0.4) == pytest.approx((0.2 + 3 * 0.7) / 4)


# The plain algorithm


@pytest.mark.full(but=4)
@pytest.mark.parametrize("simulations", [2, 7, 16, 50, 200])
@pytest.mark.parametrize("chance", [0.0, 0.4])
@pytest.mark.parametrize("players", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_a_search_is_that_of_the_plain_form(seed, players, chance, simulations):
    state = observed_game(seed, depth=6, num_players=players, chance=chance, whole=False, width=5)

    def judge(position):
        return told(seed, position.history, sorted(position.legal_actions()), players)

    plain = PlainGumbel(state, judge, seed=seed, simulations=simulations, considered=4)
    config = GUMBEL.replace(max_considered=4)
    result = searched(state, telling(seed, players), simulations, config=config, seed=seed)
    assert {row.action: row.visits for row in result.actions} == plain.root.visits
    improved = plain.improved(plain.root)
    assert {row.action: row.improved for row in result.actions} == pytest.approx(improved, abs=1e-5)
    assert result.action == plain.action


def test_all_below_the_root_is_that_of_the_plain_form():
    state = observed_game(5, depth=7, whole=False)
    plain = PlainGumbel(
        state,
        lambda position: told(5, position.history, sorted(position.legal_actions()), 2),
        seed=5,
        simulations=300,
    )
    searcher = Searcher(GUMBEL, seed=5, evaluator=telling(5, 2))
    searcher.search(state, Limit(simulations=300))

    def compare(node, beside):
        tree = searcher.tree
        first = int(tree.node_first_edge[node])
        for edge in range(first, first + int(tree.node_edge_count[node])):
            action, child = int(tree.edge_action[edge]), int(tree.edge_child[edge])
            assert tree.edge_visits[edge] == beside.visits[action]
            assert tree.edge_value_sum[edge] == pytest.approx(beside.sums[action])
            if child >= 0 and action in beside.children:
                compare(child, beside.children[action])

    compare(ROOT, plain.root)


# What it is for


def bandit(values, low=0.0, high=1.0):
    """A game of one move: each action ends it with its value."""
    nodes = {(): (0, list(range(len(values))))}
    nodes |= {(action,): [value, low + high - value] for action, value in enumerate(values)}
    rules = WrittenRules(nodes, num_distinct_actions=len(values), low=low, high=high)
    return Observed(rules)


def prior_evaluator(prior, value):
    def judge(batch):
        rows = len(batch.players)
        return np.tile(prior, (rows, 1)), np.full((rows, 2), value)

    return BatchEvaluator(judge, policy="probabilities")


@pytest.mark.full
@pytest.mark.parametrize("simulations", [3, 5, 9, 17])
def test_the_chosen_actions_are_worth_more_than_those_of_the_prior(simulations):
    gains = []
    for case in range(10):
        draw = np.random.default_rng(case)
        values, prior = draw.random(8), draw.dirichlet(np.full(8, 0.5))
        state, evaluator = bandit(values), prior_evaluator(prior, values @ prior)
        chosen = [
            values[searched(state, evaluator, simulations, seed=seed).action] for seed in range(40)
        ]
        gains.append(np.mean(chosen) - values @ prior)
    assert min(gains) > -0.03  # The noise of 40 games each.
    assert np.mean(gains) > 0.05


@pytest.mark.parametrize("considered", [4, 16])
def test_the_improved_policy_is_worth_more_than_the_prior_whatever_was_visited(considered):
    for case in range(30):
        draw = np.random.default_rng(case)
        values, prior = draw.random(12), draw.dirichlet(np.full(12, 0.5))
        evaluator = prior_evaluator(prior, values @ prior)
        config = GUMBEL.replace(max_considered=considered)
        result = searched(bandit(values), evaluator, 9, config=config, seed=case)
        improved = np.array([share for _, share in result.training_policy])
        assert improved.sum() == pytest.approx(1.0)
        assert improved @ values >= prior @ values


@pytest.mark.parametrize("simulations", [5, 9, 16])
def test_few_simulations_find_what_the_prior_hides(simulations):
    values = np.full(16, 0.4)
    values[11] = 0.9
    prior = np.full(16, 0.01)
    prior[3] = 0.85
    evaluator = prior_evaluator(prior, 0.4)
    found = [searched(bandit(values), evaluator, simulations, seed=s).action for s in range(40)]
    blind = sum(s == 11 for s in np.random.default_rng(1).choice(16, 40, p=prior))
    assert found.count(11) > blind + simulations // 2


@pytest.mark.parametrize("players", [1, 2, 3])
def test_one_visit_of_each_action_is_enough_where_the_evaluator_tells_the_truth(players):
    config = GUMBEL.replace(gumbel_scale=0.0)
    for seed in range(4):
        state = observed_game(seed, depth=7, num_players=players, whole=False)
        result = searched(state, truthful(state), 1 + len(state.legal_actions()), config=config)
        chosen, _ = best(state.rules, (), truth_of(state.rules))
        assert result.action == chosen


@pytest.mark.slow
@pytest.mark.full(but=["4"])
@pytest.mark.parametrize("leaves", [1, 4])
def test_the_best_action_is_found_where_chance_moves(leaves):
    config = GUMBEL.replace(gumbel_scale=0.0, leaves=leaves)
    for seed in range(4):
        state = observed_game(seed, depth=5, chance=0.5, whole=False, zero_sum=True)
        chosen, values = best(state.rules, (), truth_of(state.rules))
        result = searched(state, truthful(state), 600, config=config, seed=seed)
        assert values[result.action] > values[chosen] - 0.1


def test_it_plays_on_compiled_rules_without_a_network():
    state = after("tic_tac_toe", 0, 3, 1, 4)
    result = Searcher(GUMBEL, seed=1).search(state, Limit(simulations=300))
    assert result.action == 2


# Beside other things


@pytest.mark.parametrize("leaves", [3, 8])
def test_leaves_of_a_batch_are_shared_out_by_the_same_halves(leaves):
    config = GUMBEL.replace(leaves=leaves, max_considered=4)
    result = searched(long_game(), telling(1, 2), 101, config=config)
    counts = [0] * 4
    for k in range(100):
        wanted, _ = sequential_halving(k, 100, 4)
        counts[counts.index(wanted)] += 1
    assert sorted(visits(result)) == sorted(counts)


def test_a_search_beside_others_is_the_same():
    states = [observed_game(seed, whole=False, depth=7) for seed in (1, 2, 3, 4)]
    evaluator = telling(1, 2)
    limit = Limit(simulations=40)
    together = search_many(states, limit, evaluator=evaluator, config=GUMBEL, seed=4)
    alone = search_many(
        states, limit, evaluator=evaluator, config=GUMBEL, seed=4, side_by_side=1, overlap=False
    )
    assert [visits(result) for result in together] == [visits(result) for result in alone]
    assert [result.action for result in together] == [result.action for result in alone]


def test_in_a_kept_tree_the_visits_of_this_search_are_shared_out():
    state = long_game()
    searcher = Searcher(GUMBEL, seed=1, evaluator=telling(1, 2))
    first = searcher.search(state, Limit(simulations=100))
    searcher.advance(first.action)
    state.apply_action(first.action)
    before = searcher.tree.edge_visits[:4].tolist()
    second = searcher.search(state, Limit(simulations=16))
    since = [row.visits - old for row, old in zip(second.actions, before, strict=True)]
    assert second.simulations == sum(since) == 16
    assert sorted(since) == [2, 2, 6, 6]


def test_a_proven_loss_is_never_the_survivor_while_there_is_another():
    state = written_game(
        {(): (0, [0, 1, 2]), (0,): [0.0, 1.0], (1,): [0.0, 1.0], (2,): (1, [0, 1])}
        | {(2, 0): [0.6, 0.4], (2, 1): [0.5, 0.5]}
    )
    state = Observed(state.rules)
    evaluator = prior_evaluator([0.49, 0.49, 0.02] + [0.0] * 7, 0.5)
    blind = GUMBEL.replace(c_scale=0.0, gumbel_scale=0.0)
    solving = blind.replace(proofs=Proofs(solver=Solver()), max_considered=2)
    assert searched(state, evaluator, 4, config=blind).action != 2
    assert searched(state, evaluator, 4, config=solving).action == 2


def test_the_policy_of_self_play_is_the_improved_one():
    examples = list(
        self_play(long_game(), telling(1, 2), games=1, simulations=8, config=GUMBEL, seed=1)
    )
    state = long_game()
    for example in examples:
        assert example.policy.sum() == pytest.approx(1.0)
        assert (example.policy[state.legal_actions()] > 0.0).any()
    counts = examples[0].policy * 7
    assert not np.allclose(counts, np.round(counts))


def test_a_temperature_draws_from_the_improved_policy():
    state = observed_game(3, whole=False, depth=7)
    result = searched(state, telling(3, 2), 60, config=GUMBEL.replace(temperature=1.0))
    shares = [row.probability for row in result.actions]
    assert shares == pytest.approx([row.improved for row in result.actions])


@pytest.mark.parametrize("name", ["kuhn_poker", "matrix_rps", "goofspiel(num_cards=3)"])
def test_games_with_hidden_information_and_simultaneous_moves_are_searched(name):
    state = pyspiel.load_game(name).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    player = 0 if state.is_simultaneous_node() else None
    result = Searcher(GUMBEL, seed=1).search(state, Limit(simulations=60), player=player)
    assert result.action in state.legal_actions(0)


def test_players_who_move_together_choose_by_puct_and_one_alone_by_halving():
    for seed in range(3):
        state = JointObserved(JointRandomRules(seed))
        player = 0 if state.current_player() == -2 else None
        result = Searcher(GUMBEL, seed=1, evaluator=drawing(1)).search(
            state, Limit(simulations=60), player=player
        )
        assert (result.actions[0].improved is None) == (state.current_player() == -2)


# What is refused


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"amaf": NodeAmaf()}, "not with AMAF statistics"),
        ({"threads": 2}, "threads must be 1"),
        ({"final_move": RobustChild()}, "go together"),
        ({"rule": "puct"}, "go together"),
        ({"max_considered": 0}, "max_considered"),
        ({"gumbel_scale": -1.0}, "gumbel_scale"),
        ({"simultaneous": Gumbel()}, "simultaneous"),
    ],
)
def test_what_does_not_go_with_it_is_refused(changes, message):
    with pytest.raises((ValueError, TypeError), match=message):
        GUMBEL.replace(**changes)


def test_time_alone_cannot_be_shared_out():
    searcher = Searcher(GUMBEL, seed=1, evaluator=drawing(1))
    with pytest.raises(ValueError, match="known number of simulations"):
        searcher.search(long_game(), Limit(seconds=0.1))
    with pytest.raises(ValueError, match="known number of simulations"):
        search_many([long_game()], Limit(seconds=0.1), evaluator=drawing(1), config=GUMBEL)
    assert searcher.search(long_game(), Limit(seconds=5, simulations=20)).simulations == 20
