"""A lock beside a file, so that one process at a time writes it.

The system drops the lock with the process that holds it: one that died is no obstacle, even if the
lock's file is still there. Its text says who made it last.
"""

import contextlib
import os
import platform
import re
import stat
import sys
import time
from pathlib import Path
from typing import BinaryIO, Self

if sys.platform == "win32":
    import msvcrt

    def _lock(file: BinaryIO) -> None:
        file.seek(_PLACE)  # Bytes that are locked cannot be read: none of the text.
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


_PLACE = 1 << 20

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
            try:
                _lock(self._file)
            except OSError as error:
                holder = self._text().decode("utf-8", errors="replace").strip()
                self._file.close()
                raise FileInUseError(
                    f"{path} is being written by {holder or 'another process'}. Wait for it, end "
                    f"it, or give another file. ({self._path}: {error.strerror})"
                ) from None
            if self._is_there():
                break
            self._file.close()  # Removed by its last holder while it was being locked.
        self._file.seek(0)
        self._file.truncate()
        self._file.write(
            f"process {os.getpid()} on {platform.node()} since "
            f"{time.strftime('%Y-%m-%d %H:%M:%S')}\n".encode()
        )
        self._file.flush()

    def _opened(self, path: Path) -> BinaryIO:
        """The lock's file, made where there is none; nothing of another's is opened to write."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        if not self._path.is_symlink():
            handle = os.open(self._path, flags, 0o666)
            found = os.fstat(handle)
            if stat.S_ISREG(found.st_mode) and found.st_nlink <= 1:
                self._file = os.fdopen(handle, "r+b")
                if _LOCKS_TEXT.fullmatch(self._text()) is not None:
                    return self._file
                self._file.close()
            else:
                os.close(handle)
        raise ValueError(
            f"{path} needs {self._path} as its lock, which is a file of something else and is "
            "left alone. Give another file."
        )

    def _text(self) -> bytes:
        self._file.seek(0)
        return self._file.read(_LONGEST)

    def _is_there(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), self._path.lstat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Let others have the file."""
        if sys.platform != "win32" and self._is_there():  # There an open file cannot be removed.
            with contextlib.suppress(OSError):
                self._path.unlink()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.release()
