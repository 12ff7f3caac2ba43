"""Where compiled code is kept between processes."""

import atexit
import contextlib
import functools
import logging
import os
import pathlib
import shutil
import stat
import sys
import tempfile

_log = logging.getLogger("rave_agents")


def _user_cache_directory() -> pathlib.Path:
    if os.environ.get("XDG_CACHE_HOME"):
        return pathlib.Path(os.environ["XDG_CACHE_HOME"]) / "rave_agents"
    if sys.platform == "darwin":
        return pathlib.Path.home() / "Library" / "Caches" / "rave_agents"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", str(pathlib.Path.home()))
        return pathlib.Path(local) / "rave_agents" / "Cache"
    return pathlib.Path.home() / ".cache" / "rave_agents"


def choose_cache_directory(name: str) -> pathlib.Path:
    """Where compiled code is kept, under this name.

    ``NUMBA_CACHE_DIR``, or the user's cache. If that is read-only it is a folder of the user's own
    in the temporary directory, which begins as a copy of what the read-only one has.
    """
    if os.environ.get("NUMBA_CACHE_DIR"):
        return pathlib.Path(os.environ["NUMBA_CACHE_DIR"]) / f"rave_agents-{name}"
    directory = None
    with contextlib.suppress(OSError, RuntimeError):  # There may be no home.
        directory = _user_cache_directory() / name
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return directory
    try:
        temporary = _private_temporary_directory() / name
        if directory is not None and directory.is_dir() and not temporary.exists():
            _copy_whole(directory, temporary)
        temporary.mkdir(exist_ok=True)
        return temporary
    except OSError as error:
        _log.warning("rave_agents: no folder can be written to keep compiled code: %s", error)
        return directory or pathlib.Path(os.devnull) / name


@functools.cache
def _private_temporary_directory() -> pathlib.Path:
    """A folder in the temporary directory that only this user can write to: its code is executed.

    It is the same in every process, unless others could have prepared a folder of that name; then
    it is a new folder, deleted when the process ends.
    """
    parent = pathlib.Path(tempfile.gettempdir())
    user = os.getuid() if hasattr(os, "getuid") else "cache"  # Windows gives each user a folder.
    path = parent / f"rave_agents-{user}"
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    if sys.platform == "win32" or _is_private(parent, path):
        return path
    _log.warning(
        "rave_agents: other users can write to %s, so compiled code is kept for this process only.",
        path,
    )
    own = tempfile.mkdtemp(prefix="rave_agents-")
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return pathlib.Path(own)


def _is_private(parent: pathlib.Path, path: pathlib.Path) -> bool:
    above, found = parent.stat(), path.lstat()
    return (
        stat.S_ISDIR(found.st_mode)
        and found.st_uid == os.getuid()
        and stat.S_IMODE(found.st_mode) & 0o077 == 0
        # Where all may write, only the sticky bit keeps others from putting theirs in its place.
        and (above.st_mode & 0o022 == 0 or bool(above.st_mode & stat.S_ISVTX))
    )


def _copy_whole(source: pathlib.Path, target: pathlib.Path) -> None:
    """Copy a folder so that no process reads half of it."""
    copied = tempfile.mkdtemp(dir=target.parent)
    shutil.copytree(source, copied, dirs_exist_ok=True)
    try:
        pathlib.Path(copied).rename(target)
    except OSError:  # Another process was faster.
        shutil.rmtree(copied, ignore_errors=True)
