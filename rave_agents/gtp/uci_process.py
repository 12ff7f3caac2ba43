"""Another program that speaks UCI, the Universal Chess Interface: started, asked, and ended."""

import atexit
import contextlib
import queue
import re
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Mapping

from rave_agents.gtp.process import QUIT_SECONDS, EngineFailedError

_SHOWN = 300


class UciProcess:
    """A running UCI program, ready for games of one variant.

    Args:
        command: how to start it, as in a shell, but no shell runs it.
        variant: the game, as it calls it.
        options: its options.
        timeout: seconds that it may take to get ready.

    Raises:
        EngineFailedError: if it cannot be started, is no UCI program, or does not know the variant
            or an option.
    """

    def __init__(
        self, command: str, variant: str, options: Mapping[str, str], timeout: float
    ) -> None:
        self.command = command
        try:
            self._process = subprocess.Popen(
                shlex.split(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                bufsize=1,
                start_new_session=True,  # Ctrl-C is for the program that asks, not for this one.
            )
        except (OSError, ValueError, IndexError) as error:
            raise EngineFailedError(
                f"{command!r} cannot be started: {error}", unusable=True
            ) from error
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        atexit.register(self.close)
        try:
            self._set_up(variant, options, timeout)
        except EngineFailedError as error:
            self.close()
            raise EngineFailedError(str(error), unusable=True) from error

    def _set_up(self, variant: str, options: Mapping[str, str], timeout: float) -> None:
        told = self.ask("uci", lambda line: line == "uciok", timeout)
        known = {match[1]: line for line in told if (match := _OPTION.match(line))}
        variants = re.findall(r" var (\S+)", known.get("UCI_Variant", "")) or ["chess"]
        if variant not in variants:
            raise EngineFailedError(
                f"{self.command!r} does not play {variant}; it plays {', '.join(variants)}."
            )
        wanted = {**({"UCI_Variant": variant} if "UCI_Variant" in known else {}), **options}
        for name, value in wanted.items():
            if name not in known:
                raise EngineFailedError(
                    f"{self.command!r} has no option {name!r}; it has {', '.join(known)}."
                )
            self.tell(f"setoption name {name} value {value}")
        self.ask("isready", lambda line: line == "readyok", timeout)

    @property
    def running(self) -> bool:
        """True while the program is running."""
        return self._process.poll() is None

    def tell(self, command: str) -> None:
        """Send a command that has no answer.

        Raises:
            EngineFailedError: if the program has ended.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{command}\n")
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise EngineFailedError(self._ended(command)) from error

    def ask(self, command: str, is_last: Callable[[str], bool], timeout: float) -> list[str]:
        """Send a command; the lines of its answer.

        Args:
            command: one line.
            is_last: whether a line ends the answer.
            timeout: seconds to wait; afterwards the program is killed.

        Raises:
            EngineFailedError: if it does not answer in time or has ended.
        """
        self.tell(command)
        deadline = time.monotonic() + timeout
        lines: list[str] = []
        while True:
            try:
                line = self._lines.get(timeout=max(0.001, deadline - time.monotonic()))
            except queue.Empty:
                self._process.kill()
                raise EngineFailedError(
                    f"{self.command!r} did not answer {command!r} within {timeout:g} s."
                ) from None
            if line is None:
                self._lines.put(None)
                raise EngineFailedError(self._ended(command))
            if is_last(line):
                return [*lines, line]
            if not line.startswith("info"):
                lines.append(line)

    def _ended(self, command: str) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(QUIT_SECONDS)
        return f"{self.command!r} ended at {command[:_SHOWN]!r}: code {self._process.returncode}."

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            for line in self._process.stdout:
                self._lines.put(line.strip())
        self._lines.put(None)

    def close(self) -> None:
        """Ask the program to end, and end it if it does not."""
        atexit.unregister(self.close)
        with contextlib.suppress(EngineFailedError):
            if self.running:
                self.tell("quit")
        try:
            self._process.wait(QUIT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


_OPTION = re.compile(r"option name (.+?) type ")
