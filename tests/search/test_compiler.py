"""The compiled kernel is kept between processes, in a folder named after its source."""

import os
import pathlib
import subprocess
import sys

import pytest

from rave_agents.search import compiler

PROGRAM = """
import json, sys
from rave_agents.search import compiler
was_cached = compiler.is_cached()
from rave_agents import Searcher
Searcher()
print(json.dumps([was_cached, compiler.is_cached(), str(compiler.CACHE_DIRECTORY)]))
"""


def run(**environment):
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )


@pytest.mark.skipif(compiler.JIT_DISABLED, reason="nothing is compiled")
def test_a_second_process_loads_what_the_first_compiled_and_only_the_first_says_so(tmp_path):
    first = run(NUMBA_CACHE_DIR=str(tmp_path))
    assert "compiling the search" in first.stderr
    assert first.stdout.startswith("[false, true")
    second = run(NUMBA_CACHE_DIR=str(tmp_path))
    assert second.stderr == ""
    assert second.stdout.startswith("[true, true")


def test_the_cache_lies_in_the_users_cache_directory(monkeypatch, tmp_path):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert compiler.choose_cache_directory("kernel").is_relative_to(tmp_path / "rave_agents")


def test_without_a_directory_to_write_to_the_cache_is_a_new_temporary_one(monkeypatch, tmp_path):
    not_a_folder = tmp_path / "file"
    not_a_folder.touch()
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(not_a_folder))
    first, second = (compiler.choose_cache_directory("kernel") for _ in range(2))
    assert first.is_dir()
    assert first != second


def test_the_folder_is_named_after_the_source_of_every_kernel_file(monkeypatch):
    before = compiler._source_hash()
    read_bytes = pathlib.Path.read_bytes

    def changed(path):
        return read_bytes(path) + (b"\n# more" if path.name == "formulas.py" else b"")

    monkeypatch.setattr(pathlib.Path, "read_bytes", changed)
    assert compiler._source_hash() != before
