"""What plays the games changes nothing, whatever becomes of it on the way."""

import concurrent.futures
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time

import psutil
import pytest
from helpers.processes import run_python

from rave_agents import from_step
from rave_agents.arena import RunError, play_match, play_tournament, worker, workers
from rave_agents.arena.worker import VersionsDifferError, check_versions, versions
from rave_agents.errors import RaveAgentsError
from rave_agents.frameworks.adapters import adapters, load_game


def moves_of(result):
    return [(record.number, record.actions, record.returns) for record in result.records]


def games_for_two():
    for name, adapter in sorted(adapters().items()):
        for game in adapter.games():
            if game.supported:
                spec = game.name if name == "openspiel" else f"{name}:{game.name}"
                yield spec


def some_of_each_framework():
    """Every eighth game of OpenSpiel, some in Python, and all that others have."""
    names = sorted(games_for_two())
    openspiel = [name for name in names if ":" not in name]
    in_python = ["nogo(board_size=4)", "python_tic_tac_toe", "misere(game=python_tic_tac_toe())"]
    return openspiel[::8] + in_python + [name for name in names if ":" in name]


@from_step
def first_legal(state):
    return min(state.legal_actions())


@pytest.mark.full
@pytest.mark.parametrize("name", some_of_each_framework())
def test_games_are_played_alike_by_one_process_by_several_and_on_a_cluster(name, dask_workers):
    try:
        game = load_game(name)
    except RaveAgentsError as error:
        pytest.skip(str(error))
    if game.num_players != 2:
        pytest.skip("not for two players")
    engines = [{}, {"jobs": 2}, {"executor": dask_workers}]
    try:
        alone, several, cluster = (
            moves_of(play_match(name, "random", "random", games=2, seed=1, **engine))
            for engine in engines
        )
    except ValueError as error:
        pytest.skip(str(error))  # no opening of two plies
    assert alone == several == cluster


@pytest.mark.full
def test_a_module_that_the_cluster_lacks_travels_by_value(tmp_path, dask_workers, monkeypatch):
    head = "from rave_agents import from_step\n\n\n@from_step\n"
    code = f"{head}def policy(state):\n    return last(state)\n\n\ndef last(state):\n"
    (tmp_path / "only_here.py").write_text(f"{code}    return max(state.legal_actions())\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import only_here

    played = play_match("tic_tac_toe", only_here.policy, "random", games=4, executor=dask_workers)
    assert moves_of(played) == moves_of(
        play_match("tic_tac_toe", only_here.policy, "random", games=4)
    )


@from_step
def failing(state):
    raise KeyError("by a test")


@pytest.mark.parametrize("engine", ["jobs", "executor"])
def test_a_policy_that_cannot_travel_plays_here_and_a_line_says_so(engine, threads, caplog):
    import threading

    lock = threading.Lock()

    @from_step
    def policy(state):
        with lock:
            return min(state.legal_actions())

    options = {"jobs": 2} if engine == "jobs" else {"executor": threads}
    played = play_match("tic_tac_toe", policy, "random", games=4, **options)
    assert moves_of(played) == moves_of(play_match("tic_tac_toe", first_legal, "random", games=4))
    lines = [line for line in caplog.messages if "cannot be sent" in line]
    assert len(lines) == 1
    assert "policy cannot be sent to other processes, and plays in this one" in lines[0]


@pytest.mark.full
def test_the_others_of_a_tournament_are_still_sent(caplog):
    import threading

    lock = threading.Lock()

    @from_step
    def here(state):
        with lock:
            assert os.getpid() == here_pid
            return min(state.legal_actions())

    here_pid = os.getpid()
    agents = {"here": here, "away": away, "random": "random"}
    options = {"games_per_pairing": 4, "opening_plies": 0}
    several = play_tournament("tic_tac_toe", agents, jobs=2, **options)
    alone = play_tournament("tic_tac_toe", agents, **options)
    assert list(map(moves_of, several.matches)) == list(map(moves_of, alone.matches))
    assert sum("cannot be sent" in line for line in caplog.messages) == 1


@from_step
def away(state):
    return max(state.legal_actions())


def test_a_worker_of_another_version_is_refused_with_the_names(threads, monkeypatch):
    assert {"Python", "rave-agents", "numpy", "numba"} <= set(versions())
    with pytest.raises(VersionsDifferError, match=r"numpy is 1\.0 here and .* there"):
        check_versions({**versions(), "numpy": "1.0"})
    other = {**versions(), "rave-agents": "9.9"}
    monkeypatch.setattr(worker, "check_versions", lambda client: check_versions(client, other))
    with pytest.raises(VersionsDifferError, match=r"rave-agents is .* here and 9\.9 there"):
        play_match("tic_tac_toe", "random", "random", games=2, executor=threads)


@pytest.mark.compiled
@pytest.mark.full
@pytest.mark.parametrize("when", [(3,), (3, 8)], ids=["once", "twice"])
def test_games_of_workers_that_are_killed_are_played_again(when):
    killed = []

    def kill(result):
        if len(result.records) in when and len(result.records) not in killed:
            killed.append(len(result.records))
            commands = {c: command_of(c) for c in psutil.Process().children(recursive=True)}
            workers = [c for c, command in commands.items() if "loky" in command]
            workers = [c for c in workers if "resource_tracker" not in commands[c]]
            workers[-1].kill()

    options = {"games": 12, "seed": 4, "simulations": 30}
    result = play_match("connect_four", "uct", "random", jobs=2, progress=kill, **options)
    assert killed == [*when]
    assert moves_of(result) == moves_of(play_match("connect_four", "uct", "random", **options))


def command_of(process):
    """What a process runs: nothing, once it has ended and only waits to be noticed."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


@pytest.mark.compiled
@pytest.mark.full
def test_games_of_a_clusters_workers_that_are_killed_are_played_again(dask_workers):
    killed = []

    def kill(result):
        if len(result.records) in (5, 60) and len(result.records) not in killed:
            killed.append(len(result.records))
            pids = dask_workers._client.run(os.getpid)
            os.kill(sorted(pids.values())[0], signal.SIGKILL)

    options = {"games": 100, "seed": 4, "simulations": 30}
    result = play_match(
        "connect_four", "uct", "random", executor=dask_workers, progress=kill, **options
    )
    assert killed
    assert moves_of(result) == moves_of(play_match("connect_four", "uct", "random", **options))


def test_an_executor_that_breaks_is_an_error_that_keeps_the_games():
    @from_step
    def broken(state):
        os._exit(1)

    with (
        concurrent.futures.ProcessPoolExecutor(1) as executor,
        pytest.raises(RunError, match="A worker process ended"),
    ):
        # One game: where more wait, an executor of Python 3.11.2 may hang (python/cpython#94777).
        play_match("tic_tac_toe", broken, "random", games=1, executor=executor)


SCRIPT = """
    import sys
    import rave_agents.arena.run as playing
    from rave_agents.cli import main
    import contextlib

    @contextlib.contextmanager
    def telling(progress):
        yield lambda result: print(len(result.records), file=sys.stderr, flush=True)

    playing.shown = telling
    if __name__ == "__main__":
        main()
"""


@pytest.mark.skipif(os.name == "nt", reason="sends signals")
@pytest.mark.full
@pytest.mark.parametrize("engine", [["--jobs", "2"], ["--dask", "local", "--jobs", "2"]])
def test_ctrl_c_ends_within_two_seconds_and_prints_the_standing(engine, tmp_path):
    if "--dask" in engine:
        pytest.importorskip("distributed")
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    command = ["match", "connect_four", "uct", "uct", "--games", "9000", "--simulations", "10"]
    with subprocess.Popen(
        [sys.executable, str(script), *command, *engine, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as program:
        for line in program.stderr:
            if line.strip() == "2":
                break
        children = psutil.Process(program.pid).children(recursive=True)
        started = time.monotonic()
        os.killpg(program.pid, signal.SIGINT)  # as a terminal does
        output = program.stdout.readline()
        standing = time.monotonic() - started
        program.communicate(timeout=30)
        ended = time.monotonic() - started
    print(f"standing after {standing:.2f} s, ended after {ended:.2f} s")
    assert program.returncode == 130
    assert '"games": ' in output
    assert standing < 2 * slowness()
    assert ended < 2 * slowness()
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive


def slowness():
    """How much longer than alone things take on this machine at the moment."""
    return max(1.0, 2 * psutil.getloadavg()[0] / (os.cpu_count() or 1))


def test_short_games_are_sent_several_at_a_time(threads, monkeypatch):
    sizes = []
    play_chunk = workers.play_chunk

    def counted(*arguments):
        sizes.append(len(arguments[-1]))
        return play_chunk(*arguments)

    monkeypatch.setattr(workers, "play_chunk", counted)
    play_match("tic_tac_toe", "random", "random", games=400, executor=threads)
    assert max(sizes) > 5
    assert sum(sizes) == 400


@pytest.mark.full
def test_a_local_cluster_listens_to_this_machine_alone(dask_workers):
    psutil = pytest.importorskip("psutil")
    this = psutil.Process()
    listening = {
        connection.laddr.ip
        for process in (this, *this.children(recursive=True))
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}


# Games and workers of a script.


COUNTING_GAME = pathlib.Path(__file__).parent.parent / "helpers" / "counting_game.py"


def run(*arguments):
    return run_python(COUNTING_GAME, *arguments)


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


@pytest.mark.full  # Five workers are started anew.
def test_a_worker_that_dies_is_an_error_of_the_match():
    done = run("dies")
    assert "RunError: A worker process ended" in done.stderr


@pytest.mark.full
@pytest.mark.skipif(os.name == "nt", reason="sends signals")
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_an_ended_match_leaves_no_process_and_shows_its_games(number, code, jobs, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    options = ["match", "connect_four", "uct", "uct", "--games", "5000", "--jobs", str(jobs)]
    with subprocess.Popen(
        [sys.executable, str(script), *options, "--simulations", "50", "--json"],
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
