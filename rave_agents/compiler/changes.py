"""Changes of code that a process has compiled or loaded: a cell that is run again, a reload.

Machine code has what a function looks up as constants. What was looked up is watched: each search
begins with a look at whether it is still the very same objects.
"""

import threading
from typing import Any, NamedTuple

from rave_agents.compiler.dispatch import OpenFunction

MISSING: Any = object()
"""Value of a name that was looked up in vain."""


class Watched(NamedTuple):
    """Objects that code has looked up, as they were."""

    names: dict[tuple[int, str], tuple[Any, str, Any, Any]]
    """The mapping, the name, what it had and whose it is, by the owner and the name."""
    functions: dict[int, tuple[Any, Any, Any, Any]]
    """Functions, their code, their defaults and those by keyword."""
    cells: dict[int, tuple[Any, Any]]
    """Cells of closures, and what they had."""
    arrays: dict[int, tuple[Any, bytes]]
    """Arrays and their content."""

    def is_unchanged(self) -> bool:
        """True if all is as it was."""
        for mapping, name, value, _ in self.names.values():
            found = mapping.get(name, MISSING)
            if found is not value and not _is_same_number(found, value):
                return False
        for function, code, defaults, by_keyword in self.functions.values():
            if (
                function.__code__ is not code
                or function.__defaults__ is not defaults
                or function.__kwdefaults__ is not by_keyword
            ):
                return False
        for cell, value in self.cells.values():
            if contents(cell) is not value:
                return False
        for array, content in self.arrays.values():  # noqa: SIM110  (faster than ``all``)
            if array.tobytes() != content:
                return False
        return True

    def clear(self) -> None:
        """Watch nothing."""
        for watched in self:
            watched.clear()


def nothing_watched() -> Watched:
    """A record that watches nothing yet."""
    return Watched({}, {}, {}, {})


def contents(cell: Any) -> Any:
    """The contents of a closure's cell; ``MISSING`` where it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def _is_same_number(found: Any, value: Any) -> bool:
    same = type(found) is type(value) and type(value) in (bool, int, float, str)
    return same and repr(found) == repr(value)


WATCHED = nothing_watched()
"""Names that all code in use has looked up; code of this package alone, where nothing may change,
has nothing to watch."""
_lock = threading.Lock()


def watch(more: Watched) -> None:
    """Watch what code has looked up that is in use from now on."""
    with _lock:
        for watched, added in zip(WATCHED, more, strict=True):
            watched.update(added)  # type: ignore[attr-defined]


def code_generation() -> int:
    """``OpenFunction.generation``, counted up if code has changed that is in use."""
    with _lock:
        if any(WATCHED) and not WATCHED.is_unchanged():
            OpenFunction.generation += 1
            WATCHED.clear()
    return OpenFunction.generation
