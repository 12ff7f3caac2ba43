"""Networks that self-play trains: what is taken, their files, and that they learn."""

import json
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import typer
from helpers.own_networks import (
    FILE,
    MADE,
    Diverging,
    Failing,
    Perceptron,
    Probabilities,
    Speechless,
    Stubborn,
)
from helpers.race import Race
from rave_pettingzoo import PUCTAgent
from typer.testing import CliRunner

from rave_agents import Limit, SearchConfig, Searcher, as_evaluator
from rave_agents.agents.named_agents import AgentSpec
from rave_agents.arena.match import play_match
from rave_agents.cli import app
from rave_agents.cli.learning import learn_and_show
from rave_agents.cli.output import Output
from rave_agents.errors import GameError, UnknownNameError, UnsupportedGameError
from rave_agents.evaluators.trained_network import TrainedNetwork
from rave_agents.frameworks.adapters import load_game
from rave_agents.learning.to_file import train_to_file
from rave_agents.learning.train import train

GAME = "tic_tac_toe"
FEW = {"rounds": 1, "simulations": 4, "progress": False}


def numbers(network):
    return np.concatenate([each.ravel() for each in network.state_dict().values()])


def test_a_network_is_trained_and_its_file_is_an_evaluator_in_one_line(tmp_path):
    path = tmp_path / "net.npz"
    network = train(GAME, f"{FILE}:Perceptron(hidden=8)", games=4, **FEW)
    network.save(path)
    again = as_evaluator(f"{path}(network={FILE}:Perceptron(hidden=8))")
    state = load_game(GAME).new_initial_state()
    found = [
        Searcher(SearchConfig.preset("puct"), seed=1, evaluator=each)
        .search(state, Limit(simulations=20))
        .value
        for each in (network, again)
    ]
    assert found[0] == found[1]
    assert (numbers(again) != numbers(Perceptron((3, 3, 3), 9, hidden=8))).any()
    with pytest.raises(
        ValueError, match=r"name the network, as in evaluator=.*Perceptron\(hidden=8\)"
    ):
        as_evaluator(path)
    with pytest.raises(ValueError, match="parameters do not fit"):
        as_evaluator(f"{path}(network={FILE}:Perceptron)")


@pytest.mark.full
def test_training_on_a_cluster_or_in_processes_is_the_same(tmp_path):
    pytest.importorskip("distributed")
    files = [tmp_path / f"{name}.npz" for name in ("processes", "dask")]
    for path, dask in zip(files, (None, "local"), strict=True):
        options = {**FEW, "rounds": 2, "games": 6, "jobs": 2, "dask": dask, "checks": 0}
        train_to_file(GAME, path, f"{FILE}:Perceptron", **options)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_training_goes_on_from_a_file(tmp_path):
    path = tmp_path / "net.npz"
    first = train(GAME, Stubborn, games=1, seed=1, **FEW)
    first.save(path)
    again = train(GAME, Stubborn, games=1, seed=2, start=path, **FEW)
    assert (numbers(again) == numbers(first)).all()
    with pytest.raises(UnsupportedGameError, match="trained on tic_tac_toe"):
        train("connect_four", Stubborn, games=1, start=path, **FEW)


@pytest.mark.parametrize("game", ["kuhn_poker(players=3)", "pig(winscore=4)", Race(goal=3)])
def test_chance_hidden_cards_and_three_players_are_taken(game):
    network = train(game, Perceptron, games=2, **FEW)
    assert network.sizes.num_values in (1, 3)
    assert network.made == ""


def test_an_agent_of_pettingzoo_plays_by_a_file_of_what_it_sees(tmp_path):
    connect_four_v3 = pytest.importorskip("pettingzoo.classic.connect_four_v3")
    path, env = tmp_path / "net.npz", connect_four_v3.env()
    env.reset(seed=1)
    train("connect_four_v3", f"{FILE}:Stubborn", games=1, **FEW).save(path)
    agent = PUCTAgent(env, evaluator=f"{path}(network={FILE}:Stubborn)", simulations=4, seed=1)
    assert agent.act() in range(7)


def test_a_network_of_another_game_is_refused():
    network = TrainedNetwork(MADE, maker_of(MADE), game="another game")
    state = load_game("connect_four").new_initial_state()
    with pytest.raises(UnsupportedGameError, match="trained on another game, with observations"):
        Searcher(SearchConfig.preset("puct"), evaluator=network).search(state, Limit(simulations=2))


def maker_of(network):
    return train(GAME, network, games=1, **FEW)._maker


def test_a_given_network_is_trained_as_a_copy():
    found = train(GAME, MADE, games=1, **FEW)
    assert (numbers(found) != numbers(MADE)).any()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"targets": "gumble"}, ValueError, "Did you mean 'gumbel'"),
        ({"simulations": 1}, ValueError, "simulations must be an integer of at least 2"),
        ({"games": 0}, ValueError, "games must be an integer of at least 1"),
        ({"network": "nowhere:Net"}, UnknownNameError, "no module 'nowhere'"),
        ({"network": f"{FILE}:Perceptron(hiden=8)"}, UnknownNameError, "Did you mean 'hidden'"),
        ({"network": f"{FILE}:untaught"}, TypeError, "has no learn, state_dict, load_state_dict"),
        ({"network": f"{FILE}:MADE(hidden=8)"}, TypeError, "is already a network"),
        ({"network": 3}, TypeError, "int has no learn"),
        ({"network": lambda a, b, c: None}, TypeError, "needs c"),
        ({"network": lambda: Perceptron((27,), 8)}, GameError, r"policy of shape \(\d+, 9\)"),
        ({"network": lambda: {}["x"]}, GameError, r"fails: KeyError: 'x' \(test_train.py, line \d"),
        (
            {"network": Failing},
            GameError,
            r"Failing fails on .* 3\): Zero.*own_networks",
        ),
        ({"network": Probabilities}, GameError, "before the softmax"),
        ({"network": lambda: Speechless((3, 3, 3), 9)}, ValueError, "its loss is None"),
        ({"network": Diverging}, ValueError, "Diverging learns no more: its loss is nan"),
        ({"game": "goofspiel"}, UnsupportedGameError, "one player moves at a time"),
        ({"game": "nowhere"}, UnknownNameError, "nowhere"),
        ({"game": "matrix_rps"}, UnsupportedGameError, "one player moves at a time"),
    ],
)
def test_what_cannot_be_trained_is_refused(options, error, message):
    given = {"game": GAME, "network": Perceptron, "games": 2, **FEW, **options}
    with pytest.raises(error, match=message):
        train(**given)


def test_a_damaged_file_is_refused_and_an_interrupted_write_leaves_the_old_one(tmp_path):
    path = tmp_path / "net.npz"
    network = train(GAME, MADE, games=1, **FEW)
    network.save(path)
    whole = path.read_bytes()
    network.network.numbers["out"] = np.array([object()])
    with pytest.raises(TypeError, match="must hold numbers"):
        network.save(path)
    assert path.read_bytes() == whole
    arrays = dict(np.load(path))
    for change in (
        {"num_actions": np.array(0)},
        {"utilities": np.array([1.0, np.nan])},
        {"network_format": np.array(7)},
        {"state/out": arrays["state/out"] * np.nan},
        {"game": np.array(["a", "b"])},
    ):
        np.savez(path, **{**arrays, **change})
        with pytest.raises(ValueError, match=r"not a trained network|finite"):
            as_evaluator(f"{path}(network={FILE}:MADE)")
    for length in range(0, len(whole), 997):
        path.write_bytes(whole[:length])
        with pytest.raises((ValueError, UnknownNameError)):
            as_evaluator(f"{path}(network={FILE}:MADE)")


def test_the_command_trains_by_the_searchs_improved_policy(tmp_path):
    path = tmp_path / "net.npz"
    options = ["--games", "2", "--rounds", "1", "--simulations", "4", "--targets", "gumbel"]
    options += ["--checks", "0"]
    options += ["--network", f"{FILE}:Perceptron", "--output", str(path), "--json"]
    told = CliRunner().invoke(app, ["train", GAME, *options])
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["output"] == f"{path}(network={FILE}:Perceptron)"
    assert TrainedNetwork.load(path, Perceptron).made == "rave-agents train 'tic_tac_toe', seed 0"


@pytest.mark.parametrize(
    ("rounds", "told"), [(0, "no round had ended"), (1, "--from net.npz goes on")]
)
def test_after_ctrl_c_the_command_says_what_is_kept(tmp_path, monkeypatch, capsys, rounds, told):
    def interrupted_training(game, output, made):
        for _ in range(rounds):
            output.write_bytes(b"a network")
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    call = partial(interrupted_training, game=GAME, output=Path("net.npz"))
    with pytest.raises(typer.Exit) as caught:
        learn_and_show("train", call, Output(), None)
    assert caught.value.exit_code == 130
    assert told in " ".join(capsys.readouterr().err.split())


@pytest.mark.compiled
@pytest.mark.full
@pytest.mark.parametrize("targets", ["alphazero", "gumbel"])
def test_a_trained_network_wins_against_an_untrained_one(targets):
    """100 games by little but the policy; of equals 1 match in 30,000 ends at 0.7 or above."""
    network = train(GAME, Perceptron, games=1280, simulations=30, rounds=1, targets=targets, seed=1)
    agents = [
        AgentSpec("puct", {"evaluator": each, "simulations": 2})
        for each in (network, Perceptron((3, 3, 3), 9))
    ]
    assert play_match(GAME, *agents, games=100, seed=1, progress=False).score.score >= 0.7


@pytest.mark.compiled
@pytest.mark.full
def test_a_round_is_checked_and_drawn(tmp_path):
    path = tmp_path / "net.npz"
    result = train_to_file(
        GAME, path, f"{FILE}:Perceptron", games=8, rounds=2, simulations=8, checks=2, progress=False
    )
    assert [each.beginning.games for each in result.checks] == [2, 2]
    assert result.checks[0].before is None
    assert f"(network={FILE}:Perceptron)" in str(result).replace("\n", "")
    result.plot().savefig(tmp_path / "curve.png")


@pytest.mark.compiled
@pytest.mark.full
def test_a_module_of_torch_and_the_small_network_are_trained(tmp_path):
    torch = pytest.importorskip("torch")
    path = tmp_path / "net.npz"
    before = torch.random.get_rng_state()
    for game in (GAME, "kuhn_poker(players=3)"):
        found = [train(game, games=6, rounds=2, simulations=8, progress=False) for _ in range(2)]
        assert (numbers(found[0]) == numbers(found[1])).all()
        found[0].save(path)
        assert (numbers(as_evaluator(path)) == numbers(found[0])).all()
    assert (torch.random.get_rng_state() == before).all()

    def net(shape, actions):
        return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(27, actions))

    with pytest.raises((TypeError, GameError), match="policy"):
        train(GAME, net, games=1, **FEW)


@pytest.mark.full
def test_mistakes_in_a_module_of_torch_are_told_before_games_are_played():
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):
        def __init__(self, first=None):
            super().__init__()
            self.first = first or torch.nn.Linear(27, 10)

        def forward(self, observations):
            out = self.first(observations.flatten(1))
            return out[:, :9], torch.tanh(out[:, 9:])

    class Detached(Net):
        def forward(self, observations):
            return [each.detach() for each in super().forward(observations)]

    class Whole(Net):
        def forward(self, batch):
            return super().forward(batch)

    linear = torch.nn.Linear
    for make, message in {
        lambda: Net(linear(3, 10)): r"Net fails on .* \(2x27 and 3x10\) \(test_train.py, line \d",
        Detached: r"Detached cannot be trained: .* computed from its parameters",
        Whole: r"Whole fails on a Batch, which its parameter's name asks for",
        lambda: Net(torch.nn.LazyLinear(10)): "Net has lazy layers",
    }.items():
        with pytest.raises((TypeError, GameError), match=message):
            train(GAME, make, games=1, **FEW)
    network = train(GAME, lambda: Net(linear(27, 10, dtype=torch.float64)), games=1, **FEW)
    assert {each.dtype for each in network.state_dict().values()} == {np.dtype(np.float64)}


def test_without_torch_a_network_has_to_be_given(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "rave_agents.evaluators.small_network", raising=False)
    with pytest.raises(ValueError, match="by default needs torch, which is not installed"):
        train(GAME, games=1, **FEW)
