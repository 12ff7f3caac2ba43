"""Progress of long runs: a display in a terminal or notebook, a function, or nothing."""

import os
import pty
import re
import subprocess
import sys
import types

import pytest

from rave_agents import Limit, LinearValue, Searcher
from rave_agents.analysis.solve import solve_position
from rave_agents.arena import (
    find_best,
    play_match,
    play_tournament,
    run_bench,
    run_scaling,
    run_sweep,
)
from rave_agents.learning.learn import learn
from rave_agents.results import progress
from rave_agents.results.progress import shown
from rave_agents.results.result import GrowingResult


def evaluate(**options):
    rave_pettingzoo = pytest.importorskip("rave_pettingzoo")
    policies = {"player_1": "random", "player_2": "random"}
    return rave_pettingzoo.evaluate("classic/tictactoe_v3", policies, episodes=2, **options)


def env_tournament(**options):
    rave_pettingzoo = pytest.importorskip("rave_pettingzoo")
    policies = {"one": "random", "two": "random"}
    return rave_pettingzoo.tournament("classic/tictactoe_v3", policies, episodes=2, **options)


RUNS = {
    "match": lambda **o: play_match("tic_tac_toe", "random", "random", games=2, **o),
    "tournament": lambda **o: play_tournament(
        "tic_tac_toe", {"a": "random", "b": "random"}, games_per_pairing=2, **o
    ),
    "sweep": lambda **o: run_sweep(
        "tic_tac_toe", "uct(simulations=2)", "random", {"c": [1]}, games=2, **o
    ),
    "scaling": lambda **o: run_scaling(
        "tic_tac_toe", "uct", "random", simulations=[2], games=2, **o
    ),
    "bench": lambda **o: run_bench(
        ["tic_tac_toe"], rounds=2, round_seconds=0.001, move_times=False, **o
    ),
    "evaluation": evaluate,
    "tournament of environments": env_tournament,
    "learning": lambda **o: learn("tic_tac_toe", games=2, rounds=1, simulations=2, **o),
    "solving": lambda **o: solve_position("tic_tac_toe", seconds=0.3, max_memory_mb=1, **o),
}


@pytest.fixture(params=RUNS)
def run(request):
    return RUNS[request.param]


@pytest.mark.compiled
@pytest.mark.full
def test_a_terminal_sees_it_by_default(run, terminal):
    if run is RUNS["solving"]:
        solve_position("connect_four", positions=1)  # Compiles what it needs.
        run = lambda: solve_position("connect_four", seconds=0.5)  # noqa: E731
    run()
    assert "━" in terminal.file.getvalue()


def test_a_race_is_shown_without_a_known_end(terminal):
    find_best("tic_tac_toe", ["random", "uct"], seconds=0.2, simulations=2)
    assert re.search(r"game \d+: ", terminal.file.getvalue())


def test_nothing_is_shown_elsewhere(run, capsys):
    run()
    assert capsys.readouterr().err == ""


def test_false_shows_nothing_on_a_terminal_either(run, terminal):
    run(progress=False)
    assert terminal.file.getvalue() == ""


@pytest.mark.compiled
def test_true_writes_lines_where_there_is_no_terminal(run, capsys):
    if run is RUNS["solving"]:
        run = lambda **o: solve_position("connect_four", seconds=0.3, **o)  # noqa: E731
    assert run(progress=True) is not None
    assert "finished" in capsys.readouterr().err


def test_what_is_none_of_these_is_refused(run):
    with pytest.raises(TypeError, match=r"progress must be .*None.* got 'yes'"):
        run(progress="yes")


def test_a_function_gets_the_result_so_far(run):
    seen = []
    found = run(progress=seen.append)
    if isinstance(found, GrowingResult):
        assert [type(each) for each in seen] == [type(found)] * 3
        assert [each.finished for each in seen] == [0, 1, 2]
        assert {each.all_planned for each in seen} == {2}
    else:
        assert isinstance(found, LinearValue) or found.end == "solved"


def test_a_search_refuses_what_is_no_function():
    with pytest.raises(TypeError, match="progress must be a function"):
        Searcher().search(None, Limit(simulations=1), progress=True)


def test_one_run_is_shown_at_a_time(terminal):
    with shown(None) as outer, shown(None) as inner:
        assert outer is not None
        assert inner is None
    with shown(None) as after:
        assert after is not None


def test_a_notebook_sees_a_bar_and_the_table(monkeypatch):
    pages = []
    handle = types.SimpleNamespace(update=lambda page, raw: pages.append(page["text/html"]))

    def display(page, raw, display_id):
        pages.append(page["text/html"])
        return handle

    ipython = pytest.importorskip("IPython")
    monkeypatch.setattr(ipython, "get_ipython", lambda: types.SimpleNamespace(kernel=1))
    monkeypatch.setattr(ipython.display, "display", display)
    monkeypatch.setattr(progress, "_SECONDS", 0.0)
    play_match("tic_tac_toe", "random", "random", games=2)
    assert len(pages) == 4
    assert 'value="2"' in pages[2]
    assert "95 % interval" in pages[2]
    assert pages[-1] == ""


@pytest.mark.full
@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_a_script_on_a_terminal_shows_a_bar():
    main, end = pty.openpty()
    code = (
        "from rave_agents.arena import play_match\n"
        "print(play_match('tic_tac_toe', 'random', 'random', games=4).finished)"
    )
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=end,
        check=True,
        timeout=120,
        env=environment,
    )
    os.close(end)
    written = re.sub(r"\x1b\[[0-9;]*m", "", os.read(main, 100_000).decode())
    os.close(main)
    assert done.stdout.decode() == "4\n"
    assert "4/4" in written
