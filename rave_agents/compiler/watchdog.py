"""A watch over interruptions: one that compiled code does not answer ends the process.

Python's handlers of signals, such as Ctrl-C's, run between two instructions of the interpreter. A
search comes back there after some milliseconds, and loops of rules and formulas end by themselves.
Code that the user compiles beside them, such as a helper under ``numba.njit``, may loop for ever.
"""

import ctypes
import functools
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

WARNING_SECONDS = 1.0
"""Time without an answer after which a line says so, and another signal ends the process."""

PATIENCE_SECONDS = 10.0
"""Time without an answer after which the process ends."""

THREAD_NAME = "rave_agents watchdog"
"""Name of the thread that watches."""

_LOOK_SECONDS = 0.1

_ENDING = frozenset(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Signals that ask a process to stop."""

_CALLS: set[CodeType] = set()
_WAITS: set[CodeType] = set()


def calls_compiled_code(function: _F) -> _F:
    """Mark a function that waits for nothing but compiled code that it calls."""
    _CALLS.add(function.__code__)
    return function


def waits_for_threads(function: _F) -> _F:
    """Mark a function that waits until other threads return from compiled code."""
    _WAITS.add(function.__code__)
    return function


@functools.cache
def watch_interrupts() -> None:
    """Watch from now on, if the process has no other watch of this kind; for the main thread."""
    told, teller = socket.socketpair()
    teller.setblocking(False)
    number = teller.fileno()
    others = signal.set_wakeup_fd(number, warn_on_full_buffer=False)
    if others != -1:
        signal.set_wakeup_fd(others)
        return
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=functools.partial(_forget, number))
    # The thread holds the sockets.
    threading.Thread(target=_watch, args=(told, teller), daemon=True, name=THREAD_NAME).start()


def _forget(number: int) -> None:
    """Leave the signals of a forked process alone: it has no such thread."""
    others = signal.set_wakeup_fd(-1)
    if others not in (-1, number):
        signal.set_wakeup_fd(others)


def _watch(told: socket.socket, teller: socket.socket) -> None:
    main = threading.main_thread().ident
    while main is not None:
        told.settimeout(None)
        number = _ending(told)
        if number:
            _wait_for_answer(told, number, main)


def _wait_for_answer(told: socket.socket, number: int, main: int) -> None:
    """Return once the signal has been answered; else end the process."""
    started, warned = time.monotonic(), False
    told.settimeout(_LOOK_SECONDS)
    frames = _stuck(main)
    while frames and _stuck(main) == frames:
        again = _ending(told)
        passed = time.monotonic() - started
        if passed > PATIENCE_SECONDS or (warned and again):
            _say("the process ends, for compiled code has not returned.")
            _end(number)
        if passed > WARNING_SECONDS and not warned:
            warned = True
            _say(
                f"{signal.Signals(number).name} came, and compiled code has not returned for "
                f"{WARNING_SECONDS:g} s: perhaps a helper of a rule or a formula loops for ever. "
                "Another Ctrl-C ends the process, as does waiting for "
                f"{PATIENCE_SECONDS:g} s."
            )


def _ending(told: socket.socket) -> int:
    """The next signal that asks to stop; 0 for another one, or for none in time."""
    try:
        return next((number for number in told.recv(64) if number in _ENDING), 0)
    except TimeoutError:
        return 0


def _stuck(main: int) -> tuple[FrameType, ...]:
    """The frames that are in compiled code, as far as the main thread waits for them."""
    frames = sys._current_frames()
    top = frames.pop(main, None)
    if top is None:
        return ()
    if top.f_code in _CALLS:
        return (top,)
    inside = [frame for frame in frames.values() if frame.f_code in _CALLS]
    if not inside:
        return ()
    waiting: FrameType | None = top
    while waiting is not None and waiting.f_code not in _WAITS:
        waiting = waiting.f_back
    return () if waiting is None else (waiting, *inside)


def _say(text: str) -> None:
    os.write(2, f"\nrave_agents: {text}\n".encode())


def _end(number: int) -> None:
    """End the process as the signal does where nobody handles it."""
    with_status = 128 + number
    try:
        ctypes.pythonapi.PyOS_setsig(number, None)
        os.kill(os.getpid(), number)
        time.sleep(1.0)
    finally:
        os._exit(with_status)
