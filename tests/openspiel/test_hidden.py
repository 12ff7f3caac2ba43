"""Searches in games with hidden information."""

import logging

import pyspiel
import pytest
from helpers.spiel import after, decision
from rave_openspiel import GraveBot, OpenSpielState, RaveBot, UCTBot, UCTSolverBot

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.agents.named_agents import make_agent
from rave_agents.arena import play_match
from rave_agents.compiler.arrays import EDGE
from rave_agents.errors import GameError, UnsupportedGameError
from rave_agents.frameworks.adapters import load_game
from rave_agents.kernel.tree import ROOT, edge_rows
from rave_agents.searcher import checks

CARDS = {"jack": 0, "queen": 1, "king": 2}
PASS, BET = 0, 1


def kuhn(first, second, *actions):
    """A state of Kuhn poker."""
    return after("kuhn_poker", CARDS[first], CARDS[second], *actions)


def searched(state, preset="uct", simulations=300, seed=1, **config):
    search = Searcher(SearchConfig.preset(preset).replace(**config), seed=seed)
    result = search.search(OpenSpielState(state), Limit(simulations=simulations))
    return search, result


@pytest.mark.full(but=1)
@pytest.mark.parametrize("kind", [UCTBot, RaveBot, GraveBot])
def test_the_best_and_the_worst_card_are_played_right(kind):
    game = pyspiel.load_game("kuhn_poker")
    bot = kind(game, simulations=400, seed=1)
    for other in ("jack", "queen"):
        assert bot.step(kuhn("king", other, PASS, BET)) == BET
    for other in ("queen", "king"):
        assert bot.step(kuhn("jack", other, PASS, BET)) == PASS


def test_what_is_hidden_makes_no_difference():
    results = [searched(kuhn("queen", other, PASS, BET))[1] for other in ("jack", "king")]
    assert results[0].to_dict()["actions"] == results[1].to_dict()["actions"]


def test_see_looks_at_the_true_state_and_says_so(caplog):
    checks.warn_cheating.cache_clear()
    with caplog.at_level(logging.WARNING, "rave_agents"):
        moves = [
            searched(kuhn("queen", other, PASS, BET), hidden="see")[1].action
            for other in ("jack", "king")
        ]
    assert moves == [BET, PASS]
    assert caplog.text.count("SEES WHAT IS HIDDEN") == 1


def test_solver_and_proof_numbers_are_refused():
    game = pyspiel.load_game("kuhn_poker")
    with pytest.raises(UnsupportedGameError, match="nothing can be proven"):
        UCTSolverBot(game)
    with pytest.raises(UnsupportedGameError, match="nothing can be proven"):
        searched(kuhn("king", "jack"), "pn_mcts")
    with pytest.raises(UnsupportedGameError, match="nothing can be proven"):
        make_agent("rave_pn", load_game("kuhn_poker"), 0)


@pytest.mark.slow
def test_every_simulation_counts_once_at_the_root():
    for preset in ("uct", "rave", "grave", "rave_global"):
        search, result = searched(decision("liars_dice", 1, 2), preset, simulations=200)
        assert result.root_visits == 200
        # The simulation that made the root is on no edge.
        assert sum(row.visits for row in result.actions) == 199
        tree = search.tree
        assert tree.node_visits[ROOT] == 200


@pytest.mark.slow
def test_availability_counts_the_worlds_in_which_an_action_was_legal():
    state = decision("go_fish", 6, 3)
    search, _ = searched(state, "uct", simulations=300, expand_visits=1)
    shown = search.rooted_tree()
    tree, hidden = shown.arrays, shown.moves
    for node in range(int(tree.used[0])):
        for edge in edge_rows(tree, node):
            available = hidden.edge_available[edge]
            assert tree.edge_visits[edge] <= available <= tree.node_visits[node]
        # Players know their legal actions, which are the same in all worlds of a node.
        assert len({int(hidden.edge_available[edge]) for edge in edge_rows(tree, node)}) <= 1
    own = edge_rows(tree, ROOT)
    assert {int(hidden.edge_available[edge]) for edge in own} == {299}


def test_actions_of_a_node_are_told_once_each():
    search, _ = searched(decision("go_fish", 6, 3), "rave", simulations=150)
    tree = search.tree
    for node in range(int(tree.used[0])):
        actions = [int(tree.edge_action[edge]) for edge in edge_rows(tree, node)]
        assert len(set(actions)) == len(actions)


@pytest.mark.slow
@pytest.mark.full(but=["rave"])
@pytest.mark.parametrize("preset", ["uct", "rave", "grave"])
def test_a_full_memory_ends_the_growth_alone(preset):
    _, result = searched(
        decision("go_fish", 6, 3), preset, simulations=300, max_memory_mb=0.03, expand_visits=1
    )
    assert result.simulations == 300
    assert result.memory_full
    assert result.memory_bytes <= 0.03 * 2**20


@pytest.mark.slow
def test_the_same_seed_gives_the_same_result():
    state = decision("go_fish", 6, 3)
    first, second, other = (searched(state, "rave", 100, seed)[1] for seed in (1, 1, 2))
    assert first.to_dict()["actions"] == second.to_dict()["actions"]
    assert first.to_dict()["actions"] != other.to_dict()["actions"]


def test_no_tree_is_kept():
    state = kuhn("king", "jack", PASS, BET)
    search, result = searched(state)
    search.advance(result.action)
    assert search.tree is None


def test_threads_grow_a_tree_each():
    _, result = searched(decision("leduc_poker", 1, 2), "rave", simulations=400, threads=2)
    assert result.root_visits == 400


def test_worlds_of_the_users_function_are_searched_and_checked():
    game = pyspiel.load_game("kuhn_poker")
    state = kuhn("queen", "jack", PASS, BET)
    calls = []

    def king(given, player, rng):
        calls.append(player)
        return kuhn("queen", "king", PASS, BET)

    assert UCTBot(game, worlds=king, simulations=50, seed=1).step(state) == PASS
    assert calls == [0] * 50
    bot = UCTBot(game, worlds=lambda *_: kuhn("king", "jack", PASS, BET), simulations=5)
    with pytest.raises(GameError, match="can distinguish from the true"):
        bot.step(state)
    with pytest.raises(TypeError, match="worlds must be a function"):
        UCTBot(game, worlds=3)


def test_a_game_without_worlds_plays_with_a_function_or_seeing():
    game = pyspiel.load_game("tarok")
    with pytest.raises(UnsupportedGameError, match="worlds="):
        RaveBot(game)
    state = game.new_initial_state()
    state.apply_action(0)
    bot = RaveBot(game, simulations=20, worlds=lambda state, player, rng: state)
    assert bot.step(state) in state.legal_actions()
    assert RaveBot(game, simulations=20, hidden="see").step(state) in state.legal_actions()


def test_what_a_function_raises_comes_out():
    def broken(state, player, rng):
        raise ZeroDivisionError("mine")

    bot = UCTBot(pyspiel.load_game("kuhn_poker"), worlds=broken, simulations=5)
    with pytest.raises(ZeroDivisionError, match="mine"):
        bot.step(kuhn("king", "jack"))


@pytest.mark.parametrize(("game", "games"), [("leduc_poker", 4), ("liars_dice", 2)])
def test_matches_against_the_stock_bot(game, games):
    result = play_match(game, "rave(simulations=20)", "ismcts(simulations=20)", games=games, seed=1)
    assert result.complete


def test_step_with_policy_tells_shares_of_visits():
    bot = UCTBot(pyspiel.load_game("leduc_poker"), simulations=100, temperature=1, seed=1)
    policy, action = bot.step_with_policy(decision("leduc_poker", 1, 2))
    assert abs(sum(share for _, share in policy) - 1) < 1e-9
    assert action in dict(policy)


@pytest.mark.full
@pytest.mark.parametrize("name", ["hearts", "crazy_eights"])
def test_new_edges_leave_room_for_a_node(name):
    for seed in range(2):
        state = OpenSpielState(decision(name, 2, seed))
        config = SearchConfig.preset("rave").replace(expand_visits=1, search_forced_moves=True)
        search = Searcher(config, seed=seed)
        for _ in range(4):
            search.reset()
            search.search(state, Limit(simulations=30))
            assert search.tree.used[EDGE] <= len(search.tree.edge_action)
