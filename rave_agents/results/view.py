"""The state of a run, as a display shows it."""

from collections.abc import Callable
from typing import NamedTuple


class View(NamedTuple):
    """The state of a run."""

    finished: int
    """Number of finished games or other units."""
    planned: int | None
    """Number of planned ones; None if unknown."""
    latest: str
    """A line on the latest one; empty for none."""
    text: Callable[[int], str]
    """Further lines of at most this many characters."""
