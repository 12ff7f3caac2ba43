"""The bots of the RAVE family, and what they show of their trees."""

import pickle
import re

import pyspiel
import pytest
import rave_openspiel
from rave_openspiel import (
    AutoBot,
    BestFirstMinimaxBot,
    GraveBot,
    GumbelBot,
    HRaveBot,
    MCPSBot,
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

from rave_agents import SearchConfig, agent_types

BOTS = (
    UCTBot,
    GumbelBot,
    RaveBot,
    GraveBot,
    MCPSBot,
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
