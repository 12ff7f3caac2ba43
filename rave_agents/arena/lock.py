"""A lock beside a file, so that one process at a time writes it.

The system drops the lock with the process that holds it: one that died is no obstacle, even if the
lock's file is still there. Its text says who made it last.
"""

import contextlib
import os
import platform
import re
import stat
import time
from io import FileIO
from pathlib import Path
from typing import Self

from filelock import lock_descriptor

_LOCKS_TEXT = re.compile(rb"(process \d+ on [^\n]*\n?)?")
"""Contents of a lock's file: the line of its last holder, or nothing yet."""

_LONGEST = 1024


class FileInUseError(ValueError):
    """Another process writes the file; the message says which."""


class FileLock:
    """Holds a file for this process until ``release``.

    Args:
        path: the file; the lock is a file beside it, with ``.lock`` added to its name.

    Raises:
        FileInUseError: if another process holds it.
        ValueError: if a file of something else, or a link, has the lock's name; it is left alone.
        OSError: if the lock's file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f"{path.name}.lock")
        while True:
            self._file = self._opened(path)
            if not lock_descriptor(self._file.fileno(), blocking=False):
                holder = _text(self._file).decode("utf-8", errors="replace").strip()
                self._file.close()
                raise FileInUseError(
                    f"{path} is being written by {holder or 'another process'}. Wait for it, end "
                    f"it, or give another file. ({self._path} is locked.)"
                )
            if self._is_there():
                break
            self._file.close()  # Removed by its last holder while it was being locked.
        self._file.truncate(0)
        self._file.seek(0)
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        self._file.write(f"process {os.getpid()} on {platform.node()} since {now}\n".encode())

    def _opened(self, path: Path) -> FileIO:
        """The lock's file, made where there is none; nothing of another's is opened to write."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        if not self._path.is_symlink():
            file = FileIO(os.open(self._path, flags, 0o666), "r+")
            found = os.fstat(file.fileno())
            is_alone = stat.S_ISREG(found.st_mode) and found.st_nlink <= 1
            if is_alone and _LOCKS_TEXT.fullmatch(_text(file)) is not None:
                return file
            file.close()
        raise ValueError(
            f"{path} needs {self._path} as its lock, which is a file of something else and is "
            "left alone. Give another file."
        )

    def _is_there(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), self._path.lstat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Let others have the file."""
        if self._is_there():
            with contextlib.suppress(OSError):  # Windows removes no open file.
                self._path.unlink()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.release()


def _text(file: FileIO) -> bytes:
    """Read what a lock's file says; Windows lets nobody read the first byte while it is held."""
    for start in (0, 1):
        with contextlib.suppress(PermissionError):
            file.seek(start)
            return b"p"[:start] + file.read(_LONGEST)
    return b""
