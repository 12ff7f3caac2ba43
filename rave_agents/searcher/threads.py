"""Several trees searched at the same time, one in each thread."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from rave_agents.compiler.signals import start_threads
from rave_agents.searcher.tree_search import TreeSearch

LOOK_SECONDS = 0.02
"""Interval at which the first thread, done with its own tree, looks after the others."""

AGAIN_SECONDS = 0.001
"""Time that a thread sleeps before it looks again whether it may go on."""


class _Gate:
    """A gate that threads pass before each slice: it can be closed for a while, and for good.

    The calling thread may be interrupted by Ctrl-C anywhere, in the waiting functions of
    ``threading`` too, which then forget what they waited for. So all waiting is looking again.
    """

    def __init__(self) -> None:
        self.ended = False
        """True once the gate is closed for good; set it to close it so."""
        self._closed = False
        self._inside = 0
        self._lock = threading.Lock()

    def enter(self) -> bool:
        """Pass, once the gate is open. Returns False if it is closed for good."""
        while True:
            with self._lock:
                if self.ended:
                    return False
                if not self._closed:
                    self._inside += 1
                    return True
            time.sleep(AGAIN_SECONDS)

    def leave(self) -> None:
        """Come back."""
        with self._lock:
            self._inside -= 1

    @contextlib.contextmanager
    def closed(self) -> Iterator[None]:
        """Close it, once everybody has come back, for the time of a ``with`` statement."""
        try:
            self._closed = True
            self.wait()
            yield
        finally:
            self._closed = False

    def wait(self) -> None:
        """Wait until everybody has come back, who may come in no more."""
        while True:
            with self._lock:
                if self._inside == 0:
                    return
            time.sleep(AGAIN_SECONDS)


def run_in_threads(
    searches: Sequence[TreeSearch],
    look: Callable[[Callable[[], contextlib.AbstractContextManager[None]]], bool],
) -> bool:
    """Search several trees: the first in the calling thread, each other in a thread of its own.

    Threads share nothing but a gate between two slices. The end of one search is the end of all if
    it solved its root or failed. No thread touches its tree afterwards, whatever happens.

    Args:
        searches: two or more, their limits set.
        look: called in the calling thread, between two slices of the first search and, when that is
            done, every ``LOOK_SECONDS``; with what holds the other threads between two slices for
            the time of a ``with`` statement. It tells whether to go on.

    Returns:
        Whether the searches came to their own end: ``look`` did not end them.

    Raises:
        Exception: what a search or ``look`` raises, unchanged.
    """
    first, *others = searches
    gate, errors = _Gate(), list[BaseException]()
    workers = [
        threading.Thread(target=_work, args=(search, gate, errors), daemon=True)
        for search in others
    ]
    goes_on = True
    try:
        start_threads(workers)
        while goes_on and not gate.ended and first.run_slice():
            goes_on = look(gate.closed)
        if first.solved:
            gate.ended = True
        for worker in workers:
            while goes_on and worker.is_alive():
                worker.join(LOOK_SECONDS)
                goes_on = look(gate.closed)
    finally:
        gate.ended = True
        interrupt: BaseException | None = None
        while True:
            try:
                gate.wait()
                for worker in workers:
                    if worker.is_alive():  # Not so if an exception came before they started.
                        worker.join()
                break
            except BaseException as error:  # Of a signal handler: nothing else raises.
                interrupt = error
        if interrupt is not None:
            raise interrupt
    if errors:
        raise errors[0]
    return goes_on


def _work(search: TreeSearch, gate: _Gate, errors: list[BaseException]) -> None:
    """Search one tree, in a thread of its own."""
    more = True
    try:
        while more and gate.enter():
            try:
                more = search.run_slice()
            finally:
                gate.leave()
    except BaseException as error:
        errors.append(error)
    if errors or search.solved:
        gate.ended = True
