"""Games of the user's own: their names, what is wrong with them, files, other processes."""

import json
import pathlib
import sys

import cloudpickle
import pyspiel
import pytest
from helpers.own_games.line_of_dominoes import LineOfDominoes
from helpers.own_games.subtraction import Subtraction, five_sticks
from helpers.processes import run_python
from pettingzoo.classic import go_v5, tictactoe_v3
from rave_pettingzoo import evaluate
from typer.testing import CliRunner

from rave_agents import (
    Limit,
    SearchConfig,
    Searcher,
    UnknownNameError,
    as_game,
    make_agent,
)
from rave_agents.arena.match import play_match
from rave_agents.arena.report_data import load_report
from rave_agents.cli import app
from rave_agents.engines.gtp_engine import GtpEngine
from rave_agents.engines.gtp_position import GtpPosition
from rave_agents.errors import ConformanceError
from rave_agents.frameworks.plain_games import load_plain_game
from rave_agents.game.notation import position_text
from rave_agents.game.object_names import find_object, parse_object_name, split_place
from rave_agents.testing import check_game_state
from rave_agents.web.report_page import report_page

FOLDER = pathlib.Path(__file__).parent.parent / "helpers" / "own_games"
FILE = f"{FOLDER}/subtraction.py"
MODULE = "helpers.own_games.subtraction"
RULES = "helpers.own_games.line_of_dominoes:LineOfDominoes"


class Halfway:
    """A state that its author has not finished."""

    def clone(self):
        return Halfway()

    def returns(self):
        return [0.0, 0.0]

    def current_player(self):
        return 0


# Names


@pytest.mark.parametrize(
    ("game", "name"),
    [
        (Subtraction, f"{MODULE}:Subtraction"),
        (Subtraction(4), f"{MODULE}:Subtraction(sticks=4)"),
        (five_sticks, f"{MODULE}:five_sticks"),
        (LineOfDominoes(cells=5), f"{RULES}(cells=5)"),
        (LineOfDominoes, f"{RULES}(cells=7)"),
        (f" {FILE}:Subtraction(sticks=3) ", f"{FILE}:Subtraction(sticks=3)"),
        (go_v5.env(board_size=5), "go_v5(board_size=5)"),
        (pyspiel.load_game("hex(board_size=3)"), "hex(board_size=3)"),
    ],
)
def test_a_game_has_a_name_that_the_next_run_gives_it_too(game, name):
    assert as_game(game).name == name


def test_a_position_has_its_moves_in_its_name():
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    state.apply_action(4)
    assert as_game(state).name == "tic_tac_toe() after 4"
    assert 4 not in as_game(state).new_initial_state().legal_actions()


def test_the_object_that_was_given_stays_as_it_is():
    given = Subtraction(5)
    as_game(given).new_initial_state().apply_action(2)
    assert given.sticks == 5


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("nim:Nim(piles=4)", ("nim", "Nim(piles=4)")),
        ("./a b/nim.py:Nim", ("./a b/nim.py", "Nim")),
        ("C:\\games\\nim.py:Nim", ("C:\\games\\nim.py", "Nim")),
        ("hex(board_size=3)", None),
        ('gtp(command="python a.py:b")', None),
        ("chess(fen=a:b)", None),
        ("values.npz", None),
    ],
)
def test_a_place_ends_at_the_colon_before_the_parentheses(text, place):
    assert split_place(text) == place


def test_a_file_is_one_module_however_it_is_named(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("class Nim: pass\n")  # Named like a module that is imported.
    monkeypatch.chdir(tmp_path)
    found = [
        find_object(parse_object_name(f"{path}:Nim"))
        for path in ("json.py", "./json.py", str(tmp_path / "json.py"))
    ]
    assert len(set(found)) == 1
    assert sys.modules["json"] is json


# What is wrong is said by name, at once and without a list of all games.


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "hex(board_size=5)xx",
            r"Unexpected 'xx' after the closing parenthesis of 'hex\(board_size=5\)'",
        ),
        ("hex(board_size=5),tic_tac_toe", "Unexpected ',tic_tac_toe'.*Only one game"),
        ("hex(board_size=5", "Unbalanced parentheses"),
        ("openspiel:hex(board_size=5)xx", "Unexpected 'xx'"),
        (f"{MODULE}:Subtraction(sticks=5)xx", "Unexpected 'xx'"),
        (f"{MODULE}.Subtraction", f"written with a colon: {MODULE}:Subtraction"),
        ("hexx", "Did you mean 'hex'"),
        ("no_such_game_at_all", "'rave-agents games' lists"),
        ("no_such_module:Nim", "There is no module 'no_such_module'"),
        ("opnspiel:hex", "Did you mean the framework 'openspiel'"),
        (f"{MODULE}:Subtracton", "has no name 'Subtracton'. Did you mean 'Subtraction'"),
        (
            f"{FOLDER}/subtracton.py:Subtraction",
            r"no file .* mean 'subtraction\.py'",
        ),
        (f"{FILE}:Subtraction(stick=3)", "parameter of Subtraction 'stick'. Did you mean 'sticks'"),
        (f"{RULES}(cell=3)", "parameter of LineOfDominoes 'cell'. Did you mean 'cells'"),
        (f"{FILE}:ready(sticks=3)", "is an object, made already"),
        (f"{MODULE}:", "not of the form module:Name"),
        (":Subtraction", "not of the form module:Name"),
        ("subtraction.py", r"written with its name there: subtraction\.py:Name"),
    ],
)
def test_a_name_that_leads_nowhere_is_refused(text, message):
    with pytest.raises(UnknownNameError, match=message) as caught:
        as_game(text)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("text", ["raise OSError('full')", "import no_such_library", "1 +"])
def test_a_file_that_fails_is_named_with_its_error(tmp_path, text):
    (tmp_path / "failing.py").write_text(text)
    with pytest.raises(UnknownNameError, match=r"failing\.py' cannot be imported: \w+Error: "):
        as_game(f"{tmp_path}/failing.py:Nim")


def test_a_module_that_lacks_another_is_not_called_missing_itself(tmp_path, monkeypatch):
    (tmp_path / "lacking_module.py").write_text("import no_such_library")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UnknownNameError, match=r"lacking_module cannot be .*no_such_lib"):
        as_game("lacking_module:Nim")


@pytest.mark.parametrize("game", [Halfway, Halfway()])
@pytest.mark.parametrize(
    "door",
    [
        as_game,
        lambda game: make_agent("uct", game),
        lambda game: play_match(game, "uct", "random"),
        check_game_state,
    ],
)
def test_all_missing_methods_are_told_with_their_signatures(door, game):
    with pytest.raises((TypeError, ConformanceError)) as caught:
        door(game)
    message = str(caught.value)
    assert "Halfway is no GameState: it lacks" in message
    assert "legal_actions() -> Sequence[int]" in message
    assert "apply_action(action: int) -> Any" in message
    assert "returns()" not in message


def test_a_search_tells_them_too():
    with pytest.raises(TypeError, match=r"Halfway is no GameState: .*is_terminal\(\) -> bool"):
        Searcher(SearchConfig()).search(Halfway(), Limit(simulations=5))


@pytest.mark.parametrize("game", [None, 3, dict, ["hex"]])
def test_what_is_nothing_of_all_is_refused_with_what_there_may_be(game):
    with pytest.raises(TypeError, match=r"A game must be .*nim:Nim.*: got "):
        as_game(game)


def test_a_function_that_needs_more_is_told_what():
    with pytest.raises(TypeError, match="needs sticks: a function that makes a game"):
        as_game(lambda sticks: Subtraction(sticks + 1))


# What goes on with such a game


def test_gtp_changes_the_size_of_rules_of_ones_own():
    rules = type("Sized", (LineOfDominoes,), {"__annotations__": {"size": int}, "size": 6})
    assert GtpPosition(rules).resized(4).parameters["size"] == 4
    assert GtpEngine(LineOfDominoes, "random").answer("genmove b").startswith("= ")


def test_a_run_goes_on_from_its_file_whoever_names_the_game(tmp_path):
    path, options = tmp_path / "games.jsonl", {"opening_plies": 0, "seed": 3}
    text = f"{FILE}:Subtraction(sticks=5)"
    play_match(text, "uct(simulations=5)", "random", games=4, output=path, shard="1/2", **options)
    whole = play_match(text, "uct(simulations=5)", "random", games=4, output=path, **options)
    assert whole.complete
    with pytest.raises(ValueError, match=r"game is .*sticks=5.* there and .*sticks=6"):
        play_match(
            f"{FILE}:Subtraction(sticks=6)", "uct(simulations=5)", "random", games=4, output=path
        )


@pytest.mark.full
def test_a_report_runs_no_file_that_results_name(tmp_path):
    """Nor does it import a module: others may have written the results."""
    ran = tmp_path / "ran"
    game = tmp_path / "hostile_game.py"
    game.write_text(f"open({str(ran)!r}, 'w').close()\n{pathlib.Path(FILE).read_text()}")
    path = tmp_path / "games.jsonl"
    play_match(FILE + ":Subtraction", "random", "random", games=2, opening_plies=0, output=path)
    named = f"{game}:Subtraction"
    path.write_text(path.read_text().replace(f"{FILE}:Subtraction", named))
    assert named in report_page(load_report(path))
    with pytest.raises(UnknownNameError, match="only games that an installed framework has"):
        load_plain_game(named)
    assert not ran.exists()


# Other processes


@pytest.mark.parametrize(
    "make",
    [
        lambda: as_game(f"{FILE}:Subtraction(sticks=5)"),
        lambda: as_game(Subtraction(5)),
        lambda: as_game(lambda: Subtraction(5)),
        lambda: as_game(LineOfDominoes(cells=5)),
        lambda: as_game(go_v5.env(board_size=5)),
    ],
)
def test_a_game_is_pickled_with_what_makes_it(make):
    game = make()
    copied = cloudpickle.loads(cloudpickle.dumps(game))
    assert copied.name == game.name
    assert copied.parameters == game.parameters
    actions = [each.new_initial_state().legal_actions() for each in (game, copied)]
    assert list(actions[0]) == list(actions[1])


SCRIPT = """
from rave_agents.arena.match import play_match
from {module} import {name}

class Mine({name}):
    pass

if __name__ == "__main__":
    for game in (Mine, Mine({parameter}=4), lambda: Mine(), "other/json.py:{name}"):
        result = play_match(game, "uct(simulations=5)", "random", games=4, jobs=2, opening_plies=0)
        print(result.game, len(result.records))
"""


@pytest.mark.full
@pytest.mark.parametrize(
    ("module", "name", "parameter"),
    [("subtraction", "Subtraction", "sticks"), ("line_of_dominoes", "LineOfDominoes", "cells")],
)
def test_games_of_a_script_and_of_a_file_travel_to_workers(tmp_path, module, name, parameter):
    source = (FOLDER / f"{module}.py").read_text()
    (tmp_path / f"{module}.py").write_text(source)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "json.py").write_text(source)  # Its name is that of another module.
    script = tmp_path / "my_script.py"
    script.write_text(SCRIPT.format(module=module, name=name, parameter=parameter))
    done = run_python(script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.endswith(" 4")]
    assert len(lines) == 4, done.stdout
    assert lines[0].startswith("my_script:Mine")
    assert lines[3] == f"other/json.py:{name} 4"


# The command line

GIVEN = {"few": ("--games", 2, "--opening-plies", 0), "limit": ("--simulations", 5)}

COMMANDS = {
    "match": lambda game: ("match", game, "uct", "random", *GIVEN["few"], *GIVEN["limit"]),
    "match in processes": lambda game: (
        *("match", game, "uct", "random", *GIVEN["few"], *GIVEN["limit"], "--jobs", 2),
    ),
    "sweep": lambda game: (
        *("sweep", game, "uct", "random", "--vary", "c=1,2", *GIVEN["few"], *GIVEN["limit"]),
    ),
    "scaling": lambda game: (
        *("scaling", game, "uct", "--against", "random", "--simulations", "3,6", *GIVEN["few"]),
    ),
    "search": lambda game: ("search", game, "uct", *GIVEN["limit"]),
    "solve": lambda game: ("solve", game, "--positions", 50),
    "learn": lambda game: (
        *("learn", game, "--games", 2, "--rounds", 1, *GIVEN["limit"], "--output", "v.npz"),
        *("--checks", 0),
    ),
    "speed": lambda game: (
        *("speed", game, "--agents", "uct", "--baseline", "uct(c=1)", "--rounds", 1),
    ),
    "ablation": lambda game: ("ablation", game, *GIVEN["few"], *GIVEN["limit"]),
    "tournament": lambda game: ("tournament", "games.toml"),
}


@pytest.mark.full(but=["dominoes-match", "sticks-search", "sticks-solve", "sticks-tournament"])
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "game",
    [
        pytest.param("./my-games/subtraction.py:Subtraction(sticks=5)", id="sticks"),
        pytest.param("./my-games/line_of_dominoes.py:LineOfDominoes(cells=9)", id="dominoes"),
        pytest.param("module_of_sticks:Subtraction", id="module"),
    ],
)
def test_every_command_takes_games_of_ones_own(tmp_path, monkeypatch, game, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "my-games").mkdir()
    for name in ("subtraction", "line_of_dominoes"):
        source = (FOLDER / f"{name}.py").read_text()
        (tmp_path / "my-games" / f"{name}.py").write_text(source)
    (tmp_path / "module_of_sticks.py").write_text((FOLDER / "subtraction.py").read_text())
    monkeypatch.delitem(sys.modules, "module_of_sticks", raising=False)
    (tmp_path / "games.toml").write_text(
        f'games = ["{game}"]\nagents = ["random", "uct(simulations=5)"]\n'
        "games_per_pairing = 2\nopening_plies = 0\n"
    )
    done = CliRunner().invoke(app, [str(each) for each in COMMANDS[command](game)])
    assert done.exit_code == 0, done.stderr
    told = "v.npz" if command == "learn" else "2 played" if command == "tournament" else ""
    assert told in " ".join(done.output.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ("match", "hex(board_size=5)xx", "uct", "random"),
        ("sweep", "hex(board_size=5)xx,tic_tac_toe", "uct", "random", "--vary", "c=1"),
        ("search", "hex(board_size=5)xx"),
        ("solve", "hex(board_size=3)xx"),
        ("speed", "hex(board_size=3)xx"),
        ("scaling", "hex(board_size=3)xx", "uct", "--against", "random", "--simulations", "3"),
        ("learn", "hex(board_size=3)xx", "--output", "v.npz"),
        ("gtp", "--game", "hex(board_size=3)xx"),
        ("ablation", "hex(board_size=3)xx"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_text_behind_a_game_is_refused_by_every_command(arguments):
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert "after the closing parenthesis of" in " ".join(done.stderr.split())


def test_a_position_without_a_text_of_its_own_is_shown_by_its_values():
    class Plain(Subtraction):
        __str__ = object.__str__

    assert position_text(Plain(4)) == "Plain: sticks=4, player=0"
    assert position_text(Subtraction(4)) == "4 sticks"


@pytest.mark.parametrize("form", ["name", "function", "environment", "module"])
def test_episodes_are_played_in_an_environment_of_ones_own(tmp_path, form):
    source = "from pettingzoo.classic import tictactoe_v3\n\n\nmake = tictactoe_v3.env\n"
    (tmp_path / "my_env.py").write_text(source)
    env = {
        "name": f"{tmp_path}/my_env.py:make",
        "function": tictactoe_v3.env,
        "environment": tictactoe_v3.env(),
        "module": tictactoe_v3,
    }[form]
    policies = dict.fromkeys(("player_1", "player_2"), "random")
    assert len(evaluate(env, policies, episodes=2, progress=False).episodes) == 2
