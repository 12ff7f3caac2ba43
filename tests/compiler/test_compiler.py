"""The compiled kernel is kept between processes, in a folder named after its source."""

import os
import pathlib
import shutil
import stat
import tempfile

import pytest
from helpers.owners import give_away
from helpers.processes import run_compiling

import rave_agents
from rave_agents.compiler import folders
from rave_agents.compiler.machine_code import MachineCode

PROGRAM = """
from rave_agents import Limit, Searcher
from helpers.games import random_game
Searcher(seed=1).search(random_game(1), Limit(simulations=20))
"""

QUICK = """
import sys
import numpy as np
from rave_agents.simulate.random_stream import fill_words, make_stream
stream, words = make_stream(np.random.SeedSequence(1)), np.empty(1, np.int64)
fill_words(stream, words)
print("compiled" if "numba" in sys.modules else "loaded")
"""


def run(code=PROGRAM, **environment):
    return run_compiling("-P", "-c", code, **environment)


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory):
    """A cache that one process has filled, and what this process said."""
    folder = tmp_path_factory.mktemp("cache")
    return folder, run(NUMBA_CACHE_DIR=str(folder))


@pytest.mark.full
@pytest.mark.compiled
def test_a_second_process_loads_what_the_first_compiled_and_only_the_first_says_so(shared_cache):
    folder, first = shared_cache
    assert "compiling the search" in first.stderr
    second = run(NUMBA_CACHE_DIR=str(folder))
    assert second.stderr == ""


@pytest.fixture
def other_environment(tmp_path):
    """A copy of the package, and a program's environment in which it comes first."""
    source = pathlib.Path(rave_agents.__file__).parent
    shutil.copytree(source, tmp_path / source.name)
    return tmp_path / source.name, {"PYTHONPATH": str(tmp_path)}


EDITS = [
    ("kernel/backup.py", "    find_movers(search, depth)", "    find_movers(search, 1)", True),
    ("kernel/backup.py", "Count a simulation in", "Add a simulation to", False),
    (
        "compiler/linking.py",
        "_TIDY = create_pipeline_tuning_options(speed_level=1)",
        "_TIDY = create_pipeline_tuning_options(speed_level=2)",
        True,
    ),
    ("compiler/linking.py", "Passes that make", "# Passes that make", False),
    ("game/arguments.py", "Did you mean", "Do you mean", False),
]
"""Edits of files, and whether the search is compiled again."""


@pytest.mark.full
@pytest.mark.compiled
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: f"{edit[0]}: {edit[2]}")
def test_only_an_edit_of_what_is_compiled_compiles_the_search(
    shared_cache, other_environment, edit
):
    folder, _ = shared_cache
    package, environment = other_environment
    file, old, new, compiles = edit
    text = (package / file).read_text()
    assert old in text
    (package / file).write_text(text.replace(old, new))
    other = run(NUMBA_CACHE_DIR=str(folder), **environment)
    assert ("compiling the search" in other.stderr) == compiles


@pytest.mark.parametrize(
    "damage", [lambda code: code[:-100], lambda code: b"", lambda code: b"x" + code]
)
def test_damaged_code_is_not_taken_from_the_cache(tmp_path, damage):
    path, code = tmp_path / "code", MachineCode("run", ("fill",), bytes(1000))
    code.save(path)
    assert MachineCode.saved(path) == code
    path.write_bytes(damage(path.read_bytes()))
    assert MachineCode.saved(path) is None


@pytest.fixture
def read_only_home(monkeypatch, tmp_path):
    """No cache can be made in the home; the temporary directory is empty and returned."""
    not_a_folder = tmp_path / "file"
    not_a_folder.touch()
    temporary = tmp_path / "temporary"
    temporary.mkdir(mode=0o700)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(not_a_folder))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    folders._private_temporary_directory.cache_clear()
    yield temporary
    folders._private_temporary_directory.cache_clear()


def test_with_a_read_only_home_the_cache_is_one_private_folder(read_only_home):
    first = folders.choose_cache_directory("kernel")
    folders._private_temporary_directory.cache_clear()  # as in another process
    assert folders.choose_cache_directory("kernel") == first
    assert [path.name for path in read_only_home.iterdir()] == [f"rave_agents-{os.getuid()}"]
    assert stat.S_IMODE(first.parent.stat().st_mode) == 0o700


@pytest.mark.full
@pytest.mark.compiled
def test_with_a_read_only_home_the_second_process_compiles_nothing(read_only_home, tmp_path):
    environment = {"XDG_CACHE_HOME": str(tmp_path / "file"), "TMPDIR": str(read_only_home)}
    assert run(QUICK, **environment).stdout == "compiled\n"
    assert run(QUICK, **environment).stdout == "loaded\n"
    assert len(list(read_only_home.iterdir())) == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows gives each user a folder")
@pytest.mark.parametrize("how", ["writable by all", "a link", "of another user", "a bare parent"])
def test_a_folder_that_others_could_have_prepared_is_not_used(
    read_only_home, monkeypatch, tmp_path, caplog, how
):
    taken = read_only_home / f"rave_agents-{os.getuid()}"
    taken.mkdir(mode=0o700)
    if how == "writable by all":
        taken.chmod(0o777)
    elif how == "a link":
        taken.rename(tmp_path / "elsewhere")
        taken.symlink_to(tmp_path / "elsewhere")
    elif how == "of another user":
        give_away(taken, monkeypatch)
        if not taken.name.endswith(f"-{os.getuid()}"):
            taken.rename(read_only_home / f"rave_agents-{os.getuid()}")
    else:
        read_only_home.chmod(0o777)  # without the sticky bit
    directory = folders.choose_cache_directory("kernel")
    assert not directory.is_relative_to(taken)
    assert stat.S_IMODE(directory.parent.stat().st_mode) == 0o700
    assert "other users can write to" in caplog.text


def test_what_a_read_only_cache_has_is_taken_over(read_only_home, monkeypatch, tmp_path):
    kept = tmp_path / "home" / "rave_agents" / "kernel"
    kept.mkdir(parents=True)
    (kept / "compiled").write_text("code")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    write = tempfile.TemporaryFile

    def refuse(**options):
        if options["dir"] == kept:
            raise PermissionError("read-only")
        return write(**options)

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    directory = folders.choose_cache_directory("kernel")
    assert directory.is_relative_to(read_only_home)
    assert (directory / "compiled").read_text() == "code"


@pytest.mark.full
@pytest.mark.compiled
def test_without_any_folder_to_write_to_everything_still_works(tmp_path):
    """As in a container whose whole file system is read-only."""
    environment = {"XDG_CACHE_HOME": "/dev/null", "NUMBA_CACHE_LOCATOR_CLASSES": "ZipCacheLocator"}
    done = run(f"import tempfile; tempfile.tempdir = '/dev/null'\n{QUICK}", **environment)
    assert "no folder can be written to keep compiled code" in done.stderr
    assert done.stdout == "compiled\n"
