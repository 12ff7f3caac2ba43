"""Searches, and what is made of them, that the exceptions of signal handlers break off."""

import json
import pathlib

import pytest
from helpers.processes import run_python

SCRIPT = pathlib.Path(__file__).with_name("interrupted.py")
KINDS = [
    *("bridge", "rules", "python", "replayed_in_python", "simultaneous", "threads", "leaves"),
    "many",
]


def interrupted(kind, count, seed):
    """What a process counts whose work is interrupted so often, at random moments."""
    done = run_python(
        SCRIPT, kind, count, seed, RAVE_AGENTS_GAMES="openspiel" if kind == "bridge" else ""
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.compiled
@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_exceptions_of_signal_handlers_lose_no_complete_slice(kind):
    """Whatever a handler raises comes out, and the result is that of a consistent tree."""
    count = 27
    found = interrupted(kind, count, seed=2)
    assert found["raised"] + found.get("not raised", 0) == count
    assert found["came out"] == found["raised"] > 0.5 * count
    if kind != "many":
        assert found["results"] + found.get("not entered", 0) == count
        assert found["results"] > 0
