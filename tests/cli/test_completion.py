"""Completion in a shell, as bash asks for it."""

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from rave_agents.agents.named_agents import agent_types, make_agent
from rave_agents.cli import app, completion, vocabulary
from rave_agents.cli.completion import complete_agent, complete_agents, complete_game
from rave_agents.frameworks.adapters import adapters


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """A file of this module's own, in which names are kept."""
    path = tmp_path_factory.getbasetemp() / "completion.json"
    monkeypatch.setattr(vocabulary, "kept_in", lambda: path)
    return path


def words(offered):
    return [word for word, _ in offered]


def completed(*line):
    """What bash is offered for the last word of a line."""
    asked = {
        "_RAVE_AGENTS_COMPLETE": "complete_bash",
        "COMP_WORDS": "\n".join(("rave-agents", *line)),
        "COMP_CWORD": str(len(line)),
    }
    done = CliRunner().invoke(app, [], prog_name="rave-agents", env=asked)
    assert done.exit_code == 0, done.output
    return done.stdout.split("\n")[:-1]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_the_program_shows_a_script_for_each_shell(shell, monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    done = CliRunner().invoke(app, ["--show-completion", shell], prog_name="rave-agents")
    assert done.exit_code == 0, done.output
    assert "_RAVE_AGENTS_COMPLETE" in done.stdout
    assert f"complete_{shell}" in done.stdout


def test_commands_and_options_are_offered():
    assert completed("tou") == ["tournament"]
    assert completed("match", "hex", "rave", "--sim") == ["--simulations"]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        (("match", "tic_tac"), "tic_tac_toe"),
        (("match", "hex", "ra"), "rave"),
        (("match", "hex", "rave", '"uct(play'), "uct(playouts="),
        (("search", "hex", '"rave(sch'), "rave(schedule="),
        (("sweep", "hex(board_size=5),oth"), "hex(board_size=5),othello"),
        (("sweep", "hex", "rave", "uct", "--vary", "sch"), "schedule="),
        (("tournament", "hex", "pn_mcts_f"), "pn_mcts_fsu"),
        (("tournament", "hex", "--agents", '"uct gum'), "uct gumbel"),
        (("speed", "--agents", '"uct gum'), "uct gumbel"),
        (("agents", "gum"), "gumbel"),
    ],
    ids=lambda line: " ".join(line) if isinstance(line, tuple) else line,
)
def test_games_agents_and_parameters_are_offered(line, offered):
    assert offered in completed(*line)


def test_every_agent_has_its_parameters_and_they_are_taken():
    for name, kind in agent_types().items():
        offered = words(complete_agent(f"{name}("))
        assert {f"{name}({key}=" for key in kind.parameters} <= set(offered)


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("rave(schedule=", ["rave(schedule=fuego", "rave(schedule=pachi"]),
        ("rave(c=0.2,sched", ["rave(c=0.2,schedule=", "rave(c=0.2,schedule=minimum_mse"]),
        ("rave(amaf.sched", ["rave(amaf.schedule=", "rave(amaf.schedule.bias="]),
        ("rave(schedule=fu", ["rave(schedule=fuego)", "rave(schedule=fuego,"]),
        ("rave(schedule=hand_selected(", ["rave(schedule=hand_selected(k="]),
        (
            "rave(schedule=hand_selected(k=3),reuse_t",
            ["rave(schedule=hand_selected(k=3),reuse_tree="],
        ),
        ("rave(reuse_tree=", ["rave(reuse_tree=True", "rave(reuse_tree=False"]),
        ("rave(nothing", []),
        ("nobody(", []),
    ],
)
def test_parameters_and_their_values_are_offered(text, offered):
    found = words(complete_agent(text))
    assert set(offered) <= set(found)
    assert bool(found) == bool(offered)


def test_values_that_are_offered_are_taken():
    kinds = words(complete_agent("rave(schedule="))
    assert len(kinds) > 4
    game = adapters()["openspiel"].load_game("tic_tac_toe")
    for kind in kinds:
        make_agent(f"{kind})", game, 0)


def test_the_last_of_a_list_is_completed():
    assert "uct(c=1) rave" in words(complete_agents("uct(c=1) ra"))
    assert "hex(board_size=5);othello" in words(complete_game("hex(board_size=5);othel"))


def test_only_games_that_can_be_searched_are_offered():
    listed = {game.name for each in adapters().values() for game in each.games() if game.supported}
    assert set(words(complete_game(""))) == listed


@pytest.mark.full
def test_no_framework_is_imported_where_names_are_kept(cache):
    completion.vocabulary.__wrapped__()
    code = (
        "import pathlib, sys\n"
        "from rave_agents.cli import main, vocabulary\n"
        f"vocabulary.kept_in = lambda: pathlib.Path({str(cache)!r})\n"
        "try:\n    main()\n"
        "finally:\n    print(sorted({'pyspiel', 'pettingzoo', 'numba'} & set(sys.modules)))\n"
    )
    words = {"COMP_WORDS": "rave-agents\nmatch\ntic_tac_t", "COMP_CWORD": "2"}
    env = {**os.environ, "_RAVE_AGENTS_COMPLETE": "complete_bash", **words}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["tic_tac_toe", "[]"]


def test_names_are_kept_between_processes_until_something_is_installed(cache):
    fresh = completion.vocabulary.__wrapped__
    first = fresh()
    kept = json.loads(cache.read_text())
    cache.write_text(json.dumps({**kept, "games": {"mine": ""}}))
    assert fresh().games == {"mine": ""}
    cache.write_text(json.dumps({**kept, "games": {"mine": ""}, "installed": []}))
    assert fresh() == first
    cache.write_text("{}")
    assert fresh() == first
