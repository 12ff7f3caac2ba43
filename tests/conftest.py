"""Which tests run: interpreted, slow or compiled ones, and what ``--full`` adds: docs/tests.md."""

import collections
import gc
import io
import os
import pathlib
import signal
import subprocess
import sys

# Numba reads this once, so it is set before the package is imported. Workers inherit it.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["NUMBA_DISABLE_JIT"] = "0" if "--compiled" in sys.argv else "1"

import pytest
from rich.console import Console

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # so that tests can import ``helpers``

from rave_agents.compiler import edits
from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.results import progress, terminal_display

# A job in the background of a script is started with SIGINT ignored, and so would be the programs
# that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Else every worker would compile the tests anew, and every program that they start the package.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

CASES = 1
"""Of a test without the mark ``full``, the quick run takes so many cases, evenly spread."""


COMPILED_FOLDER = pathlib.Path(__file__).parent / "games"
"""All its tests are of machine code: the rules of games."""


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="run what the quick run leaves out, too")
    parser.addoption(
        "--compiled", action="store_true", help="run the tests of machine code, and only those"
    )
    parser.addoption(
        "--slow", action="store_true", help="run the tests that are marked slow, and only those"
    )


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "full(but=0): for the full run; the quick run takes so many of its cases, evenly spread, "
        f"or those that have one of these names. Without this mark it takes {CASES}.",
    )
    config.addinivalue_line(
        "markers", "compiled: runs as users run it, with machine code, under --compiled"
    )
    config.addinivalue_line(
        "markers", "slow: takes over 0.3 s of CPU time, and runs under --slow and --full"
    )
    config.addinivalue_line(
        "markers",
        "needs(module, ...): for the full run, and skipped without these modules, which the extra "
        "'frameworks' installs",
    )
    if not hasattr(config, "workerinput") and getattr(config.option, "numprocesses", None):
        _build_before()
    if JIT_DISABLED:
        # OpenSpiel's games are searched on the bridge, which is compiled once; see tests/games.
        os.environ.setdefault("RAVE_AGENTS_GAMES", "openspiel")


BUILD = """
import concurrent.futures
import pyspiel
from rave_agents import SearchConfig, Searcher
from rave_agents.parts import NodeAmaf
from rave_openspiel import OpenSpielState
from rave_openspiel.native_library import BRIDGE, REGISTRY, built_library
board = pyspiel.load_game("tic_tac_toe").new_initial_state()
cards = pyspiel.load_game("kuhn_poker").new_initial_state().child(0).child(1)
usual = [(SearchConfig(), board), (SearchConfig.preset("rave"), board)]
usual += [(SearchConfig(amaf=NodeAmaf()), board), (SearchConfig(), cards)]
with concurrent.futures.ThreadPoolExecutor() as pool:
    built = pool.map(lambda part: built_library(part, retry=False), (BRIDGE, REGISTRY))
    for config, state in usual:
        Searcher(config).prepare(OpenSpielState(state))
    list(built)
"""


def _build_before():
    """Compile once what every worker needs: the bridge and, for compiled tests, usual searches.

    What cannot be built is told where it is needed.
    """
    if os.environ.get("RAVE_AGENTS_NATIVE", "") in {"", "1"}:
        environment = {**os.environ, "RAVE_AGENTS_NATIVE": "0"}
        command = [sys.executable, "-c", BUILD]
        subprocess.run(command, env=environment, capture_output=True, check=False)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    named = any("::" in argument for argument in config.args)  # Who names a test wants it.
    left_out, cases = set(), collections.defaultdict(list)
    for item in items:
        if COMPILED_FOLDER in item.path.parents:
            item.add_marker("compiled")
        but = [mark.kwargs.get("but", 0) for mark in item.iter_markers("full")] or [CASES]
        if bool(item.get_closest_marker("compiled")) == JIT_DISABLED:
            left_out.add(item)
        elif named or config.getoption("full"):
            pass
        elif (
            config.getoption("slow") != bool(item.get_closest_marker("slow"))
            or 0 in but
            or item.get_closest_marker("needs")
        ):
            left_out.add(item)
        else:
            cases[item.nodeid.partition("[")[0]].append((item, but[0]))
    if named and left_out:
        test = min(item.nodeid for item in left_out)
        raise pytest.UsageError(
            f"{test} runs {'with' if JIT_DISABLED else 'without'} --compiled only"
        )
    for test, of_one_test in cases.items():
        among, (but, *_) = zip(*of_one_test, strict=True)
        chosen = _chosen(among, but)
        if not chosen:
            raise pytest.UsageError(f"{test}: mark.full leaves no case, for none is named {but}")
        left_out |= {*among} - {*chosen}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish():
    gc.freeze()  # Collections of garbage need not look through all that was imported.


def pytest_runtest_setup(item):
    for mark in item.iter_markers("needs"):
        for module in mark.args:
            pytest.importorskip(module, reason=f"needs {module}")


def _chosen(cases, but):
    """So many of one test's cases, evenly spread, or those with one of these names."""
    if isinstance(but, int):
        return [cases[(2 * k + 1) * len(cases) // (2 * but)] for k in range(min(but, len(cases)))]
    names = [case.nodeid.partition("[")[2].removesuffix("]") for case in cases]
    return [
        case
        for case, name in zip(cases, names, strict=True)
        if any(f"-{part}-" in f"-{name}-" for part in but)
    ]


@pytest.fixture(autouse=True)
def _watch_little():
    """Watch no longer what earlier tests have defined: each search has a look at all of it."""
    yield
    if len(edits.WATCHED) > 20:
        edits.forget()


@pytest.fixture
def terminal(monkeypatch):
    """The console of a terminal that displays of progress find in place of standard error."""
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    monkeypatch.setattr(progress, "_is_terminal", lambda: True)
    monkeypatch.setattr(terminal_display, "stderr_console", lambda: console)
    return console
