import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import rave_agents
import rave_agents.agents.named_agents as agents_module
from rave_agents.agents.state_agents import RandomAgent
from rave_agents.cli import app, doctor
from rave_agents.frameworks.agent import AgentType


@pytest.fixture
def program(monkeypatch):
    """Gives a function that runs the program in this process, on a wide terminal."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("RAVE_AGENTS_DEBUG", raising=False)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


def object_of(result):
    """The one JSON object that a run printed."""

    def refuse(constant):
        raise AssertionError(f"not strict JSON: {constant}")

    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("\n") == 1
    return json.loads(result.stdout, parse_constant=refuse)


def error_of(result):
    """The one line of a user's error."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_match_prints_a_table(program):
    result = program("match", "tic_tac_toe", "uct", "random", "--games", 2, "--simulations", 50)
    assert result.exit_code == 0
    for text in ("uct(simulations=50)", "random", "95 % interval", "Elo difference", "seconds a"):
        assert text in result.stdout


def test_exploit_prints_a_row_per_agent_and_limit_and_goes_on(program, tmp_path):
    options = ("--seeds", 1, "--jobs", 1, "--output", tmp_path / "kuhn.jsonl")
    result = program("exploit", "kuhn_poker", "random", "uct", "--simulations", "5,10", *options)
    assert result.exit_code == 0, result.stderr
    for text in ("random", "0.4583", "uct(simulations=5)", "uct(simulations=10)", "NashConv"):
        assert text in result.stdout
    again = program(
        "exploit", "kuhn_poker", "random uct", "--simulations", "5,10", *options, "--json"
    )
    assert [row["simulations"] for row in object_of(again)["rows"]] == [0, 5, 10]
    refused = program("exploit", "phantom_ttt", "random", "--max-sets", 9)
    assert "the count ended at 10, and max_sets allows 9" in error_of(refused)
    assert "--bound" in refused.stderr


def test_match_takes_a_clock_and_saves_games(program, tmp_path):
    result = program(
        "match", "nogo(board_size=3)", "uct(seconds=0.3)", "rave", "--games", 2,
        "--clock", "0.2", "--sgf", tmp_path,
    )  # fmt: skip
    assert result.exit_code == 0
    assert "game 1: seat 0 lost on time" in result.stdout
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.full(but=2)
@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ("rave(simulations=7)", "uct", ["rave(simulations=7)", "uct(simulations=20)"]),
        (
            "rave(simulations=9,schedule=hand_selected(k=300),amaf.edges=visited_edges)",
            "grave(simulations=9,amaf=grave(ref=5,schedule=hand_selected(k=300)))",
            None,
        ),
    ],
)
def test_match_passes_its_options_on(program, first, second, shown):
    options = ("--games", 3, "--opening-plies", 0, "--simulations", 20, "--json")
    values = object_of(program("match", "tic_tac_toe", first, second, *options))
    assert values["agents"] == (shown or [first, second])
    assert values["games"] == 3


def test_debug_shows_the_error_itself(program):
    result = program("match", "nogame", "uct", "uct", "--debug")
    assert isinstance(result.exception, rave_agents.UnknownNameError)


def test_a_failing_agent_leaves_the_finished_games(program, monkeypatch):
    class Broken(RandomAgent):
        games = 0

        def restart(self):
            Broken.games += 1

        def step(self, state):
            return super().step(state) if Broken.games < 3 else -1

    kind = AgentType("of a test", {"seed": None}, lambda game, player, **rest: Broken(**rest))
    monkeypatch.setitem(agents_module._TYPES, "broken", kind)
    result = program("match", "tic_tac_toe", "broken", "random", "--games", 4, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["games"] == 2
    assert "Game 3, seat 0, agent broken" in result.stderr


SWEEP = ("sweep", "tic_tac_toe", "uct", "random", "--games", 2, "--simulations", 20)


def test_ablation_plays_the_agent_against_itself_without_amaf(program):
    options = ["ablation", "leduc_poker", "--simulations", "1", "--games", "2", "--json"]
    values = object_of(program(*options))
    assert (values["game"], values["games"]) == ("leduc_poker", 2)
    first, second = values["agents"]
    assert first == "rave(simulations=1)"
    assert "amaf=no_amaf" in second
    assert "simulations=1" in second


def test_ablation_begins_without_random_moves_where_players_move_at_once(program):
    options = ["ablation", "matrix_rps", "--simulations", "3", "--games", "2", "--json"]
    assert json.loads(program(*options).stdout)["games"] == 2


@pytest.mark.parametrize(("name", "now"), [("bench", "'speed'"), ("benchmark", "'ablation'")])
def test_a_commands_former_name_is_answered_with_the_one_it_has_now(program, name, now):
    result = program(name, "tic_tac_toe")
    assert result.exit_code == 2
    assert f"No such command '{name}'. Did you mean {now}" in result.stderr


def test_sweep_prints_a_table_and_which_parameter_changed_no_game(program):
    vary = ("--vary", "c=0.3,0.7", "--vary", "contempt=0.1,0.9")
    output = program(*SWEEP, *vary).stdout
    assert "uct(simulations=20) against random" in output
    assert "tic_tac_toe, 8 games, seed 0" in output
    for text in ("c", "contempt", "95 % interval", "Elo", "best", "0.7", "changed no game"):
        assert text in output


def test_sweep_takes_several_games_and_draws(program, tmp_path):
    png, csv = tmp_path / "sweep.png", tmp_path / "sweep.csv"
    games = "hex(board_size=3),tic_tac_toe"
    result = program(
        "sweep", games, *SWEEP[2:], "--vary", "c=0.3,0.7", "--png", png, "--csv", csv
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    for text in ("2 games, 8 games", "all games", "hex(board_size=3)", "tic_tac_toe"):
        assert text in result.stdout
    assert png.read_bytes()[:4] == b"\x89PNG"
    assert csv.read_text().count("\n") == 5


@pytest.mark.slow
def test_an_even_score_is_an_elo_difference_of_plus_zero(program):
    options = ("--games", 2, "--simulations", 300, "--seed", 1)
    result = program("match", "tic_tac_toe", "uct", "uct", *options)
    assert "+0" in result.stdout
    assert "-0 " not in result.stdout


WITH_TABLES = {
    "match": ("match", "tic_tac_toe", "uct", "random", *("--games", 2, "--simulations", 5)),
    "ablation": ("ablation", "tic_tac_toe", "--games", 2, "--simulations", 5),
    "sweep": (*SWEEP, "--vary", "c=1,2"),
    "scaling": (
        *("scaling", "tic_tac_toe", "uct", "--against", "random"),
        *("--simulations", "3,6", "--games", 2),
    ),
    "tournament": ("tournament", "tic_tac_toe", "uct", "random", "--simulations", 5, "--games", 2),
    "best": (
        *("best", "tic_tac_toe", "--agents", "uct random", "--simulations", 5),
        *("--seconds", 0.3),
    ),
    "search": ("search", "tic_tac_toe", "uct", "--simulations", 5),
    "solve": ("solve", "tic_tac_toe", "--moves", "4 0 8 2"),
    "speed": (
        *("speed", "tic_tac_toe", "--agents", "uct", "--baseline", "uct(c=1)", "--rounds", 1),
        *("--round-seconds", 0.01, "--no-peers"),
    ),
}


@pytest.mark.parametrize("command", WITH_TABLES)
def test_every_command_that_prints_a_table_writes_its_rows(program, command, tmp_path):
    path = tmp_path / "table.csv"
    done = program(*WITH_TABLES[command], "--csv", path, "--json")
    assert done.exit_code == 0, done.output
    assert path.read_text().count("\n") >= 2


STOPPED = """
import contextlib, os, signal
import rave_agents.arena.run as playing
from rave_agents.cli import main

@contextlib.contextmanager
def stopping(progress):
    yield lambda result: result.finished == {finished} and os.killpg(0, signal.SIGINT)

playing.shown = stopping
if __name__ == "__main__":
    main()
"""


def stopped_after(finished, *arguments):
    """A run of games that Ctrl-C ends after so many of them."""
    code = STOPPED.format(finished=finished)
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        start_new_session=True,
        check=False,
    )
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.full
@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT to a process group")
def test_ctrl_c_in_a_sweep_says_how_to_go_on(program, tmp_path):
    path = tmp_path / "games.jsonl"
    arguments = (*SWEEP, "--vary", "playout_count=1,2,3", "--output", path, "--json")
    done = stopped_after(3, *arguments)
    assert [row["games"] for row in json.loads(done.stdout)["rows"]] == [1, 1, 1]
    assert "3 of 6 games were finished. To go on, run the same command again" in done.stderr
    rest = object_of(program(*arguments))
    assert rest == object_of(program(*SWEEP, "--vary", "playout_count=1,2,3", "--json"))


@pytest.mark.slow
def test_search_shows_position_and_moves_by_name(program):
    result = program("search", "tic_tac_toe", "rave", "--moves", "x(1,1) o(0,0)", "--rows", 3)
    assert result.exit_code == 0
    assert result.stdout.startswith("o..\n.x.\n...\n")
    assert "x(0,1)" in result.stdout
    assert "and 4 more moves" in result.stdout


def test_search_prints_one_object(program):
    values = object_of(
        program("search", "connect_four", "uct", "--moves", "x3,o3", "--simulations", 40, "--json")
    )
    assert (values["moves"], values["simulations"], len(values["actions"])) == ([3, 3], 40, 7)
    assert values["action_name"] == f"x{values['action']}"


def test_an_agent_without_a_search_of_ours_shows_its_move(program, tmp_path):
    result = program(
        *("search", "tic_tac_toe", "mcts", "--moves", "0 3 1 4", "--csv", tmp_path / "rows.csv")
    )
    assert "player 0 plays x(0,2)" in result.stdout
    assert "does not search: --csv has no table" in result.stderr


@pytest.mark.compiled
def test_doctor_shows_each_time_beside_its_target(program, monkeypatch):
    monkeypatch.setattr(doctor, "_start_seconds", lambda cache, preset: 0.25)
    output = program("doctor").stdout
    assert "0.25 s (target 4 s)" in output
    assert "0.25 s (target 0.5 s)" in output


def test_doctor_says_how_to_install_what_is_missing(program, monkeypatch):
    monkeypatch.setattr("rave_agents.cli.doctor.missing_adapters", lambda: {"openspiel": "none"})
    findings = object_of(program("doctor", "--quick", "--json"))
    install = findings["missing_adapters"]["openspiel"]["install"]
    assert install == "pip install 'open-spiel>=2.0'"


@pytest.mark.slow
def test_starts_are_measured_in_fresh_processes(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert 0 < doctor._start_seconds(str(tmp_path), "pn_mcts") < 100


@pytest.mark.compiled
@pytest.mark.full
def test_a_cold_start_compiles_into_the_cache(tmp_path):
    assert 0 < doctor._start_seconds(str(tmp_path), "pn_mcts") < 100
    assert any(tmp_path.iterdir())


UNBOUNDED = ("match", "connect_four", "uct", "random", "--games", 2, "--simulations", 200)


def in_ascii(*arguments):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "100"}
    return subprocess.run(
        [sys.executable, "-m", "rave_agents", *map(str, arguments)],
        env=environment,
        capture_output=True,
        timeout=120,
        check=False,
    )


def test_a_program_that_does_not_start_is_an_error_with_its_own_exit_code(program):
    arguments = ("match", "hex(board_size=3)", "gtp(command=no_such_program)", "random")
    result = program(*arguments, "--games", 2)
    assert result.exit_code == 1
    assert "'no_such_program' cannot be started" in result.stderr
    assert "--forfeit" in result.stderr
    forfeited = program(*arguments, "--games", 2, "--forfeit")
    assert forfeited.exit_code == 0
    assert "lost by faults" in forfeited.stdout


@pytest.mark.full
def test_a_closed_output_ends_without_a_traceback():
    command = f"{sys.executable} -m rave_agents games | head -1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.slow
def test_help_imports_no_game_framework():
    code = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from rave_agents.cli import app\n"
        "assert CliRunner().invoke(app, ['match', '--help']).exit_code == 0\n"
        "assert 'pyspiel' not in sys.modules and 'loky' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True)


TINY = [
    "hex(board_size=1)",
    "go(board_size=1)",
    "breakthrough(rows=2,columns=1)",
    "clobber(rows=1,columns=1)",
    "checkers(rows=1,columns=1)",
    "connect_four(rows=0)",
    "y(board_size=1)",
]
ON_TINY_BOARDS = [
    ("search", "GAME", "rave", "--simulations", 5),
    ("search", "GAME", "mcts", "--simulations", 5),
    ("match", "GAME", "rave", "uct", "--games", 2, "--simulations", 3),
    ("sweep", "GAME", "rave", "random", "--vary", "c=0.1,1", "--games", 2, "--simulations", 3),
    ("scaling", "GAME", "rave", "--against", "random", "--simulations", 3, "--games", 2),
    ("solve", "GAME"),
    ("learn", "GAME", "--output", "OUTPUT", "--games", 2, "--rounds", 1, "--simulations", 2),
    ("speed", "GAME", "--rounds", 1, "--agents", "rave"),
]


@pytest.mark.full(but=TINY[:1])
@pytest.mark.parametrize("game", TINY)
def test_tiny_boards_end_in_one_line(program, game, tmp_path):
    for command in ON_TINY_BOARDS:
        words = [{"GAME": game, "OUTPUT": str(tmp_path / "v.npz")}.get(w, w) for w in command]
        done = program(*words)
        assert done.exception is None or isinstance(done.exception, SystemExit), (words, done)
        assert done.exit_code in (0, 1, 2)
        if done.exit_code:
            assert done.stderr.strip().splitlines()[-1].startswith("Error: ")
            assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "text"),
    [
        ("mnk(m=3,n=2,k=3)", "draw for player 0"),
        ("pig(players=2,winscore=3,horizon=2)", "can expect"),
    ],
)
def test_solve_writes_a_certificate_that_verify_checks(program, game, text, tmp_path):
    path = tmp_path / "proof.xz"
    solved = program("solve", game, "--certificate", path)
    assert solved.exit_code == 0, solved.stderr
    assert text in solved.stdout
    assert "has the proof" in solved.stderr
    verified = object_of(program("verify", path, "--json"))
    assert verified["game"] == game
    assert {row["bound"] for row in verified["statements"]} == {"at least", "at most"}


def test_solve_has_no_certificate_of_nothing(program, tmp_path):
    path = tmp_path / "proof.xz"
    unsolved = program("solve", "hex(board_size=5)", "--positions", 1, "--certificate", path)
    assert unsolved.exit_code == 2
    assert "not solved" in unsolved.stdout
    assert "Nothing is proven" in unsolved.stderr
    assert not path.exists()
    assert "no folder" in error_of(program("solve", "nim", "--certificate", tmp_path / "a" / "b"))


MATCH = ("match", "tic_tac_toe", "uct", "random")
VARIED = (*SWEEP, "--vary", "playout_count=1")
NO_FILE = ("--csv", "/no/such/folder/table.csv")
REFUSED = [
    (("match", "nogame", "uct", "uct"), "Unknown game 'nogame'"),
    (("match", "bridge_uncontested_bidding", "uct", "uct"), "IMPERFECT_INFORMATION"),
    (("match", "tic_tac_toe", "uct", "rav"), "Did you mean 'rave'"),
    (("match", "pig(players=3)", "uct", "uct"), "two players"),
    ((*MATCH, "--games", "0"), "games must be an integer from 1 to"),
    (("ablation", "tic_tac_toe", "uct"), "uct has no AMAF"),
    ((*SWEEP, "--vary", "playout_coun=1"), "of uct 'playout_coun'. Did you mean 'playout_count'"),
    ((*VARIED, "--output", "/no/such/folder/games"), "No such file"),
    ((*VARIED, "--csv", "/"), "Is a directory"),
    ((*VARIED, *NO_FILE), "no folder"),
    ((*MATCH, *NO_FILE), "no folder"),
    (("solve", "tic_tac_toe", *NO_FILE), "no folder"),
    (("search", "backgammon", "uct"), "Chance is to move"),
    (("search", "tic_tac_toe", "uct", "--moves", "x(1,1) x(0,1)"), "Did you mean 'o(0,1)'"),
    (("search", "tic_tac_toe", "uct", "--moves", "x(1,1) x(0,1)"), "Legal are: 'o(0,0)'"),
    (("speed", "tic_tac_toe", "--agents", " "), "names no agent"),
    (("gtp", "--game", "amazons"), "not single words"),
    (("agents", "rav"), "Did you mean 'rave'"),
]


@pytest.mark.full(but=20)
@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_a_wrong_argument_is_refused_in_one_line(program, arguments, message):
    assert message in error_of(program(*arguments))


@pytest.mark.parametrize(
    ("game", "moves", "actions"),
    [
        *[
            ("connect_four", moves, [3, 4, 0])
            for moves in ("x3 o4 x0", "x3,o4,x0", " x3; o4 ;x0;", "3 4 0", "x3 4 x0")
        ],
        ("amazons", "X From (7, 1) X To (8, 1)", [60, 70]),
        ("backgammon", "chance outcome 0 X starts, (roll: 12)", [0]),
    ],
)
@pytest.mark.full(but=7)
def test_moves_by_name_or_number_with_any_separator(program, game, moves, actions):
    found = object_of(program("search", game, "random", "--moves", moves, "--json"))
    assert found["moves"] == actions


def test_agents_lists_all_of_them_and_the_parameters_of_one(program):
    listed = object_of(program("agents", "--json"))["agents"]
    assert {agent["name"] for agent in listed} == set(rave_agents.agent_types())
    assert "node_amaf" in program("agents", "rave").stdout


@pytest.mark.parametrize(
    ("part", "there", "missing"), [("", "kuhn_poker", "tarok"), ("HEX", "hex", "chess")]
)
@pytest.mark.full(but=2)
def test_games_lists_what_can_be_searched(program, part, there, missing):
    names = [game["name"] for game in object_of(program("games", part, "--json"))["games"]]
    assert there in names
    assert missing not in names


def test_games_says_why_a_game_is_not_supported(program):
    games = object_of(program("games", "tarok", "--all", "--json"))["games"]
    game = next(game for game in games if game["name"] == "tarok")
    assert not game["supported"]
    assert "SAMPLED_STOCHASTIC" in game["reason"]


def test_doctor_and_the_list_of_agents_show_learned_games(program):
    findings = object_of(program("doctor", "--quick", "--json"))
    assert findings["timings"] is None
    assert findings["versions"]["rave-agents"] == rave_agents.__version__
    assert "openspiel" in findings["adapters"]
    known = findings["known_games"]["breakthrough(rows=8,columns=8)"]
    assert known["backup"] == "minimax_backup"
    for command in (("doctor", "--quick"), ("agents",)):
        shown = " ".join(program(*command).stdout.split())
        assert "breakthrough(rows=8,columns=8) (minimax" in shown
        assert "clobber(rows=5,columns=6)" in shown


def test_the_program_shows_its_version_and_its_commands(program):
    assert program("--version").stdout == f"rave-agents {rave_agents.__version__}\n"
    assert "Commands" in program().output


FORFEIT = ("match", "hex(board_size=3)", 'gtp(command="é∞")', "random", "--games", 1, "--forfeit")


@pytest.mark.full
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (UNBOUNDED, "+inf"),
        (FORFEIT, "inf"),
        ((*FORFEIT, "--json"), "gtp(command=\\u00e9\\u221e)"),
        (("--help",), "Commands"),
        (("games",), "hex"),
        (("agents",), "rave"),
        (("doctor", "--quick"), "adapter"),
    ],
)
def test_every_output_is_shown_in_any_encoding(arguments, text):
    done = in_ascii(*arguments)
    assert done.returncode == 0, done.stderr
    assert text in done.stdout.decode("ascii")
