"""Diagnosis for ``rave-agents doctor``: versions, adapters, the compiled kernel and its times."""

import importlib.metadata
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.compiler.folders import choose_cache_directory
from rave_agents.errors import RaveAgentsError
from rave_agents.evaluators.levels import calibrated
from rave_agents.evaluators.shipped import known_games
from rave_agents.extras import install_command
from rave_agents.frameworks.adapters import adapters, missing_adapters

TARGETS = {
    "cold_compile_uct_seconds": 4.0,
    "cold_compile_rave_seconds": 4.0,
    "cold_compile_pn_mcts_seconds": 8.0,
    "warm_start_seconds": 0.5,
}
"""The most seconds that each start should take."""

_SUBPROCESS_SECONDS = 300
"""Timeout of one measurement, in seconds."""

_PACKAGES = ("rave-agents", "numba", "llvmlite", "numpy", "scipy")


def examine(*, measure: bool = True) -> dict[str, Any]:
    """Examine the installation.

    Args:
        measure: whether to measure starts in fresh processes, which takes seconds.

    Returns:
        Plain values, fit for JSON: ``versions``, ``adapters``, ``missing_adapters`` (why, and how
        to install), ``known_games`` (games with shipped values, and the facts in their files),
        ``levels`` (the Elo points between neighbouring levels, in games in which they were
        measured), ``kernel`` and ``timings`` (None if not measured).
    """
    kernel = {
        "compiles": not JIT_DISABLED,
        "cache_directory": str(choose_cache_directory("kernel")),
    }
    return {
        "versions": {"python": platform.python_version(), "platform": platform.platform()}
        | {name: _version(name) for name in _PACKAGES},
        "adapters": {name: dict(adapter.diagnosis()) for name, adapter in adapters().items()},
        "missing_adapters": {
            name: {"reason": reason, "install": install_command(name)}
            for name, reason in missing_adapters().items()
        },
        "known_games": known_games(),
        "levels": {game: ladder.distance for game, ladder in calibrated().items()},
        "kernel": kernel,
        "timings": measure_starts() if measure and not JIT_DISABLED else None,
    }


def measure_starts() -> dict[str, dict[str, float]]:
    """Measure the seconds from the import to the first move, in fresh processes.

    The game is one of this package's own, so no framework's import is part of it. Cold: with an
    empty cache, so that the search is compiled. Warm: with the cache that ``rave`` leaves, the
    median of three.

    Raises:
        RaveAgentsError: if a process fails.
    """
    measured = {}
    for preset in ("uct", "pn_mcts", "rave"):
        # A cache of its own, so that each search is compiled once.
        with tempfile.TemporaryDirectory(prefix="rave-agents-doctor-") as folder:
            measured[f"cold_compile_{preset}_seconds"] = _start_seconds(folder, preset)
            if preset == "rave":
                starts = [_start_seconds(folder, preset) for _ in range(3)]
                measured["warm_start_seconds"] = statistics.median(starts)
    return {
        name: {"measured": seconds, "target": TARGETS[name]} for name, seconds in measured.items()
    }


_FIRST_MOVE = """
import time
started = time.perf_counter()
from rave_agents import Limit, SearchConfig, Searcher

class Nim:  # One heap of 10; take 1 to 3; who takes the last one wins. It needs no framework.
    def __init__(self, heap=10, player=0):
        self.heap, self.player = heap, player
    def clone(self): return Nim(self.heap, self.player)
    def current_player(self): return self.player if self.heap else -4
    def is_terminal(self): return self.heap == 0
    def is_chance_node(self): return False
    def chance_outcomes(self): return []
    def legal_actions(self): return range(min(3, self.heap))
    def apply_action(self, action):
        self.heap, self.player = self.heap - action - 1, 1 - self.player
    def returns(self): return [0.0, 0.0] if self.heap else [[-1.0, 1.0], [1.0, -1.0]][self.player]
    def num_players(self): return 2
    def num_distinct_actions(self): return 3
    def min_utility(self): return -1.0
    def max_utility(self): return 1.0

Searcher(SearchConfig.preset({preset!r}), seed=0).search(Nim(), Limit(simulations=100))
print("seconds", time.perf_counter() - started)
"""
"""The first move of a process."""


def _start_seconds(cache: str, preset: str) -> float:
    code = _FIRST_MOVE.format(preset=preset)
    environment: Mapping[str, str] = {**os.environ, "NUMBA_CACHE_DIR": cache}
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            timeout=_SUBPROCESS_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise RaveAgentsError(f"No first move within {_SUBPROCESS_SECONDS} s.") from error
    # Warnings may be printed before it.
    found = re.search(r"^seconds (\S+)$", done.stdout, re.MULTILINE)
    if done.returncode != 0 or found is None:
        raise RaveAgentsError(f"The search failed in a fresh process:\n{done.stderr.strip()}")
    return float(found.group(1))


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
