"""Another program that speaks the Go Text Protocol: started, asked, and ended."""

import atexit
import contextlib
import queue
import shlex
import subprocess
import tempfile
import threading
import time

from rave_agents.errors import RaveAgentsError
from rave_agents.gtp.protocol import GtpError

QUIT_SECONDS = 2.0
"""How long a program may take to end by itself."""

_SHOWN = 300
"""Characters of a program's error output that a message quotes."""


class EngineFailedError(RaveAgentsError):
    """A GTP program could not be started, ended, broke the protocol, or did not answer in time."""


class EngineProcess:
    """A running GTP program.

    Args:
        command: how to start it, as in a shell, but no shell runs it.

    Raises:
        EngineFailedError: if it cannot be started.
    """

    def __init__(self, command: str) -> None:
        self.command = command
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the process)
        try:
            words = shlex.split(command)
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,  # Ctrl-C is for the program that asks, not for this one.
            )
        except (OSError, ValueError, IndexError) as error:
            self._errors.close()
            raise EngineFailedError(f"{command!r} cannot be started: {error}") from error
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        atexit.register(self.close)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the program is still there."""
        return self._process.poll() is None

    def ask(self, command: str, timeout: float) -> str:
        """Send a command and wait for the answer.

        Args:
            command: one line without its end.
            timeout: seconds to wait, above 0. Afterwards the program is killed, since its answer
                could be taken for that to the next command.

        Raises:
            GtpError: if it answers with ``?``; the message is the program's.
            EngineFailedError: if it does not answer in time, breaks the protocol, or has ended.
        """
        what = command.split(" ", 1)[0]
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(command.encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise EngineFailedError(self._ended(what)) from error
        lines = self._answer(what, time.monotonic() + timeout, timeout)
        sign, text = (
            lines[0][:1],
            "\n".join([lines[0][1:].lstrip("0123456789").strip(), *lines[1:]]),
        )
        if sign == "?":
            raise GtpError(text.strip())
        if sign != "=":
            self.kill()
            raise EngineFailedError(
                f"{self.command!r} broke the protocol: it answered {what} with {lines[0]!r}."
            )
        return text.strip("\n")

    def _answer(self, what: str, deadline: float, timeout: float) -> list[str]:
        lines: list[str] = []
        while True:
            try:
                line = self._lines.get(timeout=max(0.001, deadline - time.monotonic()))
            except queue.Empty:
                self.kill()
                raise EngineFailedError(
                    f"{self.command!r} did not answer {what} within {timeout:g} s."
                ) from None
            if line is None:
                raise EngineFailedError(self._ended(what))
            text = line.decode("utf-8", errors="replace").replace("\r", "").rstrip("\n")
            if text.strip():
                lines.append(text)
            elif lines:
                return lines

    def _ended(self, what: str) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(QUIT_SECONDS)
        if self._errors.closed:
            return f"{self.command!r} ended at {what}: it was closed before."
        self._errors.seek(0)
        said = " ".join(self._errors.read().decode("utf-8", errors="replace").split())[-_SHOWN:]
        ended = f"{self.command!r} ended at {what}"
        if self._process.returncode is not None:
            ended += f" with code {self._process.returncode}"
        return f"{ended}: {said}" if said else f"{ended}."

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            for line in self._process.stdout:
                self._lines.put(line)
        self._lines.put(None)

    def kill(self) -> None:
        """End the program at once."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Ask the program to end, and end it if it does not."""
        atexit.unregister(self.close)
        if self._errors.closed:
            return
        if self.running:
            with contextlib.suppress(OSError, ValueError):
                assert self._process.stdin is not None
                self._process.stdin.write(b"quit\n")
                self._process.stdin.close()
            try:
                self._process.wait(QUIT_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
        with contextlib.suppress(OSError, ValueError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        self._errors.close()
