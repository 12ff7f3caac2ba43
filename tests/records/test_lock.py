"""The lock beside a journal: of this package's own making, or left alone."""

import os
import pathlib
import subprocess
import sys

import pytest

from rave_agents.arena import play_match
from rave_agents.records.lock import FileInUseError, FileLock


def test_a_lock_is_there_while_it_is_held(tmp_path):
    with FileLock(tmp_path / "games"):
        assert os.listdir(tmp_path) == ["games.lock"]
    assert not os.listdir(tmp_path)


def test_the_lock_of_a_process_that_died_is_no_obstacle(tmp_path):
    (tmp_path / "games.lock").write_text("process 1 on host since 2026-01-01 00:00:00\n")
    with FileLock(tmp_path / "games"):
        pass
    assert not os.listdir(tmp_path)


@pytest.mark.slow
def test_a_lock_that_is_held_names_its_holder(tmp_path):
    code = (
        "import pathlib, sys; from rave_agents.records.lock import FileLock\n"
        "with FileLock(pathlib.Path(sys.argv[1])): print(flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "games")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        with pytest.raises(FileInUseError, match=f"process {child.pid} on "):
            FileLock(tmp_path / "games")
        child.stdin.close()


@pytest.mark.parametrize(
    "content", ["version = 1\n" * 100, "x", "process 1\n", "process 1 on h\n\n"]
)
def test_a_file_of_something_else_is_left_alone(tmp_path, content):
    (tmp_path / "uv.lock").write_text(content)
    with pytest.raises(ValueError, match="file of another kind and is left alone"):
        play_match("tic_tac_toe", "random", "random", games=2, output=tmp_path / "uv")
    assert (tmp_path / "uv.lock").read_text() == content
    assert os.listdir(tmp_path) == ["uv.lock"]


@pytest.mark.skipif(os.name == "nt", reason="links need a right of their own on Windows")
@pytest.mark.parametrize("make", [os.symlink, os.link])
@pytest.mark.parametrize("content", ["my thesis\n", "", "process 1 on host\n"])
def test_a_link_is_not_followed(tmp_path, make, content):
    (tmp_path / "thesis").write_text(content)
    make(tmp_path / "thesis", tmp_path / "games.lock")
    with pytest.raises(ValueError, match="left alone"):
        FileLock(tmp_path / "games")
    assert (tmp_path / "thesis").read_text() == content
    assert sorted(os.listdir(tmp_path)) == ["games.lock", "thesis"]


@pytest.mark.skipif(os.name == "nt", reason="there a link needs a right of its own")
def test_a_link_to_nothing_makes_no_file(tmp_path):
    (tmp_path / "games.lock").symlink_to(tmp_path / "made")
    with pytest.raises(ValueError, match="left alone"):
        FileLock(tmp_path / "games")
    assert not (tmp_path / "made").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_left_alone_at_once(tmp_path):
    os.mkfifo(tmp_path / "games.lock")
    with pytest.raises(ValueError, match="left alone"):
        FileLock(tmp_path / "games")
    assert pathlib.Path(tmp_path / "games.lock").is_fifo()


def test_a_lock_that_another_has_put_in_its_place_is_not_removed(tmp_path):
    lock = FileLock(tmp_path / "games")
    (tmp_path / "games.lock").unlink()
    (tmp_path / "games.lock").write_text("mine")
    lock.release()
    assert (tmp_path / "games.lock").read_text() == "mine"
