"""The README's and the examples' code runs as it stands."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from rave_agents.cli import app

ROOT = pathlib.Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SHORTER = {
    "ablation": ["--games", "2", "--simulations", "20"],
    "level_ladder": ["tic_tac_toe", "--games", "2"],
    "environments": ["toy_text"],
    "fair_chance": ["--episodes", "4"],
    "train_alphazero": ["--minutes=0.01", "--rounds=1", "--simulations=4", "--matches=2"],
    "curriculum": ["--steps", "512", "--games", "2", "--seeds", "1"],
    "search_on_maskable_ppo": ["--steps", "512", "--episodes", "2", "--simulations", "10"],
    "many_actions": ["--actions", "2000", "--simulations", "5", "--preset", "rave"],
    "pettingzoo_speed": ["0.05"],
    "pursuit": ["2", "3"],
    "batch_sizes": ["--rounds", "1", "--blocks", "1", "--channels", "4", "--batches", "3"],
    "network_speed": ["--rounds", "1", "--threads", "1", "--simulations", "20"],
    "opponent_speed": ["1"],
    "threads": ["connect_four"],
    "time_to_solve": ["--seeds", "1"],
    "train_against_an_opponent": ["200"],
    "learn_all": ["tic_tac_toe", "--minutes=0.01", "--games=2", "--seconds=0.01", "--folder=v"],
    "own_worlds": ["kuhn_poker", "--positions", "4", "--worlds", "50"],
    "look_alikes": ["leduc_poker", "leduc_holdem_v4", "--pairs", "1", "--depths", "1"],
    "share_of_truth": ["dark_chess:4", "go_fish:2", "--positions", "2", "--particles", "200"],
    "simultaneous_experiment": ["--names", "matrix_brps", "--games", "2"],
    "solved_positions": ["--positions", "4"],
    "value_kept": ["uct", "--positions", "4", "--simulations", "20"],
    "solving_table": ["--only", "pig"],
    "check_proofs": ["--proofs", "12", "--only", "hex"],
    "bluff": ["10"],
    "exploitability_table": [
        *("kuhn_poker", "--simulations", "10,20", "--iterations", "1000", "--seeds", "1"),
        *("--jobs", "1", "--picture", "t.png"),
    ],
    "endgames": ["tic_tac_toe", "--moves-left", "5", "--pairs", "1", "--seconds", "0.01"],
}
"""What examples that measure for many minutes are given here."""


INTERPRETED = {
    "ablation",
    "fair_chance",
    "pursuit",
    "simultaneous_experiment",
    "simultaneous_moves",
    "train_alphazero",
}
"""Examples with more searches than are worth compiling for a few games."""

NEEDS = {
    "train_alphazero": "torch",
    "batch_sizes": "torch",
    "network_speed": "torch",
    "search_on_maskable_ppo": "sb3_contrib",
    "value_kept": "bitbully",
    "curriculum": "sb3_contrib",
}
"""Examples with a library that is in no extra for users, nor in all tests' environments."""


def run(*arguments: str, folder: pathlib.Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run Python as a reader does, whose games are searched on compiled rules."""
    environment = {name: text for name, text in os.environ.items() if name != "RAVE_AGENTS_GAMES"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.full
@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_readme_snippet_runs(number):
    finished = run("-c", SNIPPETS[number])
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.strip()


@pytest.mark.slow
@pytest.mark.full(but=["load_a_registered_bot"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path, monkeypatch):
    pytest.importorskip(NEEDS.get(path.stem, "rave_agents"))
    if path.stem in INTERPRETED:
        monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    finished = run(str(path), *SHORTER.get(path.stem, []), folder=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.strip()


@pytest.mark.compiled
@pytest.mark.full
def test_readme_shows_what_its_first_snippet_prints():
    """But for the time, which depends on the machine."""
    shown = re.search(r"```text\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    printed = run("-c", SNIPPETS[0]).stdout
    assert re.sub(r"in [\d.]+ s", "in a while", printed) == re.sub(
        r"in [\d.]+ s", "in a while", shown[1]
    )


@pytest.mark.slow
def test_main_job_of_the_readme_runs_in_short():
    command = re.search(r"rave-agents (match .*)", README)
    assert command is not None
    arguments = re.findall(r'"([^"]+)"|(\S+)', command[1])
    words = [quoted or plain for quoted, plain in arguments]
    words[words.index("--games") + 1] = "2"
    words[1] = "hex(board_size=4)"
    finished = CliRunner().invoke(app, words)
    assert finished.exit_code == 0, finished.output
    assert "score" in finished.stdout.lower()
