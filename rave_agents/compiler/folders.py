"""Folders of compiled code that is kept between processes."""

import atexit
import contextlib
import functools
import logging
import os
import pathlib
import shutil
import stat
import tempfile

import platformdirs

with contextlib.suppress(ImportError):  # Windows has none.
    import grp
    import pwd

_log = logging.getLogger("rave_agents")


def choose_cache_directory(name: str) -> pathlib.Path:
    """Choose the folder of compiled code under this name.

    ``NUMBA_CACHE_DIR``, or the user's cache. If that is read-only, or others could put their code
    there, it is a folder of the user's own in the temporary directory. This begins as a copy of
    what the read-only one has.
    """
    directory, is_private = None, False
    with contextlib.suppress(OSError, RuntimeError):  # There may be no home.
        directory = _named_directory(name)
        is_private = is_only_users(directory)
        if is_private:
            _make_private(directory)
            is_private = is_only_users(directory)  # Another may have made what lacked.
        if is_private:
            with tempfile.TemporaryFile(dir=directory):
                return directory
    try:
        temporary = _private_temporary_directory() / name
        if directory is not None and not is_private:
            _tell_of_others(directory, temporary.parent)
        elif directory is not None and directory.is_dir() and not temporary.exists():
            _copy_whole(directory, temporary)
        temporary.mkdir(exist_ok=True)
        return temporary
    except OSError as error:
        _log.warning("rave_agents: no folder can be written to keep compiled code: %s", error)
        return directory if directory and is_private else pathlib.Path(os.devnull) / name


def _named_directory(name: str) -> pathlib.Path:
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return pathlib.Path(given).absolute() / f"rave_agents-{name}"
    return platformdirs.user_cache_path("rave_agents", appauthor=False) / name


def _make_private(directory: pathlib.Path) -> None:
    """Make a folder and those above it that lack, for this user alone whatever the umask is."""
    if not directory.is_dir():
        _make_private(directory.parent)
        directory.mkdir(mode=0o700, exist_ok=True)


def is_only_users(path: pathlib.Path) -> bool:
    """True if nobody but this user and the system's can change or replace a file or folder.

    All folders above it count, those that a link leads through too. What does not exist yet is
    nobody's. On Windows it is always True: the user's folders are the user's alone there.
    """
    if not hasattr(os, "getuid"):
        return True
    places = {path.absolute(), pathlib.Path(os.path.realpath(path))}
    return all(
        _is_safe(part, is_above=part not in places)
        for place in places
        for part in (place, *place.parents)
    )


def _is_safe(path: pathlib.Path, *, is_above: bool) -> bool:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return True
    is_root = path.parent == path  # Not root's own where user ids are mapped, as in a container.
    if found.st_uid not in (0, os.getuid()) and not is_root:
        return False
    if stat.S_ISLNK(found.st_mode):
        return True  # What it leads to is looked at, too.
    writable = bool(found.st_mode & stat.S_IWOTH)
    writable = writable or (bool(found.st_mode & stat.S_IWGRP) and not _is_own_group(found.st_gid))
    # Where all may write, only the sticky bit keeps others from putting theirs in its place.
    return not writable or (is_above and bool(found.st_mode & stat.S_ISVTX))


@functools.cache
def _is_own_group(group: int) -> bool:
    """True if a group has this user alone, as systems that give each user a group make it."""
    try:
        user, found = pwd.getpwuid(os.getuid()), grp.getgrgid(group)
    except KeyError:
        return False
    same = user.pw_gid == group and user.pw_name == found.gr_name
    return same and set(found.gr_mem) <= {user.pw_name}


@functools.cache
def _tell_of_others(directory: pathlib.Path, used: pathlib.Path) -> None:
    _log.warning(
        "rave_agents: other users can write to %s or own it, so compiled code is kept in %s.",
        directory,
        used,
    )


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
    if path.is_dir() and not path.is_symlink() and is_only_users(path):
        return path
    _log.warning(
        "rave_agents: other users can write to %s, so compiled code is kept for this process only.",
        path,
    )
    own = tempfile.mkdtemp(prefix="rave_agents-")
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return pathlib.Path(own)


def read_own(path: pathlib.Path) -> bytes | None:
    """Read a file of compiled code; None if there is none, or others could have written it."""
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            return file.read() if is_own_file(found) else None
    except OSError:
        return None


def is_own_file(found: os.stat_result) -> bool:
    """True if only this user and the system's can have written a file, by its ``stat``."""
    if not stat.S_ISREG(found.st_mode):
        return False
    if not hasattr(os, "getuid"):
        return True
    others = found.st_mode & stat.S_IWOTH
    group = found.st_mode & stat.S_IWGRP and not _is_own_group(found.st_gid)
    return found.st_uid in (0, os.getuid()) and not others and not group


def _copy_whole(source: pathlib.Path, target: pathlib.Path) -> None:
    """Copy a folder so that no process reads half of it."""
    copied = tempfile.mkdtemp(dir=target.parent)
    shutil.copytree(source, copied, dirs_exist_ok=True)
    try:
        pathlib.Path(copied).rename(target)
    except OSError:  # Another process was faster.
        shutil.rmtree(copied, ignore_errors=True)
