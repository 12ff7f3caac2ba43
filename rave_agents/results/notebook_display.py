"""Display of a run in a notebook: a bar, the game that ended last, tables."""

import html
import time
from typing import Any

from rave_agents.game.plain_text import printable
from rave_agents.results.view import View

_SECONDS = 0.5
"""Seconds between two redraws, at least."""

_WIDTH = 100
"""Characters of a line."""


class NotebookDisplay:
    """A display in the output of the cell that runs.

    Args:
        ipython: the module ``IPython.display``.
    """

    def __init__(self, ipython: Any) -> None:
        self._ipython = ipython
        self._handle: Any = None
        self._drawn = 0.0

    def update(self, view: View) -> None:
        """Show this from now on."""
        if self._handle is None:
            page = self._ipython.HTML(_page(view))
            self._handle = self._ipython.display(page, display_id=True)
        elif time.monotonic() < self._drawn + _SECONDS:
            return
        else:
            self._handle.update(self._ipython.HTML(_page(view)))
        self._drawn = time.monotonic()

    def stop(self) -> None:
        """Take the display away."""
        if self._handle is not None:
            self._handle.update(self._ipython.HTML(""))


def _page(view: View) -> str:
    planned = "" if view.planned is None else f' max="{view.planned}" value="{view.finished}"'
    of = "" if view.planned is None else f" of {view.planned}"
    latest = html.escape(printable(view.latest))
    text = html.escape(printable(view.text(_WIDTH), lines=True))
    return f"<progress{planned}></progress> {view.finished}{of} {latest}<pre>{text}</pre>"
