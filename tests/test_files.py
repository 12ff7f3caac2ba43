"""Whatever is written whole is written beside and renamed."""

import errno
import os
import pathlib
import stat
import threading

import numpy as np
import pytest

from rave_agents import LinearValue
from rave_agents.arena import Outcome, rate
from rave_agents.files import replacing, written_whole
from rave_agents.learning.self_play import Example, save_examples
from rave_agents.plots.figures import panels
from rave_agents.plots.film import Film


def _cut_off(path, error):
    with written_whole(path) as file:
        file.write(b"half of the new")
        raise error


def _write_to_a_full_disk(path):
    with replacing(path) as beside:
        beside.unlink()
        beside.symlink_to("/dev/full")
        beside.write_text("new")


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")], ids=repr
)
def test_what_is_cut_off_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "value.npz"
    path.write_bytes(b"old")
    with pytest.raises(type(error)):
        _cut_off(path, error)
    assert path.read_bytes() == b"old"
    with pytest.raises(type(error)):
        _cut_off(tmp_path / "new", error)
    assert os.listdir(tmp_path) == ["value.npz"]


def test_a_full_disk_leaves_the_old_file(tmp_path):
    if not pathlib.Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    path = tmp_path / "value"
    path.write_text("old")
    with pytest.raises(OSError, match="No space left"):
        _write_to_a_full_disk(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["value"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_permissions_are_kept_and_new_files_have_the_usual_ones(tmp_path):
    path = tmp_path / "file"
    before = os.umask(0o027)
    try:
        with written_whole(path, "w") as file:
            file.write("1")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        with written_whole(path, "w") as file:
            file.write("2")
    finally:
        os.umask(before)
    assert (stat.S_IMODE(path.stat().st_mode), path.read_text()) == (0o604, "2")


@pytest.mark.skipif(os.name == "nt", reason="links need a right of their own on Windows")
def test_a_link_stays_a_link_and_its_file_is_replaced(tmp_path):
    (tmp_path / "there").write_text("old")
    (tmp_path / "link").symlink_to("there")
    with written_whole(tmp_path / "link", "w") as file:
        file.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there").read_text() == "new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    with written_whole(tmp_path / "pipe", "w") as file:
        file.write("new")
    reader.join(5)
    assert read == ["new"]


def test_a_file_that_may_not_be_written_is_left(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("old")
    allowed = os.access
    monkeypatch.setattr(  # as for everybody but root
        os, "access", lambda path, mode: pathlib.Path(path).is_dir() and allowed(path, mode)
    )
    with pytest.raises(PermissionError, match="file"):
        written_whole(tmp_path / "file").__enter__()
    assert (tmp_path / "file").read_text() == "old"


def test_a_file_that_cannot_be_made_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        written_whole(tmp_path / "missing" / "file").__enter__()


def _value():
    return LinearValue(
        "tic_tac_toe", np.zeros((2, 1, 28), np.float32), utilities=(-1, 1), utility_sum=0
    )


def _film(path):
    film = Film(path)
    film.add(np.zeros((2, 2, 3), np.uint8))
    film.save()


WRITERS = {
    "value.npz": lambda path: _value().save(path),
    "examples.npz": lambda path: save_examples([Example(*[0] * len(Example._fields))], path),
    "picture.png": panels(1, width=1, height=1)[0].savefig,
    "picture.svg": panels(1, width=1, height=1)[0].savefig,
    "film.gif": _film,
    "table.csv": lambda path: rate([Outcome("a", "b", 1.0, 0)]).to_csv(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_leaves_the_old_file_when_it_is_cut_off(name, tmp_path, monkeypatch):
    path = tmp_path / name
    WRITERS[name](path)
    old = path.read_bytes()
    assert old

    def interrupted(self, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(pathlib.Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        WRITERS[name](path)
    assert path.read_bytes() == old
    assert os.listdir(tmp_path) == [name]
