"""Messages to the user about compilation with Numba, and where Numba's own cache is."""

import contextlib
import logging
import pathlib
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numba
from numba.core import event

_R = TypeVar("_R")

_log = logging.getLogger("rave_agents")


def kept(directory: pathlib.Path, compiled: Callable[[bool], _R]) -> _R:
    """The result of ``compiled(True)``, with Numba's cache in a folder.

    Where no folder can be written, the result of ``compiled(False)``.
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


def _say_begun(what: str) -> None:
    _log.warning("rave_agents: compiling %s, once; this takes a few seconds ...", what)


@contextlib.contextmanager
def announced(what: str) -> Iterator[list[str]]:
    """Announce that ``what`` is compiled, and the seconds; on a terminal they count up.

    Reasons why it is not kept on disk are to be added to the list.
    """
    started = time.perf_counter()
    reasons: list[str] = []
    with _shown(what):
        yield reasons
    seconds = time.perf_counter() - started
    kept = f"it is not kept on disk: {'; '.join(reasons)}" if reasons else "it is kept on disk"
    _log.warning("rave_agents: compiled %s in %.1f s; %s.", what, seconds, kept)


@contextlib.contextmanager
def _shown(what: str) -> Iterator[None]:
    if not (sys.stderr is not None and sys.stderr.isatty()):
        _say_begun(what)
        yield
        return
    from rich.console import Console  # noqa: PLC0415  (slow to import)
    from rich.errors import LiveError  # noqa: PLC0415
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    progress.add_task(f"rave_agents: compiling {what}, once", total=None)
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(LiveError):  # Another display is being shown.
            stack.enter_context(progress)
        yield


class _Announcer(event.Listener):  # type: ignore[misc]
    """Announces a compilation once, as soon as Numba begins."""

    def __init__(self, what: str) -> None:
        self._what: str | None = what

    def on_start(self, event: Any) -> None:
        what, self._what = self._what, None
        if what is not None:
            _say_begun(what)

    def on_end(self, event: Any) -> None:
        pass


@contextlib.contextmanager
def announced_compilation(what: str) -> Iterator[None]:
    """Announce it if Numba compiles something meanwhile that is not in its cache."""
    with event.install_listener("numba:compile", _Announcer(what)):
        yield


def shortened(error: Exception, lines: int = 10) -> str:
    """The lines of Numba's message about the innermost failure, at most so many."""
    told = [line for line in str(error).splitlines() if line.strip()]
    causes = [place for place, line in enumerate(told) if "raised a specific error" in line]
    innermost = told[causes[-1] + 1 :] if causes else told
    ends = [place for place, line in enumerate(innermost) if "raised from" in line]
    return textwrap.dedent("\n".join(innermost[: min([lines, *ends])]))
