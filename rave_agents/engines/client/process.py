"""A running program that answers lines on its standard input with lines on its output."""

import atexit
import collections
import contextlib
import os
import queue
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Iterator

from rave_agents.errors import RaveAgentsError

QUIT_SECONDS = 2.0
"""Seconds that a program may take to exit by itself after ``quit``."""

LARGEST_ANSWER = 1 << 20
"""Largest answer in bytes; a program that writes more without ending its answer is killed."""

SHOWN = 300
"""Characters of a program's output that a message quotes."""

_CHUNK = 1 << 16
_WAITING_CHUNKS = 16
"""Largest number of unread chunks; the program's next write then blocks."""

_LINE_SECONDS = 1.0
"""Seconds to wait for the rest of a line that cannot begin an answer."""


class EngineFailedError(RaveAgentsError):
    """A program did not start, exited, broke the protocol, or did not answer in time.

    Args:
        message: what the program did.
        unusable: whether the program cannot play at all, such as one that does not start.
    """

    def __init__(self, message: str, *, unusable: bool = False) -> None:
        super().__init__(message)
        self.unusable = unusable


class EngineProcess:
    """A running program that speaks GTP or UCI.

    Args:
        command: the command line that starts the program, quoted as for a shell; no shell runs it.

    Raises:
        EngineFailedError: if the program cannot be started.
    """

    def __init__(self, command: str) -> None:
        self.command = command
        try:
            self._process = subprocess.Popen(
                shlex.split(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # Ctrl-C interrupts this process only.
            )
        except (OSError, ValueError, IndexError) as error:
            raise EngineFailedError(
                f"{command!r} cannot be started: {error}", unusable=True
            ) from error
        self._chunks: queue.Queue[bytes | None] = queue.Queue(_WAITING_CHUNKS)
        self._lines: collections.deque[bytes] = collections.deque()
        self._begun = b""
        """The beginning of a line whose end has not been read yet."""
        self._errors = b""
        self._closed = threading.Event()
        threading.Thread(target=self._read_output, daemon=True).start()
        self._listener = threading.Thread(target=self._read_errors, daemon=True)
        self._listener.start()
        atexit.register(self.close)

    @property
    def running(self) -> bool:
        """True while the program is running."""
        return self._process.poll() is None

    def send(self, command: str) -> None:
        """Send a line.

        Raises:
            EngineFailedError: if the program has exited.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(command.encode() + b"\n")
        except (OSError, ValueError) as error:
            raise self._exited(command) from error

    def exchange(
        self,
        command: str,
        timeout: float,
        *,
        begins: Callable[[str], bool] = lambda line: True,
        most: int = LARGEST_ANSWER,
    ) -> Iterator[str]:
        """Send a line and yield the lines of the answer; the caller stops at the last one.

        Args:
            command: the line, without its end.
            timeout: seconds for the whole answer, above 0. After that the program is killed, since
                a late answer would be read as the answer to the next command.
            begins: whether an answer may begin with this text; otherwise the rest of an unfinished
                line is awaited for one second only.
            most: bytes that the answer may have.

        Raises:
            EngineFailedError: if the program does not answer in time, writes more, or has exited.
        """
        self.send(command)
        deadline, received, is_first = time.monotonic() + timeout, 0, True
        while True:
            if self._lines:  # Complete lines come before the unfinished one.
                line = self._lines.popleft()
                received += len(line) + 1
                is_first = is_first and not line.strip()
                yield line.decode("utf-8", errors="replace")
            else:
                begun = self._begun.decode("utf-8", errors="replace").lstrip()
                malformed = is_first and begun != "" and not begins(begun)
                if malformed:
                    deadline = min(deadline, time.monotonic() + _LINE_SECONDS)
                if not self._receive(command, deadline):
                    if malformed:
                        self._begun = b""
                        yield begun
                    raise self.failure(f"did not answer {_word(command)} within {timeout:g} s.")
            if received + len(self._begun) > most:
                raise self.failure(
                    f"floods its output: after {_word(command)} it wrote "
                    f"{received + len(self._begun):,} bytes without the end of an answer.",
                    unusable=True,
                )

    def _receive(self, command: str, deadline: float) -> bool:
        """Take in the next part of the output; False if none comes in time."""
        try:
            chunk = self._chunks.get(timeout=max(0.001, deadline - time.monotonic()))
        except queue.Empty:
            return False
        if chunk is None:
            self._chunks.put(None)  # The next command finds the end, too.
            raise self._exited(command)
        # The last piece has no line end yet; it is empty if the chunk ends with one.
        *lines, self._begun = (self._begun + chunk.replace(b"\r", b"")).split(b"\n")
        self._lines.extend(lines)
        return True

    def failure(self, what: str, *, unusable: bool = False) -> EngineFailedError:
        """Kill the program; returns the error to raise."""
        self._process.kill()
        self._process.wait()
        return EngineFailedError(f"{self.command!r} {what}", unusable=unusable)

    def _exited(self, command: str) -> EngineFailedError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(QUIT_SECONDS)
        exited = f"{self.command!r} exited during {_word(command)}"
        if self._closed.is_set():
            return EngineFailedError(f"{exited}: it had already been closed.")
        self._listener.join(QUIT_SECONDS)
        said = " ".join(self._errors.decode("utf-8", errors="replace").split())[-SHOWN:]
        if self._process.returncode is not None:
            exited += f" with code {self._process.returncode}"
        return EngineFailedError(f"{exited}: {said}" if said else f"{exited}.")

    def _read_output(self) -> None:
        """Queue the program's output; if the queue is full, the program has to wait."""
        assert self._process.stdout is not None
        chunk: bytes | None = b""
        while chunk is not None and not self._closed.is_set():
            try:
                chunk = os.read(self._process.stdout.fileno(), _CHUNK) or None
            except (OSError, ValueError):
                chunk = None
            while not self._closed.is_set():
                with contextlib.suppress(queue.Full):
                    self._chunks.put(chunk, timeout=0.5)
                    break

    def _read_errors(self) -> None:
        """Keep the last part of the program's standard error, for messages."""
        assert self._process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(self._process.stderr.fileno(), _CHUNK):
                self._errors = (self._errors + chunk)[-4 * SHOWN :]

    def close(self) -> None:
        """Send ``quit``, and kill the program if it does not exit."""
        atexit.unregister(self.close)
        if self._closed.is_set():
            return
        self._closed.set()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(b"quit\n")
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.close()
        try:
            self._process.wait(QUIT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _word(command: str) -> str:
    return command.partition(" ")[0]
