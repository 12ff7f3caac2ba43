"""Messages to the user about compilation with Numba."""

import contextlib
import logging
import sys
import time
from collections.abc import Iterator

_log = logging.getLogger("rave_agents")


def _say_begun(what: str) -> None:
    _log.warning("rave_agents: compiling %s ...", what)


@contextlib.contextmanager
def announced(what: str) -> Iterator[list[str]]:
    """Announce that ``what`` is compiled, and the seconds; on a terminal they count up.

    Reasons why it is not kept on disk are to be added to the list.
    """
    started = time.perf_counter()
    reasons: list[str] = []
    with _shown(what):
        yield reasons
    seconds = time.perf_counter() - started
    kept = f"it is not kept on disk: {'; '.join(reasons)}" if reasons else "it is kept on disk"
    _log.warning("rave_agents: compiled %s in %.1f s; %s.", what, seconds, kept)


@contextlib.contextmanager
def _shown(what: str) -> Iterator[None]:
    if not (sys.stderr is not None and sys.stderr.isatty()):
        _say_begun(what)
        yield
        return
    from rave_agents.compiler.spinner import spinning  # noqa: PLC0415  (slow: rich)

    with spinning(f"rave_agents: compiling {what}"):
        yield
