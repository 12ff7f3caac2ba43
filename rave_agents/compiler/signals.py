"""Protects work from exceptions of signal handlers, such as Ctrl-C's, in the main thread."""

import _thread
import signal
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

_R = TypeVar("_R")

STACK_BYTES = 64 * 2**20
"""The stack of the thread; that of secondary threads is too small for compilers on some systems."""


def uninterrupted(work: Callable[[], _R]) -> _R:
    """Do work that must not be interrupted at an arbitrary place, such as Numba's and LLVM's.

    Python runs signal handlers in the main thread, so the work runs in another one. An exception
    that a handler raises meanwhile is raised once the work is done.

    Raises:
        BaseException: what the work raises, or a signal handler.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    results: list[_R] = []
    errors: list[BaseException] = []
    ended = threading.Lock()
    ended.acquire()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)
        finally:
            ended.release()

    interrupt: BaseException | None = None
    usual = threading.stack_size(STACK_BYTES)
    try:
        start_threads([threading.Thread(target=run, daemon=True)])
    except BaseException as error:
        interrupt = error
    finally:
        threading.stack_size(usual)
    while not (results or errors):
        try:
            ended.acquire()
        except BaseException as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt
    if errors:
        raise errors[0]
    return results[0]


def start_threads(threads: Sequence[threading.Thread]) -> None:
    """Start all threads, even if signal handlers raise exceptions meanwhile.

    If an exception interrupted the main thread in ``Thread.start``, it could not know whether the
    thread runs.

    Raises:
        BaseException: what a signal handler has raised.
    """
    begun, ended, done = threading.Lock(), threading.Lock(), list[bool]()
    ended.acquire()

    def start() -> None:
        if begun.acquire(blocking=False):
            try:
                for thread in threads:
                    thread.start()
            finally:
                done.append(True)
                ended.release()

    interrupt: BaseException | None = None
    while not done:
        try:
            _thread.start_new_thread(start, ())  # The first one does it, if there are several.
            ended.acquire()
        except BaseException as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt


def is_raised_by_handler(error: BaseException) -> bool:
    """True if a signal handler raised the exception, and not the code that it interrupted."""
    handlers = map(signal.getsignal, signal.valid_signals())
    codes = {getattr(getattr(each, "__func__", each), "__code__", None) for each in handlers}
    place = error.__traceback__
    while place is not None:
        if place.tb_frame.f_code in codes:
            return True
        place = place.tb_next
    return isinstance(error, KeyboardInterrupt)
