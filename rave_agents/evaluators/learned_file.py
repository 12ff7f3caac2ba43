"""``LearnedFile``: files of values, policies and networks, in NumPy's format npz.

``numpy.load`` allocates what a file announces. Here only plain numbers and texts are read, whose
bytes are in the file: no objects, no shape that the bytes do not fill, at most ``MOST_BYTES``.
"""

import abc
import io
import math
import os
import warnings
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from rave_agents.errors import UnsupportedGameError
from rave_agents.files import written_whole

MOST_BYTES = 1 << 28
"""The maximum size of a file, and of all its arrays unpacked."""

MOST_DIMENSIONS, MOST_LETTERS = 8, 1000
"""The maximum number of dimensions of an array, and of letters of a text."""

NOT_MEASURED = "not measured"
"""Shown for a file without a match."""

Arrays = Mapping[str, NDArray[Any]]

T = TypeVar("T")


class FileMatch(NamedTuple):
    """A match of the agent with a file against the agent without it, from the first's view."""

    games: int
    """Number of games."""
    score: float
    """Mean score a game, from 0 to 1."""
    low: float
    """Lower end of the score's 95 % confidence interval."""
    high: float
    """Its upper end."""
    against: str
    """The agent without the file."""

    @property
    def lost(self) -> bool:
        """True if the whole interval is below 0.5."""
        return self.high < 0.5

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON."""
        return {**self._asdict(), "lost": self.lost}

    def __str__(self) -> str:
        interval = f"{self.score:.2f} [{self.low:.2f}, {self.high:.2f}]"
        return f"{interval} in {self.games} games against {self.against}"


class LearnedFile(abc.ABC):
    """A learned value, policy or network: an evaluator that has a file.

    Args:
        game: the game that it was learned on, as text, with its parameters.
        made: a line on how it was learned.
        match: the match of an agent with it against one without; None if it was not measured.
    """

    kind = ""
    """What was learned: value, policy or network."""

    def __init__(self, game: str, made: str, match: FileMatch | None) -> None:
        self.game = game
        self.made = made
        self.match = match

    def refusal(self, game: str) -> UnsupportedGameError:
        """The error for positions of another game."""
        return UnsupportedGameError(
            f"This {self.kind} was learned on {self.game}: it does not fit {game}, another game."
        )

    def description(self) -> dict[str, Any]:
        """The arrays that all such files have; those of the match are empty without one."""
        numbers, against = ((), "") if self.match is None else (self.match[:4], self.match.against)
        measured = {"match": np.array(numbers, np.float64), "match_against": against}
        return {"game": self.game, "made": self.made, **measured}

    @abc.abstractmethod
    def arrays(self) -> dict[str, Any]:
        """The content of its file."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file of NumPy's format npz."""
        content = self.arrays()
        with written_whole(path) as file:
            np.savez_compressed(file, **content)

    def spec(self, path: str | os.PathLike[str]) -> str:
        """The text to pass as ``evaluator=`` for its file."""
        return os.fspath(path)


def read_learned(
    path: str | os.PathLike[str], kind: str, parse: Callable[[Arrays], T], *, command: str = "learn"
) -> T:
    """Read a file that ``LearnedFile.save`` wrote.

    Args:
        path: the file.
        kind: what it should hold, for the message.
        parse: makes it from the arrays; raises ValueError, KeyError or TypeError if it cannot.
        command: the command that writes such files.

    Raises:
        OSError: if there is no such file.
        ValueError: if it does not hold that.
    """
    try:
        return parse(read_arrays(path))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{os.fspath(path)!r} is not a {kind}, as rave-agents {command} writes: {error}."
        ) from error


def read_arrays(path: str | os.PathLike[str]) -> Arrays:
    """Read the arrays of a file by their names.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is not such a file, or a damaged one.
    """
    with open(path, "rb") as file:
        packed = file.read(MOST_BYTES + 1)
    if len(packed) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES} bytes")
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            members = archive.infolist()
            total = sum(member.file_size for member in members)
            if total > MOST_BYTES:
                raise ValueError(f"its arrays have {total} bytes, more than {MOST_BYTES}")
            # zipfile unpacks no more than ``file_size`` of a member, and checks its checksum.
            return {each.filename.removesuffix(".npy"): _array(archive, each) for each in members}
    except Exception as error:  # Zip and NumPy raise many kinds of exceptions for a wrong byte.
        raise ValueError(str(error) or type(error).__name__) from error


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[np.generic]:
    """One array, which has exactly the bytes that its header announces."""
    content = archive.read(member)
    stream = io.BytesIO(content)
    if npy.read_magic(stream) != (1, 0):
        raise ValueError(f"{member.filename} has an unknown version")
    shape, by_columns, dtype = npy.read_array_header_1_0(stream)
    if dtype.kind not in "biufU" or dtype.itemsize == 0:
        raise ValueError(f"{member.filename} holds {dtype}, neither numbers nor a text")
    rest = len(content) - stream.tell()
    if len(shape) > MOST_DIMENSIONS or min(shape, default=0) < 0:
        raise ValueError(f"{member.filename} has the shape {shape}")
    if math.prod(shape) * dtype.itemsize != rest:
        raise ValueError(f"{member.filename} has {rest} bytes, which {dtype} {shape} does not fill")
    numbers = np.frombuffer(content, dtype, offset=stream.tell())
    return numbers.reshape(shape, order="F" if by_columns else "C")


def text_in(arrays: Arrays, name: str) -> str:
    """A text of a file; KeyError or ValueError if there is none."""
    array = arrays[name]
    if array.dtype.kind != "U" or array.ndim > 0:
        raise ValueError(f"its {name} is no text")
    if len(str(array)) > MOST_LETTERS or not str(array).isprintable():
        raise ValueError(f"its {name} has {len(str(array))} letters, or some that cannot be shown")
    return str(array)


def number_in(arrays: Arrays, name: str) -> float:
    """A number of a file; else errors as above."""
    array = arrays[name]
    if array.dtype.kind not in "iuf" or array.ndim > 0:
        raise ValueError(f"its {name} is no number")
    return float(array)


def description_in(arrays: Arrays) -> dict[str, Any]:
    """The arguments of a ``LearnedFile`` in a file; errors as above."""
    game, made = (text_in(arrays, name) for name in ("game", "made"))
    return {"game": game, "made": made, "match": match_in(arrays)}


def match_in(arrays: Arrays) -> FileMatch | None:
    """The match that a file records; None if it was not measured, as in older files.

    Raises:
        KeyError, ValueError: for a record that no match gives.
    """
    numbers = arrays.get("match")
    if numbers is None or numbers.size == 0:
        return None
    if numbers.dtype.kind != "f" or numbers.shape != (4,) or not np.isfinite(numbers).all():
        raise ValueError("its match is not games, score and interval")
    games, score, low, high = numbers.tolist()
    if not (games >= 1 and games == math.floor(games) and 0 <= low <= score <= high <= 1):
        raise ValueError(f"its match is {numbers.tolist()}, which no match gives")
    return FileMatch(int(games), score, low, high, text_in(arrays, "match_against"))


_warned: set[str] = set()
"""Texts of the warnings that were given in this process."""


def warn_of_lost_match(learned: Any) -> None:
    """Warn, once for each file, if an agent with it lost the match against one without."""
    match = learned.match if isinstance(learned, LearnedFile) else None
    if match is None or not match.lost:
        return
    text = (
        f"The learned {learned.kind} for {learned.game} makes the agent weaker: it scored {match}. "
        "Learn longer, or play without the file."
    )
    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, stacklevel=3)
