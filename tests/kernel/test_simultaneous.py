"""Simultaneous moves: hand-written games, final moves, memory, re-rooting, what is refused."""

import numpy as np
import pytest
from helpers.games import joint_game, joint_random_game, matrix_game, random_game
from helpers.trees import dump_joint, growing_bytes

from rave_agents import GameError, Limit, SearchConfig, Searcher, UnsupportedGameError
from rave_agents.agents.state_agents import RandomAgent
from rave_agents.compiler.arrays import CHILD
from rave_agents.game.game_state import is_simultaneous, legal_actions_of, moving_players
from rave_agents.kernel.amaf.report import AmafStatistics
from rave_agents.kernel.proofs.report import EdgeProof
from rave_agents.parts import (
    UCB1,
    AllPlayers,
    MatrixEquilibrium,
    NodeAmaf,
    RandomTies,
    SearchingPlayer,
    TiesWithin,
)
from rave_agents.results.final_move import root_statistics, worst_values
from rave_agents.results.matrix_equilibrium import matched_strategy, shrunk_means
from rave_agents.results.root import Root, RootMove
from rave_agents.tree.joint_positions import JointVisits

PRESETS = ("uct", "rave", "grave", "rave_maximin", "regret_matching", "exp3")


def search(state, preset="uct", simulations=500, *, player=0, seed=1, **changes):
    searcher = Searcher(SearchConfig.preset(preset).replace(**changes), seed=seed)
    return searcher, searcher.search(state, Limit(simulations=simulations), player=player)


def mix(state, preset, simulations, player=0, **changes):
    result = search(state, preset, simulations, player=player, **changes)[1]
    return np.array([probability for _, probability in result.policy])


@pytest.mark.slow
@pytest.mark.full(but=["rave"])
@pytest.mark.parametrize("preset", PRESETS)
def test_a_pure_equilibrium_is_found_from_both_seats(preset):
    # Row 1 and column 1: whoever leaves it loses by that.
    game = matrix_game([[0, -2, 3], [4, 1, 2], [-1, -3, 5]])
    for player in (0, 1):
        policy = mix(game, preset, 1500, player)
        assert policy.argmax() == 1
        assert policy[1] > 0.9


def test_the_average_strategy_leaves_out_what_was_explored():
    result = search(matrix_game([[1, 1], [0, 0]]), "exp3", 1000)[1]
    assert result.actions[1].visits > 100  # Exp3 goes on exploring.
    assert result.policy[1][1] < 0.02


@pytest.mark.full
def test_a_tolerance_for_ties_keeps_decoupled_uct_from_going_in_step():
    game, worst = matrix_game(BIASED), {}
    for ties in (RandomTies(), TiesWithin(tolerance=0.01)):
        policy = mix(game, "uct", 3000, temperature=1, ties=ties, rule=UCB1(c=0.7))
        worst[type(ties)] = min(policy @ BIASED)
    assert worst[TiesWithin] > worst[RandomTies] + 4


SCISSORS = [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]
BIASED = [[0, -25, 50], [25, 0, -5], [-50, 5, 0]]


@pytest.mark.slow
@pytest.mark.full(but=["in-short"])
@pytest.mark.parametrize(
    ("payoffs", "equilibrium", "simulations", "distance", "changes"),
    [
        (SCISSORS, [1 / 3] * 3, 2000, 0.06, {}),
        ([[1, -1], [-1, 1]], [1 / 2, 1 / 2], 10_000, 0.03, {}),
        (SCISSORS, [1 / 3] * 3, 10_000, 0.03, {}),
        (BIASED, [1 / 16, 10 / 16, 5 / 16], 30_000, 0.04, {}),
        ([[0, -2, 3], [4, 1, 2], [-1, -3, 5]], [0, 1, 0], 1500, 0.1, {"amaf": NodeAmaf()}),
        (SCISSORS, [1 / 3] * 3, 60_000, 0.05, {"amaf": NodeAmaf(), "seed": 4}),
    ],
    ids=["in-short", "pennies", "scissors", "biased", "pure, with AMAF", "scissors, with AMAF"],
)
@pytest.mark.parametrize("player", [0, 1])
def test_regret_matching_converges(payoffs, equilibrium, simulations, distance, changes, player):
    policy = mix(matrix_game(payoffs), "regret_matching", simulations, player, **changes)
    assert abs(policy - equilibrium).sum() / 2 < distance


@pytest.mark.slow
def test_ten_players_of_whom_some_have_one_action():
    players = range(10)
    nodes = {(): {player: [0, 1] if player % 2 == 0 else [3] for player in players}}

    class Majority(dict):
        def __missing__(self, history):
            ones = sum(history[0][0::2])
            won = float(ones >= 3)
            return [won if action == 1 else 1.0 - won for action in history[0]]

    state = joint_game(Majority(nodes), num_players=10)
    searcher, result = search(state, "rave", 500, player=4)
    assert [row.action for row in result.actions] == [0, 1]
    tree = searcher.rooted_tree()
    assert 0 < tree.arrays.used[CHILD] <= 9 * 500
    rows, joint = dump_joint(tree)[()]
    assert [row[0] for row in rows] == list(players)
    assert sum(n for n, _, _ in joint.values()) == 499
    assert result.joint is None


def test_the_table_grows_with_what_is_visited():
    size = 60
    game = matrix_game(
        [[(3 * row + 5 * column) % 7 for column in range(size)] for row in range(size)]
    )
    searcher, _ = search(game, simulations=200)
    assert searcher.tree.used[CHILD] <= 200 < size * size


@pytest.mark.full
@pytest.mark.parametrize("preset", PRESETS)
def test_memory_is_bounded_and_counted(preset):
    state = joint_random_game(3, width=4, depth=30, num_players=3, together=0.9)
    player = moving_players(state)[0] if is_simultaneous(state) else state.current_player()
    searcher, result = search(state, preset, 1000, player=player, max_memory_mb=0.015)
    assert result.memory_full
    assert result.simulations == 1000
    assert 0.0075 * 2**20 < result.memory_bytes <= 0.015 * 2**20
    assert result.memory_bytes == growing_bytes(searcher)


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("seed", range(4))
def test_a_kept_subtree_is_what_it_was(preset, seed):
    state = joint_random_game(seed, width=3, depth=8, num_players=3, together=0.8, chance=0.2)
    while not is_simultaneous(state) or len(moving_players(state)) < 2:
        seed += 10
        state = joint_random_game(seed, width=3, depth=8, num_players=3, together=0.8, chance=0.2)
    searcher, _ = search(state, preset, 600, player=moving_players(state)[0], expand_visits=1)
    tree = searcher.rooted_tree()
    before = dump_joint(tree)
    joint = max(before[()][1], key=lambda actions: before[()][1][actions][0])
    full = [0] * 3
    for player, action in zip(moving_players(state), joint, strict=True):
        full[player] = action
    searcher.advance(full)
    after = dump_joint(searcher)
    width = len(joint)
    kept = {path[width:]: value for path, value in before.items() if path[:width] == joint}
    assert after == kept
    assert len(after) > 1
    # And it goes on growing: the places of the hash table are right.
    child = searcher.root
    if not child.is_terminal() and not child.is_chance_node():
        player = moving_players(child)[0] if is_simultaneous(child) else child.current_player()
        searcher.search(child, Limit(simulations=900), player=player)


def known(action, visits, value_sum):
    return RootMove(action, visits, value_sum, 0.5, AmafStatistics(), EdgeProof())


def test_maximin_and_replies_with_few_visits():
    moves = (known(0, 110, 55.0), known(1, 100, 60.0), known(2, 4, 4.0))
    joint = (
        JointVisits((0, 0), 60, (33.0, 27.0)),  # 0.55
        JointVisits((0, 1), 50, (22.0, 28.0)),  # 0.44: the worst
        JointVisits((1, 0), 98, (60.0, 38.0)),
        JointVisits((1, 1), 2, (0.0, 2.0)),  # bad, but seen twice
        JointVisits((2, 0), 4, (4.0, 0.0)),
    )
    root = Root(moves, 214, 0.0, 1.0, player=0, place=0, joint=joint)
    assert worst_values(root, 0) == {0: 0.44, 1: 0.0, 2: 1.0}
    worst = worst_values(root, 10)
    assert worst[0] == pytest.approx((22 + 5) / 60)
    assert worst[1] == pytest.approx((0 + 6) / 12)  # as if seen ten times more, at 0.6
    assert worst[2] == -np.inf  # seldom played itself


def mixed(joint, visits=0.0, num_players=2, temperature=0.0, threshold=0.1, action=1):
    """The shares of two actions at a root with these joint actions, a hundred visits each."""
    moves = (known(0, 100, 50.0), known(1, 200, 100.0))
    part = MatrixEquilibrium(visits=visits, threshold=threshold, fewest=1.5)
    config = SearchConfig(final_move=part, temperature=temperature)
    root = Root(moves, 300, 0.0, 1.0, num_players=num_players, player=0, place=0, joint=joint)
    return [row.probability for row in root_statistics(root, config)]


def pair(first, second, mean, visits=100):
    """A joint action and its mean for player 0; the sum of both players' values is 1."""
    return JointVisits((first, second), visits, (mean * visits, (1 - mean) * visits))


PENNIES = (pair(0, 0, 1.0), pair(0, 1, 0.0), pair(1, 0, 0.0), pair(1, 1, 0.5))
"""The first action has probability p with 1 p = 0.5 (1 - p)."""


def test_the_equilibrium_of_the_matrix_of_means():
    assert mixed(PENNIES) == pytest.approx([1 / 3, 2 / 3], abs=0.02)
    assert mixed(PENNIES, threshold=0.6) == [0.0, 1.0]
    # The second action is better against each reply.
    dominated = (pair(0, 0, 0.5), pair(0, 1, 0.2), pair(1, 0, 0.6), pair(1, 1, 0.3))
    assert mixed(dominated) == [0.0, 1.0]


def test_elsewhere_the_most_visited_action_is_played():
    assert mixed(()) == [0.0, 1.0]
    assert mixed(PENNIES, num_players=3) == [0.0, 1.0]
    assert mixed((JointVisits((1,), 100, (50.0, 50.0)),)) == [0.0, 1.0]
    few = [row._replace(visits=1, value_sums=(0.5, 0.5)) for row in PENNIES]
    assert mixed((*few[:3], PENNIES[3]._replace(visits=2))) == [0.0, 1.0]
    assert mixed(PENNIES, temperature=1.0) == pytest.approx([1 / 3, 2 / 3])  # By visits.


def test_few_visits_of_a_joint_action_do_not_decide():
    # Six and two visits with the means 0.5 and 1: all in all 5 of 8.
    joint = (pair(0, 0, 0.5, 3), pair(0, 1, 0.5, 3), pair(1, 0, 1.0, 2))
    sums, visits = np.array([[1.5, 1.5], [2.0, 0.0]]), np.array([[3.0, 3.0], [2.0, 0.0]])
    found = shrunk_means(sums, visits, 2.0)
    mean = 5 / 8
    rows, columns = [(3 + 2 * mean) / 8, (2 + 2 * mean) / 4], [(3.5 + 2 * mean) / 7, 2.75 / 5]
    assert found[1, 1] == pytest.approx(rows[1] + columns[1] - mean)  # Never tried.
    assert found[1, 0] == pytest.approx((2 + 2 * (rows[1] + columns[0] - mean)) / 4)
    assert mixed(joint, visits=2.0) == [0.0, 1.0]


@pytest.mark.parametrize("seed", range(5))
def test_no_reply_gains_much_against_the_equilibrium(seed):
    payoffs = np.random.default_rng(seed).random((4, 6))
    row, column = matched_strategy(payoffs, -payoffs.T), matched_strategy(-payoffs.T, payoffs)
    assert (payoffs @ column).max() - (row @ payoffs).min() < 0.03


def test_auto_mixes_where_players_move_together():
    state = matrix_game([[1.0, 0.0], [0.0, 0.5]])
    found = search(state, "auto", 400, regrets="no_regrets")[1]
    assert dict(found.policy)[0] == pytest.approx(1 / 3, abs=0.05)
    sure = search(state, "auto", 400, regrets="no_regrets", final_move="robust_child")[1]
    assert sorted(share for _, share in sure.policy) == [0.0, 1.0]


@pytest.mark.slow
def test_amaf_takes_no_part_where_its_trust_is_learned():
    state = joint_random_game(3)
    without = search(state, "auto", 300, amaf="no_amaf")[1]
    result = search(state, "auto", 300)[1]
    assert result.actions == without.actions
    assert result.amaf_trust is None
    assert search(state, "auto", 300, amaf="node_amaf")[1].actions != without.actions


@pytest.mark.slow
def test_maximin_plays_the_best_worst_case():
    # Row 0 is best on average against a random column, row 1 whatever the column is.
    game = matrix_game([[10, 10, -10], [1, 1, 1]])
    assert search(game, "rave_maximin", 2000)[1].action == 1


def test_results_show_the_joint_table():
    result = search(matrix_game([[1, -1], [-1, 1]]), "regret_matching", 400, player=1)[1]
    assert sum(map(sum, result.joint.visits)) == 400 - 1
    assert result.joint.opponent == 0
    for row, values in enumerate(result.joint.values):
        for column, value in enumerate(values):
            assert value == (-1.0 if row == column else 1.0)
    text = str(result)
    assert "against player 0" in text
    assert "p0:1" in text
    assert "against player 0" in result._repr_html_()
    assert result.to_dict()["joint"]["values"] == [list(row) for row in result.joint.values]
    assert len(result.principal_variation) == 2
    assert result.principal_variation_names[1] == f"p1:{result.action}"


def test_only_the_own_nodes_heed_amaf():
    state = joint_random_game(8, width=4, depth=8, num_players=2, together=1.0)
    while moving_players(state) != [0, 1]:
        state = joint_random_game(state.rules.seed + 1, width=4, depth=8, together=1.0)
    results = {
        type(players): search(state, "rave", 200, players=players, search_forced_moves=True)[0]
        for players in (SearchingPlayer(), AllPlayers())
    }
    trees = [s.rooted_tree() for s in results.values()]
    assert dump_joint(trees[0]) != dump_joint(trees[1])


@pytest.mark.parametrize("preset", ["uct_solver", "pn_mcts", "rave_pn", "pn_mcts_fsu"])
def test_there_is_no_solver_for_simultaneous_moves(preset):
    with pytest.raises(UnsupportedGameError, match="no solver and there are no proof numbers"):
        search(matrix_game([[1, -1], [-1, 1]]), preset)


@pytest.mark.parametrize("preset", ["regret_matching", "exp3"])
def test_mixed_strategies_are_for_simultaneous_moves(preset):
    with pytest.raises(UnsupportedGameError, match="is for simultaneous moves"):
        Searcher(SearchConfig.preset(preset)).search(random_game(1), Limit(simulations=5))


@pytest.mark.parametrize(
    ("player", "error", "message"),
    [
        (None, ValueError, "pass player, one of"),
        (2, ValueError, r"one who has a legal action here, \[0, 1\]: got 2"),
        (True, TypeError, "player must be an integer or None"),
        ("0", TypeError, "player must be an integer or None"),
    ],
)
def test_whose_move_to_choose_must_be_clear(player, error, message):
    with pytest.raises(error, match=message):
        search(matrix_game([[1, -1], [-1, 1]]), player=player)


def test_where_one_player_moves_no_other_can_be_searched_for():
    state = random_game(1)
    mover = state.current_player()
    with pytest.raises(ValueError, match=f"player must be {mover}"):
        search(state, player=1 - mover)


@pytest.mark.parametrize(
    ("actions", "message"),
    [(0, "one action of each player"), ([0], "2 in all"), ([0, 7], "Action 7 of player 1")],
)
def test_advance_takes_one_action_of_each_player(actions, message):
    searcher, _ = search(matrix_game([[1, -1], [-1, 1]]))
    with pytest.raises(ValueError, match=message):
        searcher.advance(actions)
    assert searcher.tree is not None


def test_a_game_that_breaks_the_interface_is_told():
    class Nobody(type(matrix_game([[1, 0], [0, 1]]))):
        def legal_actions(self, player=None):
            return [] if self.history else super().legal_actions(player)

    state = Nobody(matrix_game([[1, 0], [0, 1]]).rules)
    state.rules.nodes[((0, 0),)] = {0: [1], 1: [1]}
    with pytest.raises(GameError, match="empty for every player"):
        search(state)


def test_legal_actions_of_any_player():
    state = matrix_game([[1, -1, 0], [-1, 1, 0]])
    assert list(legal_actions_of(state, 1)) == [0, 1, 2]
    agent = RandomAgent(1, seed=1)
    assert {agent.step(state) for _ in range(50)} == {0, 1, 2}
