"""States and rules that break the interface, each in one way: a kind.

``python -m helpers.broken RUNS SEED KIND ...`` runs each kind so many times, each time another
search with the fault at another depth, and prints for each kind what came of it as a line of JSON.
It prints a kind's name before it begins, so that who reads a signal's last words knows its cause.
"""

import random
from collections.abc import Callable
from typing import NamedTuple


class Draw(random.Random):
    """What decides a run, and whether the run met what is broken."""

    met = True


class Kind(NamedTuple):
    """One way to break the interface."""

    run: Callable[[Draw], object]
    """A search of something that is broken in this way; it raises what that raises. It says by
    ``met`` that it has not come to that."""
    refused: bool
    """Whether a search that meets it must raise an error; else it may play."""


KINDS: dict[str, Kind] = {}
"""All kinds by name; the modules beside this one add theirs."""


def add_kind(name: str, run: Callable[[Draw], object], *, refused: bool = True) -> None:
    """Add a kind."""
    assert name not in KINDS, name
    KINDS[name] = Kind(run, refused)
