"""Files that are written whole: whatever happens meanwhile, there is the old one or the new one."""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], *, permissions: int | None = None) -> Iterator[Path]:
    """A path beside a file's to write to, which takes the file's place at the end.

    On an error, on Ctrl-C and where the disk is full, the file stays as it was, and what was
    written beside it is deleted. The new file has the old one's permissions. What is no regular
    file, such as a pipe, and a file in a folder where no other can be made are written themselves.

    Raises:
        OSError: if it cannot be written.
    """
    target = Path(os.path.realpath(path))  # A link stays one, and its file is replaced.
    old = None
    with contextlib.suppress(FileNotFoundError):
        old = os.stat(path)
    if old is not None and stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if old is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    if old is not None and not (stat.S_ISREG(old.st_mode) and os.access(target.parent, os.W_OK)):
        yield Path(path)
        return
    beside = target.with_name(f".rave-agents-{secrets.token_hex(8)}{target.suffix[:20]}")
    try:
        wanted = 0o666 if permissions is None else permissions
        os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, wanted))
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        yield beside
        _hand_to_disk(beside)
        if old is not None and permissions is None:
            _take_over(old, beside)
        beside.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


@contextlib.contextmanager
def written_whole(
    path: str | os.PathLike[str],
    mode: str = "wb",
    *,
    permissions: int | None = None,
    **options: Any,
) -> Iterator[IO[Any]]:
    """An open file that takes the place of the one at a path when it is closed, see ``replacing``.

    Args:
        path: the file.
        mode: ``"wb"`` or ``"w"``.
        permissions: of the new file; None for the old one's, or the usual ones.
        **options: of ``open``.
    """
    with replacing(path, permissions=permissions) as beside, open(beside, mode, **options) as file:
        yield file


def _take_over(old: os.stat_result, beside: Path) -> None:
    """Give a file the owner and the permissions of an old one, as far as this user may."""
    with contextlib.suppress(OSError, AttributeError):  # Windows has no owners of this kind.
        os.chown(beside, old.st_uid, old.st_gid)
    with contextlib.suppress(OSError):
        os.chmod(beside, stat.S_IMODE(old.st_mode))


def _hand_to_disk(path: Path) -> None:
    """Wait until a file is on the disk: a full one says so now, not after the old file is gone."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
