"""The bridge under AddressSanitizer and UndefinedBehaviorSanitizer."""

import os
import pathlib
import subprocess
import sys

import pytest
from helpers.sanitizers import sanitizing

pytestmark = pytest.mark.full

PROGRAM = pathlib.Path(__file__).parents[1] / "helpers" / "sanitized_program.py"


def run_sanitized(*, bridge=None):
    patch = "" if bridge is None else f"native_library.BRIDGE = native.BRIDGE = {bridge}"
    program = f"""
import pathlib, runpy
from rave_openspiel import native, native_library
{patch}
runpy.run_path({str(PROGRAM)!r})
"""
    environment = {
        **os.environ,
        **sanitizing(),
        "RAVE_AGENTS_NATIVE": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )


def test_searches_errors_and_releases_are_clean():
    done = run_sanitized()
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("done\n")
    assert "Sanitizer" not in done.stderr


def test_a_read_beyond_a_buffer_would_be_found(tmp_path):
    """One number too many, which does no harm that can be seen."""
    source = pathlib.Path(__file__).parents[2] / "adapters" / "rave_openspiel" / "bridge.cpp"
    text, right = source.read_text(), "remaining_.data() + count - place - 1"
    assert text.count(right) == 1
    broken = tmp_path / "bridge.cpp"
    broken.write_text(text.replace(right, "remaining_.data() + count - place"))
    bridge = f"native_library.BRIDGE._replace(source=pathlib.Path({str(broken)!r}))"
    done = run_sanitized(bridge=bridge)
    assert done.returncode != 0
    assert "AddressSanitizer: heap-buffer-overflow" in done.stderr
