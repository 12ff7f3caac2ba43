"""Messages to the user about what takes long: compilation with Numba, checks before a search."""

import collections
import contextlib
import logging
import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Iterator

SLOW_SECONDS = 2.0
"""Seconds after which something that is being done is shown."""

_log = logging.getLogger("rave_agents")
_logged: set[str] = set()
"""Reasons that the user has been told."""


_waited = threading.local()


def seconds_waited() -> float:
    """Seconds that this thread has waited for compilers, which no search's clock pays for."""
    return float(getattr(_waited, "seconds", 0.0))


@contextlib.contextmanager
def off_the_clock() -> Iterator[None]:
    """Count the time meanwhile as waiting for a compiler."""
    begun = time.perf_counter()
    try:
        yield
    finally:
        _waited.seconds = seconds_waited() + time.perf_counter() - begun


_announced: collections.Counter[str] = collections.Counter()
_functions = [0]


def count_function() -> None:
    """Note that another function has been translated."""
    _functions[0] += 1


@contextlib.contextmanager
def announced(what: str) -> Iterator[list[str]]:
    """Say that ``what`` is being compiled: on a terminal in a line that changes, else in a log.

    Reasons why it is not kept on disk are to be added to the list; each is logged once.
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
    """Show what is being done once it has taken two seconds; not in processes of the arena."""
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
    """Log what takes long."""
    _log.warning("rave_agents: %s ...", text)


def is_main_process() -> bool:
    """True outside of processes that the arena, or another program, has started for its work."""
    return multiprocessing.parent_process() is None
