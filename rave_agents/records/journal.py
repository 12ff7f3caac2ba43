"""Journals: files of finished games, from which a run can continue.

A journal has JSON lines: a header with everything that determines the games, and the tables at
which they are played; then one line per finished game, written at once. If the process is killed
while writing, the incomplete line is dropped and its game is played again.

A run may grow: its journal may continue with more games, values, agents or opponents, since the
games of a smaller plan are also games of a larger one; the header is then replaced by the larger
run's. Journals of one run may be merged: it does not matter which machine played which game.
"""

import contextlib
import errno
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self, TextIO

from rave_agents import __version__
from rave_agents.files import is_deep, written_whole
from rave_agents.game.plain_text import printable, shortened
from rave_agents.records import fields
from rave_agents.records.header import KINDS, PlannedRun, Table, differences, planned_run
from rave_agents.records.lock import FileLock
from rave_agents.records.record import GameRecord

FORMAT, FORMAT_VERSION = "rave-agents", 3
"""The format's name in a file, followed by the kind of run; and the format's version."""

OLDEST_VERSION = 2
"""Before version 3, headers had the same settings, and did not list the tables."""


def make_header(
    kind: str, settings: Mapping[str, Any], tables: Sequence[Mapping[str, Any]], by: Sequence[str]
) -> dict[str, Any]:
    """The first line of a journal.

    Args:
        kind: the kind of run, such as ``match``.
        settings: strict JSON values that determine all games.
        tables: for each table, its game, its agents and what else identifies it.
        by: the keys of a table that its lines have.
    """
    made_by = {"format": f"{FORMAT} {kind}", "version": FORMAT_VERSION, "rave-agents": __version__}
    return {**made_by, **settings, "by": list(by), "tables": list(tables)}


class Journal:
    """An open file of finished games; ``Journal.open`` opens it.

    A context manager that closes the file at the end.
    """

    def __init__(
        self, path: Path, file: TextIO, lines: list[dict[str, Any]], lock: FileLock
    ) -> None:
        self.path = path
        """Path of the file."""
        self._file = file
        self._lock = lock
        self.lines = lines
        """The lines of games in the file when it was opened."""

    @classmethod
    def open(cls, path: str | os.PathLike[str], header: Mapping[str, Any]) -> Self:
        """Open a file to add games; creates it if it is missing or empty.

        Args:
            path: the file.
            header: strict JSON values that determine all games.

        Raises:
            ValueError: if the file is something else, or its header neither equals this one nor can
                grow to it, naming the differences. The file is then left unchanged.
            FileInUseError: (a ValueError) if another process has it open, naming the process.
            OSError: if it cannot be read or written.
        """
        path = Path(path)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if path.exists() and not path.is_file():
            raise ValueError(f"{path} is not a regular file, so games cannot be stored in it.")
        lock = FileLock(path)
        try:
            return cls._opened(path, header, lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def _opened(cls, path: Path, header: Mapping[str, Any], lock: FileLock) -> Self:
        content = path.read_bytes() if path.exists() else b""
        # A line without its end was being written when the process was killed.
        whole = content[: content.rfind(b"\n") + 1]
        torn = content[len(whole) :]
        beginning = (json.dumps(header, allow_nan=False) + "\n").encode()
        if not whole and not beginning.startswith(torn):
            raise ValueError(f"{path} is not {_output_of(header)}.")
        lines = _parsed_lines(path, whole, header)
        if lines:
            _compare(path, lines[0], header)
        if torn:
            os.truncate(path, len(whole))
        if lines and lines[0] != header:
            with written_whole(path) as file:
                file.write(beginning + whole[whole.index(b"\n") + 1 :])
        journal = cls(path, path.open("a", encoding="utf-8", newline="\n"), lines[1:], lock)
        if not lines:
            journal.append(header)
        return journal

    def append(self, line: Mapping[str, Any]) -> None:
        """Write one line and flush it."""
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


def read_journal(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header and the games of a file, without an incomplete last line.

    Raises:
        ValueError: if it is not a file of games.
        OSError: if it cannot be read.
    """
    path = Path(path)
    content = path.read_bytes()
    lines = _parsed_lines(path, content[: content.rfind(b"\n") + 1], None)
    if not lines or not _format(lines[0]).startswith(f"{FORMAT} "):
        raise ValueError(f"{path} is not {_output_of(None)}.")
    with reading(path, 1):
        fields.text(lines[0]["format"], "format")
        found = fields.field(lines[0], "version")
        fields.integer(found, "version", OLDEST_VERSION, FORMAT_VERSION)
    return lines[0], lines[1:]


class JournalGames(NamedTuple):
    """The games in a journal."""

    kind: str
    """One of ``KINDS``."""
    header: Mapping[str, Any]
    """The first line."""
    run: PlannedRun
    """The plan in it."""
    games: Mapping[Table, tuple[GameRecord, ...]]
    """The finished games of each table, in the order of their numbers."""


def read_games(path: str | os.PathLike[str]) -> JournalGames:
    """Read the games of a journal, finished or not.

    Raises:
        ValueError: if it is not a journal of games of two players; or for an invalid value, naming
            file, line and field.
        OSError: if it cannot be read.
    """
    header, lines = read_journal(path)
    kind = _format(header).removeprefix(f"{FORMAT} ")
    if kind not in KINDS:
        raise ValueError(f"{path} has no games: it is the output of a {printable(kind)}.")
    with reading(path, 1):
        run = planned_run(kind, header)
        players = fields.integer(header.get("players", 2), "players", 1)
    if players != 2:
        raise ValueError(
            f"{path} has no games of two players: its game is one for {players} players."
        )
    found: dict[Table, dict[int, GameRecord]] = {table: {} for table in run.tables.values()}
    for number, line in enumerate(lines, 2):
        with reading(path, number):
            table, record = run.read(line)
        found[table].setdefault(record.number, record)
    games = {
        table: tuple(records[number] for number in sorted(records))
        for table, records in found.items()
    }
    return JournalGames(kind, header, run, games)


@contextlib.contextmanager
def reading(path: str | os.PathLike[str], line: int) -> Iterator[None]:
    """Add the file and the line number, from 1, to errors on invalid values.

    Raises:
        ValueError: instead of the original one.
    """
    try:
        yield
    except ValueError as error:
        raise ValueError(
            f"Line {line} of {path} was not written by rave-agents: {error}"
        ) from error


def merge_journals(output: str | os.PathLike[str], inputs: Sequence[str | os.PathLike[str]]) -> int:
    """Merge the games of several files into a new one; returns their number.

    If a game occurs twice, the first one counts. If one file's run has grown out of another's, the
    new file belongs to the larger run. The run can continue from it.

    Args:
        output: the new file, which must not exist yet.
        inputs: the files: shards, or parts of the same run played elsewhere.

    Raises:
        ValueError: if one is not a file of games, or belongs to another run than the first, naming
            the differences.
        OSError: if one cannot be read, or the output exists or cannot be written.
    """
    if not inputs:
        raise ValueError("There are no files to merge.")
    output = Path(output)
    if output.exists():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(output))
    files = [(name, *read_journal(name)) for name in inputs]
    header = files[0][1]
    for name, found, _ in files:
        if differences(header, found):
            _compare(Path(name), found, header)
        else:
            header = found
    games: dict[str, dict[str, Any]] = {}
    for name, found, lines in files:
        kind = _format(found).removeprefix(f"{FORMAT} ")
        with reading(name, 1):
            run = planned_run(kind, found) if kind in KINDS else None
        for number, line in enumerate(lines, 2):
            with reading(name, number):
                fields.integer(fields.field(line, "number"), "number")
                if run is not None:
                    run.read(line)
            games.setdefault(_identity(line), line)  # The first of equal games counts.
    with written_whole(output, "w", encoding="utf-8", newline="\n") as file:
        ordered = sorted(games.values(), key=lambda line: (line["number"], _identity(line)))
        for line in (header, *ordered):
            file.write(json.dumps(line, allow_nan=False) + "\n")
    return len(games)


RECORDED = frozenset(
    [
        *("number", "first_seat", "opening", "actions", "returns", "efforts", "ending", "fault"),
        *("seats", "seed", "illegal_moves", "steps"),
        *("probabilities", "simulations", "seconds", "returns_of", "searches", "error", "shared"),
    ]
)
"""Keys of a line that record the game; all others identify its table."""


def _identity(line: Mapping[str, Any]) -> str:
    label = {key: value for key, value in line.items() if key not in RECORDED}
    return json.dumps([label, line.get("number")], sort_keys=True)


def _format(header: Mapping[str, Any]) -> str:
    return str(header.get("format", ""))


def _output_of(header: Mapping[str, Any] | None) -> str:
    what = "games of rave-agents" if header is None else _what(header)
    return f"the output of {what}" if header is not None else f"a file of {what}"


def _what(header: Mapping[str, Any]) -> str:
    what = _format(header).removeprefix(f"{FORMAT} ")
    return f"a {printable(shortened(what, 60))}"


def _parsed_lines(
    path: Path, whole: bytes, header: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    parsed = []
    for number, line in enumerate(whole.splitlines(), 1):
        values, why = None, ""
        try:
            if not is_deep(line):  # The parser recurses, and would overflow the stack.
                values = json.loads(line, parse_constant=_finite, parse_float=_finite)
        except OverflowError as error:
            why = f", for {error} is no finite number"
        except ValueError:  # not UTF-8 or not JSON
            pass
        if not isinstance(values, dict):
            raise ValueError(
                f"{path} is not {_output_of(header)}: line {number} is not a JSON object{why}."
            )
        parsed.append(values)
    return parsed


def _finite(text: str) -> float:
    """Refuse NaN and the infinities, which JSON does not have."""
    number = float(text)
    if not math.isfinite(number):
        raise OverflowError(text)
    return number


def _compare(path: Path, found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    if found.get("format") != expected["format"]:
        other = f", but of {_what(found)}" if _format(found).startswith(f"{FORMAT} ") else ""
        raise ValueError(f"{path} is not {_output_of(expected)}{other}.")
    version = found.get("version")
    if version not in range(OLDEST_VERSION, FORMAT_VERSION + 1):
        raise ValueError(
            f"{path} has version {fields.brief(version)}, which this release cannot read."
        )
    if differ := differences(found, expected):
        what = _what(expected).removeprefix("a ")
        raise ValueError(f"{path} belongs to another {what}: {'; '.join(differ)}.")
