"""Runtime form of a part: itself, or a record with its arrays beside it.

A part that keeps statistics has a class of its own for them, marked with ``runs_as``: its field
``options`` is the part, its fields declared as arrays are allocated, and every other field is the
part's field of the same name, as it is when it runs.
"""

from collections.abc import Callable
from typing import TypeVar

_C = TypeVar("_C", bound=type)

RUNS_AS: dict[type, type] = {}
"""Classes of records, by the classes of parts whose arrays they have."""


def runs_as(part: type) -> Callable[[_C], _C]:
    """Mark the decorated NamedTuple as what a class of parts is when it runs."""

    def register(record: _C) -> _C:
        RUNS_AS[part] = record
        return record

    return register
