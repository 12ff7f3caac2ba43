"""Every shape of agent goes through one door; every caller of it takes one shape."""

import json
import pathlib

import gymnasium
import pyspiel
import pytest
import rave_gymnasium
from helpers.opponents import play_opponent
from helpers.own_agents import bots, networks
from open_spiel.python import policy as spiel_policies
from pettingzoo.classic import tictactoe_v3
from rave_openspiel import RaveBot
from rave_pettingzoo import evaluate
from rave_pettingzoo import tournament as zoo_tournament
from typer.testing import CliRunner

from rave_agents import as_game, from_policy, from_sb3, from_torch, make_agent
from rave_agents.analysis.position_analysis import analyse
from rave_agents.arena import find_best
from rave_agents.arena.bench import run_bench
from rave_agents.arena.match import play_match
from rave_agents.arena.sweep import run_scaling, run_sweep
from rave_agents.arena.tournament import play_tournament
from rave_agents.cli import app
from rave_agents.engines.gtp_engine import GtpEngine
from rave_agents.learning.learn import learn

assert rave_gymnasium.OpponentEnv is not None

GAME = "tic_tac_toe"
FILE = f"{pathlib.Path(__file__).parent.parent}/helpers/own_agents/bots.py"
FEW = {"games": 2, "opening_plies": 0}


def board():
    return pyspiel.load_game(GAME)


def masked_model(observation="game"):
    """A model of sb3-contrib that observes the game in one of the forms of Opponent-v0."""
    from sb3_contrib import MaskablePPO

    options = {"opponent": "random", "observation": observation, "disable_env_checker": True}
    env = gymnasium.make("Opponent-v0", game=GAME, **options)
    return from_sb3(MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=8, seed=1, device="cpu"))


def network():
    import torch

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.values = torch.nn.LazyLinear(9)

        def forward(self, observations):
            return self.values(observations.flatten(1))

    return from_torch(Network())


AGENTS = {
    "spec": lambda: "uct(simulations=4)",
    "function by module": lambda: "helpers.own_agents.bots:first",
    "function by file with a parameter": lambda: f"{FILE}:nth(place=1)",
    "class by file with a parameter": lambda: f"{FILE}:Nth(place=1)",
    "object by file": lambda: f"{FILE}:ready",
    "maker by file": lambda: f"{FILE}:cpp_mcts",
    "function of the state": lambda: bots.named,
    "function of observation and mask": lambda: bots.masked,
    "function that gives probabilities": lambda: bots.mixed,
    "class": lambda: bots.Nth,
    "object": lambda: bots.Nth(1),
    "class of pyspiel.Bot": lambda: bots.FirstBot,
    "pyspiel.Bot": bots.FirstBot,
    "maker of pyspiel.MCTSBot": lambda: bots.cpp_mcts,
    "maker of mcts.MCTSBot": lambda: bots.python_mcts,
    "maker of AutoBot": lambda: bots.auto,
    "RaveBot": lambda: RaveBot(board(), simulations=4, player_id=0, seed=1),
    "policy of OpenSpiel": lambda: from_policy(spiel_policies.UniformRandomPolicy(board())),
    "agent of this package": lambda: make_agent("random", GAME, 0, seed=1),
    "model": lambda: bots.model,
    "MaskablePPO": masked_model,
    "MaskablePPO of PettingZoo's observations": lambda: masked_model("pettingzoo"),
    "torch module": network,
}
NEEDS = {"torch module": "torch", **dict.fromkeys(list(AGENTS)[-3:-1], "sb3_contrib")}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.needs(NEEDS[name]) if name in NEEDS else ())
        for name in AGENTS
    ],
)
def test_the_door_takes_every_shape_in_games_and_in_environments(name):
    who = AGENTS[name]()
    state = as_game(GAME).new_initial_state()
    assert int(make_agent(who, GAME, 0, seed=1).step(state)) in list(state.legal_actions())
    assert play_match("pettingzoo:tictactoe_v3", who, "random", **FEW).complete
    result = evaluate(tictactoe_v3.env, {"player_1": who, "player_2": "random"}, episodes=2)
    assert result["player_1"].illegal_moves == 0
    play_opponent(GAME, who)


def tournament(who):
    agents = {"own": who, "random": "random"}
    assert play_tournament([GAME], agents, games_per_pairing=2, opening_plies=0).finished == 2


def race(who):
    agents = {"own": who, "random": "random"}
    assert find_best(GAME, agents, seconds=0.2, simulations=2, opening_plies=0).sentence


def sweep(who):
    assert run_sweep(GAME, "uct(simulations=2)", who, {"c": [1.0, 2.0]}, **FEW).finished == 4


def scaling(who):
    assert run_scaling(GAME, "uct", [who], simulations=[2, 3], **FEW).finished == 4


def bench(who):
    with pytest.raises(ValueError, match="no simulations that could be counted"):
        run_bench([GAME], [who], baseline="uct(c=1)", rounds=1, round_seconds=1e-4)


def search(who):
    assert analyse(GAME, who, moves="4").action != 4


def gtp(who):
    engine = GtpEngine(GAME, who, seed=1)
    assert engine.answer("genmove b").startswith("= ")
    assert engine.answer("genmove w").startswith("= ")


def environments(who):
    result = zoo_tournament(tictactoe_v3.env, {"own": who, "random": "random"}, episodes=2)
    assert result.finished == 2


def run(*words):
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def command(who):
    told = run("match", GAME, who, "random", "--games", "2", "--opening-plies", "0", "--json")
    assert told["games"] == 2


@pytest.mark.parametrize(
    "caller", [tournament, race, sweep, scaling, bench, search, gtp, environments, command]
)
def test_every_caller_takes_an_agent_of_ones_own(caller):
    caller(f"{FILE}:nth(place=1)")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("network", marks=pytest.mark.needs("torch")),
        pytest.param("model", marks=pytest.mark.needs("sb3_contrib")),
    ],
)
def test_a_network_and_a_model_play_a_game_of_ones_own(name):
    who = getattr(networks, name)
    assert play_match(networks.GAME, who, "random", **FEW).complete
    assert analyse(networks.GAME, f"helpers.own_agents.networks:{name}", moves="1").action in (
        *range(3),
    )


def test_a_learned_file_plays_a_game_of_ones_own(tmp_path):
    file = tmp_path / "subtraction.npz"
    learn(networks.GAME, games=4, rounds=1, simulations=4).save(file)
    who = f"uct(simulations=4,evaluator={file})"
    assert play_match(networks.GAME, who, "random", **FEW).complete
    assert run("search", networks.GAME, who, "--json")["action"] in range(3)


@pytest.mark.full
def test_a_game_of_ones_own_is_solved_and_learned_by_commands(tmp_path):
    assert run("solve", networks.GAME, "--positions", "50", "--json")["game"] == networks.GAME
    file = tmp_path / "value.npz"
    few = ("--games", "4", "--rounds", "1", "--simulations", "4", "--checks", "0")
    assert run("learn", networks.GAME, "--output", str(file), *few, "--json")["games"] == 4
    assert file.exists()
