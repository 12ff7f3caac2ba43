"""Engines on standard input and output, over GTP and over UCI."""

import contextlib
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from rave_agents.arena.arguments import limited_agent
from rave_agents.arena.play import warm_up
from rave_agents.gtp.protocol import answer, parse_command
from rave_agents.gtp_engine.engine import Engine
from rave_agents.gtp_engine.uci_engine import UciEngine

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
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    unlocked = getattr(source, "raw", source)  # The lock of a buffer would outlive the thread.
    threading.Thread(target=_read, args=(unlocked, lines), daemon=True).start()
    engine.tell = lambda text: _write(sink, text)
    engine.is_asked = lambda: not lines.empty()
    try:
        while not engine.ended and (line := lines.get()):
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


def _read(source: BinaryIO, lines: "queue.SimpleQueue[bytes]") -> None:
    """Put all lines of a stream into a queue, and an empty one at its end."""
    with contextlib.suppress(ValueError, OSError):  # Closed meanwhile.
        while line := source.readline():
            lines.put(line)
    lines.put(b"")


def converse_uci(
    make: Callable[[Callable[[str], None]], UciEngine], source: BinaryIO, sink: BinaryIO
) -> int:
    """Act on UCI commands until ``quit``, the input's end, a closed output or a signal.

    A search that is running then ends, and tells its move.

    Args:
        make: makes the engine, given what takes each line of its output.
        source: the commands, one a line.
        sink: the stream that takes the output.

    Returns:
        The exit code of the process.
    """
    previous = signal.signal(signal.SIGTERM, _terminate)

    def tell(line: str) -> None:
        try:
            _write(sink, f"{line}\n")
        except (BrokenPipeError, ValueError):
            _close(sink)  # Nobody listens; the search ends with the input.

    engine = make(tell)
    try:
        while not engine.ended and (line := source.readline()):
            engine.receive(line.decode("utf-8", errors="replace"))
    except (KeyboardInterrupt, _TerminatedError) as error:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else TERMINATED
    finally:
        engine.close()
        signal.signal(signal.SIGTERM, previous)
    return 0


def serve_gtp(
    agent: Any = "rave",
    *,
    game: Any = "go(board_size=9)",
    simulations: int | None = None,
    seconds: float | None = None,
    clock: str | None = None,
    seed: int | None = None,
) -> int:
    """Play by the Go Text Protocol, version 2, on standard input and output.

    Args:
        agent: the agent for both colours, such as ``"rave(seconds=1)"``; see ``as_agent``.
        game: the game at the start; see ``as_game``.
        simulations: simulations per move, for an agent whose spec has no limit.
        seconds: seconds per move, for an agent whose spec has no limit.
        clock: the time for a game where the controller sets none, such as ``"60+1"``.
        seed: seed of all random numbers; None for a random one.

    Returns:
        The exit code of the process.
    """
    player = limited_agent(agent, simulations, seconds, clock)
    engine = Engine(game, player, seed=seed)
    warm_up(player, engine.position.game)  # Before the controller's clock runs.
    return serve(engine, sys.stdin.buffer, sys.stdout.buffer)


def serve_uci(
    agent: Any = "auto",
    *,
    game: Any = "chess",
    simulations: int | None = None,
    seconds: float | None = None,
    clock: str | None = None,
    seed: int | None = None,
) -> int:
    """Play by the Universal Chess Interface on standard input and output.

    Args:
        agent: the agent for both sides, such as ``"auto(seconds=1)"``; see ``as_agent``.
        game: chess, shogi, xiangqi, othello, amazons, breakthrough or clobber.
        simulations: simulations per move, for an agent whose spec has no limit.
        seconds: seconds per move, for an agent whose spec has no limit.
        clock: the time for a game where the controller sets none, such as ``"60+1"``.
        seed: seed of all random numbers; None for a random one.

    Returns:
        The exit code of the process.
    """
    player = limited_agent(agent, simulations, seconds, clock)

    def make(tell: Callable[[str], None]) -> UciEngine:
        return UciEngine(game, player, tell, seed=seed)

    return converse_uci(make, sys.stdin.buffer, sys.stdout.buffer)


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
