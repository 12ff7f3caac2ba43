"""The search tree as nodes, next to OpenSpiel's own."""

import re

import numpy as np
import pyspiel
import pytest
from helpers.spiel import after
from open_spiel.python.algorithms import mcts
from rave_openspiel import RaveBot, SearchNode, UCTBot

SIMULATIONS = 300


def stock_root(state, solve=False):
    random = np.random.RandomState(2)
    evaluator = mcts.RandomRolloutEvaluator(1, random)
    bot = mcts.MCTSBot(
        state.get_game(), 1.4, SIMULATIONS, evaluator, solve=solve, random_state=random
    )
    return bot.mcts_search(state)


def our_root(state, kind=UCTBot, **parameters):
    bot = kind(state.get_game(), simulations=SIMULATIONS, seed=2, **parameters)
    return bot.mcts_search(state)


ROOTS = {
    "stock": stock_root,
    "uct": our_root,
    "rave": lambda state: our_root(state, RaveBot),
    "rave, expanding at once": lambda state: our_root(state, RaveBot, expand_visits=1),
}


def walk(node, state, depth=0):
    """A script as people write it for the stock bot's tree: every node and its position."""
    yield node, state, depth
    for child in node.children:
        following = state.clone()
        following.apply_action(child.action)
        yield from walk(child, following, depth + 1)


def test_a_bot_that_asks_the_exact_solver_shows_the_tree_of_a_search():
    state = after("tic_tac_toe", 0, 3, 1, 4)
    root = our_root(state, endgame_share=0.9)
    assert root.explore_count == SIMULATIONS
    assert root.best_child().action == 2


@pytest.fixture(params=ROOTS.values(), ids=ROOTS)
def root_of(request):
    return request.param


@pytest.mark.parametrize("name", ["tic_tac_toe", "hex(board_size=3)"])
def test_a_script_that_walks_the_stock_tree_walks_ours(root_of, name):
    state = after(name)
    root = root_of(state)
    assert (root.action, root.player, root.prior, root.outcome) == (None, 0, 1, None)
    assert root.explore_count == SIMULATIONS
    assert sum(child.explore_count for child in root.children) == SIMULATIONS - 1
    for node, at, _ in walk(root, state):
        if node.children:
            assert sorted(c.action for c in node.children) == sorted(at.legal_actions())
            assert {c.player for c in node.children} == {at.current_player()}
            assert sum(c.prior for c in node.children) == pytest.approx(1.0)
        assert abs(node.total_reward) <= node.explore_count
        if node.outcome is not None:
            assert at.is_terminal()
            assert list(node.outcome) == at.returns()
            assert node.total_reward == pytest.approx(
                node.explore_count * node.outcome[node.player]
            )


def test_a_script_that_prints_the_stock_tree_prints_ours(root_of):
    state = after("tic_tac_toe")
    root = root_of(state)
    line = (
        r" *\S+: player: [01], prior: \d\.\d{3}, value: [ -]\d\.\d{3}, sims: +\d+, "
        r"outcome: (none|[ -]\d\.\d), +\d+ children"
    )
    lines = [str(root), root.to_str(), root.to_str(state)]
    lines += root.children_str(state).splitlines() + root.children_str().splitlines()
    assert len(lines) == 3 + 9 + 9
    for text in lines:
        assert re.fullmatch(line, text), text
    assert any(text.startswith("x(1,1): player: 0") for text in lines)


def test_the_best_child_is_printed_first(root_of):
    root = root_of(after("tic_tac_toe"))
    best = root.best_child()
    assert root.children_str().splitlines()[0] == str(best)
    assert best.explore_count == max(child.explore_count for child in root.children)


def test_a_line_is_the_stock_bots_to_the_letter():
    state = after("tic_tac_toe", 0, 3, 1, 4)
    ours = our_root(state)
    stock = mcts.SearchNode(None, 0, 1)
    for node in [ours, *ours.children]:
        twin = mcts.SearchNode(node.action, node.player, node.prior)
        twin.explore_count, twin.total_reward = node.explore_count, node.total_reward
        twin.children, twin.outcome = node.children, node.outcome
        assert str(node) == str(twin)
        assert node.to_str(state) == node.to_string(state) == twin.to_str(state)
        assert node.sort_key() == twin.sort_key()
        stock.children.append(twin)


def test_values_are_those_of_the_mover(root_of):
    state = after("tic_tac_toe", 0, 3, 1, 4)
    root = root_of(state)
    best = root.best_child()
    assert best.action == 2
    assert best.total_reward == best.explore_count
    assert root.total_reward > 0
    state = after("tic_tac_toe", 0, 3, 1, 4, 8)
    best = root_of(state).best_child()
    assert (best.action, best.player) == (5, 1)
    assert best.total_reward == best.explore_count


def test_a_game_over_has_its_outcome_and_no_children(root_of):
    root = root_of(after("tic_tac_toe", 0, 3, 1, 4))
    best = root.best_child()
    assert list(best.outcome) == [1.0, -1.0]
    assert best.children == []
    assert "outcome:  1.0" in str(best)


@pytest.mark.slow
def test_a_node_not_looked_into_has_no_children():
    root = our_root(after("hex(board_size=11)"))
    leaf = min(root.children, key=lambda child: child.explore_count)
    assert leaf.children == []
    assert leaf.outcome is None
    with pytest.raises(ValueError, match="no children"):
        leaf.best_child()


def test_children_are_made_once():
    root = our_root(after("tic_tac_toe"))
    assert root.children is root.children
    assert root.children[0].children is root.children[0].children


def test_a_node_cannot_be_written():
    node = our_root(after("tic_tac_toe")).children[0]
    for field in ("action", "player", "prior", "explore_count", "total_reward", "outcome"):
        with pytest.raises(AttributeError):
            setattr(node, field, 0)


def test_amaf_statistics_can_be_read():
    root = our_root(after("hex(board_size=3)"), RaveBot)
    for child in root.children:
        assert child.amaf_count >= child.explore_count
        assert abs(child.amaf_total_reward) <= child.amaf_count
    plain = our_root(after("hex(board_size=3)")).children[0]
    assert (plain.amaf_count, plain.amaf_total_reward) == (0.0, 0.0)


def test_chance_outcomes_hold_the_value_of_the_player_before():
    state = after("pig(players=2,winscore=10)")
    root = our_root(state)
    roll = root.children[0]
    assert {outcome.player for outcome in roll.children} == {pyspiel.PlayerId.CHANCE}
    total = sum(outcome.total_reward for outcome in roll.children)
    assert abs(total - roll.total_reward) <= 2
    ends = [n for n, at, _ in walk(root, state) if at.is_terminal() and n.outcome is not None]
    assert ends
    assert all(re.search(r"outcome: [ -]\d\.\d", str(node)) for node in ends)


def test_rewards_are_on_the_games_own_scale():
    state = after("catch")
    state.apply_action(state.legal_actions()[0])
    assert abs(our_root(state).total_reward) <= SIMULATIONS
    state = after("cliff_walking")
    root = our_root(state)
    values = [child.total_reward / child.explore_count for child in root.children]
    assert min(values) < -20
    assert root.total_reward / root.explore_count < -20


def test_three_players_each_have_their_own_value():
    state = after("pig(players=3,winscore=10)")
    players = {node.player for node, _, _ in walk(our_root(state), state)}
    assert players == {-1, 0, 1, 2}


def test_a_forced_move_has_a_tree_too():
    root = our_root(after("tic_tac_toe", 0, 1, 2, 4, 3, 5, 7, 6))
    assert [child.action for child in root.children] == [8]
    assert root.explore_count == SIMULATIONS


def test_a_single_simulation_has_a_tree_too():
    bot = UCTBot(pyspiel.load_game("tic_tac_toe"), simulations=1, seed=0)
    root = bot.mcts_search(after("tic_tac_toe"))
    assert (root.explore_count, root.total_reward, len(root.children)) == (1, 0.0, 9)


def test_later_searches_leave_a_tree_as_it_was():
    state = after("tic_tac_toe")
    bot = UCTBot(state.get_game(), simulations=SIMULATIONS, seed=0)
    root = bot.mcts_search(state)
    text = root.children_str()
    bot.mcts_search(state)
    bot.step(state)
    assert root.children_str() == text


def test_mcts_search_does_not_disturb_the_game_being_played():
    bots = [UCTBot(pyspiel.load_game("connect_four"), simulations=100, seed=0) for _ in range(2)]
    state = after("connect_four")
    for bot in bots:
        bot.step(state)
    bots[0].mcts_search(after("connect_four", 1, 2))
    state.apply_action(3)
    assert bots[0].step(state) == bots[1].step(state)
    assert bots[0].last_result.actions == bots[1].last_result.actions


def test_mcts_search_finds_what_step_finds():
    state = after("tic_tac_toe", 0, 3, 1, 4)
    bot = RaveBot(state.get_game(), simulations=SIMULATIONS, seed=0)
    root = bot.mcts_search(state)
    assert isinstance(root, SearchNode)
    assert bot.last_result.action == root.best_child().action == bot.step(state)
