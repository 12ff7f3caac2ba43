"""Engines on standard input and output."""

import contextlib
import os
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any, BinaryIO

from rave_agents.arena.arguments import limited_agent
from rave_agents.arena.play import warm_up
from rave_agents.engines.engine import Engine, converse
from rave_agents.engines.gtp_engine import GtpEngine
from rave_agents.engines.uci_engine import UciEngine

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes after Ctrl-C and after a request to end."""


class _TerminatedError(BaseException):
    """The system has asked the process to end."""


def _terminate(number: int, frame: Any) -> None:
    raise _TerminatedError


def serve(engine: Engine, source: BinaryIO, sink: BinaryIO) -> int:
    """Let an engine converse until it ends, the input does, the output is closed, or a signal.

    Args:
        engine: the engine.
        source: the commands, one a line.
        sink: the stream that takes the answers.

    Returns:
        The exit code of the process.
    """
    # A thread reads, so that a search can ask whether the next command has come.
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    unlocked = getattr(source, "raw", source)  # The lock of a buffer would outlive the thread.
    threading.Thread(target=_read, args=(unlocked, lines), daemon=True).start()
    engine.is_asked = lambda: not lines.empty()

    def write(text: str) -> None:
        try:
            sink.write(text.encode())
            sink.flush()
        except (BrokenPipeError, ValueError):  # The reader is gone.
            engine.ended = True
            _discard(sink)

    previous = signal.signal(signal.SIGTERM, _terminate)
    try:
        converse(engine, _decoded(lines), write)
    except (KeyboardInterrupt, _TerminatedError) as error:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # The answer must be written as a whole.
        engine.interrupt()
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else TERMINATED
    finally:
        signal.signal(signal.SIGTERM, previous)
    return 0


def _read(source: BinaryIO, lines: "queue.SimpleQueue[bytes]") -> None:
    """Put all lines of a stream into a queue, and an empty one at its end."""
    with contextlib.suppress(ValueError, OSError):  # Closed meanwhile.
        while line := source.readline():
            lines.put(line)
    lines.put(b"")


def _decoded(lines: "queue.SimpleQueue[bytes]") -> Iterator[str]:
    while line := lines.get():
        yield line.decode("utf-8", errors="replace")


def _discard(sink: BinaryIO) -> None:
    """Send further output, such as what is still buffered, nowhere."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sink.fileno())
        os.close(nowhere)


def serve_agent(
    engine: type[GtpEngine] | type[UciEngine],
    agent: Any,
    game: Any,
    *,
    simulations: int | None = None,
    seconds: float | None = None,
    clock: str | None = None,
    seed: int | None = None,
) -> int:
    """Let an agent play for another program, on standard input and output.

    Args:
        engine: ``GtpEngine`` or ``UciEngine``.
        agent: the agent for both colours, such as ``"rave(seconds=1)"``; see ``as_agent``.
        game: the game; over GTP, controllers may change the board's size.
        simulations: simulations per move, for an agent whose spec has no limit.
        seconds: seconds per move, for an agent whose spec has no limit.
        clock: the time for a game where the controller sets none, such as ``"60+1"``.
        seed: seed of all random numbers; None for a random one.

    Returns:
        The exit code of the process.
    """
    player = limited_agent(agent, simulations, seconds, clock)
    made = engine(game, player, seed=seed)
    if isinstance(made, GtpEngine):  # Before the clock runs; UCI has ``isready`` for that.
        warm_up(player, made.position.game)
    return serve(made, sys.stdin.buffer, sys.stdout.buffer)
