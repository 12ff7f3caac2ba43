"""Whatever a user has for an agent is taken by everything that takes an agent, or refused."""

import json
import pathlib

import gymnasium
import pyspiel
import pytest
import rave_gymnasium
from helpers.opponents import play_opponent
from helpers.own_agents import bots
from open_spiel.python import policy as spiel_policies
from pettingzoo.classic import tictactoe_v3
from rave_openspiel import RaveBot
from rave_pettingzoo import evaluate
from rave_pettingzoo import tournament as zoo_tournament
from typer.testing import CliRunner

from rave_agents import as_game, make_agent
from rave_agents.analysis.position_analysis import analyse
from rave_agents.arena.bench import run_bench
from rave_agents.arena.match import play_match
from rave_agents.arena.sweep import run_scaling, run_sweep
from rave_agents.arena.tournament import play_tournament
from rave_agents.cli import app
from rave_agents.engines.gtp_engine import GtpEngine

assert rave_gymnasium.OpponentEnv is not None

GAME = "tic_tac_toe"
FOLDER = pathlib.Path(__file__).parent.parent / "helpers" / "own_agents"
FILE = f"{FOLDER}/bots.py"


def board():
    return pyspiel.load_game(GAME)


def masked_model(observation="game"):
    """A model of sb3-contrib that observes the game in one of the forms of Opponent-v0."""
    from sb3_contrib import MaskablePPO

    options = {"opponent": "random", "observation": observation, "disable_env_checker": True}
    env = gymnasium.make("Opponent-v0", game=GAME, **options)
    return MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=8, seed=1, device="cpu")


def network():
    import torch

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.values = torch.nn.LazyLinear(9)

        def forward(self, observations):
            return self.values(observations.flatten(1))

    return Network()


AGENTS = {
    "spec": lambda: "uct(simulations=4)",
    "function by module": lambda: "helpers.own_agents.bots:first",
    "function by file with a parameter": lambda: f"{FILE}:nth(place=1)",
    "class by file with a parameter": lambda: f"{FILE}:Nth(place=1)",
    "object by file": lambda: f"{FILE}:ready",
    "factory by file": lambda: f"{FILE}:cpp_mcts",
    "function of the state": lambda: bots.named,
    "function of observation and mask": lambda: bots.masked,
    "function that gives probabilities": lambda: bots.mixed,
    "class": lambda: bots.Nth,
    "object": lambda: bots.Nth(1),
    "class of pyspiel.Bot": lambda: bots.FirstBot,
    "pyspiel.Bot": bots.FirstBot,
    "factory of pyspiel.MCTSBot": lambda: bots.cpp_mcts,
    "factory of mcts.MCTSBot": lambda: bots.python_mcts,
    "factory of AutoBot": lambda: bots.auto,
    "RaveBot": lambda: RaveBot(board(), simulations=4, player_id=0, seed=1),
    "policy of OpenSpiel": lambda: spiel_policies.UniformRandomPolicy(board()),
    "agent of this package": lambda: make_agent("random", GAME, 0, seed=1),
    "object with predict": bots.Model,
    "object with forward_inference": bots.Module,
    "MaskablePPO": masked_model,
    "MaskablePPO of PettingZoo's observations": lambda: masked_model("pettingzoo"),
    "torch module": network,
}
NEEDS = {"torch module": "torch", **dict.fromkeys(list(AGENTS)[-3:-1], "sb3_contrib")}
FEW = {"games": 2, "opening_plies": 0}


def agent(who):
    state = as_game(GAME).new_initial_state()
    assert int(make_agent(who, GAME, 0, seed=1).step(state)) in list(state.legal_actions())


def match(who):
    assert play_match(GAME, who, "random", **FEW).complete


def tournament(who):
    agents = {"own": who, "random": "random"}
    result = play_tournament([GAME], agents, games_per_pairing=2, opening_plies=0)
    assert result.finished == 2


def sweep(who):
    values = {"c": [1.0, 2.0]}
    assert run_sweep(GAME, "uct(simulations=2)", who, values, **FEW).finished == 4


def scaling(who):
    assert run_scaling(GAME, "uct", [who], simulations=[2, 3], **FEW).finished == 4


def bench(who):
    assert run_bench([GAME], [who], baseline="uct(c=1)", rounds=1, round_seconds=1e-4).rows


def search(who):
    assert analyse(GAME, who, moves="4").action != 4


def gtp(who):
    engine = GtpEngine(GAME, who, seed=1)
    assert engine.answer("genmove b").startswith("= ")
    assert engine.answer("genmove w").startswith("= ")


def evaluation(who):
    result = evaluate(tictactoe_v3.env, {"player_1": who, "player_2": "random"}, episodes=2)
    assert result["player_1"].illegal_moves == 0


def environments(who):
    result = zoo_tournament(tictactoe_v3.env, {"own": who, "random": "random"}, episodes=2)
    assert result.finished == 2


def environment_in_a_match(who):
    assert play_match("pettingzoo:tictactoe_v3", who, "random", **FEW).complete


def opponent(who):
    play_opponent(GAME, who)


def command(who):
    told = ["match", GAME, who, "random", "--games", "2", "--opening-plies", "0", "--json"]
    result = CliRunner().invoke(app, told)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["games"] == 2


DOORS = [
    *(agent, match, tournament, sweep, scaling, bench, search, gtp, opponent, command),
    *(evaluation, environments, environment_in_a_match),
]
IN_ENVIRONMENTS = (evaluation, environments, environment_in_a_match)
REFUSED = {
    **{(bench, name): "no simulations that could be counted" for name in AGENTS if name != "spec"},
}
"""Cells that cannot make sense, with the reason that is told."""


def cells():
    """Each agent at each door; on the command line those that have a name there."""
    for name in AGENTS:
        marks = pytest.mark.needs(NEEDS[name]) if name in NEEDS else ()
        for door in DOORS:
            if door is not command or name == "spec" or " by " in name:
                yield pytest.param(name, door, marks=marks, id=f"{name}-{door.__name__}")


@pytest.mark.full(but=70)
@pytest.mark.parametrize(("name", "door"), cells())
def test_every_door_takes_every_agent(name, door):
    who = AGENTS[name]()
    reason = REFUSED.get((door, name))
    if reason is None:
        door(who)
        return
    with pytest.raises((ValueError, TypeError), match=reason):
        door(who)
