"""The quick run and the full one: what ``--full`` adds; see docs/tests.md."""

import collections
import functools
import gc
import io
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from rich.console import Console

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # so that tests can import ``helpers``

from rave_agents.compiler import edits
from rave_agents.compiler.dispatch import OpenFunction
from rave_agents.compiler.entry import Entry
from rave_agents.compiler.entry_code import place_on_disk
from rave_agents.compiler.layout import call_address, kind_of
from rave_agents.games.kit import machine
from rave_agents.games.kit.rules_simulator import RulesSimulator
from rave_agents.results import progress, terminal_display
from rave_agents.searcher import preparing

# A job in the background of a script is started with SIGINT ignored, and so would be the programs
# that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Else every worker would compile the tests anew, and every program that they start the package.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

CASES = 1
"""Of a test without the mark ``full``, the quick run takes so many cases, evenly spread."""

COMPILED_AFTER = {"quick": (8000, 5.0), "full": (1000, 1.5)}
"""Simulations and seconds that a process interprets a search that no process has compiled; it takes
as long to compile it, which more tests of the full run share."""

_compiled_at_once, _placed = Entry.bound, Entry.placed
_spent: dict[object, tuple[int, float]] = {}
_places: dict[object, pathlib.Path | None] = {}
"""Where the code of a search will lie; None once it does."""


def _is_on_disk(entry, record):
    """Whether a process has compiled the search of these parts."""
    kind = kind_of(record)
    of_generation = OpenFunction.generation, entry.what, kind
    if of_generation not in _places:
        _places[of_generation] = place_on_disk(entry.function, record, kind)
    place = _places[of_generation]
    if place is not None and place.exists():
        _places[of_generation] = place = None
    return place is None


def _compiled_late(entry, record, limits):
    """The search of these parts, which is compiled when the tests have much to search with them.

    Both grow the same trees, which ``compiler/test_interpreted.py`` shows.
    """
    if _is_on_disk(entry, record):
        return _compiled_at_once(entry, record)
    kind = entry.what, kind_of(record)

    def run(number):
        simulations, seconds = _spent.get(kind, (0, 0.0))
        if simulations > limits[0] and seconds > limits[1]:
            return _compiled_at_once(entry, record)(number)
        started = time.thread_time()
        try:
            with np.errstate(all="ignore"):
                return entry.function(record, number)
        finally:
            _spent[kind] = simulations + max(1, number), seconds + time.thread_time() - started

    return run


def _placed_if_compiled(entry, record):
    return _placed(entry, record) if _is_on_disk(entry, record) else None


RULES_COMPILED_AFTER = 1.5
"""Seconds that a process interprets the rules of a game; their compilation takes 2 to 4."""

_prepare, _new_simulator = machine.prepare, RulesSimulator.__init__
_simulate_interpreted = RulesSimulator._interpreted
_seconds: collections.Counter[object] = collections.Counter()


def _new_late_simulator(simulator, rules, root, frame, *, interpreted=False, **options):
    """A provider whose rules are compiled when the tests have much to simulate with them."""
    late = not (interpreted or machine.JIT_DISABLED or machine.place_on_disk(rules).exists())
    interpreted = interpreted or late
    _new_simulator(simulator, rules, root, frame, interpreted=interpreted, **options)
    simulator.late = late
    if simulator.late:
        simulator.provider = "compiled rules"


def _simulate_late(simulator, address):
    if simulator.late and _seconds[simulator.rules] > RULES_COMPILED_AFTER:
        return call_address(machine.loaded(simulator.rules, simulator.kit).address, address)
    started = time.thread_time()
    try:
        return _simulate_interpreted(simulator, address)
    finally:
        _seconds[simulator.rules] += time.thread_time() - started


def _compile_late(run):
    """Let this process interpret what it does not have much to do with, and compile the rest."""
    Entry.bound = functools.partialmethod(_compiled_late, limits=COMPILED_AFTER[run])
    Entry.placed = _placed_if_compiled
    RulesSimulator.__init__ = _new_late_simulator
    RulesSimulator._interpreted = _simulate_late
    machine.prepare = lambda rules: None


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="run what the quick run leaves out, too")
    parser.addoption("--rest", action="store_true", help="run only what the quick run leaves out")


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "full(but=0): for the full run; the quick run takes so many of its cases, evenly spread, "
        f"or those that have one of these names. Without this mark it takes {CASES}.",
    )
    config.addinivalue_line(
        "markers",
        "needs(module, ...): for the full run, and skipped without these modules, which the extra "
        "'frameworks' installs",
    )
    is_worker = hasattr(config, "workerinput")
    if not is_worker and getattr(config.option, "numprocesses", None):
        _build_before()
    is_quick = not (config.getoption("full") or config.getoption("rest"))
    _compile_late("quick" if is_quick else "full")
    if is_quick:
        # OpenSpiel's games are searched on the bridge, which is compiled once; see tests/games.
        os.environ.setdefault("RAVE_AGENTS_GAMES", "openspiel")
        if is_worker or not getattr(config.option, "numprocesses", None):
            _interpret_programs()


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
    """Compile once what every process of the tests would compile: the bridge, and usual searches.

    What cannot be built is told where it is needed.
    """
    if os.environ.get("RAVE_AGENTS_NATIVE", "") in {"", "1"}:
        environment = {**os.environ, "RAVE_AGENTS_NATIVE": "0"}
        command = [sys.executable, "-c", BUILD]
        subprocess.run(command, env=environment, capture_output=True, check=False)


def _interpret_programs():
    """Let programs and worker processes that a test starts interpret the search, too."""
    from numba.core import config as numba_config

    numba_config.reload_config = lambda: None  # Numba has read the environment of this process.
    os.environ["NUMBA_DISABLE_JIT"] = "1"


@pytest.fixture
def compiled(monkeypatch):
    """Compiles searches and rules before they begin, in the quick run's programs, too."""
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.delenv("RAVE_AGENTS_GAMES", raising=False)
    monkeypatch.setattr(Entry, "bound", _compiled_at_once)
    monkeypatch.setattr(Entry, "placed", _placed)
    monkeypatch.setattr(RulesSimulator, "__init__", _new_simulator)
    monkeypatch.setattr(RulesSimulator, "_interpreted", _simulate_interpreted)
    monkeypatch.setattr(machine, "prepare", _prepare)
    monkeypatch.setattr(preparing, "_compiled", set())  # It knows those that are interpreted.


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    if config.getoption("full") or any("::" in argument for argument in config.args):
        return  # Who names a test wants it.
    left_out, cases = set(), collections.defaultdict(list)
    for item in items:
        but = [mark.kwargs.get("but", 0) for mark in item.iter_markers("full")] or [CASES]
        if 0 in but or item.get_closest_marker("needs"):
            left_out.add(item)
        else:
            cases[item.nodeid.partition("[")[0]].append((item, but[0]))
    for test, of_one_test in cases.items():
        among, (but, *_) = zip(*of_one_test, strict=True)
        chosen = _chosen(among, but)
        if not chosen:
            raise pytest.UsageError(f"{test}: mark.full leaves no case, for none is named {but}")
        left_out |= {*among} - {*chosen}
    rest = config.getoption("rest")
    config.hook.pytest_deselected(items=[item for item in items if (item in left_out) != rest])
    items[:] = [item for item in items if (item in left_out) == rest]


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
