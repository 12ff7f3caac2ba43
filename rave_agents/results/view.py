"""View of a run that goes on."""

from collections.abc import Callable
from typing import NamedTuple


class View(NamedTuple):
    """State of a run, for a display."""

    finished: int
    """Games or the like that are finished."""
    planned: int | None
    """Number of planned ones; None where nobody knows."""
    latest: str
    """A line on the one that ended last; empty for none."""
    text: Callable[[int], str]
    """Further lines of at most this many characters."""
