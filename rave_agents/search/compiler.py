"""How the kernel is compiled: by Numba, once in each form, the result kept between processes.

Numba's own cache notices a change in the file of the compiled function, but not in the files that
this function calls into. The kernel is spread over several files on purpose, so the cache's folder
is named after the source of all of them: a change anywhere compiles anew, and never runs old code.
"""

import contextlib
import enum
import hashlib
import logging
import os
import pathlib
import platform
import sys
import tempfile
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numba

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

    ``NUMBA_CACHE_DIR``, or the user's cache, or a new temporary folder if that is read-only.
    """
    if os.environ.get("NUMBA_CACHE_DIR"):
        return pathlib.Path(os.environ["NUMBA_CACHE_DIR"]) / f"rave_agents-{name}"
    try:
        directory = _user_cache_directory() / name
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return directory
    except (OSError, RuntimeError):
        # Not a name that somebody else could have prepared: what lies there is executed.
        return pathlib.Path(tempfile.mkdtemp(prefix="rave_agents-"))


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
    return (CACHE_DIRECTORY / form).exists() and any(CACHE_DIRECTORY.glob("**/loop.run*.nbc"))


def note_compilation(form: Form) -> None:
    """Note that the kernel has been compiled and kept."""
    with contextlib.suppress(OSError):
        (CACHE_DIRECTORY / form).touch()


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
    configured = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(CACHE_DIRECTORY)
    try:
        return numba.njit(**_OPTIONS, cache=True)(function)
    finally:
        numba.config.CACHE_DIR = configured


def announce_compilation(form: Form) -> None:
    """Say, before the first compiled call, that compiling takes a few seconds."""
    if not JIT_DISABLED and not is_cached(form):
        _log.warning("rave_agents: compiling the search, once; this takes a few seconds ...")
