"""Searches, and what is made of them, that the exceptions of signal handlers break off."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).with_name("interrupted.py")
SEARCHES = [
    *("bridge", "rules", "proofs", "python", "python_openspiel", "evaluator", "resampled"),
    *("replayed", "replayed_in_python", "simultaneous", "threads", "batches", "leaves", "many"),
    *("gymnasium", "pettingzoo"),
]


def interrupted(kind, count, seed):
    """What a process counts whose work is interrupted so often, at random moments."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), kind, str(count), str(seed)],
        env={**os.environ, "RAVE_AGENTS_GAMES": "openspiel" if kind == "bridge" else ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def check_interrupts(kind, count, seed):
    found = interrupted(kind, count, seed)
    assert found["raised"] + found.get("not raised", 0) == count
    assert found["came out"] == found["raised"] > 0.5 * count
    if kind in SEARCHES and kind != "many":
        assert found["results"] + found.get("not entered", 0) == count
        assert found["results"] > 0
    print(kind, found)


@pytest.mark.compiled
@pytest.mark.full
@pytest.mark.parametrize("kind", SEARCHES)
def test_exceptions_of_signal_handlers_come_out_of_searches_and_results_are_there(kind):
    check_interrupts(kind, 8, seed=1)


@pytest.mark.compiled
@pytest.mark.full
@pytest.mark.parametrize("kind", [*SEARCHES, "learn", "match", "solve"])
def test_hundreds_of_interrupts_lose_nothing(kind):
    check_interrupts(kind, 27, seed=2)
