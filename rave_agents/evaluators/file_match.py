"""The match that ends learning: with the file against without it, as the file records it."""

import math
import warnings
from typing import Any, NamedTuple

import numpy as np

from rave_agents.evaluators.array_file import Arrays, text_in

NOT_MEASURED = "not measured"
"""Shown for a file without a record."""

EVEN = 0.5
"""The score of equal strength."""

_MATCH, _AGAINST = "match", "match_against"


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
        return self.high < EVEN

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON."""
        return {**self._asdict(), "lost": self.lost}

    def __str__(self) -> str:
        interval = f"{self.score:.2f} [{self.low:.2f}, {self.high:.2f}]"
        return f"{interval} in {self.games} games against {self.against}"


def match_arrays(match: FileMatch | None) -> dict[str, Any]:
    """The arrays of a file that record its match; without numbers if it was not measured."""
    numbers = () if match is None else match[:4]
    against = "" if match is None else match.against
    return {_MATCH: np.array(numbers, np.float64), _AGAINST: against}


def match_in(arrays: Arrays) -> FileMatch | None:
    """The match that a file records; None if it was not measured, as in older files.

    Raises:
        KeyError, ValueError: for a record that no match gives.
    """
    if _MATCH not in arrays or arrays[_MATCH].size == 0:
        return None
    numbers = arrays[_MATCH]
    if numbers.dtype.kind != "f" or numbers.shape != (4,) or not np.isfinite(numbers).all():
        raise ValueError(f"its {_MATCH} is not games, score and interval")
    games, score, low, high = numbers.tolist()
    if not (games >= 1 and games == math.floor(games) and 0 <= low <= score <= high <= 1):
        raise ValueError(f"its {_MATCH} is {numbers.tolist()}, which no match gives")
    return FileMatch(int(games), score, low, high, text_in(arrays, _AGAINST))


_warned: set[str] = set()
"""Texts of the warnings that were given in this process."""


def warn_of_lost_match(learned: Any) -> None:
    """Warn, once for each file, of what has lost the match against the agent without it."""
    match = getattr(learned, "match", None)
    if not isinstance(match, FileMatch) or not match.lost:
        return
    text = (
        f"The learned {learned.kind} for {learned.game} makes the agent weaker: it scored {match}. "
        "Learn longer, or play without the file."
    )
    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, stacklevel=3)
