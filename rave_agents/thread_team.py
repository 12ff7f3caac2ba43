"""Several trees searched at the same time, one in each thread."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence

from rave_agents.tree_search import TreeSearch

LOOK_SECONDS = 0.02
"""How often the first thread, done with its own tree, looks after the others."""


class _Gate:
    """Where threads pass before each slice: it can be closed for a while, and for good."""

    def __init__(self) -> None:
        self.ended = False
        """Whether nobody passes any more."""
        self._closed = False
        self._inside = 0
        self._changed = threading.Condition()

    def enter(self) -> bool:
        """Pass, once the gate is open. Returns False if it is closed for good."""
        with self._changed:
            self._changed.wait_for(lambda: self.ended or not self._closed)
            if self.ended:
                return False
            self._inside += 1
            return True

    def leave(self) -> None:
        """Come back."""
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()

    @contextlib.contextmanager
    def closed(self) -> Iterator[None]:
        """Close it, once everybody has come back, for the time of a ``with`` statement."""
        try:
            with self._changed:
                self._closed = True
                self._changed.wait_for(lambda: self._inside == 0)
            yield
        finally:
            with self._changed:
                self._closed = False
                self._changed.notify_all()

    def end(self) -> None:
        """Close it for good."""
        self.ended = True  # Before the lock: a second Ctrl-C may come while waiting for that.
        with self._changed:
            self._changed.notify_all()


class ThreadTeam:
    """Runs the searches of several trees: the first in the calling thread, each other in its own.

    Threads share nothing but a gate between two slices. The end of one search is the end of all if
    it solved its root or failed.

    Args:
        searches: one or more, their limits set.
    """

    def __init__(self, searches: Sequence[TreeSearch]) -> None:
        self._first, *self._others = searches
        self._gate = _Gate()
        self._errors: list[BaseException] = []

    def run(self, between: Callable[[], None]) -> None:
        """Search until all are done. No thread touches its tree afterwards, whatever happens.

        Args:
            between: called in the calling thread, between two slices of the first search and, when
                that is done, every ``LOOK_SECONDS``.

        Raises:
            Exception: what a search or ``between`` raises, unchanged.
        """
        workers = [
            threading.Thread(target=self._work, args=(search,), daemon=True)
            for search in self._others
        ]
        try:
            for worker in workers:
                worker.start()
            while not self._gate.ended and self._first.run_slice():
                between()
            if self._first.solved:
                self._gate.end()
            for worker in workers:
                while worker.is_alive():
                    worker.join(LOOK_SECONDS)
                    between()
        finally:
            try:
                self._gate.end()
            finally:
                _join(workers)
        if self._errors:
            raise self._errors[0]

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Hold the other threads between two slices, so that their trees can be read."""
        with self._gate.closed():
            yield

    def _work(self, search: TreeSearch) -> None:
        """Search one tree, in a thread of its own."""
        more = True
        try:
            while more and self._gate.enter():
                try:
                    more = search.run_slice()
                finally:
                    self._gate.leave()
        except BaseException as error:
            self._errors.append(error)
        if self._errors or search.solved:
            self._gate.end()


def _join(workers: Sequence[threading.Thread]) -> None:
    """Wait for threads that are about to end, also if Ctrl-C comes once more.

    One that Ctrl-C came upon while it started may not be alive yet: it will not pass the gate.
    """
    interrupt: KeyboardInterrupt | None = None
    for worker in workers:
        while worker.is_alive():
            try:
                worker.join()
            except KeyboardInterrupt as error:
                interrupt = error
    if interrupt is not None:
        raise interrupt
