"""Games in worker processes: of every kind of game, and what becomes of the processes."""

import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time

import psutil
import pytest

from rave_agents.arena import play_match

SCRIPT = pathlib.Path(__file__).parent.parent / "helpers" / "counting_game.py"


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.full
@pytest.mark.parametrize(
    "name",
    [
        "nogo(board_size=4)",
        "misere(game=nogo(board_size=3))",
        "python_tic_tac_toe",
        "misere(game=python_tic_tac_toe())",
        "pettingzoo:tictactoe_v3",
    ],
)
def test_games_of_python_are_played_in_several_processes(name):
    played = [
        play_match(name, "uct", "random", games=2, simulations=20, jobs=jobs).records
        for jobs in (1, 2)
    ]
    assert [record.actions for record in played[0]] == [record.actions for record in played[1]]


@pytest.mark.full
def test_a_game_that_a_script_registers_is_played_in_several_processes():
    done = run()
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("my_counting_game") == 2


@pytest.mark.full
def test_a_game_that_cannot_travel_plays_here_and_a_line_says_so():
    done = run("locked")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("my_counting_game") == 2
    assert "my_counting_game(heap=7) cannot be sent to other processes" in done.stderr
    assert "plays in this one (cannot pickle '_thread.lock' object)" in done.stderr


@pytest.mark.full  # Five workers are started anew; test_engines.py has the quick cases.
def test_a_worker_that_dies_is_an_error_of_the_match():
    done = run("dies")
    assert "RunError: A worker process ended" in done.stderr


LONG = """
    import sys
    import rave_agents.arena.run as playing
    from rave_agents.cli import main
    import contextlib

    @contextlib.contextmanager
    def telling(progress):
        yield lambda result: print(len(result.records), file=sys.stderr, flush=True)

    playing.shown = telling
    main()
"""


@pytest.mark.full
@pytest.mark.skipif(os.name == "nt", reason="sends signals")
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_an_ended_match_leaves_no_process_and_shows_its_games(number, code, jobs):
    options = ["match", "connect_four", "uct", "uct", "--games", "5000", "--jobs", str(jobs)]
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(LONG), *options, "--simulations", "50", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        for line in program.stderr:
            if line.strip() == "3":
                break
        children = psutil.Process(program.pid).children(recursive=True)
        assert len(children) >= jobs - 1
        program.send_signal(number)
        output, errors = program.communicate(timeout=60)
    assert program.returncode == code, errors
    if number == signal.SIGTERM:
        assert '"games": ' in output
        assert "Terminated: " in errors
        assert "Traceback" not in errors
    waited = time.monotonic() + 20
    while any(map(is_running, children)) and time.monotonic() < waited:
        time.sleep(0.1)
    assert not any(map(is_running, children))


def is_running(process):
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
