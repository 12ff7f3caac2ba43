"""What breaks the interface ends in an error that says so: in a process of its own, run by run.

A signal, a hang or another exception fails with the name of its kind.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from helpers.broken import KINDS, rules, states  # noqa: F401  (they add kinds)
from helpers.sanitizers import sanitizing

TESTS = pathlib.Path(__file__).parents[1]

ERRORS = {"GameError", "CloneError", "ValueError", "TypeError", "UnsupportedGameError"}
"""What a search may raise."""

OWN = {"rules winner": "IndexError", "state clones share": "TypeError"}
"""Errors of the user's own code, which come out as they are."""

SAMPLE = (
    "state current_player 2",
    "state legal_actions twice a thousand times",
    "state chance_outcomes below 0",
    "state returns beyond",
    "state num_players 2.5",
    "simultaneous legal_actions twice",
    "rules player() 7",
    "rules legal action 99",
    "rules count of actions 1000000",
    "rules probability 0.1",
    "rules returns nan at 0",
)
"""One of each sort."""


def run(runs, kinds, seconds, **environment):
    """What came of each kind: how often each outcome."""
    command = [sys.executable, "-m", "helpers.broken", str(runs), "1", *kinds]
    paths = os.pathsep.join([str(TESTS), *sys.path])
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (lines[-1:], done.returncode, done.stderr[-2000:])
    return {name: json.loads(found) for name, found in zip(lines[::2], lines[1::2], strict=True)}


def check(found):
    """Check that nothing came of a kind but an error that says what is wrong, or right play."""
    for name, outcomes in found.items():
        own = {error for begin, error in OWN.items() if name.startswith(begin)}
        played = {"not met"} if KINDS[name].refused else {"not met", "played"}
        assert outcomes.keys() <= ERRORS | own | played, (name, outcomes)


@pytest.mark.full
def test_one_of_each_sort_is_refused():
    found = run(1, SAMPLE, 100, NUMBA_DISABLE_JIT="1")
    assert found.keys() == set(SAMPLE)
    check(found)
    errors = [error for outcomes in found.values() for error in outcomes]
    assert errors.count("GameError") >= 8


@pytest.mark.full
def test_every_kind_is_refused_or_played_rightly_interpreted():
    """Arrays that are read or written out of bounds raise an IndexError there."""
    found = run(4, (), 1500, NUMBA_DISABLE_JIT="1")
    assert len(found) == len(KINDS) > 200
    check(found)


@pytest.mark.full
def test_every_kind_is_refused_or_played_rightly_compiled():
    check(run(2, (), 1500, NUMBA_DISABLE_JIT="0"))


@pytest.mark.full
def test_every_kind_is_refused_or_played_rightly_with_the_sanitizer():
    """What the machine code frees after it wrote beyond it, the sanitizer finds."""
    check(run(2, (), 1500, NUMBA_DISABLE_JIT="0", **sanitizing()))
