"""Every form of game goes through one door; every caller of it takes one form, or says why not."""

import pathlib

import gymnasium
import numpy as np
import pyspiel
import pytest
import rave_gymnasium
from helpers.own_games.line_of_dominoes import LineOfDominoes
from helpers.own_games.subtraction import Subtraction, five_sticks
from open_spiel.python import games as _python_games  # noqa: F401  (registers its games)
from pettingzoo.classic import tictactoe_v3
from rave_openspiel import RaveBot

from rave_agents import BatchEvaluator, UnsupportedGameError, as_game, make_agent, self_play
from rave_agents.analysis.position_analysis import analyse
from rave_agents.analysis.solve import solve_position
from rave_agents.arena.bench import run_bench
from rave_agents.arena.match import play_match
from rave_agents.arena.race import find_best
from rave_agents.arena.sweep import run_scaling, run_sweep
from rave_agents.arena.tournament import play_tournament
from rave_agents.engines.gtp_engine import GtpEngine
from rave_agents.learning.learn import learn as learn_value
from rave_agents.testing import check_game_state

FOLDER = pathlib.Path(__file__).parent.parent / "helpers" / "own_games"

GAMES = {
    "name": lambda: "tic_tac_toe",
    "state by module": lambda: "helpers.own_games.subtraction:Subtraction(sticks=5)",
    "state by file": lambda: f"{FOLDER}/subtraction.py:Subtraction(sticks=5)",
    "function by file": lambda: f"{FOLDER}/subtraction.py:five_sticks",
    "object by file": lambda: f"{FOLDER}/subtraction.py:ready",
    "rules by file": lambda: f"{FOLDER}/line_of_dominoes.py:LineOfDominoes(cells=6)",
    "class of states": lambda: Subtraction,
    "state": lambda: Subtraction(5),
    "function": lambda: five_sticks,
    "class of rules": lambda: LineOfDominoes,
    "rules": lambda: LineOfDominoes(cells=6),
    "pyspiel.Game": lambda: pyspiel.load_game("tic_tac_toe"),
    "pyspiel.Game in Python": lambda: pyspiel.load_game("python_tic_tac_toe"),
    "pyspiel.State": lambda: pyspiel.load_game("tic_tac_toe").new_initial_state(),
    "PettingZoo environment": tictactoe_v3.env,
    "function of an environment": lambda: tictactoe_v3.env,
    "Gymnasium environment": lambda: gymnasium.make("FrozenLake-v1", is_slippery=False),
}
SEARCH, FEW = "uct(simulations=6)", {"opening_plies": 0, "games": 2}


def agent(game):
    state = as_game(game).new_initial_state()
    assert make_agent(SEARCH, game, 0, seed=1).step(state) in list(state.legal_actions())


def match(game):
    assert play_match(game, SEARCH, "random", **FEW).complete


def tournament(game):
    result = play_tournament([game], [SEARCH, "random"], games_per_pairing=2, opening_plies=0)
    assert result.finished == 2


def race(game):
    result = find_best(game, [SEARCH, "random"], seconds=0.01)
    assert result.sentence
    assert result.finished >= 2


def sweep(game):
    assert run_sweep(game, "uct", "random", {"c": [1.0, 2.0]}, simulations=4, **FEW).finished == 4


def scaling(game):
    assert run_scaling(game, "uct", ["random"], simulations=[3, 6], **FEW).finished == 4


def bench(game):
    made = run_bench([game], ["uct"], baseline="uct(c=1)", rounds=1, round_seconds=1e-4)
    assert made.rows[0].ratio > 0


def solve(game):
    assert solve_position(game, positions=20).positions > 0


def search(game):
    assert analyse(game, SEARCH).result is not None


def learn(game):
    assert learn_value(game, games=2, rounds=1, simulations=4) is not None


def training(game):
    actions = as_game(game).new_initial_state().num_distinct_actions()
    players = as_game(game).num_players

    def judge(batch):
        rows = len(batch.players)
        return np.zeros((rows, actions)), np.zeros((rows, players))

    flat = BatchEvaluator(judge)
    assert list(self_play(game, flat, games=1, simulations=4, seed=1))


def opponent(game):
    assert rave_gymnasium.OpponentEnv is not None
    env = gymnasium.make("Opponent-v0", game=game, opponent=SEARCH, disable_env_checker=True)
    _, info = env.reset(seed=1)
    env.step(env.action_space.sample(mask=info["action_mask"]))


def gtp(game):
    assert GtpEngine(game, SEARCH, seed=1).answer("genmove b").startswith("= ")


def bot(game):
    made = RaveBot(game, simulations=6, seed=1)
    made.step(made.game.new_initial_state())


def check(game):
    check_game_state(game, games=1, max_moves=4)


DOORS = [
    *(
        agent,
        match,
        tournament,
        race,
        sweep,
        scaling,
        bench,
        solve,
        search,
        learn,
        training,
        opponent,
    ),
    *(gtp, bot, check),
]

TWO = [match, tournament, sweep, scaling, opponent]


@pytest.mark.parametrize("name", GAMES)
def test_the_door_takes_every_game(name):
    agent(GAMES[name]())


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_every_caller_of_the_door_takes_a_game_of_ones_own(door):
    door(GAMES["rules by file" if door is bot else "state by file"]())


@pytest.mark.parametrize(
    ("door", "name", "reason"),
    [
        (bot, "state", "no game of OpenSpiel"),
        (bot, "PettingZoo environment", "no game of OpenSpiel"),
        *((door, "Gymnasium environment", "two players") for door in TWO),
        (gtp, "Gymnasium environment", "two players"),
        (solve, "Gymnasium environment", "draws chance itself"),
        (learn, "Gymnasium environment", "utilities are bounded"),
    ],
)
def test_a_game_that_makes_no_sense_there_is_refused(door, name, reason):
    with pytest.raises(UnsupportedGameError, match=reason):
        door(GAMES[name]())
