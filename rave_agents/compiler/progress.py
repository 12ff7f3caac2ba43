"""Messages about work that takes long: compilation with Numba, checks before a search."""

import collections
import contextlib
import logging
import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Iterator

SLOW_SECONDS = 2.0
"""Seconds after which work is shown."""

_log = logging.getLogger("rave_agents")
_logged: set[str] = set()
"""Reasons that have been logged."""


class _Waited(threading.local):
    seconds: float = 0.0


WAITED = _Waited()
"""The ``seconds`` that this thread has waited for compilers, which is no thinking time."""


@contextlib.contextmanager
def off_the_clock() -> Iterator[None]:
    """Count the time inside as waiting for a compiler."""
    begun = time.perf_counter()
    try:
        yield
    finally:
        WAITED.seconds += time.perf_counter() - begun


_announced: collections.Counter[str] = collections.Counter()
_functions = [0]


def count_function() -> None:
    """Count another function as translated."""
    _functions[0] += 1


@contextlib.contextmanager
def announced(what: str) -> Iterator[list[str]]:
    """Announce that ``what`` is being compiled: a changing line on a terminal, else a log record.

    Add to the list the reasons why the code is not kept on disk; each is logged once.
    """
    _announced[what] += 1
    if _announced[what] > 1:
        what = f"{what}, variant {_announced[what]}"
    started, before = time.perf_counter(), _functions[0]
    reasons: list[str] = []
    with _shown(f"compiling {what}", lambda: f": {_functions[0] - before} functions"):
        yield reasons
    _log.info("rave_agents: compiled %s in %.1f s.", what, time.perf_counter() - started)
    if new := [reason for reason in reasons if reason not in _logged]:
        _logged.update(new)
        _log.warning("rave_agents: %s: it is not kept on disk: %s.", what, "; ".join(new))


@contextlib.contextmanager
def _shown(text: str, done: Callable[[], str] = str) -> Iterator[None]:
    """Show a text: on a terminal with what is done, and the seconds; elsewhere it is logged."""
    if not (sys.stderr is not None and sys.stderr.isatty()):
        say_slow(text)
        yield
        return
    from rave_agents.compiler.spinner import spinning  # noqa: PLC0415  (slow: rich)

    with spinning(f"rave_agents: {text}", done):
        yield


@contextlib.contextmanager
def shown_when_slow(text: str) -> Iterator[None]:
    """Show the work once it has taken two seconds; not in the arena's processes."""
    over = threading.Event()

    def show() -> None:
        if not over.wait(SLOW_SECONDS):
            with _shown(text):
                over.wait()

    thread = threading.Thread(target=show, daemon=True)
    try:
        if is_main_process():
            thread.start()
        yield
    finally:
        over.set()
        if thread.ident is not None:
            thread.join()


def say_slow(text: str) -> None:
    """Log that work has begun which takes long."""
    _log.warning("rave_agents: %s ...", text)


def is_main_process() -> bool:
    """True if no other Python process, such as the arena's, has started this one."""
    return multiprocessing.parent_process() is None
