"""The bots of the RAVE family, and what they show of their trees."""

import pickle
import re
import statistics

import pyspiel
import pytest
import rave_openspiel
from rave_openspiel import (
    AutoBot,
    BestFirstMinimaxBot,
    GraveBot,
    GumbelBot,
    HRaveBot,
    PNMCTSBot,
    PNMCTSFSUBot,
    RaveBot,
    RaveGlobalBot,
    RavePNBot,
    RaveWeightedBot,
    RaveWinningMoveBot,
    SearchBot,
    UCTBot,
    UCTSolverBot,
)

from rave_agents import Limit, SearchConfig, Searcher, agent_types
from rave_agents.compiler.arrays import TABLE
from rave_agents.parts import AllEdges

BOTS = (
    UCTBot,
    GumbelBot,
    RaveBot,
    GraveBot,
    HRaveBot,
    RaveGlobalBot,
    RaveWeightedBot,
    RaveWinningMoveBot,
    UCTSolverBot,
    BestFirstMinimaxBot,
    PNMCTSBot,
    PNMCTSFSUBot,
    RavePNBot,
    AutoBot,
)
MEGABYTE = 2**20


@pytest.mark.full(but=3)
@pytest.mark.parametrize("kind", BOTS)
def test_a_bot_is_its_preset(kind):
    game = pyspiel.load_game("hex(board_size=3)")
    bot = kind(game, simulations=100, seed=1)
    assert isinstance(bot, SearchBot)
    assert bot.config == SearchConfig.preset(kind.preset)
    assert kind.__doc__.startswith("Plays ")
    state = game.new_initial_state()
    assert bot.step(state) in state.legal_actions()
    assert pickle.loads(pickle.dumps(bot)).step(state) == bot.step(state)


def test_every_preset_but_puct_has_a_bot_and_an_agent():
    simultaneous = {"rave_maximin", "regret_matching", "exp3"}
    assert {kind.preset for kind in BOTS} == set(SearchConfig.preset_names()) - {
        "puct",
        "mccfr",
        *simultaneous,
    }
    assert simultaneous <= set(rave_openspiel.load.BOT_TYPES)
    assert set(SearchConfig.preset_names()) <= agent_types().keys()
    assert {kind.__name__ for kind in BOTS} <= set(rave_openspiel.__all__)


@pytest.mark.full(but=2)
@pytest.mark.parametrize("kind", BOTS[1:])
def test_bots_of_the_family_win_where_a_win_is_near(kind):
    game = pyspiel.load_game("tic_tac_toe")
    for moves, best in [((0, 3, 1, 4), 2), ((0, 3, 1, 4, 8), 5)]:
        state = game.new_initial_state()
        for move in moves:
            state.apply_action(move)
        assert kind(game, simulations=1000, seed=1).step(state) == best


@pytest.mark.slow
@pytest.mark.full(but=["GraveBot"])
@pytest.mark.parametrize("kind", [GraveBot, HRaveBot, RaveGlobalBot])
def test_nodes_show_the_tables_amaf_statistics(kind):
    game = pyspiel.load_game("hex(board_size=3)")
    bot = kind(game, simulations=300, seed=1)
    root = bot.mcts_search(game.new_initial_state())
    rows = {row.action: row for row in bot.last_result.actions}
    assert len(root.children) == len(rows)
    for child in root.children:
        row = rows[child.action]
        assert child.amaf_count == row.amaf_visits >= child.explore_count
        assert child.amaf_total_reward == pytest.approx(row.amaf_value * row.amaf_visits)
    below = [node for child in root.children for node in child.children]
    assert any(node.amaf_count > 0 for node in below) == (kind is GraveBot)
    assert (root.amaf_count, root.amaf_total_reward) == (0.0, 0.0)
    assert "AMAF visits" in bot.step_verbose(game.new_initial_state())[1]


def test_nodes_show_no_amaf_statistics_of_chance():
    game = pyspiel.load_game("pig(players=2,winscore=10)")
    root = GraveBot(game, simulations=300, seed=1).mcts_search(game.new_initial_state())
    roll = root.children[0]
    assert {node.amaf_count for node in roll.children} == {0.0}


def test_winning_moves_are_in_the_report():
    game = pyspiel.load_game("hex(board_size=3)")
    report = RaveWinningMoveBot(game, simulations=100, seed=1).step_verbose(
        game.new_initial_state()
    )[1]
    assert re.search(r"winning +weighted .*\n.* move +win rate", report)


def global_searches(count, simulations, **changes):
    """Results of searches with one AMAF table for the whole game."""
    state = pyspiel.load_game("connect_four").new_initial_state()
    config = SearchConfig.preset("rave_global").replace(**changes)
    limit = Limit(simulations=simulations)
    return [Searcher(config, seed=seed).search(state, limit) for seed in range(count)]


@pytest.mark.full
@pytest.mark.parametrize(("count", "simulations"), [(1, 400), (15, 3000)])
def test_the_global_table_starves_no_move_that_has_no_visits(count, simulations):
    results = global_searches(count, simulations)
    assert all(min(row.visits for row in result.actions) >= 1 for result in results)
    # Where a whole upper confidence bound competes with AMAF values, no opponent's answer is tried.
    starved = global_searches(count, simulations, edges=AllEdges())
    assert all(min(row.visits for row in result.actions) == 0 for result in starved)


@pytest.mark.compiled
@pytest.mark.full
def test_a_global_table_that_starves_moves_misleads(monkeypatch):
    monkeypatch.setenv("RAVE_AGENTS_GAMES", "openspiel")  # The seeds are for these.
    # Plain UCT has 0.23; one table for the whole game often misleads, sometimes either player.
    assert statistics.median(result.value for result in global_searches(15, 3000)) < 0.5
    starved = global_searches(15, 3000, edges=AllEdges())
    assert statistics.median(result.value for result in starved) > 0.7


@pytest.mark.full
@pytest.mark.parametrize("name", ["chess", "lines_of_action"])
@pytest.mark.parametrize("megabytes", [512, 2])
def test_games_with_thousands_of_actions_stay_inside_the_budget(name, megabytes):
    game = pyspiel.load_game(name)
    config = SearchConfig.preset("grave").replace(max_memory_mb=megabytes, table_visits=1)
    searcher = Searcher(config, seed=1)
    result = searcher.search(game.new_initial_state(), Limit(simulations=SIMULATIONS[name]))
    assert result.memory_bytes <= megabytes * MEGABYTE
    assert result.root_visits == SIMULATIONS[name]
    rows = 2 * game.num_distinct_actions()
    tables, used = searcher.rooted_tree().amaf, int(searcher.tree.used[TABLE])
    assert tables.visits.nbytes + tables.value_sum.nbytes >= used * rows * 16
    assert result.memory_full == (used * rows * 16 > 0.5 * megabytes * MEGABYTE)


SIMULATIONS = {"chess": 300, "lines_of_action": 300}
