"""A GTP engine on standard input and output."""

import os
import signal
import sys
from typing import Any, BinaryIO

from rave_agents.gtp.protocol import answer, parse_command
from rave_agents.gtp_engine.engine import Engine

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes after Ctrl-C and after a request to end."""


class _TerminatedError(BaseException):
    """The system has asked the process to end."""


def _terminate(number: int, frame: Any) -> None:
    raise _TerminatedError


def serve(engine: Engine, source: BinaryIO, sink: BinaryIO) -> int:
    """Answer commands until ``quit``, the input's end, a closed output or a signal.

    A command that a signal interrupts gets a failure as its answer.

    Args:
        engine: the engine.
        source: the commands, one a line.
        sink: the stream that takes the answers.

    Returns:
        The exit code of the process.
    """
    previous = signal.signal(signal.SIGTERM, _terminate)
    number = ""
    try:
        while not engine.ended and (line := source.readline()):
            text = line.decode("utf-8", errors="replace")
            command = parse_command(text)
            number = "" if command is None else command.number
            _write(sink, engine.answer(text))
    except (KeyboardInterrupt, _TerminatedError) as error:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try:
            _write(sink, answer(number, "interrupted", failed=True))
        except BrokenPipeError:
            _close(sink)
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else TERMINATED
    except BrokenPipeError:
        _close(sink)
    finally:
        signal.signal(signal.SIGTERM, previous)
    return 0


def serve_standard_streams(engine: Engine) -> int:
    """Answer commands on standard input and output; returns the exit code."""
    return serve(engine, sys.stdin.buffer, sys.stdout.buffer)


def _write(sink: BinaryIO, text: str | None) -> None:
    if text is not None:
        sink.write(text.encode())
        sink.flush()


def _close(sink: BinaryIO) -> None:
    """Discard what is still to be written: the reader is gone."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sink.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        pass
