"""Unknown arguments: the answer has the nearest name, or ours for a common one of others."""

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
from rave_agents.arena import play_match
from rave_agents.cli.program import app
from rave_agents.errors import UnknownNameError
from rave_agents.game.arguments import SYNONYMS, synonym_advice, unknown_argument


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


@pytest.mark.parametrize("framework", GAMES)
@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("time_limit", "use seconds"),
        ("rollouts", "use simulations"),
        ("uct_c", "use c, halved"),
        ("random_state", "use seed"),
        ("n_jobs", "use threads"),
    ],
)
def test_a_common_name_of_other_libraries_is_answered_with_ours(framework, name, advice):
    kind, game = GAMES[framework]()
    with pytest.raises(TypeError, match=rf"{kind.__name__} '{name}': {advice}"):
        kind(game, **{name: 1})


def test_a_name_that_a_part_has_too_is_that_of_the_agents_argument():
    with pytest.raises(TypeError, match="'gamma': use discount"):
        rave_gymnasium.UCTAgent(lake(), gamma=0.9)


def test_a_synonym_of_an_argument_that_is_not_taken_is_unknown():
    kind, game = GAMES["openspiel"]()
    with pytest.raises(TypeError, match="RaveBot 'gamma'"):
        kind(game, gamma=0.9)
    assert synonym_advice("gamma", ["seed"]) is None


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("rave(time_limit=1)", "Unknown parameter of rave 'time_limit': use seconds"),
        ("uct(exploration_constant=1)", "'exploration_constant': use c"),
        ("random(random_state=1)", "'random_state': use seed"),
    ],
)
def test_specs_are_answered_alike(spec, message):
    with pytest.raises(UnknownNameError, match=message):
        make_agent(spec, "pyspiel:tic_tac_toe")


def test_a_default_that_no_agent_takes_is_refused():
    with pytest.raises(UnknownNameError, match=r"'n_simulations'\. Did you mean 'simulations'"):
        make_agent("rave", "tic_tac_toe", n_simulations=5)
    make_agent("random", "tic_tac_toe", simulations=5, schedule="fuego")  # Others take these.


def test_limits_are_answered_alike():
    with pytest.raises(TypeError, match="Unknown limit 'time_limit': use seconds"):
        Limit(time_limit=1)
    with pytest.raises(TypeError, match=r"such as Limit\(simulations=500\): got 500 by position"):
        Limit(500)
    with pytest.raises(TypeError, match="SearchConfig field 'c_puct': use c"):
        SearchConfig(c_puct=1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_games": 4}, "argument of play_match 'n_games'. Did you mean 'games'"),
        ({"time_limit": 1}, "use seconds"),
        ({"gamess": 4}, "Did you mean 'games'"),
    ],
)
def test_matches_are_answered_alike(arguments, message):
    with pytest.raises(TypeError, match=message):
        play_match("tic_tac_toe", "uct", "random", **arguments)


def test_a_number_of_games_given_by_position_is_answered_with_its_name():
    with pytest.raises(TypeError, match=r"such as play_match\(.*, games=10\): got 10 by position"):
        play_match("tic_tac_toe", "uct", "random", 10)


def test_capital_letters_are_near_misses():
    with pytest.raises(UnknownNameError, match=r"'RAVE'\. Did you mean 'rave'"):
        make_agent("RAVE", "tic_tac_toe")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--time-limit", "use seconds"),
        ("--random-state", "use seed"),
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


def test_all_arguments_that_synonyms_stand_for_are_arguments_of_some_agent():
    taken = {"discount"}
    for kind in agent_types().values():
        taken |= {*kind.parameters}
    for name in SearchConfig.preset_names():
        taken |= {place.split(".")[-1] for place in SearchConfig.preset(name).parts_in_use()}
    assert {argument for argument, _ in SYNONYMS.values()} <= taken
