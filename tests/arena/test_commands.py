"""The commands tournament, scaling, merge, and what match gained."""

import json

import pytest
from typer.testing import CliRunner

from rave_agents.arena import play_match, play_tournament, run_scaling, run_sweep
from rave_agents.cli import app

TOML = """
games = ["tic_tac_toe"]
games_per_pairing = 4
simulations = 5
[agents]
"an agent with quite a long name, as they are" = "uct"
random = "random"
rave = "rave"
"""


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tournament.toml"
    path.write_text(TOML)
    return path


def test_tournament_prints_ratings_and_scores_without_progress(file):
    done = run("tournament", file)
    assert done.exit_code == 0, done.output
    assert "an agent with quite a long name, as they are" in done.stdout
    assert "interval" in done.stdout
    assert done.stderr == ""


def test_tournament_prints_one_object(file):
    values = json.loads(run("tournament", file, "--json").stdout)
    assert values["finished"] == values["planned"] == 12


def played(*arguments):
    done = run("tournament", *arguments, "--simulations", 3, "--games", 2, "--json")
    assert done.exit_code == 0, done.output
    values = json.loads(done.stdout)
    assert values["finished"] == values["planned"]
    return values["games"], list(values["agents"])


@pytest.mark.parametrize(
    "words",
    [
        ("tic_tac_toe", "connect_four", "random", "uct"),
        ("tic_tac_toe,connect_four", "random", "uct"),
        ("tic_tac_toe", "connect_four", "--agents", "random uct"),
        ("tic_tac_toe; connect_four", "--agents", "random, uct"),
    ],
)
def test_a_tournament_needs_no_file(words):
    games, agents = played(*words)
    assert games == ["tic_tac_toe", "connect_four"]
    assert [agent.partition("(")[0] for agent in agents] == ["random", "uct"]


def test_agents_of_a_command_have_names_and_parameters():
    agents = "old=uct new=uct(rule=ucb1(c=0.3)) random"
    assert played("tic_tac_toe", "--agents", agents)[1] == ["old", "new", "random"]


def test_options_take_precedence_over_the_file(file):
    options = ("--games", 2, "--anchor", "rave", "--gauntlet", "rave", "--seed", 9)
    values = json.loads(run("tournament", file, *options, "--json").stdout)
    assert (values["planned"], values["seed"]) == (4, 9)
    assert {row["agent"]: row["elo"] for row in values["standings"]}["rave"] == 0


def test_agents_of_ones_own_stand_behind_games(tmp_path):
    (tmp_path / "bots.py").write_text("def lowest(observation, mask):\n    return mask.argmax()\n")
    games, agents = played("tic_tac_toe", f"{tmp_path}/bots.py:lowest", "random")
    assert (games, len(agents)) == (["tic_tac_toe"], 2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("tic_tac_toe",), 'hex othello --agents "auto rave uct"; got 1 game and 0 agents'),
        (("tic_tac_toe", "--agents", " "), "1 game and 0 agents"),
        (("tic_tac_toe", "uct"), "at least two agents"),
        (("tic_tac_toe", "othelo", "uct"), "neither a game nor an agent. Did you mean 'othello'"),
        (("tic_tac_toe", "rav", "uct"), "neither a game nor an agent. Did you mean 'rave'"),
        (("tic_tac_toe", "hex(board_size=3)x", "uct"), "after the closing parenthesis of"),
        (("tic_tac_toe", "uct", "hex"), "Unknown agent 'hex'"),
        (("tic_tac_toe", "uct", "rave("), "Unbalanced parentheses"),
        (("tic_tac_toe", "--agents", "a=uct a=rave"), "Two agents are named 'a'"),
        (("no_such.toml",), "No such file"),
        (("FILE", "uct"), "sets games and agents"),
        (("FILE", "--agents", "uct rave"), "sets games and agents"),
    ],
)
def test_a_tournament_says_what_it_takes(file, words, message):
    done = run("tournament", *(str(file) if word == "FILE" else word for word in words))
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_tournament_takes_texts_from_python():
    options = {"games_per_pairing": 2, "simulations": 3}
    told = play_tournament("tic_tac_toe,connect_four", "random, uct", **options)
    listed = play_tournament(["tic_tac_toe", "connect_four"], ["random", "uct"], **options)
    assert told.to_dict() == listed.to_dict()


def test_shards_merge_to_the_same_table(file, tmp_path):
    parts = [tmp_path / f"{part}.jsonl" for part in (1, 2)]
    for number, path in enumerate(parts, 1):
        done = run("tournament", file, "--shard", f"{number}/2", "--output", path)
        assert done.exit_code == 0, done.output
    merged = tmp_path / "merged.jsonl"
    assert "12 games in" in run("merge", merged, *parts).stderr
    assert run("tournament", file, "--output", merged).stdout == run("tournament", file).stdout


def test_merge_refuses_in_one_line(file, tmp_path):
    done = run("merge", tmp_path / "merged.jsonl", file)
    assert done.exit_code == 2
    assert "is not a file of games" in done.stderr


@pytest.mark.slow
def test_a_sequential_test_ends_a_match_and_tells_the_answer():
    done = run("match", "tic_tac_toe", "uct(simulations=60)", "random", "--sprt", "0,400")
    assert done.exit_code == 0, done.output
    assert "log-likelihood ratio" in done.stdout
    assert "+400 rather than +0?" in done.stdout
    assert "yes" in done.stdout


@pytest.mark.slow
def test_a_test_goes_on_from_its_file(tmp_path):
    path = tmp_path / "match.jsonl"
    options = {"sprt": "0,600", "seed": 3, "output": path}
    first = play_match("tic_tac_toe", "uct(simulations=10)", "random", **options)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    again = play_match("tic_tac_toe", "uct(simulations=10)", "random", **options)
    assert [r.actions for r in first.records] == [r.actions for r in again.records]
    assert play_match("tic_tac_toe", "uct(simulations=10)", "random", **options).verdict == "elo1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["match", "hex", "random", "random", "--sprt", "5"], "ELO0,ELO1"),
        (["match", "hex", "random", "random", "--sprt", "0,5", "--sprt-model", "x"], "There are"),
        (["match", "hex", "random", "random", "--shard", "1/2"], "A shard needs output"),
        (["match", "hex", "random", "random", "--dask", "nowhere"], "such as tcp://host:8786"),
        (["scaling", "hex", "uct", "--against", "random"], "one of the two"),
        (["scaling", "hex", "uct", "--against", "random", "--simulations", "a"], "takes numbers"),
        (["tournament", "no_such_file.toml"], "No such file"),
    ],
)
def test_bad_options_are_refused_in_one_line(arguments, message):
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert len(done.stderr.strip().splitlines()) == 1


def test_scaling_prints_a_table_and_draws(tmp_path):
    picture = tmp_path / "curve.png"
    options = ["--simulations", "5,20", "--games", "2", "--png", picture]
    done = run("scaling", "tic_tac_toe", "uct", "--against", "random", *options)
    assert done.exit_code == 0, done.output
    assert "uct by simulations a move" in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


RUNS = {
    "match": lambda: play_match("hex", "random", "random", games=3),
    "sweep": lambda: run_sweep("tic_tac_toe", "uct", "random", {"c": [0, 1]}, games=2,
                               simulations=3),
    "tournament": lambda: play_tournament("hex", {"a": "random", "b": "random"},
                                          games_per_pairing=3),
    "scaling": lambda: run_scaling("tic_tac_toe", "uct", "random", simulations=[2, 4], games=2),
}  # fmt: skip


@pytest.mark.parametrize("play", RUNS.values(), ids=RUNS)
def test_a_terminal_sees_progress_standings_and_the_last_games(play, terminal):
    play()
    shown = terminal.file.getvalue()
    assert "game 1: " in shown
    assert "moves" in shown
    assert "score" in shown
