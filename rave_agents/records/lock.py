"""A lock file next to a file, which lets only one process write it at a time.

The operating system releases the lock when its process ends, so a leftover lock file is no
obstacle. Its text names its last holder.
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
"""Content of a lock file: a line on its last holder, or nothing yet."""

_LONGEST = 1024


class FileInUseError(ValueError):
    """Another process is writing the file; the message names it."""


class FileLock:
    """Holds a file for this process until ``release``.

    Args:
        path: the file; the lock file has the same name with ``.lock`` appended.

    Raises:
        FileInUseError: if another process holds it.
        ValueError: if the lock's name belongs to another kind of file, or a link, which is left
            alone.
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
                    f"it, or use another file. ({self._path} is locked.)"
                )
            if self._is_there():
                break
            self._file.close()  # Its last holder removed it while we locked it: try again.
        self._file.truncate(0)
        self._file.seek(0)
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        self._file.write(f"process {os.getpid()} on {platform.node()} since {now}\n".encode())

    def _opened(self, path: Path) -> FileIO:
        """The lock file, created if missing; other kinds of files are not opened for writing."""
        flags = os.O_RDWR | os.O_CREAT | vars(os).get("O_BINARY", 0)
        flags |= vars(os).get("O_NOFOLLOW", 0) | vars(os).get("O_NONBLOCK", 0)
        if not self._path.is_symlink():
            file = FileIO(os.open(self._path, flags, 0o666), "r+")
            found = os.fstat(file.fileno())
            is_alone = stat.S_ISREG(found.st_mode) and found.st_nlink <= 1
            if is_alone and _LOCKS_TEXT.fullmatch(_text(file)) is not None:
                return file
            file.close()
        raise ValueError(
            f"{path} needs {self._path} as its lock file, but that is a file of another kind and "
            "is left alone. Use another file."
        )

    def _is_there(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), self._path.lstat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Release the file."""
        if self._is_there():
            with contextlib.suppress(OSError):  # Windows cannot remove an open file.
                self._path.unlink()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.release()


def _text(file: FileIO) -> bytes:
    """Read a lock file's text; on Windows the first byte is unreadable while the lock is held."""
    for start in (0, 1):
        with contextlib.suppress(PermissionError):
            file.seek(start)
            return b"p"[:start] + file.read(_LONGEST)
    return b""
