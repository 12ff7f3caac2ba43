"""Leaves judged in batches: the same trees as one at a time, the truth where it is told."""

import copy
import math
import random
import threading
import time

import numpy as np
import pyspiel
import pytest
from helpers.games import TERMINAL, JointRandomRules, RandomRules, WrittenRules, random_game
from helpers.observed import (
    JointObserved,
    Observed,
    Single,
    best,
    drawing,
    long_game,
    observed_game,
    read,
    truth_of,
    truthful,
)
from helpers.trees import check_tree, dump, positions_judged, stored
from rave_openspiel import OpenSpielState

from rave_agents import (
    BatchEvaluator,
    GameError,
    Limit,
    SearchConfig,
    Searcher,
    UnsupportedGameError,
    search_many,
)
from rave_agents.kernel.tree import ROOT
from rave_agents.parts import DirichletNoise, NodeAmaf, Proofs, Solver

PUCT_CONFIG = SearchConfig.preset("puct")
TRIES_ALL = PUCT_CONFIG.replace(first_play_urgency=np.inf)


def searched(state, evaluator, simulations=300, *, config=PUCT_CONFIG, seed=1, player=None):
    searcher = Searcher(config, seed=seed, evaluator=evaluator)
    return searcher, searcher.search(state, Limit(simulations=simulations), player=player)


def taken(state, *actions):
    state = state.clone()
    for action in actions:
        state.apply_action(action)
    return state


# The trees


@pytest.mark.full(but=3)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "config",
    [
        PUCT_CONFIG,
        PUCT_CONFIG.replace(amaf=NodeAmaf()),
        PUCT_CONFIG.replace(proofs=Proofs(solver=Solver())),
    ],
    ids=["puct", "rave", "solver"],
)
def test_batches_of_one_grow_the_tree_of_an_evaluator_that_judges_one_at_a_time(seed, config):
    players = 2 + seed % 2
    state = observed_game(seed, depth=7, num_players=players)
    batched, _ = searched(state, drawing(seed, players), config=config)
    single, _ = searched(state, Single(seed), config=config.replace(expand_visits=1))
    assert dump(batched) == dump(single)


@pytest.mark.full(but=2)
@pytest.mark.parametrize("leaves", [1, 5])
@pytest.mark.parametrize("chance", [0.0, 0.4])
def test_no_simulation_is_lost_and_nothing_is_left_of_those_that_waited(leaves, chance):
    state = observed_game(3, depth=9, chance=chance, width=5)
    searcher, result = searched(state, drawing(3), config=PUCT_CONFIG.replace(leaves=leaves))
    assert result.simulations == 300
    check_tree(searcher, judged=True)
    assert sum(row.visits for row in result.actions) == 299


def test_a_search_fills_its_batches_but_for_the_root_and_the_last_one():
    sizes = []
    state = observed_game(2, depth=14, width=5)
    searched(state, drawing(2, sizes=sizes), 50, config=PUCT_CONFIG.replace(leaves=8))
    assert sizes[0] == 1
    assert set(sizes[1:-1]) == {8}
    assert sum(sizes) <= 50


@pytest.mark.parametrize("leaves", [1, 8])
def test_equal_seeds_grow_equal_trees(leaves):
    state, config = observed_game(5, depth=9, chance=0.3), PUCT_CONFIG.replace(leaves=leaves)
    one, _ = searched(state, drawing(5), config=config)
    other, _ = searched(state, drawing(5), config=config)
    assert stored(one) == stored(other)


def test_a_full_tree_is_searched_on_with_leaves_that_get_no_nodes():
    state = observed_game(8, depth=14, width=6, chance=0.4)
    config = PUCT_CONFIG.replace(max_memory_mb=0.004, leaves=3)
    _, result = searched(state, drawing(8), 600, config=config)
    assert result.memory_full
    assert result.simulations == 600
    assert sum(row.visits for row in result.actions) >= 590


def test_a_tree_is_kept_and_led_on():
    state = observed_game(9, depth=10, width=3)
    searcher, result = searched(state, drawing(9), 200)
    searcher.advance(result.action)
    kept = searcher.tree.node_visits[ROOT]
    result = searcher.search(taken(state, result.action), Limit(simulations=200))
    assert kept > 0
    assert (result.simulations, result.root_visits) == (200, 200 + kept)


def test_a_searcher_is_copied_with_its_tree():
    state = observed_game(9, depth=10, width=3)
    searcher, result = searched(state, drawing(9), 100)
    other = copy.copy(searcher)
    for each in (searcher, other):
        each.advance(result.action)
    after = taken(state, result.action)
    again = [each.search(after, Limit(simulations=200)) for each in (searcher, other)]
    assert again[0].actions == again[1].actions
    assert again[0].root_visits == again[1].root_visits > 200


def test_noise_is_mixed_into_the_priors_of_the_root():
    state = observed_game(4, depth=9, width=5)
    config = PUCT_CONFIG.replace(root_noise=DirichletNoise(epsilon=0.5, alpha=0.3))
    plain, _ = searched(state, drawing(4), 50)
    noised, _ = searched(state, drawing(4), 50, config=config)
    assert dump(plain)[()][2][0][1] != dump(noised)[()][2][0][1]


# The truth


@pytest.mark.full(but=4)
@pytest.mark.parametrize(
    ("players", "own"), [(2, True), (2, False), (1, True), (3, False), (4, False)]
)
@pytest.mark.parametrize("seed", range(4))
def test_first_values_are_the_truth_that_the_evaluator_tells(seed, players, own):
    """Every action's first visit brings its value, that of the player who chooses."""
    options = {"zero_sum": True} if players == 2 else {"num_players": players}
    state = observed_game(seed, depth=7, whole=False, **options)
    count = len(state.legal_actions())
    _, result = searched(state, truthful(state, own=own), 1 + count, config=TRIES_ALL)
    chosen, values = best(state.rules, (), truth_of(state.rules))
    assert result.action == chosen
    assert {row.action: row.value for row in result.actions} == pytest.approx(values, abs=1e-6)


@pytest.mark.slow
@pytest.mark.full(but=["0-1", "1-4"])
@pytest.mark.parametrize("leaves", [1, 4])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_action_is_found_where_chance_moves(seed, leaves):
    rules = {"chance": 0.5, "whole": False, "num_players": 2 + seed % 2, "zero_sum": seed % 2 == 0}
    state = observed_game(seed, depth=5, **rules)
    chosen, values = best(state.rules, (), truth_of(state.rules))
    config = PUCT_CONFIG.replace(c=2.0, leaves=leaves)
    _, result = searched(state, truthful(state), 1500, config=config)
    assert values[result.action] > values[chosen] - 0.1


@pytest.mark.parametrize("leaves", [1, 4])
def test_the_value_of_a_chance_node_is_the_mean_of_what_follows(leaves):
    nodes = {(): (0, [0, 1]), (0,): [(0, 0.25), (1, 0.75)], (1,): [(0, 0.5), (1, 0.5)]}
    for path, value in [((0, 0), 1.0), ((0, 1), 0.0), ((1, 0), 0.25), ((1, 1), 0.125)]:
        nodes |= {path: (1, [3]), (*path, 3): (0, [2]), (*path, 3, 2): [value, 1.0 - value]}
    state = Observed(WrittenRules(nodes))
    config = PUCT_CONFIG.replace(c=2.0, leaves=leaves)
    _, result = searched(state, truthful(state), 1500, config=config)
    assert [row.value for row in result.actions] == pytest.approx([0.25, 0.1875], abs=0.03)
    assert result.action == 0


@pytest.mark.parametrize("leaves", [1, 4])
def test_a_draw_is_worth_the_middle(leaves):
    state = observed_game(11, depth=5, low=0.0, high=0.0)
    _, result = searched(state, truthful(state), 40, config=PUCT_CONFIG.replace(leaves=leaves))
    assert result.value == 0.0


def test_rewards_on_the_way_count_beside_what_is_still_expected():
    class Paid(Observed):
        """Each action pays its number at once; what comes later counts half."""

        def collected(self):
            return [float(sum(self.history))], 0.5 ** len(self.history)

    state = Paid(observed_game(1, depth=5, width=3, num_players=1, stated=False).rules)

    def judge(batch):
        return np.zeros(batch.legal_actions_mask.shape), np.full(len(batch.players), 8.0)

    count = len(state.legal_actions())
    _, result = searched(state, BatchEvaluator(judge), 1 + count, config=TRIES_ALL)
    assert {row.action: row.value for row in result.actions} == pytest.approx(
        {action: action + 4.0 for action in state.legal_actions()}
    )


# Players who move at the same time


@pytest.mark.parametrize("players", [2, 3])
def test_each_of_those_who_move_at_the_same_time_has_a_row(players):
    state = JointObserved(JointRandomRules(4, num_players=players, depth=7, chance=0.2))
    player = next(p for p in range(players) if state.legal_actions(p) or not state.rules.joint(()))
    player = player if state.rules.joint else None
    rows = []

    def judge(batch):
        rows.extend(batch.players.tolist())
        assert batch.observations[:, -1].tolist() == batch.players.tolist()
        return np.zeros(batch.legal_actions_mask.shape), np.zeros((len(batch.players), players))

    while state.current_player() != -2:
        state.apply_action(state.legal_actions()[0])
    player = next(iter(state.rules.joint(state.history)))
    _, result = searched(state, BatchEvaluator(judge), 200, player=player)
    assert result.simulations == 200
    assert set(rows) == set(range(players))


# Many searches side by side


@pytest.mark.slow
@pytest.mark.full(but=["3-True"])
@pytest.mark.parametrize("overlap", [True, False])
@pytest.mark.parametrize("side_by_side", [1, 3, 64])
def test_searches_side_by_side_find_what_each_finds_alone(side_by_side, overlap):
    states = [observed_game(seed, depth=9, chance=0.2) for seed in range(5)]
    together = search_many(
        states,
        Limit(simulations=30),
        evaluator=drawing(7),
        seed=5,
        side_by_side=side_by_side,
        overlap=overlap,
    )
    alone = [alone_at(states, index) for index in range(len(states))]
    assert [result.actions for result in together] == [result.actions for result in alone]
    assert [result.action for result in together] == [result.action for result in alone]


def alone_at(states, index):
    """The result at one place, where nothing runs beside it."""
    same = [states[index]] * len(states)
    return search_many(same, Limit(simulations=30), evaluator=drawing(7), seed=5, side_by_side=1)[
        index
    ]


def test_batches_of_searches_side_by_side_are_full_until_the_last_searches_end():
    sizes = []
    search_many(
        [long_game()] * 12,
        Limit(simulations=20),
        evaluator=drawing(2, sizes=sizes, cache=False),
        seed=1,
        side_by_side=4,
        overlap=False,
    )
    assert sum(sizes) == 12 * 20
    assert sizes == [4] * 60


EVEN = BatchEvaluator(
    lambda batch: (np.zeros(batch.legal_actions_mask.shape), np.zeros(len(batch.players)))
)


def openings(*games):
    return [pyspiel.load_game(game).new_initial_state() for game in games]


def joint_and_others():
    class Seen(Observed):
        def observation(self, player):
            return np.append(super().observation(player), np.float32(player))

    joint = JointObserved(JointRandomRules(1, depth=8, width=4, together=1.0))
    rules = (RandomRules(seed, depth=8, width=4) for seed in range(40))
    return [Seen(next(each for each in rules if each.player(()) == 0)), *[joint] * 7]


SHAPES = "observations of one shape, and as many actions"


@pytest.mark.full(but=4)
@pytest.mark.parametrize(
    ("states", "player", "message"),
    [
        (lambda: openings("tic_tac_toe", "connect_four", "connect_four"), None, SHAPES),
        (lambda: openings("hex(board_size=9)", "hex(board_size=3)"), None, SHAPES),
        (
            lambda: [observed_game(1, depth=8), observed_game(1, depth=8, high=1000.0)],
            None,
            "All states must have the same utilities",
        ),
        (joint_and_others, 0, "one player moves at a time in all states"),
    ],
)
def test_states_that_do_not_fit_one_batch_are_refused(states, player, message):
    with pytest.raises(ValueError, match=message):
        search_many(states(), Limit(simulations=20), evaluator=EVEN, side_by_side=4, player=player)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_values_must_be_finite_where_utilities_are_unknown(value):
    evaluator = BatchEvaluator(
        lambda b: (np.zeros(b.legal_actions_mask.shape), np.full((len(b.players), 2), value))
    )
    with pytest.raises(GameError, match="no finite number in row 0"):
        searched(observed_game(1, stated=False), evaluator)


SEVERAL = SearchConfig.preset("puct").replace(leaves=8)


@pytest.mark.parametrize("seed", range(6))
def test_scales_that_change_move_no_visits_that_have_no_value(seed):
    """Ends of games widen the scale while other simulations wait."""
    rules = RandomRules(
        seed, depth=8, width=4, low=-300.0, high=1000.0, stated=False, whole=False, zero_sum=True
    )

    def value(history):
        if rules.player(history) == TERMINAL:
            return rules.returns(history)[0]
        return random.Random(f"{seed} {history}").uniform(-1.0, 1.0)

    def judge(batch):
        values = np.array([value(read(seen)) for seen in batch.observations])
        return np.zeros(batch.legal_actions_mask.shape), np.stack([values, -values], axis=1)

    searcher = Searcher(SEVERAL, seed=seed, evaluator=BatchEvaluator(judge))
    result = searcher.search(Observed(rules), Limit(simulations=200))
    sign = 1 if rules.player(()) == 0 else -1
    told = sign * sum(row.visits * row.value for row in result.actions)
    ended = positions_judged(searcher.rooted_tree())
    total = sum(count * value(history) for history, count in ended if history)
    assert told == pytest.approx(total)


def test_states_may_come_one_by_one():
    states = openings("tic_tac_toe", "tic_tac_toe")
    results = search_many(iter(states), Limit(simulations=5), evaluator=EVEN, seed=1)
    assert len(results) == 2
    assert search_many([], Limit(simulations=5), evaluator=EVEN) == []
    with pytest.raises(TypeError, match="states must be positions in a list, got"):
        search_many(states[0], Limit(simulations=5), evaluator=EVEN)


def test_the_error_of_one_state_says_which_it_is():
    states = openings("tic_tac_toe", "tic_tac_toe")
    while not states[1].is_terminal():
        states[1].apply_action(states[1].legal_actions()[0])
    with pytest.raises(ValueError, match="The game is over") as raised:
        search_many(states, Limit(simulations=5), evaluator=EVEN)
    assert raised.value.__notes__ == ["It is the state at place 1, from 0."]


@pytest.mark.parametrize(
    ("policy", "greatest", "others"),
    [("logits", 1e39, 0.0), ("probabilities", 1e39, 1.0), ("probabilities", 1e-50, 1e-90)],
)
def test_a_policy_may_have_numbers_beyond_single_precision(policy, greatest, others):
    def sure_of_3(batch):
        given = np.full(batch.legal_actions_mask.shape, others)
        given[:, 3] = greatest
        return given, np.zeros(len(given))

    evaluator = BatchEvaluator(sure_of_3, policy=policy)
    _, result = searched(*openings("connect_four"), evaluator, simulations=20)
    assert result.action == 3
    assert dict(result.training_policy)[3] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("games", "size"), [(6, 6), (300, 150)])
def test_few_searches_of_a_compiled_game_are_judged_in_one_batch_many_in_two(games, size):
    sizes = set()

    def judge(batch):
        sizes.add(len(batch.players))
        return np.zeros(batch.legal_actions_mask.shape), np.zeros(len(batch.players))

    state = OpenSpielState(pyspiel.load_game("tic_tac_toe").new_initial_state())
    search_many(
        [state] * games,
        Limit(simulations=3),
        evaluator=BatchEvaluator(judge, cache=False),
        seed=1,
        side_by_side=games,
    )
    assert sizes == {size}


def test_half_of_the_searches_simulate_while_the_evaluator_has_the_others():
    threads, simulating = set(), set()
    told = drawing(2)

    def judge(batch):
        threads.add(threading.current_thread())
        time.sleep(0.002)
        return told(batch)

    class Watched(Observed):
        def apply_action(self, action):
            simulating.add(threading.current_thread())
            time.sleep(0.0001)
            super().apply_action(action)

    search_many(
        [Watched(observed_game(2, depth=9).rules)] * 6,
        Limit(simulations=20),
        evaluator=BatchEvaluator(judge, policy="probabilities"),
        seed=1,
    )
    assert threads == {threading.current_thread()}  # Whose settings are the caller's.
    assert simulating - threads


# What is refused


def answering(given=None, values=None, **options):
    def judge(batch):
        zeros = np.zeros(batch.legal_actions_mask.shape), np.zeros(len(batch.players))
        return (
            zeros[0] if given is None else given(batch),
            zeros[1] if values is None else values(batch),
        )

    return BatchEvaluator(judge, **options)


ZERO_SUM = observed_game(1, depth=8, zero_sum=True)


@pytest.mark.parametrize(
    ("evaluator", "message"),
    [
        (answering(lambda b: np.zeros(3)), r"policy of shape \(1, 6\).*got \(3,\)"),
        (answering(lambda b: np.zeros((1, 5))), r"policy of shape \(1, 6\).*got \(1, 5\)"),
        (answering(values=lambda b: np.zeros((1, 3))), r"values of shape .*got \(1, 3\)"),
        (answering(lambda b: np.full((1, 6), np.nan)), "gave nan in the policy's row 0"),
        (answering(lambda b: np.full((1, 6), np.inf)), "gave inf in the policy's row 0"),
        (answering(lambda b: np.full((1, 6), -np.inf)), "no legal action a probability"),
        (
            answering(lambda b: ~b.legal_actions_mask / 1.0, policy="probabilities"),
            "all of it is on illegal actions",
        ),
        (
            answering(lambda b: -1.0 * b.legal_actions_mask, policy="probabilities"),
            "gave a probability of -1",
        ),
        (answering(values=lambda b: np.full(1, np.nan)), "no finite number in row 0"),
        (answering(values=lambda b: np.full(1, 1.5)), "value 1.5: values must lie from -1 to 1"),
        (answering(values=lambda b: ["high"]), "values as an array of numbers"),
        (answering(lambda b: np.full((1, 6), 1j)), "array of numbers"),
        (answering(lambda b: [[1.0], [1.0, 2.0]]), "is no array"),
        (answering(lambda b: {0: 1.0}), "array of numbers"),
        (BatchEvaluator(lambda b: None), "must return two arrays"),
        (BatchEvaluator(lambda b: np.zeros((1, 6))), "must return two arrays"),
    ],
)
def test_a_bad_answer_is_refused_at_the_first_batch(evaluator, message):
    with pytest.raises(GameError, match=message):
        searched(ZERO_SUM, evaluator)
    with pytest.raises(GameError, match=message):
        search_many([ZERO_SUM] * 1, Limit(simulations=9), evaluator=evaluator)


@pytest.mark.parametrize("rules", [{"num_players": 3}, {"num_players": 2}])
def test_the_value_of_one_player_says_nothing_of_others_without_a_constant_sum(rules):
    with pytest.raises(GameError, match="return values of shape"):
        searched(observed_game(1, depth=8, **rules), answering())


def test_values_out_of_range_by_rounding_are_taken():
    _, result = searched(ZERO_SUM, answering(values=lambda b: np.full(len(b.players), 1.0 + 1e-6)))
    assert result.simulations == 300


@pytest.mark.parametrize("leaves", [1, 4])
@pytest.mark.parametrize("after", [0, 1, 20])
def test_an_exception_of_the_evaluator_is_raised_as_it_is_and_the_tree_is_whole(after, leaves):
    told, calls = drawing(2), []
    error = ZeroDivisionError("of the network")

    def judge(batch):
        calls.append(1)
        if len(calls) == after + 1:
            raise error
        return told(batch)

    config = PUCT_CONFIG.replace(leaves=leaves)
    state = long_game()
    evaluator = BatchEvaluator(judge, policy="probabilities")
    searcher = Searcher(config, seed=1, evaluator=evaluator)
    with pytest.raises(ZeroDivisionError) as raised:
        searcher.search(state, Limit(simulations=200))
    assert raised.value is error
    if after > 0:
        check_tree(searcher, judged=True)
        visits = 1 + leaves * (after - 1)
        assert sum(row.visits for row in searcher.result().actions) == visits - 1
    again = searcher.search(state, Limit(simulations=200))
    assert again.simulations == 200


@pytest.mark.parametrize("overlap", [True, False])
def test_searches_side_by_side_raise_what_the_evaluator_raises(overlap):
    def judge(batch):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        search_many(
            [observed_game(2)] * 5,
            Limit(simulations=9),
            evaluator=BatchEvaluator(judge),
            overlap=overlap,
        )


def test_a_state_without_observations_is_refused():
    with pytest.raises(UnsupportedGameError, match=r"has no observation\(player\)"):
        searched(random_game(1), drawing(1))


def test_observations_of_several_sizes_are_refused():
    class Growing(Observed):
        def observation(self, player):
            return np.zeros(1 + len(self.history))

    with pytest.raises(GameError, match=r"observation of player \d has 2 numbers"):
        searched(Growing(ZERO_SUM.rules), answering())


def test_several_leaves_are_refused_where_players_move_at_the_same_time():
    state = JointObserved(JointRandomRules(4))
    while state.current_player() != -2:
        state.apply_action(state.legal_actions()[0])
    player = next(iter(state.rules.joint(state.history)))
    with pytest.raises(UnsupportedGameError, match="leaves=2 is for games with alternating moves"):
        searched(state, drawing(1), config=PUCT_CONFIG.replace(leaves=2), player=player)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: BatchEvaluator(3), TypeError, "function must be a callable"),
        (lambda: BatchEvaluator(len, policy="logit"), ValueError, "Did you mean 'logits'"),
        (
            lambda: search_many([ZERO_SUM], Limit(simulations=2), evaluator=Single(1)),
            TypeError,
            "search_many needs an evaluator of batches",
        ),
        (
            lambda: search_many([ZERO_SUM], 5, evaluator=answering()),
            TypeError,
            "limit must be a rave_agents.Limit",
        ),
        (
            lambda: search_many(
                [ZERO_SUM], Limit(simulations=2), evaluator=answering(), side_by_side=0
            ),
            ValueError,
            "side_by_side must be an integer of at least 1",
        ),
        (
            lambda: search_many(
                [ZERO_SUM],
                Limit(simulations=2),
                evaluator=answering(),
                config=PUCT_CONFIG.replace(level=3),
            ),
            ValueError,
            "level=3 decides the simulations",
        ),
    ],
)
def test_bad_arguments_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
