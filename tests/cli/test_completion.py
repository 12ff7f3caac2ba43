"""Completion in a shell, as bash asks for it."""

import pytest
from typer.testing import CliRunner

from rave_agents.agents.named_agents import agent_types
from rave_agents.cli import app
from rave_agents.cli.options import complete_agent


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
        (("tournament", "hex", "pn_mcts_f"), "pn_mcts_fsu"),
        (("agents", "gum"), "gumbel"),
    ],
    ids=lambda line: " ".join(line) if isinstance(line, tuple) else line,
)
def test_games_and_agents_are_offered(line, offered):
    assert offered in completed(*line)


def test_every_agent_is_offered():
    assert {name for name, _ in complete_agent("")} == agent_types().keys()
