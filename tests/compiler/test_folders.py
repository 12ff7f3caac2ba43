"""Compiled code is loaded from what nobody but the user can write."""

import grp
import os
import pathlib
import pwd
import stat
import subprocess
import sys

import pytest
from helpers.owners import give_away

from rave_agents.compiler import folders
from rave_agents.compiler.machine_code import MachineCode

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows gives each user a folder")

PLACES = {"XDG_CACHE_HOME": "rave_agents/kernel", "NUMBA_CACHE_DIR": "rave_agents-kernel"}
PLACES["HOME"] = ".cache/rave_agents/kernel"
PLACES = {name: pathlib.Path(place) for name, place in PLACES.items()}


@pytest.fixture
def place(request, monkeypatch, tmp_path):
    """The variable's folder, and where compiled code would be kept in it."""
    for name in PLACES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(request.param, str(tmp_path / "shared"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    for name in ("shared", "temporary"):
        (tmp_path / name).mkdir(mode=0o700)
    for cached in (folders._private_temporary_directory, folders._tell_of_others):
        cached.cache_clear()
    yield tmp_path / "shared", tmp_path / "shared" / PLACES[request.param]
    folders._private_temporary_directory.cache_clear()


everywhere = pytest.mark.parametrize("place", PLACES, indirect=True)


@everywhere
def test_a_folder_of_the_users_own_is_used_and_made_for_the_user_alone(place, caplog):
    before = os.umask(0)
    try:
        assert folders.choose_cache_directory("kernel") == place[1]
    finally:
        os.umask(before)
    made = [place[1], *place[1].parents]
    made = made[: made.index(place[0])]
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o700}
    assert caplog.text == ""


@everywhere
@pytest.mark.parametrize("which", [0, 1], ids=["the outer", "the inner"])
@pytest.mark.parametrize("how", ["of another user", "writable by all", "a link of another"])
def test_a_folder_that_others_own_or_can_write_is_not_used(
    place, which, how, monkeypatch, caplog, tmp_path
):
    place[1].mkdir(parents=True)
    taken = place[which]
    if how == "writable by all":
        taken.chmod(0o777)
    elif how == "of another user":
        give_away(taken, monkeypatch)
    else:
        taken.rename(tmp_path / "elsewhere")
        taken.symlink_to(tmp_path / "elsewhere")
        if os.getuid() != 0:
            pytest.skip("links cannot be given away")
        os.chown(taken, 65534, 65534, follow_symlinks=False)
    for _ in range(2):
        directory = folders.choose_cache_directory("kernel")
        assert directory.name == "kernel"
        assert directory.parent.parent == tmp_path / "temporary"
    assert caplog.text.count("other users can write to") == 1 + (os.getuid() != 0)


@pytest.mark.parametrize("place", ["XDG_CACHE_HOME"], indirect=True)
def test_a_sticky_folder_such_as_tmp_is_used(place):
    place[0].chmod(0o1777)
    assert folders.choose_cache_directory("kernel") == place[1]


@pytest.mark.parametrize("place", ["XDG_CACHE_HOME"], indirect=True)
def test_a_folder_of_roots_is_used(place, monkeypatch):
    """As in an image whose cache root has filled, for a user who may only read it."""
    place[1].mkdir(parents=True)
    if os.getuid() != 0:
        pytest.skip("only root has folders of root's here")
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert folders.is_only_users(place[1])


def test_a_group_of_the_users_alone_may_write(monkeypatch, tmp_path):
    tmp_path.chmod(0o775)
    user = pwd.getpwuid(os.getuid())
    alone = grp.struct_group((user.pw_name, "x", tmp_path.stat().st_gid, []))
    shared = grp.struct_group((user.pw_name, "x", tmp_path.stat().st_gid, ["mallory"]))
    for group, expected in ((alone, user.pw_gid == alone.gr_gid), (shared, False)):
        folders._is_own_group.cache_clear()
        monkeypatch.setattr(grp, "getgrgid", lambda number, group=group: group)
        assert folders.is_only_users(tmp_path) is expected
    folders._is_own_group.cache_clear()


@pytest.mark.parametrize("how", ["of another user", "writable by all"])
def test_machine_code_that_others_could_have_written_is_not_loaded(how, monkeypatch, tmp_path):
    code = MachineCode("symbol", (), b"code")
    code.save(tmp_path / "code")
    assert MachineCode.saved(tmp_path / "code") == code
    if how == "writable by all":
        (tmp_path / "code").chmod(0o666)
    else:
        give_away(tmp_path / "code", monkeypatch)
    assert MachineCode.saved(tmp_path / "code") is None


def test_machine_code_is_saved_for_the_user_alone_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        MachineCode("symbol", (), b"code").save(tmp_path / "code")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "code").stat().st_mode) == 0o600


def test_without_user_ids_the_users_folder_is_used(monkeypatch, tmp_path):
    tmp_path.chmod(0o777)
    monkeypatch.delattr(os, "getuid")
    assert folders.is_only_users(tmp_path)
    assert folders.is_own_file((tmp_path / ".." / tmp_path.name).stat()) is False  # a folder


OTHERS = """
#include <cstdio>
extern "C" __attribute__((constructor)) void run() { fclose(fopen("RAN", "w")); }
"""


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="root alone gives away")
@pytest.mark.parametrize("variable", PLACES)
def test_a_library_that_another_user_has_put_into_the_cache_is_not_loaded(variable, tmp_path):
    pytest.importorskip("pyspiel")
    shared = tmp_path / "shared"
    shared.mkdir()
    kept = {name: value for name, value in os.environ.items() if name not in PLACES}
    environment = {**kept, variable: str(shared), "TMPDIR": str(tmp_path)}
    ask = [sys.executable, "-c", "import rave_openspiel; rave_openspiel.register_bots()"]
    options = {"env": environment, "cwd": tmp_path, "capture_output": True}
    subprocess.run(ask, check=True, **options)
    (library,) = shared.rglob("registry-*.so")
    (tmp_path / "others.cpp").write_text(OTHERS)
    library.unlink()
    compiler = ["c++", "-shared", "-fPIC", str(tmp_path / "others.cpp"), "-o", str(library)]
    subprocess.run(compiler, check=True)
    subprocess.run(ask, check=False, **options)
    assert (tmp_path / "RAN").exists()  # so it would, if it were the user's own
    (tmp_path / "RAN").unlink()
    for path in (shared, *shared.rglob("*")):
        os.chown(path, 65534, 65534)
        path.chmod(0o777)
    done = subprocess.run(ask, check=True, **options)
    assert not (tmp_path / "RAN").exists()
    assert b"other users can write to" in done.stderr
