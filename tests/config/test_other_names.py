"""Arguments by the names that others give them: the answer says what they are called here."""

import re

import gymnasium
import pyspiel
import pytest
import rave_gymnasium
import rave_openspiel
import rave_pettingzoo
from pettingzoo.classic import tictactoe_v3
from typer.testing import CliRunner

from rave_agents import Limit, SearchConfig, make_agent
from rave_agents.agents.named_agents import agent_types
from rave_agents.analysis.solve import solve_position
from rave_agents.arena import find_best, play_match, play_tournament, run_bench
from rave_agents.cli.program import app
from rave_agents.config.search_config import SearchConfig as Config
from rave_agents.errors import UnknownNameError
from rave_agents.game.arguments import unknown_argument
from rave_agents.game.other_names import MEANINGS, meant


def board():
    env = tictactoe_v3.env()
    env.reset()
    return env


def lake():
    env = gymnasium.make("FrozenLake-v1")
    env.reset()
    return env


GAMES = {
    "openspiel": lambda: (rave_openspiel.RaveBot, pyspiel.load_game("tic_tac_toe")),
    "pettingzoo": lambda: (rave_pettingzoo.RaveAgent, board()),
    "gymnasium": lambda: (rave_gymnasium.RaveAgent, lake()),
}

MEANT = {
    "simulations": "n_simulations num_simulations max_simulations iterations rollouts n_playouts "
    "n_iter max_iterations mcts_iterations num_sims numSimulations number-of-iterations "
    "simulations_per_move visits",
    "seconds": "time_limit max_time think_time time_per_move movetime timeout time_budget",
    "c": "exploration_constant uct_c c_puct cpuct exploration_weight C c_uct",
    "seed": "random_state rng random_seed",
    "threads": "num_threads n_jobs workers",
    "playouts": "rollout_policy default_policy",
    "playout_count": "n_rollouts rollout_count rollouts_per_leaf",
    "evaluator": "network model value_network policy_value_fn heuristic",
    "root_noise": "dirichlet_noise dirichlet_alpha",
    "rule": "child_selection_fn tree_policy",
    "proofs": "solve solver",
    "final_move": "final_policy_type",
    "max_memory_mb": "memory_limit max_memory",
    "clock": "time_control",
    "temperature": "tau",
    "reuse_tree": "tree_reuse",
}


@pytest.mark.parametrize("framework", GAMES)
@pytest.mark.parametrize("here", MEANT)
def test_a_name_of_the_same_meaning_is_answered_with_the_name_here(framework, here):
    kind, game = GAMES[framework]()
    for name in MEANT[here].split():
        with pytest.raises(TypeError, match=rf"{kind.__name__} '{name}': use {here}\b"):
            kind(game, **{name: 1})


@pytest.mark.parametrize("name", ["gamma", "discount_factor"])
def test_a_discount_is_meant_where_rewards_are_discounted(name):
    for framework in ("pettingzoo", "gymnasium"):
        kind, game = GAMES[framework]()
        with pytest.raises(TypeError, match=rf"'{name}': use discount, .* every step"):
            kind(game, **{name: 0.9})
    kind, game = GAMES["openspiel"]()
    with pytest.raises(TypeError, match=f"'{name}': there is no discount here"):
        kind(game, **{name: 0.9})


@pytest.mark.parametrize("name", ["max_depth", "depth", "maxDepth"])
def test_a_limit_of_depth_is_a_horizon_in_environments_and_nothing_in_games(name):
    for framework in ("pettingzoo", "gymnasium"):
        kind, game = GAMES[framework]()
        with pytest.raises(TypeError, match=f"'{name}': use horizon, the steps"):
            kind(game, **{name: 9})
    kind, game = GAMES["openspiel"]()
    with pytest.raises(TypeError, match=f"'{name}': there is no limit of depth"):
        kind(game, **{name: 9})


def test_a_part_that_has_the_name_too_is_told_beside():
    with pytest.raises(TypeError, match=r"use discount.*simultaneous=regret_matching\(gamma="):
        rave_gymnasium.UCTAgent(lake(), gamma=0.9)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("rave(time_limit=1)", "Unknown parameter of rave 'time_limit': use seconds"),
        ("uct(exploration_constant=1)", "'exploration_constant': use c, halved"),
        ("random(random_state=1)", "'random_state': use seed"),
        ("uci(command=x,simulations=9)", "'simulations': use nodes"),
        ("uci(command=x,max_depth=9)", "'max_depth': use depth"),
        ("gtp(command=x,seconds=9)", "'seconds': the program limits its own moves"),
    ],
)
def test_specs_are_answered_alike(spec, message):
    with pytest.raises(UnknownNameError, match=message):
        make_agent(spec, "pyspiel:tic_tac_toe" if "ci(" not in spec else "chess")


def test_a_default_that_no_agent_takes_is_refused():
    with pytest.raises(UnknownNameError, match="'n_simulations': use simulations"):
        make_agent("rave", "tic_tac_toe", n_simulations=5)
    make_agent("random", "tic_tac_toe", simulations=5, schedule="fuego")  # Others take these.


def test_limits_are_answered_alike():
    with pytest.raises(TypeError, match="Unknown limit 'time_limit': use seconds"):
        Limit(time_limit=1)
    with pytest.raises(TypeError, match=r"such as Limit\(simulations=500\): got 500 by position"):
        Limit(500)
    with pytest.raises(TypeError, match="SearchConfig field 'cpuct': use c"):
        SearchConfig(cpuct=1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_games": 4}, "argument of play_match 'n_games': use games, the number"),
        ({"time_limit": 1}, "use seconds, the wall-clock seconds for each move"),
        ({"num_workers": 2}, "use jobs, the processes"),
        ({"iterations": 9}, "use simulations"),
        ({"gamess": 4}, "Did you mean 'games'"),
    ],
)
def test_matches_are_answered_alike(arguments, message):
    with pytest.raises(TypeError, match=message):
        play_match("tic_tac_toe", "uct", "random", **arguments)


@pytest.mark.parametrize(
    ("function", "name", "message"),
    [
        (find_best, "time_limit", "use seconds, the wall-clock seconds for all games together"),
        (find_best, "time_per_move", "use move_seconds, the wall-clock seconds for each move"),
        (play_tournament, "n_games", "use games_per_pairing"),
        (play_tournament, "rounds", "use games_per_pairing"),
        (run_bench, "n_games", "use rounds, how often"),
        (run_bench, "seconds", "use round_seconds"),
        (solve_position, "fen", "use position: a FEN"),
    ],
)
def test_each_function_is_answered_with_what_it_takes(function, name, message):
    with pytest.raises(TypeError, match=f"{function.__name__} '{name}': {message}"):
        function("tic_tac_toe", **{name: 3})


def test_a_number_of_games_given_by_position_is_answered_with_its_name():
    with pytest.raises(TypeError, match=r"such as play_match\(.*, games=10\): got 10 by position"):
        play_match("tic_tac_toe", "uct", "random", 10)


def test_capital_letters_are_near_misses():
    with pytest.raises(UnknownNameError, match=r"'RAVE'\. Did you mean 'rave'"):
        make_agent("RAVE", "tic_tac_toe")


def test_an_environments_opponent_is_often_called_an_agent():
    with pytest.raises(TypeError, match="OpponentEnv 'agent': use opponent, the agent"):
        gymnasium.make("rave_agents/Opponent-v0", game="tic_tac_toe", agent="uct")


@pytest.mark.parametrize("command", [["report"], ["review", "tic_tac_toe"]])
def test_what_makes_a_page_has_an_option_for_it(command):
    result = CliRunner().invoke(app, [*command, "games.jsonl", "--output", "page.html"])
    assert "use --html FILE for one page" in " ".join(
        re.sub("[│╭╮╰╯─]", " ", result.output).split()
    )


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--time-limit", "use seconds, the wall-clock seconds"),
        ("--iterations", "use simulations"),
        ("--random-state", "use seed"),
        ("--max-depth", "there is no limit of depth"),
        ("--uct-c", "in an agent's spec, as in 'uct(c=0.7)', use c, halved"),
        ("--schedule", r"give it in an agent's spec, as in 'auto(schedule=...)'"),
        ("--simulation", "Possible options: "),
    ],
)
def test_options_of_commands_are_answered_alike(option, message):
    result = CliRunner().invoke(app, ["search", "tic_tac_toe", option, "3"])
    said = " ".join(re.sub("[│╭╮╰╯─]", " ", result.output).split())
    assert result.exit_code == 2
    assert message in said


@pytest.mark.parametrize("command", ["learn", "train", "match"])
def test_commands_that_show_progress_say_how_it_is_hidden(command):
    result = CliRunner().invoke(app, [command, "tic_tac_toe", "--quiet"])
    said = " ".join(re.sub("[│╭╮╰╯─]", " ", result.output).split())
    assert result.exit_code == 2
    assert "progress goes to standard error" in said


@pytest.mark.parametrize("framework", GAMES)
@pytest.mark.parametrize(
    ("value", "name"), [(500, "simulations=500"), (0.5, "seconds=0.5"), ("60+1", "clock='60")]
)
def test_what_is_given_by_position_is_answered_with_its_name(framework, value, name):
    kind, game = GAMES[framework]()
    first = "game" if framework == "openspiel" else "env"
    with pytest.raises(TypeError, match=re.escape(f"such as {kind.__name__}({first}, {name}")):
        kind(game, value)


def test_bots_of_openspiel_keep_their_positions():
    mcts = rave_openspiel.mcts
    game = pyspiel.load_game("tic_tac_toe")
    assert mcts.MCTSBot(game, 2.0, 10, mcts.RandomRolloutEvaluator(1)).max_simulations == 10


def test_of_many_names_a_few_are_listed_and_where_all_are():
    kind, game = GAMES["openspiel"]()
    with pytest.raises(TypeError) as raised:
        kind(game, zzz=1)
    assert len(str(raised.value)) < 200
    assert "all: help(RaveBot)" in str(raised.value)
    with pytest.raises(UnknownNameError, match="all: rave-agents agents rave"):
        make_agent("rave(zzz=1)", "tic_tac_toe")


def test_a_misspelt_name_is_still_answered_with_the_nearest():
    message = unknown_argument("parameter", "simulatoins", ["simulations", "seconds"])
    assert "Did you mean 'simulations'" in message
    assert meant("simulatoins", ["simulations", "seconds"]) is None


def test_all_arguments_that_names_mean_are_arguments_of_some_agent():
    taken = {"env", "player_id", "player", "worlds", "horizon", "discount", "games", "jobs"}
    taken |= {
        "move_seconds",
        "games_per_pairing",
        "round_seconds",
        "position",
        "opponent",
        "html",
        "json",
    }
    for kind in agent_types().values():
        taken |= {*kind.parameters}
    for name in Config.preset_names():
        taken |= {place.split(".")[-1] for place in Config.preset(name).parts_in_use()}
    assert {meaning.argument for meaning in MEANINGS} <= taken
