"""Ctrl-C while compiled code never returns."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="It uses locks of Linux")


class Program:
    """A script of this folder, to which signals are sent."""

    def __init__(self, script, argument):
        self.process = subprocess.Popen(
            [sys.executable, pathlib.Path(__file__).with_name(script), argument],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "NUMBA_DISABLE_JIT": "0"},
        )

    def read_line(self):
        return self.process.stdout.readline().strip()

    def interrupt(self, after):
        time.sleep(after)
        self.process.send_signal(signal.SIGINT)

    def ended(self):
        """The exit code and what it said."""
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


@pytest.fixture
def program():
    started = []

    def start(argument, script="blocked.py"):
        started.append(Program(script, argument))
        return started[0]

    yield start
    for each in started:
        each.process.kill()
        each.process.communicate()


@pytest.mark.full
def test_a_signal_that_is_not_answered_ends_the_process_and_says_why(program):
    stuck = program("once")
    assert stuck.read_line() == "begins"
    stuck.interrupt(after=0.1)
    code, said = stuck.ended()
    assert code == -signal.SIGINT
    assert "SIGINT came, and compiled code has not returned for 0.2 s" in said
    assert "the process ends" in said


@pytest.mark.full
def test_a_second_signal_ends_it_at_once(program):
    stuck = program("twice")
    assert stuck.read_line() == "begins"
    stuck.interrupt(after=0.1)
    stuck.interrupt(after=0.6)
    began = time.monotonic()
    assert stuck.ended()[0] == -signal.SIGINT
    assert time.monotonic() - began < 20.0  # It would wait for 60 s.


def test_a_signal_that_is_answered_ends_nothing(program):
    busy = program("answers")
    for _ in range(2):
        assert busy.read_line() == "begins"
        busy.interrupt(after=0.1)
        assert busy.read_line() == "answered"
    assert busy.ended() == (0, "")


@pytest.mark.full
@pytest.mark.parametrize("threads", ["1", "2"])
def test_an_endless_helper_of_rules_does_not_make_a_search_deaf(program, threads):
    stuck = program(threads, "stuck.py")
    assert stuck.read_line() == "begins"
    deadline = time.monotonic() + 60
    while stuck.process.poll() is None and time.monotonic() < deadline:
        stuck.interrupt(after=3.0)  # It compiles first, and answers when that is done.
    code, said = stuck.ended()
    assert code == -signal.SIGINT, said
    assert "compiled code has not returned" in said
