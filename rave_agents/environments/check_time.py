"""Time that the checks of an environment may take before its first search."""

import contextlib
import contextvars
import math
import time
from collections.abc import Iterator

SHARE = 0.25
"""Part of a move's time that all checks together may take."""

PLAYS = 12
"""Games of all checks together, about; each has an equal part of that."""

KINDS = 4
"""Kinds of checks, about: copies, chance in steps, its outcomes, chance before the start."""

LEAST_STEPS = 3
"""Steps of a game of a check, however long they take."""

PATIENCE = 10
"""Seconds by the clock for each second of work that a check may take."""

_seconds: contextvars.ContextVar[float] = contextvars.ContextVar("seconds", default=math.inf)


@contextlib.contextmanager
def checks_within(seconds: float | None) -> Iterator[None]:
    """Limit checks to a part of a move's time during a ``with`` statement.

    Args:
        seconds: that a move has; None for no limit.
    """
    token = _seconds.set(math.inf if seconds is None else seconds)
    try:
        yield
    finally:
        _seconds.reset(token)


class CheckTime:
    """Time that a check has: CPU time of its thread, so that other programs do not shorten it.

    Its findings depend on the load of the machine only if waiting takes ``PATIENCE`` times as long,
    or longer than its part of a move's time.

    Args:
        work: seconds of work.
        part: seconds by the clock.
    """

    def __init__(self, work: float, part: float = math.inf) -> None:
        self._work = time.thread_time() + work
        self._clock = time.perf_counter() + min(PATIENCE * work, part)

    def is_over(self) -> bool:
        """True once it is used up."""
        return time.thread_time() > self._work or time.perf_counter() > self._clock


def seconds_for_a_game() -> float:
    """Seconds after which a game of a check is broken off; infinity without a limit."""
    return _seconds.get() * SHARE / PLAYS


def seconds_for_a_look() -> float:
    """Seconds after which no further game of one kind of check is begun; infinity likewise."""
    return _seconds.get() * SHARE / KINDS
