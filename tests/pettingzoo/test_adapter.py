"""PettingZoo's and Shimmy's games by name, for matches and the command line."""

import pickle
import subprocess
import sys

import pytest
from helpers import zoo
from rave_pettingzoo import AECState
from typer.testing import CliRunner

from rave_agents import UnknownNameError, UnsupportedGameError
from rave_agents.arena import play_match
from rave_agents.cli import app
from rave_agents.frameworks.adapters import adapters, load_game
from rave_agents.game.game_state import is_simultaneous


@pytest.mark.parametrize(
    "spec",
    [
        "pettingzoo:connect_four_v3",
        "connect_four_v3",
        "pettingzoo:classic/connect_four-v3",
        "pettingzoo:go_v5(board_size=5,komi=6.5)",
        "shimmy:hex(board_size=4)",
    ],
)
def test_game_is_loaded_by_its_name(spec):
    game = load_game(spec)
    assert game.num_players == 2
    state = game.new_initial_state()
    assert isinstance(state, AECState)
    assert state.current_player() == 0
    again = pickle.loads(pickle.dumps(game))
    assert again.name == game.name


def test_parameters_of_shimmys_game_outlive_the_reset():
    state = load_game("shimmy:hex(board_size=4)").new_initial_state()
    assert state.num_distinct_actions() == 16


@pytest.mark.parametrize("game", ["pettingzoo:connect_four_v3", "shimmy:hex(board_size=4)"])
def test_match_is_played(game):
    result = play_match(game, "rave(simulations=50)", "random", games=4)
    assert result.score.games == 4
    assert result.score.wins >= 3


def test_match_on_the_command_line():
    command = ["match", "pettingzoo:tictactoe_v3", "rave(simulations=20)", "random"]
    finished = CliRunner().invoke(app, [*command, "--games", "2", "--json"])
    assert finished.exit_code == 0, finished.output
    assert '"games": 2' in finished.stdout


def test_loading_go_leaves_another_board_size_alone():
    env = zoo.classic("go-v5", board_size=7)
    state = load_game("pettingzoo:go_v5(board_size=5)").new_initial_state()
    zoo.play(env, 4, zoo.choices(1))
    state.apply_action(3)
    assert len(zoo.mask_of(env)) == 50
    assert state.num_distinct_actions() == 26


def test_openspiel_has_a_name_before_shimmy():
    assert type(load_game("hex")).__name__ == "OpenSpielGame"


@pytest.mark.parametrize(
    ("spec", "error", "reason"),
    [
        ("pettingzoo:connect_for_v3", UnknownNameError, "Did you mean 'connect_four_v3'"),
        ("pettingzoo:go_v5(size=5)", UnknownNameError, "size"),
        ("pettingzoo:go_v5(", UnknownNameError, "is no game's name: Unbalanced"),
        ("shimmy:hexx", UnknownNameError, "Did you mean 'hex'"),
        ("shimmy:hex(board=3)", UnknownNameError, "board"),
        ("shimmy:kuhn_poker", UnsupportedGameError, "keeps from its players"),
        ("shimmy:backgammon", UnsupportedGameError, "openspiel:backgammon"),
    ],
)
def test_what_there_is_not_is_refused(spec, error, reason):
    with pytest.raises(error, match=reason):
        load_game(spec)


def test_a_name_means_the_parallel_form_where_agents_move_at_the_same_time():
    game = load_game("pettingzoo:rps_v2(max_cycles=2)")
    state = game.new_initial_state()
    assert is_simultaneous(state)
    state.apply_actions([0, 2])
    state.apply_actions([2, 0])
    assert state.is_terminal()
    assert state.returns() == [0.0, 0.0]


def test_games_are_listed_with_what_can_be_searched():
    games = {game.name: game for game in adapters()["pettingzoo"].games()}
    assert {"connect_four_v3", "hanabi_v5"} <= set(games)
    for name, game in games.items():
        assert game.supported
        load_game(f"pettingzoo:{name}")


@pytest.mark.slow
def test_package_is_importable_without_the_frameworks():
    code = (
        "import sys\n"
        "for name in ('pettingzoo', 'gymnasium', 'shimmy', 'pyspiel'): sys.modules[name] = None\n"
        "import importlib.util as util\n"
        "found = util.find_spec\n"
        "util.find_spec = lambda name, *a: None if sys.modules.get(name, 0) is None else "
        "found(name, *a)\n"
        "import rave_agents, rave_agents.frameworks.adapters as frameworks\n"
        "assert not frameworks.adapters()\n"
        "assert set(frameworks.missing_adapters()) >= {'pettingzoo', 'shimmy', 'gymnasium'}\n"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr
