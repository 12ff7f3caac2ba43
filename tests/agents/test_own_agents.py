"""Agents of the user's own: how they are made and asked, and what is wrong with them."""

import pathlib
import pickle

import cloudpickle
import numpy as np
import pyspiel
import pytest
from helpers.envs import begun
from helpers.own_agents import bots
from helpers.own_games.line_of_dominoes import LineOfDominoes
from helpers.own_games.subtraction import Subtraction
from open_spiel.python.algorithms import random_agent
from open_spiel.python.policy import UniformRandomPolicy
from pettingzoo.classic import chess_v6, tictactoe_v3
from rave_pettingzoo import UCTAgent, evaluate

from rave_agents import (
    UnknownNameError,
    UnsupportedGameError,
    as_agent,
    as_game,
    from_maker,
    from_policy,
    from_sb3,
    from_step,
    make_agent,
)
from rave_agents.arena import RunError, play_match, play_tournament, run_scaling, run_sweep
from rave_agents.arena.arguments import label
from rave_agents.arena.report_data import load_report
from rave_agents.engines.gtp_engine import GtpEngine

FOLDER = pathlib.Path(__file__).parent.parent / "helpers" / "own_agents"
FILE = f"{FOLDER}/bots.py"
MODULE = "helpers.own_agents.bots"
GAME = "tic_tac_toe"


def moves(result):
    return [record.actions for record in result.records]


def position(game=GAME):
    return as_game(game).new_initial_state()


def state_of(game):
    """The state that a function gets at the first position of a game."""
    seen = []
    agent = make_agent(from_step(lambda state: seen.append(state) or 0), game, 0)
    agent.step(position(game))
    return seen[0]


def test_a_function_of_the_state_gets_that_of_the_framework_or_ones_own():
    assert isinstance(state_of(GAME), pyspiel.State)
    assert type(state_of(Subtraction)) is Subtraction


def test_names_of_actions_are_told_on_rules_as_by_openspiel():
    assert play_match(LineOfDominoes, bots.named, "random", games=2, opening_plies=0).complete


def test_in_an_environment_the_state_is_openspiels_where_that_has_the_same_actions():
    kinds = set()

    @from_step
    def policy(state):
        kinds.add(isinstance(state, pyspiel.State))
        return state.legal_actions()[0]

    evaluate(tictactoe_v3.env, {"player_1": policy, "player_2": policy}, episodes=1)
    assert kinds == {True}


# What makes an agent


def test_what_makes_an_agent_gets_the_game_the_seat_and_a_seed_by_name():
    made = []

    @from_maker
    def make(game, player, seed):
        made.append((game, player, seed))
        return bots.FirstBot()

    play_match(GAME, make, "random", games=2, opening_plies=0)
    games, seats, seeds = zip(*made, strict=True)
    assert all(isinstance(game, pyspiel.Game) for game in games)
    assert sorted(seats) == [0, 1]
    assert len(set(seeds)) == 2


def test_each_game_gets_a_bot_of_its_own():
    given = bots.FirstBot()
    play_match(GAME, given, "random", games=2)
    assert given.told == []


def test_a_bot_travels_to_another_process():
    given = bots.FirstBot()
    given.told.append(3)
    there = cloudpickle.loads(cloudpickle.dumps(as_agent(given)))
    assert there.own.agent.told == [3]
    assert there.own.agent is not given


@pytest.mark.full
@pytest.mark.parametrize("agent", [bots.FirstBot(), bots.cpp_mcts, f"{FILE}:ready", bots.mixed])
def test_agents_play_alike_in_several_processes(agent):
    options = {"games": 6, "seed": 3}
    alone, several = (play_match(GAME, agent, "random", jobs=jobs, **options) for jobs in (1, 2))
    assert moves(alone) == moves(several)


def test_a_bot_that_cannot_travel_plays_here_and_a_line_says_so(caplog):
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    bot = pyspiel.MCTSBot(pyspiel.load_game(GAME), evaluator, 1.0, 4, 10, False, 1, False)
    assert play_match(GAME, bot, "random", games=2, jobs=2).complete
    assert "MCTSBot cannot be sent to other processes, and plays in this one" in caplog.text


def test_probabilities_are_drawn_by_the_seed_of_the_match():
    one, same, other = (
        moves(play_match(GAME, bots.mixed, "uct(simulations=2)", games=4, seed=seed))
        for seed in (1, 1, 2)
    )
    assert one == same != other


def test_a_seat_of_ones_own_is_that_of_the_game():
    class Seated(bots.FirstBot):
        def __init__(self):
            super().__init__()
            self.player_id = 0

        def step(self, state):
            assert state.current_player() == self.player_id
            return super().step(state)

    assert play_match(GAME, Seated(), "random", games=2).complete


# Parameters


def test_parameters_are_set_and_varied_as_those_of_specs():
    agent = as_agent(f" {FILE}:Nth(place=2) ")
    assert str(agent) == f"{FILE}:Nth(place=2)"
    assert make_agent(agent, GAME, 0).step(position()) == 2
    assert make_agent(f"{MODULE}:nth(place=3)", GAME, 0).step(position()) == 3
    result = run_sweep(GAME, f"{FILE}:nth", "random", {"place": [0, 1]}, games=2)
    assert [cell.match.agents[0] for cell in result.cells] == [
        f"{FILE}:nth(place=0)",
        f"{FILE}:nth(place=1)",
    ]


def test_the_file_of_a_sweep_or_a_curve_of_ones_own_is_read_without_running_it(tmp_path):
    sweep, curve = tmp_path / "sweep.jsonl", tmp_path / "curve.jsonl"
    run_sweep(GAME, f"{FILE}:nth", bots.mixed, {"place": [0, 1]}, games=2, output=sweep)
    assert len(load_report(sweep).result.agents) == 3
    limits = {"simulations": [2, 3], "games": 2}
    run_scaling(GAME, f"{FILE}:limited", f"{FILE}:first", **limits, output=curve)
    assert load_report(curve).result.agents == (
        f"{FILE}:limited(simulations=2)",
        f"{FILE}:limited(simulations=3)",
        f"{FILE}:first",
    )


def test_a_limit_of_ones_own_is_varied_in_a_curve():
    @from_maker
    def make(game, simulations):
        return bots.AutoBot(game, simulations=simulations, seed=1)

    result = run_scaling(GAME, make, "random", simulations=[2, 3], games=2)
    assert [point.match.agents[0] for point in result.cells] == [
        "make(simulations=2)",
        "make(simulations=3)",
    ]
    with pytest.raises(ValueError, match="first takes no simulations, so its limit cannot vary"):
        run_scaling(GAME, bots.first, "random", simulations=[2], games=2)


# What is wrong


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("rave(c=0.2)xx", r"Unexpected 'xx' after the closing parenthesis of 'rave\(c=0\.2\)'"),
        ("rave(c=0.2),uct", "Only one agent can be given here"),
        (f"{FILE}:Nth(place=1)xx", "Unexpected 'xx'"),
        (f"{MODULE}.first", f"written with a colon: {MODULE}:first"),
        ("bots.py", r"written with a colon: bots\.py:Name"),
        ("no_such_module:bot", "There is no module 'no_such_module'"),
        (f"{FOLDER}/bot.py:first", r"no file .* mean 'bots\.py'"),
        (f"{MODULE}:frist", "has no name 'frist'. Did you mean 'first'"),
        (f"{FILE}:Nth(plac=1)", "parameter of Nth 'plac'. Did you mean 'place'"),
        (f"{FILE}:nth(plac=1)", "parameter of nth 'plac'. Did you mean 'place'"),
        (f"{FILE}:ready(place=1)", "is an object, made already"),
        (f"{FILE}:Lazy", r"Lazy is a pyspiel.Bot that lacks the method step\(state\)"),
        (bots.Lazy(), r"Lazy is a pyspiel.Bot that lacks the method step\(state\)"),
        (object(), r"An agent is a spec, .* an object of object: it has no step\(state\)"),
        (3, "An agent is a spec, .* got 3"),
        (None, "An agent is a spec, .* got None"),
        (bots.Model(), r"an object of Model: give from_sb3\(model\)"),
        (bots.Model, r"the class Model: give from_sb3\(model\)"),
        (UniformRandomPolicy(pyspiel.load_game(GAME)), r"give from_policy\(policy\)"),
        (random_agent.RandomAgent(0, 9), r"RLAgentPolicy\(...\)\)"),
        (lambda state: 0, r"<lambda> is a function of state: give from_step\(<lambda>\)"),
        (lambda game, player: 0, r"makes an agent for a game or a player: give from_maker"),
        (lambda observation, agent: 0, r"must be a function policy\(observation, action_mask\)"),
        (lambda a, b, c: 0, r"<lambda>\(a, b, c\) must be a function policy\(observation"),
        (lambda: 0, r"must be a function policy\(observation, action_mask\)"),
        (pyspiel.MCTSBot, "is a C.* class of OpenSpiel, made with arguments that are not known"),
        (pyspiel.make_uniform_random_bot(0, 1), "plays the one seat that it was made for"),
        (bots.mcts.MCTSBot, "MCTSBot needs uct_c, max_simulations, evaluator, which is not given"),
    ],
)
def test_what_is_no_agent_is_refused_by_name(agent, message):
    with pytest.raises((UnknownNameError, TypeError, ValueError), match=message) as caught:
        play_match(GAME, agent, "random", games=2)
    assert not isinstance(caught.value, RunError)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (from_maker(lambda game, player: None), "must make an agent; it made None"),
        (from_step(lambda state: None), "must return an action, an integer; it returned None"),
        (lambda observation: -1, "it played -1, which is not legal"),
        (from_policy(lambda state: {1: -1.0}), "which are no probabilities"),
        (from_policy(lambda state: {}), "which are no probabilities"),
    ],
)
def test_what_an_agent_does_wrong_is_told_with_the_game_and_the_seat(agent, message):
    with pytest.raises(RunError, match=f"Game 1, seat 0, agent <lambda>: .*{message}"):
        play_match(GAME, agent, "random", games=2)


@pytest.mark.slow
def test_a_bot_of_openspiels_is_refused_where_there_is_no_game_of_openspiels():
    board = pyspiel.load_game("chess")

    @from_maker
    def make():
        return pyspiel.MCTSBot(
            board, pyspiel.RandomRolloutEvaluator(1, 1), 1, 2, 9, False, 1, False
        )

    with pytest.raises(UnsupportedGameError, match="MCTSBot is a bot of OpenSpiel's, and the game"):
        evaluate(chess_v6.env, {"player_0": make, "player_1": "random"}, episodes=1)


def test_a_bot_that_is_told_nothing_plays_games_of_ones_own():
    class Last(pyspiel.Bot):
        def step(self, state):
            return state.legal_actions()[-1]

    assert play_match(Subtraction, Last, Last(), games=2, opening_plies=1).complete
    assert play_match(LineOfDominoes(), "random", Last, games=2).complete


def test_a_bot_of_openspiels_that_is_told_of_another_games_action_is_refused():
    @from_maker
    def make(player):
        return pyspiel.make_uniform_random_bot(player, 1)

    with pytest.raises(RunError, match="Bot is a bot of OpenSpiel's, and the game"):
        play_match(Subtraction, "random", make, games=2)


def test_what_an_agent_raises_is_told_with_the_line():
    def faulty(state):
        return {}[state.current_player()]

    line = faulty.__code__.co_firstlineno + 1
    with pytest.raises(RunError, match=rf"KeyError: 0 \(line {line} of .*test_own_agents.py\)"):
        play_match(GAME, from_step(faulty), "random", games=2, opening_plies=0)


def test_a_models_file_is_answered_with_what_reads_it(tmp_path):
    file = tmp_path / "model.zip"
    file.touch()
    with pytest.raises(
        UnknownNameError, match="Name an agent in a Python file that reads the model"
    ):
        as_agent(str(file))
    with pytest.raises(
        UnknownNameError, match=r"not a file of rave-agents learn or train.*\./nets.py:net"
    ):
        make_agent("uct", GAME, evaluator=str(file))


def test_files_tell_which_agent_played_as_far_as_the_next_run_can_tell():
    agents = ("uct", bots.first, bots.Nth, bots.Nth(), f"{FILE}:nth(place=1)", f"{MODULE}:first")
    assert [label(as_agent(each, "name")) for each in agents] == [
        "uct",
        "Python policy",
        "Python factory",
        "Python object",
        "Python bots.py:nth(place=1)",
        f"Python {MODULE}:first",
    ]


def test_a_file_does_not_go_on_with_other_parameters(tmp_path):
    def play(place):
        agents = {"mine": f"{FILE}:nth(place={place})", "random": "random"}
        return play_tournament(GAME, agents, games_per_pairing=2, output=tmp_path / "games.jsonl")

    play(0)
    with pytest.raises(ValueError, match="another"):
        play(1)


def test_a_bot_over_gtp_keeps_to_the_clock_that_the_controller_sets():
    engine = GtpEngine(GAME, bots.auto, seed=1)
    assert engine.answer("time_settings 60 0 0") == "=\n\n"
    clocks = [agent.clock for agent in engine.agents]
    assert all(clock is not None for clock in clocks)
    assert GtpEngine(GAME, bots.first).answer("time_settings 60 0 0") == "=\n\n"


def test_an_agent_is_pickled_by_its_place():
    agent = pickle.loads(pickle.dumps(as_agent(f"{FILE}:Nth(place=2)")))
    assert (agent.own.function.__name__, agent.parameters) == ("Nth", {"place": 2})


def test_agents_of_environments_play_in_the_matchs_environment_whatever_they_are_bound_to():
    env = begun(tictactoe_v3.env())
    agent = UCTAgent(env, simulations=4, seed=1)
    assert play_match("pettingzoo:tictactoe_v3", agent, "random", games=2).complete
    with pytest.raises(RunError, match="there is no env"):
        play_match(GAME, agent, "random", games=2)


def test_a_model_without_masks_is_told_of_one_with_them():
    class PPO:
        def predict(self, observation, state=None, episode_start=None, deterministic=False):
            return np.array(0), None

    model = from_sb3(PPO())
    message = "PPO.predict takes no mask of the legal actions; that of sb3_contrib.MaskablePPO does"
    with pytest.raises(RunError, match=message):
        play_match(GAME, model, model, games=2, opening_plies=0)
