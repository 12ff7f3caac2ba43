"""Display of a run in a notebook: a progress bar, the latest game, tables."""

import html
import time
from typing import Any

from rave_agents.game.plain_text import printable
from rave_agents.results.view import View

_SECONDS = 0.5
"""Minimum seconds between two redraws."""

_WIDTH = 100
"""Characters of a line."""


class NotebookDisplay:
    """A display in the output of the running cell.

    Args:
        ipython: the module ``IPython.display``.
    """

    def __init__(self, ipython: Any) -> None:
        self._ipython = ipython
        self._handle: Any = None
        self._drawn = 0.0

    def update(self, view: View) -> None:
        """Show a new view."""
        if self._handle is None:
            self._handle = self._ipython.display(_page(view), raw=True, display_id=True)
        elif time.monotonic() < self._drawn + _SECONDS:
            return
        else:
            self._handle.update(_page(view), raw=True)
        self._drawn = time.monotonic()

    def stop(self) -> None:
        """Remove the display."""
        if self._handle is not None:
            self._handle.update({"text/plain": "", "text/html": ""}, raw=True)


def _page(view: View) -> dict[str, str]:
    of = "" if view.planned is None else f" of {view.planned}"
    line = printable(f"{view.finished}{of} {view.latest}".rstrip())
    share = "" if view.planned is None else f' max="{view.planned}" value="{view.finished}"'
    text = html.escape(printable(view.text(_WIDTH), lines=True))
    page = f"<progress{share}></progress> {html.escape(line)}<pre>{text}</pre>"
    return {"text/plain": line, "text/html": page}
