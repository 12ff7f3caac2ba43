"""How the kernel is compiled: by Numba, once in each form, the result kept between processes.

Numba's own cache notices a change in the file of the compiled function, but not in the files that
this function calls into. The kernel is spread over several files on purpose, so the cache's folder
is named after the source of all of them: a change anywhere compiles anew, and never runs old code.
"""

import atexit
import contextlib
import enum
import functools
import hashlib
import logging
import os
import pathlib
import platform
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

import numba
from numba.core import event

JIT_DISABLED = bool(numba.config.DISABLE_JIT)
"""Whether ``NUMBA_DISABLE_JIT=1`` is set: the kernel then runs in the interpreter."""

_P = ParamSpec("_P")
_R = TypeVar("_R")

# The kernel allocates nothing and returns no array: its caller holds what it works on. Without
# Numba's reference counts, which are atomic, it is a third faster.
_OPTIONS = {"nogil": True, "_nrt": False, "error_model": "numpy"}

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


def _source_hash() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {platform.python_version()}".encode())
    for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


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
        _log.warning("rave_agents: there is no folder to keep compiled code in: %s", error)
        return directory or pathlib.Path(os.devnull) / name


@functools.cache
def _private_temporary_directory() -> pathlib.Path:
    """A folder in the temporary directory that is this user's alone: what lies there is executed.

    It is the same one in every process, unless its name is taken by what others could have
    prepared; then it is a new one, which goes with the process.
    """
    parent = pathlib.Path(tempfile.gettempdir())
    user = os.getuid() if hasattr(os, "getuid") else "cache"  # Windows gives each user a folder.
    path = parent / f"rave_agents-{user}"
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    if sys.platform == "win32" or _is_private(parent, path):
        return path
    _log.warning(
        "rave_agents: %s can be written by others than this user, so what is compiled is kept for "
        "this process only.",
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
    """Copy a folder such that no process sees half of it."""
    copied = tempfile.mkdtemp(dir=target.parent)
    shutil.copytree(source, copied, dirs_exist_ok=True)
    try:
        pathlib.Path(copied).rename(target)
    except OSError:  # Another process was faster.
        shutil.rmtree(copied, ignore_errors=True)


CACHE_DIRECTORY = choose_cache_directory(_source_hash())
"""Where the compiled kernel is kept."""


class Form(enum.StrEnum):
    """What the kernel is compiled with."""

    PLAIN = "compiled"
    """Neither of the others."""
    PROOFS = "compiled_with_proofs"
    """It keeps what is proven."""
    SIMULTANEOUS = "compiled_with_simultaneous_moves"
    """Players may move at the same time."""
    HIDDEN = "compiled_with_hidden_information"
    """Something is hidden from the players."""


def is_cached(form: Form = Form.PLAIN) -> bool:
    """Whether the compiled kernel is there, so that the next process need not compile it."""
    return _marker(form).exists() and any(CACHE_DIRECTORY.glob("**/loop.run*.nbc"))


def note_compilation(form: Form) -> None:
    """Note that the kernel has been compiled and kept."""
    with contextlib.suppress(OSError):
        _marker(form).touch()


def _marker(form: Form) -> pathlib.Path:
    """A file for a form and, as in Numba's index, for where its source lies and how old it is."""
    source = pathlib.Path(__file__).with_name("loop.py")
    found = source.stat()
    stamp = f"{source.absolute()} {found.st_mtime_ns} {found.st_size}"
    return CACHE_DIRECTORY / f"{form}-{hashlib.sha256(stamp.encode()).hexdigest()[:16]}"


def formula(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Compile a function of numbers, which the kernel and anybody else may call."""
    return numba.njit(nogil=True)(function)


def kernel(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Compile a function that only the kernel calls; from Python, call ``interpreted(function)``.

    It gets no wrappers for calls from outside, which take a third of the time of compiling: a call
    from Python would end the process. It becomes a part of its callers, since the arrays of a tree
    are a hundred words that each call would pass.
    """
    return numba.njit(**_OPTIONS, forceinline=True, no_cfunc_wrapper=True, no_cpython_wrapper=True)(
        function
    )


def interpreted(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The Python function behind a function of the kernel."""
    return getattr(function, "py_func", function)


def inlined(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Compile a function of the kernel into its one caller, which saves compiling it by itself."""
    return numba.njit(**_OPTIONS, inline="always")(function)


def kernel_entry(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Compile a function of the kernel that Python calls, and keep the result between processes."""
    return kept(CACHE_DIRECTORY, lambda cache: numba.njit(**_OPTIONS, cache=cache)(function))


def kept(directory: pathlib.Path, compiled: Callable[[bool], _R]) -> _R:
    """What ``compiled(True)`` makes with Numba's cache in a folder, or ``compiled(False)``.

    The latter where no folder can be written.
    """
    configured = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(directory)
    try:
        return compiled(True)
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
        return compiled(False)
    finally:
        numba.config.CACHE_DIR = configured


class _Announcer(event.Listener):  # type: ignore[misc]
    """Says once that something is compiled, as soon as Numba begins with it."""

    def __init__(self, what: str) -> None:
        self._what: str | None = what

    def on_start(self, event: Any) -> None:
        what, self._what = self._what, None
        if what is not None:
            _log.warning("rave_agents: compiling %s, once; this takes a few seconds ...", what)

    def on_end(self, event: Any) -> None:
        pass


@contextlib.contextmanager
def announced_compilation(what: str) -> Iterator[None]:
    """Say so if, meanwhile, Numba compiles what it has not found in its cache."""
    with event.install_listener("numba:compile", _Announcer(what)):
        yield
