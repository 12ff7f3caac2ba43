"""Compiling with Numba: what is kept in which folder, and what the user is told of it."""

import contextlib
import logging
import pathlib
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numba
from numba.core import event

_R = TypeVar("_R")

_log = logging.getLogger("rave_agents")


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


def shortened(error: Exception, lines: int = 10) -> str:
    """The part of Numba's message that tells of the innermost failure, in so many lines."""
    told = [line for line in str(error).splitlines() if line.strip()]
    causes = [place for place, line in enumerate(told) if "raised a specific error" in line]
    innermost = told[causes[-1] + 1 :] if causes else told
    ends = [place for place, line in enumerate(innermost) if "raised from" in line]
    return textwrap.dedent("\n".join(innermost[: min([lines, *ends])]))
