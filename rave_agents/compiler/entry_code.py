"""Machine code of entries: its place on disk, where it is found or compiled. It loads LLVM."""

import hashlib
import pathlib
from collections.abc import Callable
from typing import Any

from rave_agents.compiler.changes import watch
from rave_agents.compiler.dispatch import classes_of
from rave_agents.compiler.fingerprint import Fingerprint, is_covered
from rave_agents.compiler.folders import choose_cache_directory
from rave_agents.compiler.layout import kind_as_text
from rave_agents.compiler.machine_code import MachineCode, found_or_compiled
from rave_agents.compiler.sources import sources_of


def place_on_disk(function: Callable[[Any, int], int], record: Any, kind: Any) -> pathlib.Path:
    """Path of a function's machine code for records of this kind."""
    return _place(function, _sources(function, record), kind)


def _sources(function: Callable[[Any, int], int], record: Any) -> Fingerprint:
    """All that an entry's code is made of: rooms read as a whole, or the entry's own functions."""
    sources = sources_of(classes_of(record))
    if not is_covered(function.__module__):
        sources.begin()
        sources.add(function)
    return sources


def _place(function: Callable[[Any, int], int], sources: Any, kind: Any) -> pathlib.Path:
    name = f"{function.__module__}.{function.__name__} {kind_as_text(kind)}"
    folder = choose_cache_directory("kernel") / sources.digest()
    return folder / hashlib.sha256(name.encode()).hexdigest()[:16]


def code_for(function: Callable[[Any, int], int], what: str, record: Any, kind: Any) -> MachineCode:
    """A function's machine code for records such as this one.

    Args:
        function: the function of the kernel.
        what: the name of the compiled code in messages to the user.
        record: such a record.
        kind: its kind, see ``layout.laid_out``.
    """
    sources = _sources(function, record)
    watch(sources.watched)

    def compiled() -> MachineCode:
        from rave_agents.compiler.lowering import machine_code  # noqa: PLC0415  (slow: Numba)

        return machine_code(function, record, sources.dispatchers)

    return found_or_compiled(_place(function, sources, kind), what, compiled, sources)
