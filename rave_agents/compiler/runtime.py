"""Runtime form of a part: itself, or a record with its arrays beside it.

A part that keeps statistics has a record class for them, marked with ``runs_as``. The field
``options`` is the part itself, fields declared as arrays are allocated, and every other field is
the runtime form of the part's field of the same name. All classes that implement an open function
may share one record class; its field ``own`` is then the part's own runtime form.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from rave_agents.compiler.dispatch import OpenFunction

_C = TypeVar("_C", bound=type)

RUNS_AS: dict[type, type] = {}
"""Classes of records, by the classes of parts whose arrays they have."""

IMPLEMENTERS_RUN_AS: dict[OpenFunction[..., Any], type] = {}
"""Record classes of parts that implement these open functions."""


def runs_as(part: type | OpenFunction[..., Any]) -> Callable[[_C], _C]:
    """Register the decorated NamedTuple as the runtime form of a class of parts.

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
