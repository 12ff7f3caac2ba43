"""A user's own script: a game in a file, a bot, a network, a learned file and a model, everywhere.

The game is that of ``helpers/own_games/subtraction.py``. Each agent goes through everything that
plays or searches it, in Python and on the command line.
"""

import functools
import json
import pathlib

import pytest
from helpers.opponents import play_opponent
from helpers.own_agents import networks
from typer.testing import CliRunner

from rave_agents.analysis.position_analysis import analyse
from rave_agents.analysis.solve import solve_position
from rave_agents.arena import find_best, play_match, play_tournament
from rave_agents.cli import app
from rave_agents.learning.learn import learn

HELPERS = pathlib.Path(__file__).parent.parent / "helpers"
GAME = networks.GAME


@functools.cache
def learned_value():
    return learn(GAME, games=4, rounds=1, simulations=4)


def learned_file(folder):
    """The spec of a search with what ``learn`` has written."""
    file = folder / "subtraction.npz"
    learned_value().save(file)
    return f"uct(simulations=4,evaluator={file})"


AGENTS = {
    "search": lambda folder: "auto(simulations=4)",
    "heuristic": lambda folder: f"{HELPERS}/own_agents/bots.py:nth(place=1)",
    "learned file": learned_file,
    "torch network": lambda folder: networks.network(),
    "torch network by file": lambda folder: f"{HELPERS}/own_agents/networks.py:network",
    "sb3 model": lambda folder: networks.model(),
    "sb3 model by file": lambda folder: f"{HELPERS}/own_agents/networks.py:model",
}
NEEDS = {"torch": pytest.mark.needs("torch"), "sb3": pytest.mark.needs("sb3_contrib")}
FEW = {"games": 2, "opening_plies": 0}


def match(who):
    assert play_match(GAME, who, "random", **FEW).complete


def tournament(who):
    agents = {"own": who, "random": "random"}
    assert play_tournament(GAME, agents, games_per_pairing=2, opening_plies=0).finished == 2


def best(who):
    agents = {"own": who, "random": "random"}
    assert find_best(GAME, agents, seconds=0.2, simulations=2, opening_plies=0).sentence


def search(who):
    assert analyse(GAME, who, moves="1").action in range(3)


def opponent(who):
    play_opponent(GAME, who)


def command(who):
    told = run("match", GAME, who, "random", "--games", "2", "--opening-plies", "0", "--json")
    assert json.loads(told)["games"] == 2
    assert json.loads(run("search", GAME, who, "--json"))["action"] in range(3)


def run(*words):
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return result.stdout


def cells():
    """Each agent at each door; on the command line those that have a name there."""
    for name in AGENTS:
        for door in (match, tournament, best, search, opponent, command):
            if door is not command or name not in ("torch network", "sb3 model"):
                marks = NEEDS.get(name.split()[0], ())
                yield pytest.param(name, door, marks=marks, id=f"{name}-{door.__name__}")


@pytest.mark.full(but=12)
@pytest.mark.parametrize(("name", "door"), list(cells()))
def test_every_agent_goes_through_everything_at_a_game_of_ones_own(name, door, tmp_path):
    door(AGENTS[name](tmp_path))


def test_the_game_is_solved_and_learned_without_an_agent():
    """``solve`` and ``learn`` search themselves, so that they take a game and no agent."""
    assert solve_position(GAME, positions=50).positions > 0
    assert learned_value() is not None


@pytest.mark.full
def test_the_game_is_solved_and_learned_by_commands(tmp_path):
    assert json.loads(run("solve", GAME, "--positions", "50", "--json"))["game"] == GAME
    file, few = (
        tmp_path / "value.npz",
        ("--games", "4", "--rounds", "1", "--simulations", "4", "--checks", "0"),
    )
    assert json.loads(run("learn", GAME, "--output", str(file), *few, "--json"))["games"] == 4
    assert file.exists()
