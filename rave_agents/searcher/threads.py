"""Searches several trees in parallel, one per thread."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from rave_agents.searcher.tree_search import TreeSearch

LOOK_SECONDS = 0.02
"""Interval at which the first thread, once finished with its own tree, polls the others."""

AGAIN_SECONDS = 0.001
"""Interval at which a waiting thread polls the gate."""


class _Gate:
    """A gate that threads pass before each slice; it can be closed temporarily or for good.

    Waiting is polling: Ctrl-C may interrupt the calling thread anywhere, even inside the waiting
    functions of ``threading``, which then lose track of what they waited for.
    """

    def __init__(self) -> None:
        self.ended = False
        """True once the gate is closed for good; set it to close the gate."""
        self._closed = False
        self._inside = 0
        self._lock = threading.Lock()

    def enter(self) -> bool:
        """Enter once the gate is open. Returns False if it is closed for good."""
        while True:
            with self._lock:
                if self.ended:
                    return False
                if not self._closed:
                    self._inside += 1
                    return True
            time.sleep(AGAIN_SECONDS)

    def leave(self) -> None:
        """Leave the gate after a slice."""
        with self._lock:
            self._inside -= 1

    @contextlib.contextmanager
    def closed(self) -> Iterator[None]:
        """Close the gate during a ``with`` statement, which starts once all threads have left."""
        try:
            self._closed = True
            self.wait()
            yield
        finally:
            self._closed = False

    def wait(self) -> None:
        """Wait until all threads have left; the gate must be closed."""
        while True:
            with self._lock:
                if self._inside == 0:
                    return
            time.sleep(AGAIN_SECONDS)


def run_in_threads(
    searches: Sequence[TreeSearch],
    look: Callable[[Callable[[], contextlib.AbstractContextManager[None]]], bool],
) -> bool:
    """Search several trees: the first in the calling thread, the others in their own threads.

    Threads share only a gate between slices. All searches end when one solves its root or fails. No
    thread touches its tree afterwards, even after an exception.

    Args:
        searches: two or more searches with their limits set.
        look: called in the calling thread between two slices of the first search and, when that is
            finished, every ``LOOK_SECONDS``. Its argument makes a context manager that holds the
            other threads between slices. Returns whether to continue.

    Returns:
        True unless ``look`` ended the searches.

    Raises:
        Exception: any exception of a search or of ``look``, unchanged.
    """
    first, *others = searches
    gate, errors = _Gate(), list[BaseException]()
    workers = [
        threading.Thread(target=_work, args=(search, gate, errors), daemon=True)
        for search in others
    ]
    goes_on = True
    try:
        for worker in workers:
            worker.start()
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
                    if worker.is_alive():  # False if an exception came before they started.
                        worker.join()
                break
            except BaseException as error:  # Only a signal handler can raise here.
                # Go on waiting: a thread that still ran would write to a tree in other hands.
                interrupt = error
        if interrupt is not None:
            raise interrupt
    if errors:
        raise errors[0]
    return goes_on


def _work(search: TreeSearch, gate: _Gate, errors: list[BaseException]) -> None:
    """Search one tree in a worker thread."""
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
