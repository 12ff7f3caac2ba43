"""Progress of long runs: a built-in display, or the user's function."""

import contextlib
import html
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol, TypeVar

from rave_agents.game.plain_text import printable
from rave_agents.results.result import GrowingResult

T = TypeVar("T")

Progress = Callable[[T], object] | bool | None
"""The argument ``progress`` of long runs: a function called with the result so far; None for a
display if standard error is a terminal, or in a notebook; True for a display in any case; False for
none."""


class View(NamedTuple):
    """The state of a run, as a display shows it."""

    finished: int
    """Number of finished games or other units."""
    planned: int | None
    """Number of planned ones; None if unknown."""
    latest: str
    """A line on the latest one; empty for none."""
    text: Callable[[int], str]
    """Further lines of at most this many characters."""

    def counts(self) -> str:
        """The number of finished ones, and of planned ones if it is known."""
        return f"{self.finished}" if self.planned is None else f"{self.finished} of {self.planned}"


class Display(Protocol):
    """A display of a run, which appears with the first view."""

    def update(self, view: View) -> None:
        """Show a new view."""

    def stop(self) -> None:
        """Remove the display."""


def view_of(result: GrowingResult) -> View:
    """A view that shows a result's tables."""

    def text(width: int) -> str:
        return "\n".join(table.text(width) for table in result.tables())

    return View(result.finished, result.all_planned, result.latest_line, text)


def checked_progress(progress: Any) -> Any:
    """Return the argument if it is valid, else raise TypeError."""
    if progress is None or isinstance(progress, bool) or callable(progress):
        return progress
    raise TypeError(
        "progress must be None (a display in a terminal or notebook), False (none), True (always), "
        f"or a function of the result so far; got {progress!r}."
    )


@contextlib.contextmanager
def shown(
    progress: Progress[T], view: Callable[[Any], View] = view_of
) -> Iterator[Callable[[T], object] | None]:
    """Show a run, starting with the first call of the yielded function.

    Args:
        progress: the argument of the run.
        view: makes the view of the function's argument.

    Yields:
        The function, or None if nothing is shown. Only one run is shown at a time.
    """
    checked_progress(progress)
    if callable(progress):
        yield progress
        return
    make = _display(always=progress is True) if progress is not False else None
    if make is None or not _shows.acquire(blocking=False):
        yield None
        return
    display = make()
    try:
        yield lambda so_far: display.update(view(so_far))
    finally:
        display.stop()
        _shows.release()


_shows = threading.Lock()
"""Held while a run is shown."""


def is_showing() -> bool:
    """True while a run is shown."""
    return _shows.locked()


def notebook_module() -> Any:
    """The module ``IPython.display`` if a notebook runs this process, else None."""
    ipython = sys.modules.get("IPython")  # A notebook has imported it.
    in_notebook = ipython is not None and hasattr(ipython.get_ipython(), "kernel")
    return ipython.display if in_notebook else None  # type: ignore[union-attr]


def _display(*, always: bool) -> Callable[[], Display] | None:
    ipython_display = notebook_module()
    if ipython_display is not None:
        return lambda: _Notebook(ipython_display)
    if _is_terminal():
        from rave_agents.results.terminal_display import (  # noqa: PLC0415  (slow: rich)
            TerminalDisplay,
        )

        return TerminalDisplay
    return _Lines if always else None


def _is_terminal() -> bool:
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # Standard error is closed.
        return False


class _Lines:
    """Prints a line per tenth of the run to standard error if it is not a terminal."""

    def __init__(self) -> None:
        self._tenth = -1

    def update(self, view: View) -> None:
        tenth = 10 * view.finished // view.planned if view.planned else 0
        if tenth > self._tenth and sys.stderr is not None:
            self._tenth = tenth
            latest = f", {printable(view.latest)}" if view.latest else ""
            print(f"{view.counts()} finished{latest}", file=sys.stderr, flush=True)

    def stop(self) -> None:
        """Do nothing: the lines stay."""


_SECONDS, _WIDTH = 0.5, 100
"""In a notebook, the minimum seconds between two redraws, and the characters of a line."""


class _Notebook:
    """Shows a bar, the latest game and tables in the output of the running cell."""

    def __init__(self, ipython: Any) -> None:
        self._ipython = ipython
        self._handle: Any = None
        self._drawn = 0.0

    def update(self, view: View) -> None:
        if self._handle is not None and time.monotonic() < self._drawn + _SECONDS:
            return
        line = printable(f"{view.counts()} {view.latest}".rstrip())
        share = "" if view.planned is None else f' max="{view.planned}" value="{view.finished}"'
        text = html.escape(printable(view.text(_WIDTH), lines=True))
        page = {
            "text/plain": line,
            "text/html": f"<progress{share}></progress> {html.escape(line)}<pre>{text}</pre>",
        }
        if self._handle is None:
            self._handle = self._ipython.display(page, raw=True, display_id=True)
        else:
            self._handle.update(page, raw=True)
        self._drawn = time.monotonic()

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": "", "text/html": ""}, raw=True)
