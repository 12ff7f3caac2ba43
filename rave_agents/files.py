"""Files that are written whole: whatever happens meanwhile, there is the old one or the new one.

And ``strict_json``, which reads JSON that anybody may have written.
"""

import contextlib
import errno
import json
import math
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NoReturn


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


MOST_NESTED = 50
"""Depth of nested values up to which JSON is read."""

MOST_DIGITS = 300
"""Digits of an integer up to which JSON is read: any has a value as a float."""


def strict_json(text: str | bytes) -> Any:
    """A value of JSON that anybody may have written.

    Raises:
        ValueError: for what is no JSON, and for what JSON leaves open: NaN and infinities, a name
            that is given twice, too many digits, too deep a nesting.
    """
    if is_deep(text.encode() if isinstance(text, str) else text):
        raise ValueError("values nested too deeply")
    return json.loads(
        text,
        parse_constant=_no_number,
        parse_float=_finite,
        parse_int=_integer,
        object_pairs_hook=_named_once,
    )


def is_deep(text: bytes) -> bool:
    """True if values are nested more deeply than is read."""
    depth = deepest = 0
    if text.count(b"[") + text.count(b"{") > MOST_NESTED:
        for byte in text:
            depth += (byte in b"[{") - (byte in b"]}")
            deepest = max(deepest, depth)
    return deepest > MOST_NESTED


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name}, which is no finite number")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text[:20])


def _integer(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name that is given twice")
    return found
