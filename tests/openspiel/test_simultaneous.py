"""OpenSpiel's games with simultaneous moves: every one from every seat, bots, both providers."""

import random

import numpy as np
import pyspiel
import pytest
from helpers.examples import load_example
from helpers.spiel import SUPPORTED, decision, is_simultaneous
from helpers.trees import stored
from open_spiel.python import policy as policies
from open_spiel.python.algorithms import expected_game_score
from rave_openspiel import (
    OpenSpielState,
    RaveBot,
    RaveMaximinBot,
    RegretMatchingBot,
    SearchPolicy,
    UCTBot,
    UCTSolverBot,
    native,
)
from rave_openspiel.support import hides_information

from rave_agents import Limit, SearchConfig, Searcher, UnsupportedGameError
from rave_agents.arena import play_match
from rave_agents.parts import SteeredPlayouts

EXPERIMENT = load_example("simultaneous_experiment")
"""Has the exact values of small games."""

LONGEST = 20
"""Moves after which a long game goes on at random."""


GAMES = [pyspiel.load_game(name) for name in SUPPORTED if is_simultaneous(name)]

OPEN = [game for game in GAMES if not hides_information(game.get_type())]
"""Games that are searched with joint actions; the others are searched as if in turn."""


def test_there_are_as_many_as_openspiel_has():
    assert len(GAMES) >= 19


@pytest.mark.full(but=8)
@pytest.mark.parametrize("game", GAMES, ids=str)
def test_every_game_is_played_to_its_end_from_every_seat(game, provider):
    draw = random.Random(str(game))
    other = RegretMatchingBot if game in OPEN else UCTBot
    bots = [
        (RaveBot, other)[seat % 2](game, player_id=seat, simulations=3, seed=seat)
        for seat in range(game.num_players())
    ]
    state, moves = game.new_initial_state(), 0
    while not state.is_terminal():
        moves += 1
        if state.is_chance_node():
            outcomes, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(draw.choices(outcomes, weights)[0])
        elif state.is_simultaneous_node():
            joint = [0] * game.num_players()
            for seat, bot in enumerate(bots):
                legal = state.legal_actions(seat)
                if legal:
                    joint[seat] = bot.step(state) if moves <= LONGEST else draw.choice(legal)
                    assert joint[seat] in legal
            state.apply_actions(joint)
        else:
            state.apply_action(bots[state.current_player()].step(state))
    assert len(state.returns()) == game.num_players()


def test_mixed_strategies_are_refused_where_something_is_hidden():
    game = pyspiel.load_game("coop_box_pushing")
    with pytest.raises(UnsupportedGameError, match="every search with hidden information"):
        RegretMatchingBot(game)


@pytest.mark.full(but=3)
@pytest.mark.skipif(native.bridge() is None, reason=native.diagnosis())
@pytest.mark.parametrize(
    "game", [g for g in OPEN if native.is_native(g.new_initial_state())], ids=str
)
@pytest.mark.parametrize(
    ("preset", "changes"),
    [
        ("rave", {}),
        ("regret_matching", {}),
        ("uct", {"playouts": SteeredPlayouts(playout_temperature=0.05)}),
    ],
)
def test_both_providers_grow_the_same_trees(game, preset, changes, monkeypatch, provider):
    state = decision(str(game))
    player = next(seat for seat in range(game.num_players()) if state.legal_actions(seat))
    trees = []
    for switch in ("1", "0"):
        monkeypatch.setenv(native.SWITCH, switch)
        native.bridge.cache_clear()
        config = SearchConfig.preset(preset).replace(playout_count=2, **changes)
        searcher = Searcher(config, seed=1)
        searcher.search(OpenSpielState(state), Limit(simulations=30), player=player)
        trees.append(stored(searcher))
    assert trees[0] == trees[1]


@pytest.mark.compiled
@pytest.mark.full(but=["3-1000"])
@pytest.mark.parametrize(("cards", "simulations"), [(3, 1000), (3, 40_000), (4, 40_000)])
def test_goofspiel_converges_to_the_exact_values(cards, simulations):
    spec = f"goofspiel(imp_info=False,num_cards={cards},points_order=descending)"
    state = decision(spec)
    worths = EXPERIMENT.exact_values(state)
    value = EXPERIMENT.matrix_value(worths)
    result = Searcher(SearchConfig.preset("regret_matching"), seed=1).search(
        OpenSpielState(state), Limit(simulations=simulations), player=0
    )
    assert result.value == pytest.approx(value, abs=0.06)
    # What the mix is sure of, if play goes on exactly.
    mix = np.array([probability for _, probability in result.policy])
    assert min(mix @ worths) > value - 0.08


def test_the_exact_values_are_openspiels():
    spec = "goofspiel(imp_info=False,num_cards=3,points_order=descending)"
    game = pyspiel.convert_to_turn_based(pyspiel.load_game(spec))
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(300):
        solver.evaluate_and_update_policy()
    policy = policies.pyspiel_policy_to_python_policy(game, solver.tabular_average_policy())
    found = expected_game_score.policy_value(game.new_initial_state(), [policy] * 2)
    assert found[0] == pytest.approx(
        EXPERIMENT.matrix_value(EXPERIMENT.exact_values(decision(spec))), abs=0.02
    )


def test_the_tree_is_kept_between_moves(provider):
    game = pyspiel.load_game("goofspiel(num_cards=4,points_order=descending)")
    bot = UCTBot(game, player_id=1, simulations=400, seed=1)
    state = decision(str(game))
    action = bot.step(state)
    assert bot.last_result.simulations == 400
    expected = bot.last_result.principal_variation
    state.apply_actions([expected[0], action])
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    bot.step(state)
    assert bot.last_result.root_visits > bot.last_result.simulations == 400


def test_the_documents_parameters_make_a_bot(provider):
    game = pyspiel.load_game("oshi_zumo(coins=10)")
    bot = RaveMaximinBot(game, simulations=100, player_id=1, k=300, c=1.0, seed=2)
    state = game.new_initial_state()
    policy, action = bot.step_with_policy(state)
    assert [a for a, _ in policy] == state.legal_actions(1)
    assert dict(policy)[action] > 0
    mixed = RegretMatchingBot(game, player_id=0, simulations=300, seed=1)
    assert sum(p > 0 for _, p in mixed.step_with_policy(state)[0]) > 1
    assert "against player 0" in bot.step_verbose(state)[1]


def test_bots_without_a_seat_say_so(provider):
    bot = RaveBot(pyspiel.load_game("matrix_rps"), simulations=5, seed=1)
    with pytest.raises(ValueError, match="player_id=0"):
        bot.step(bot.game.new_initial_state())


def test_bots_are_told_of_joint_actions(provider):
    game = pyspiel.load_game("oshi_zumo(coins=5)")
    bot = UCTBot(game, player_id=0, simulations=200, seed=1)
    state = game.new_initial_state()
    bot.step(state)
    with pytest.raises(ValueError, match="inform_actions"):
        bot.inform_action(state, 0, 1)
    with pytest.raises(ValueError, match="Action 9 of player 1 is not legal"):
        bot.inform_actions(state, [0, 9])
    with pytest.raises(ValueError, match="one action for each of 2"):
        bot.inform_actions(state, [0])
    bot.inform_actions(state, [1, 1])
    state.apply_actions([1, 1])
    bot.step(state)
    assert bot.last_result.root_visits > bot.last_result.simulations == 200


def test_what_is_of_turns_alone_is_refused(provider):
    game = pyspiel.load_game("matrix_rps")
    with pytest.raises(UnsupportedGameError, match="no solver"):
        UCTSolverBot(game, player_id=0)
    with pytest.raises(UnsupportedGameError, match="is for simultaneous moves"):
        RegretMatchingBot(pyspiel.load_game("tic_tac_toe"))
    with pytest.raises(ValueError, match="mcts_search"):
        RaveBot(game, player_id=0).mcts_search(game.new_initial_state())
    with pytest.raises(UnsupportedGameError, match="one player moves at a time"):
        play_match("oshi_zumo", "mcts(simulations=5)", "random", games=2)


@pytest.mark.slow
def test_a_bot_is_a_policy_of_its_seat(provider):
    game = pyspiel.load_game("matrix_rps")
    policy = SearchPolicy(RegretMatchingBot(game, player_id=1, simulations=3000, seed=1))
    assert isinstance(policy, policies.Policy)
    mix = policy.action_probabilities(game.new_initial_state(), 1)
    assert mix == pytest.approx({0: 1 / 3, 1: 1 / 3, 2: 1 / 3}, abs=0.08)
    with pytest.raises(ValueError, match="not this bot's"):
        policy.action_probabilities(game.new_initial_state(), 0)


def test_matches_of_simultaneous_games(provider):
    result = play_match("goofspiel(num_cards=4)", "uct(simulations=30)", "random", games=10, seed=1)
    assert result.score.score > 0.6
    record = result.records[0]
    state = pyspiel.load_game("goofspiel(num_cards=4)").new_initial_state()
    state.apply_action(record.actions[0])
    state.apply_actions(record.actions[1:3])
    assert state.history() == list(record.actions[:3])
    assert record.opening == ()
