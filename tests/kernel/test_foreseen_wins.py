"""Wins that rules foresee, in the tree of a search."""

import random

import numpy as np
import pytest
from helpers.lines_of_play import played
from helpers.trees import search_tree

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.agents.named_agents import make_agent
from rave_agents.compiler.arrays import NODE
from rave_agents.frameworks.adapters import load_game
from rave_agents.games.hex import Hex
from rave_agents.games.y import Y
from rave_agents.kernel.measures.action_persistence import LEFT, STILL_LEGAL
from rave_agents.kernel.players import TERMINAL
from rave_agents.parts import CheckRefutations
from rave_agents.simulate.frame import Header
from rave_agents.simulate.random_stream import make_stream
from rave_agents.simulate.simulator import make_frame
from rave_agents.solver.proof_search import ProofSearch

RULES = [Hex(num_cols=4, num_rows=4), Hex(num_cols=5, num_rows=3), Y(board_size=5)]


def random_position(rules, draw):
    state = rules.new_initial_state()
    for _ in range(draw.randrange(rules.max_game_length // 2)):
        after = state.clone()
        after.apply_action(draw.choice(state.legal_actions()))
        if after.is_terminal():
            break
        state = after
    return state


@pytest.mark.compiled
@pytest.mark.parametrize("preset", ["auto", "pn_mcts", "rave_pn"])
@pytest.mark.parametrize("rules", RULES, ids=str)
def test_what_is_proven_is_true(rules, preset):
    draw, proven = random.Random(3), 0
    config = SearchConfig.preset(preset)
    if preset != "auto":
        config = config.replace(checks=CheckRefutations())
    for seed in range(12):
        state = random_position(rules, draw)
        player = state.current_player()
        result = Searcher(config, seed=seed).search(state, Limit(simulations=300))
        truth = ProofSearch(state, max_memory_mb=1, all_replies=True)
        for row in result.actions:
            if row.outcome is not None:
                after = state.clone()
                after.apply_action(row.action)
                won = row.outcome > 0
                if after.is_terminal():
                    assert (after.returns()[player] > 0) == won
                else:
                    assert truth.prove(after, player, 1.0) == won
                proven += 1
    assert proven > 15


def test_a_win_is_seen_long_before_the_sides_are_joined():
    """A stone in the middle of 3x3 has two bridges to each side."""
    state = played(Hex(num_cols=3, num_rows=3), [])
    searcher = Searcher(SearchConfig.preset("auto"), seed=1)
    result = searcher.search(state, Limit(simulations=200))
    assert result.outcome == (1.0, -1.0)
    assert result.simulations < 30
    best = next(row for row in result.actions if row.action == 4)
    assert best.distance == 5  # This stone, and two answers to two stones at most.


def nodes_without_actions(searcher):
    """Nodes that have no edges though the game is not over there."""
    arrays = search_tree(searcher).arrays
    count = int(arrays.used[NODE])
    empty = arrays.node_edge_count[:count] == 0
    return int((empty & (arrays.node_player[:count] != TERMINAL)).sum())


@pytest.mark.slow
def test_agents_without_a_solver_or_refutations_play_on():
    for preset, some in (("auto", True), ("uct_solver", False), ("rave", False)):
        searcher = Searcher(SearchConfig.preset(preset), seed=1)
        searcher.search(played(RULES[0], [5]), Limit(simulations=100))
        assert (nodes_without_actions(searcher) > 0) == some


@pytest.mark.full
def test_leaves_without_actions_say_nothing_of_how_long_actions_last():
    searcher = Searcher(SearchConfig.preset("auto"), seed=1)
    searcher.search(Hex(num_cols=5, num_rows=5).new_initial_state(), Limit(simulations=3000))
    assert nodes_without_actions(searcher) > 10
    lasting = searcher.rooted_tree().running.lifetimes.left
    assert lasting[STILL_LEGAL] == lasting[LEFT] > 1000


@pytest.mark.slow
@pytest.mark.parametrize("reuse", [False, True])
def test_a_game_goes_on_from_where_its_winner_was_foreseen(reuse):
    rules = RULES[0]
    searcher, draw = Searcher(SearchConfig.preset("auto"), seed=1), random.Random(2)
    state = rules.new_initial_state()
    while not state.is_terminal():
        if state.current_player() == 0:
            move = searcher.search(state, Limit(simulations=100), reuse=reuse).action
        else:
            move = draw.choice(state.legal_actions())
        assert move in state.legal_actions()
        state.apply_action(move)
        if reuse:
            searcher.advance(move)
    assert state.returns() == [1.0, -1.0]


@pytest.mark.compiled
@pytest.mark.full(but=["hex(board_size=4)"])
@pytest.mark.parametrize("board", ["hex(board_size=4)", "y(board_size=5)"])
def test_who_has_won_by_bridges_wins_against_any_play(board):
    game, draw = load_game(board), random.Random(7)
    for seed in range(6):
        state = game.new_initial_state()
        agent = make_agent("auto(simulations=200)", game, 0, seed=seed)
        claimed = False
        while not state.is_terminal():
            if state.current_player() == 0:
                move = agent.step(state)
                claimed = claimed or agent.last_result.outcome == (1.0, -1.0)
            else:
                move = draw.choice(state.legal_actions())
            state.apply_action(move)
        assert not claimed or state.returns()[0] == 1.0
        assert claimed


def test_a_provider_goes_on_from_a_position_whose_winner_is_foreseen():
    root = Hex(num_cols=3, num_rows=3).new_initial_state()
    frame = make_frame(
        num_players=2, playouts=1, playout_stream=make_stream(np.random.SeedSequence(1))
    )
    simulator = root.simulator(frame, None)
    frame.header[Header.FORESEE] = 1
    later = root.clone()
    later.apply_action(4)
    assert simulator.set_root(later, [4])
