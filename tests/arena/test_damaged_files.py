"""Whatever is wrong with a file of games, all that reads it says so in one error."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).parents[1] / "helpers" / "damaged_files.py"


def _counts(seed, count):
    """What came of so many damaged files, read in a process of their own."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(seed), str(count)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "RAVE_AGENTS_NATIVE": "0"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]  # a signal would be below 0
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "count"),
    [(1, 12), *(pytest.param(seed, 600, marks=pytest.mark.full) for seed in (2, 3))],
)
def test_damaged_files_are_read_or_refused_by_file_line_and_field(seed, count):
    counts = _counts(seed, count)
    assert set(counts) <= {"read", "refused"}, counts
    assert counts["refused"] > count
    assert counts["read"] > count // 10
