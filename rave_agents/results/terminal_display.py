"""Display of a run in a terminal: a progress bar, the latest games, tables."""

import collections

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
from rich.text import Text

from rave_agents.compiler.spinner import stderr_console
from rave_agents.game.plain_text import printable
from rave_agents.results.progress import View

LATEST = 4
"""Number of latest games shown."""

_PER_SECOND = 2
"""Redraws per second; few, since ratings of many games take time to compute."""


class TerminalDisplay:
    """A display at the end of the terminal's output.

    Args:
        console: where it is drawn; None for standard error.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = stderr_console() if console is None else console
        columns = (BarColumn(24), MofNCompleteColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=self._console)
        self._task = self._progress.add_task("", total=None)
        self._view: View | None = None
        self._drawn: tuple[View | None, str] = (None, "")
        self._lines: collections.deque[str] = collections.deque(maxlen=LATEST)
        self._live = Live(
            get_renderable=self._render,
            console=self._console,
            transient=True,
            refresh_per_second=_PER_SECOND,
        )

    def update(self, view: View) -> None:
        """Show a new view."""
        if view.latest and view.latest not in self._lines:
            self._lines.append(view.latest)
        self._view = view
        self._progress.update(self._task, completed=view.finished, total=view.planned)
        if not self._live.is_started:
            self._live.start()

    def stop(self) -> None:
        """Remove the display."""
        if self._live.is_started:
            self._live.stop()

    def _render(self) -> RenderableType:
        view = self._view
        if view is not None and view is not self._drawn[0]:
            self._drawn = view, view.text(self._console.width)
        lines = (Text(printable(line), style="dim") for line in self._lines)
        table = Text(printable(self._drawn[1], lines=True), no_wrap=True, overflow="ellipsis")
        return Group(self._progress, *lines, table)  # A tall table is cut at its end.
