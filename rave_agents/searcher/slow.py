"""Progress display of a search that takes longer than two seconds."""

import contextlib
import threading
import time
from collections.abc import Sequence
from typing import Any

from rave_agents.compiler.progress import is_main_process, say_slow
from rave_agents.config.limit import Limit
from rave_agents.results.progress import View, is_showing, shown
from rave_agents.searcher.tree_search import TreeSearch


class SlowSearch:
    """Shows the progress of a search: a bar in a terminal or notebook, elsewhere one log message.

    Nothing is shown outside the main thread, in worker processes, or while another run is shown.

    Args:
        searches: the running searches.
        limit: their limit.
        started: their ``time.perf_counter()`` start.
    """

    def __init__(self, searches: Sequence[TreeSearch], limit: Limit, started: float) -> None:
        self._searches, self._planned = searches, limit.simulations
        self._stack = contextlib.ExitStack()
        self._show: Any = None
        in_main = threading.current_thread() is threading.main_thread() and is_main_process()
        if is_showing() or not in_main:
            return
        self._show = self._stack.enter_context(shown(None, self._view))
        if self._show is None:
            spent = time.perf_counter() - started
            say_slow(f"{self._done()} of {self._planned} simulations in {spent:.1f} s")

    def _done(self) -> int:
        return sum(search.simulations for search in self._searches)

    def _view(self, done: int) -> View:
        return View(done, self._planned, "", lambda width: "simulations of a search")

    def update(self) -> None:
        """Show the simulations so far."""
        if self._show is not None:
            self._show(self._done())

    def close(self) -> None:
        """Show the last number of simulations, and remove the display."""
        self.update()
        self._stack.close()
