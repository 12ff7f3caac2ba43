"""Runs another program that speaks the Go Text Protocol: start it, send commands, end it."""

import atexit
import contextlib
import os
import queue
import re
import shlex
import subprocess
import threading
import time

from rave_agents.errors import RaveAgentsError
from rave_agents.game.validation import Positive, checked
from rave_agents.gtp.protocol import GtpError

QUIT_SECONDS = 2.0
"""Seconds that a program may take to exit by itself after ``quit``."""

LARGEST_ANSWER = 1 << 20
"""Largest answer in bytes; a program that writes more without ending its answer is killed."""

_CHUNK = 1 << 16
_WAITING_CHUNKS = 16
"""Largest number of unread chunks; the program's next write then blocks."""

_SHOWN = 300
"""Characters of a program's output that a message quotes."""

_LINE_SECONDS = 1.0
"""Seconds to wait for the rest of a malformed first line, so that the message can quote it."""

_END = re.compile(rb"\n[ \t]*\n")
"""The empty line that ends an answer."""


def check_program(word: str, command: object, example: str, timeout: object) -> tuple[str, float]:
    """Check how to start a program, and the seconds it has for an answer; return both.

    Raises:
        TypeError: if ``timeout`` is not a number.
        ValueError: if there is no command, or ``timeout`` is not finite and above 0.
    """
    if not isinstance(command, str) or not command.strip():
        raise ValueError(
            f'{word} needs command, how to start the program, such as {word}(command="{example}"): '
            f"got {command!r}."
        )
    return command, checked("timeout", Positive, timeout)


class EngineFailedError(RaveAgentsError):
    """A GTP program did not start, exited, broke the protocol, or did not answer in time.

    Args:
        message: what the program did.
        unusable: whether the program cannot play at all: it does not start, echoes its input, or
            floods its output.
    """

    def __init__(self, message: str, *, unusable: bool = False) -> None:
        super().__init__(message)
        self.unusable = unusable


class EngineProcess:
    """A running GTP program.

    Args:
        command: the command line that starts the program, quoted as for a shell; no shell runs it.

    Raises:
        EngineFailedError: if the program cannot be started.
    """

    def __init__(self, command: str) -> None:
        self.command = command
        try:
            words = shlex.split(command)
            self._process = subprocess.Popen(
                words,
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
        self._unread = bytearray()
        self._said = b""
        self._closed = threading.Event()
        threading.Thread(target=self._read_output, daemon=True).start()
        self._listener = threading.Thread(target=self._read_errors, daemon=True)
        self._listener.start()
        atexit.register(self.close)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """True while the program is running."""
        return self._process.poll() is None

    def ask(self, command: str, timeout: float) -> str:
        """Send a command and wait for the answer.

        Args:
            command: one line, without the line end.
            timeout: seconds to wait, above 0. After that the program is killed, since a late answer
                would be read as the answer to the next command.

        Raises:
            GtpError: if the program answers with ``?``; the message is the program's.
            EngineFailedError: if the program does not answer in time, breaks the protocol, or has
                exited.
        """
        what = command.split(" ", 1)[0]
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(command.encode() + b"\n")
        except (OSError, ValueError) as error:
            raise EngineFailedError(self._ended(what)) from error
        text = self._answer(command, what, timeout)
        first, line_end, rest = text[1:].partition("\n")
        said = first.lstrip("0123456789").strip() + line_end + rest
        if text[0] == "?":
            raise GtpError(said.strip())
        return said.strip("\n")

    def _answer(self, command: str, what: str, timeout: float) -> str:
        """Return the next answer, with its ``=`` or ``?`` and without the empty line at its end."""
        deadline = time.monotonic() + timeout
        searched = received = 0
        while True:
            if self._unread[:1].isspace():
                self._unread = self._unread.lstrip()
            end = _END.search(self._unread, max(0, searched - 2))
            line_ended = b"\n" in self._unread
            if self._unread and (line_ended or not self._unread.startswith((b"=", b"?"))):
                if not line_ended:
                    deadline = min(deadline, time.monotonic() + _LINE_SECONDS)
                else:
                    self._check_first_line(command, what)
            if end is not None:
                text = self._unread[: end.start()].decode("utf-8", errors="replace")
                del self._unread[: end.end()]
                return text
            searched = len(self._unread)
            if received > LARGEST_ANSWER:
                self.kill()
                raise EngineFailedError(
                    f"{self.command!r} floods its output: after {what} it wrote {received:,} bytes "
                    "without the end of an answer.",
                    unusable=True,
                )
            try:
                chunk = self._chunks.get(timeout=max(0.001, deadline - time.monotonic()))
            except queue.Empty:
                if self._unread and not self._unread.startswith((b"=", b"?")):
                    self._check_first_line(command, what)
                self.kill()
                raise EngineFailedError(
                    f"{self.command!r} did not answer {what} within {timeout:g} s."
                ) from None
            if chunk is None:
                self._chunks.put(None)
                raise EngineFailedError(self._ended(what))
            received += len(chunk)
            self._unread += chunk.replace(b"\r", b"")

    def _check_first_line(self, command: str, what: str) -> None:
        """Kill the program and raise an error if its first line is not an answer."""
        line = bytes(self._unread.partition(b"\n")[0]).decode("utf-8", errors="replace").strip()
        if line.lstrip("=?0123456789").strip() == command:
            self.kill()
            raise EngineFailedError(
                f"{self.command!r} is not a GTP program: it echoes its input, {command!r}.",
                unusable=True,
            )
        if line[0] not in "=?":
            self.kill()
            raise EngineFailedError(
                f"{self.command!r} broke the protocol: it answered {what} with {line[:_SHOWN]!r}."
            )

    def _ended(self, what: str) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(QUIT_SECONDS)
        ended = f"{self.command!r} exited during {what}"
        if self._closed.is_set():
            return f"{ended}: it had already been closed."
        self._listener.join(QUIT_SECONDS)
        said = " ".join(self._said.decode("utf-8", errors="replace").split())[-_SHOWN:]
        if self._process.returncode is not None:
            ended += f" with code {self._process.returncode}"
        return f"{ended}: {said}" if said else f"{ended}."

    def _read_output(self) -> None:
        """Queue the program's output; if the queue is full, the program has to wait."""
        assert self._process.stdout is not None
        chunk: bytes | None = b"begun"
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
                self._said = (self._said + chunk)[-4 * _SHOWN :]

    def kill(self) -> None:
        """Kill the program at once."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Send ``quit``, and kill the program if it does not exit."""
        atexit.unregister(self.close)
        if self._closed.is_set():
            return
        self._closed.set()
        if self.running:
            with contextlib.suppress(OSError, ValueError):
                assert self._process.stdin is not None
                self._process.stdin.write(b"quit\n")
                self._process.stdin.close()
            try:
                self._process.wait(QUIT_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
        if self._process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self._process.stdin.close()
