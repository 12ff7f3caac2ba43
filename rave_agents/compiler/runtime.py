"""Runtime form of a part: itself, or a record with its arrays beside it.

A part that keeps statistics has a class of its own for them, marked with ``runs_as``: its field
``options`` is the part, its fields declared as arrays are allocated, and every other field is the
part's field of the same name, as it is when it runs. All classes that implement an open function
may run as one class, too: its field ``own`` is then the part as it runs without that.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from rave_agents.compiler.dispatch import OpenFunction

_C = TypeVar("_C", bound=type)

RUNS_AS: dict[type, type] = {}
"""Classes of records, by the classes of parts whose arrays they have."""

IMPLEMENTERS_RUN_AS: dict[OpenFunction[..., Any], type] = {}
"""Classes of records as which parts run that implement these open functions."""


def runs_as(part: type | OpenFunction[..., Any]) -> Callable[[_C], _C]:
    """Mark the decorated NamedTuple as what a class of parts is when it runs.

    Args:
        part: the class, or an open function, for all classes that implement it.
    """

    def register(record: _C) -> _C:
        if isinstance(part, OpenFunction):
            IMPLEMENTERS_RUN_AS[part] = record
        else:
            RUNS_AS[part] = record
        return record

    return register


def implements_any(kind: type, opened: tuple[OpenFunction[..., Any], ...]) -> bool:
    """True if a class, or its runtime record, implements one of the open functions."""
    return any(c in f.implementations for f in opened for c in (kind, RUNS_AS.get(kind)))


def record_of(kind: type) -> type | None:
    """The class of the record that a class of parts runs as; None if it runs as itself."""
    for opened, record in IMPLEMENTERS_RUN_AS.items():
        if implements_any(kind, (opened,)):
            return record
    return RUNS_AS.get(kind)
