"""A file of finished games, from which an interrupted sweep goes on.

The file is JSON lines: first a header with everything that decides the games, then one line for
each finished game, written at once. A process that is killed while it writes leaves a line without
an end; that line is dropped, and its game is played again.
"""

import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TextIO

from rave_agents.arena.lock import FileLock
from rave_agents.arena.play import GameRecord
from rave_agents.frameworks.agent import Effort


class Journal:
    """An open file of finished games; ``Journal.open`` opens it.

    As a context manager it closes the file at the end.
    """

    def __init__(
        self, path: Path, file: TextIO, lines: list[dict[str, Any]], lock: FileLock
    ) -> None:
        self.path = path
        """Where the file is."""
        self._file = file
        self._lock = lock
        self.lines = lines
        """The lines of games that the file had when it was opened."""

    @classmethod
    def open(cls, path: str | os.PathLike[str], header: Mapping[str, Any]) -> Self:
        """Open a file to add games to it; one that does not exist or is empty is begun.

        Args:
            path: the file.
            header: strict JSON values that decide all games.

        Raises:
            ValueError: if the file is something else or has another header; the message says what
                differs. The file is then left as it was.
            FileInUseError: (a ValueError) if another process has it open; the message says which.
            OSError: if it cannot be read or written.
        """
        path = Path(path)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if path.exists() and not path.is_file():
            raise ValueError(f"{path} is not a file that games can be kept in.")
        lock = FileLock(path)
        try:
            return cls._opened(path, header, lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def _opened(cls, path: Path, header: Mapping[str, Any], lock: FileLock) -> Self:
        content = path.read_bytes() if path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        torn = content[len(whole) :]
        beginning = (json.dumps(header, allow_nan=False) + "\n").encode()
        if not whole and not beginning.startswith(torn):
            raise ValueError(f"{path} is not the output of a sweep.")
        lines = [_parsed(path, number, line) for number, line in enumerate(whole.splitlines(), 1)]
        if lines:
            _compare(path, lines[0], header)
        if torn:
            os.truncate(path, len(whole))
        journal = cls(path, path.open("a", encoding="utf-8", newline="\n"), lines[1:], lock)
        if not lines:
            journal.append(header)
        return journal

    def append(self, line: Mapping[str, Any]) -> None:
        """Write one line and hand it to the system."""
        self._file.write(json.dumps(line, allow_nan=False) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()


def record_to_dict(record: GameRecord) -> dict[str, Any]:
    """A game's record as plain values, fit for strict JSON."""
    return {
        "number": record.number,
        "first_seat": record.first_seat,
        "opening": list(record.opening),
        "actions": list(record.actions),
        "returns": list(record.returns),
        "efforts": [effort._asdict() for effort in record.efforts],
        **({"ending": record.ending} if record.ending else {}),
        **({"fault": True} if record.fault else {}),
    }


def record_from_dict(values: Mapping[str, Any]) -> GameRecord:
    """The record that ``record_to_dict`` made these values of; other keys are ignored.

    Raises:
        KeyError, TypeError, ValueError: if they are none.
    """
    return_0, return_1 = (float(value) for value in values["returns"])
    first, second = (Effort(**effort) for effort in values["efforts"])
    return GameRecord(
        number=int(values["number"]),
        first_seat=int(values["first_seat"]),
        opening=tuple(map(int, values["opening"])),
        actions=tuple(map(int, values["actions"])),
        returns=(return_0, return_1),
        efforts=(first, second),
        ending=str(values.get("ending", "")),
        fault=bool(values.get("fault", False)),
    )


def _parsed(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except ValueError:  # not UTF-8 or not JSON
        values = None
    if not isinstance(values, dict):
        raise ValueError(f"{path} is not the output of a sweep: line {number} is no JSON object.")
    return values


def _compare(path: Path, found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    if found.get("format") != expected["format"]:
        raise ValueError(f"{path} is not the output of a sweep.")
    differences = [
        f"{key} is {json.dumps(found.get(key))} there and {json.dumps(expected.get(key))} here"
        for key in {**expected, **found}
        if found.get(key) != expected.get(key)
    ]
    if differences:
        raise ValueError(f"{path} is of another sweep: {'; '.join(differences)}.")
