"""Entries of the kernel: compiled for their records at the first call, or found on disk."""

import functools
import hashlib
import pathlib
import threading
from collections.abc import Callable
from typing import Any

from rave_agents.compiler.changes import watch
from rave_agents.compiler.dispatch import JIT_DISABLED, OpenFunction, classes_of
from rave_agents.compiler.folders import choose_cache_directory
from rave_agents.compiler.layout import kind_as_text, laid_out
from rave_agents.compiler.signals import uninterrupted
from rave_agents.compiler.sources import sources_of


class Entry:
    """A function of the kernel that Python calls with a record and a number.

    It is compiled for each kind of record, at the first call, or found on disk.
    """

    def __init__(self, function: Callable[[Any, int], int], what: str) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.what = what
        """The name of the compiled code in messages to the user."""
        self._loaded: dict[Any, Callable[[Any, int], int]] = {}
        self._callbacks: dict[Any, Any] = {}
        self._lock = threading.Lock()

    def __call__(self, record: Any, number: int) -> int:
        """Run it, compiled for the record."""
        return self.bound(record)(number)

    def bound(self, record: Any) -> Callable[[int], int]:
        """The function for this record, whose arrays must not be reallocated meanwhile."""
        if JIT_DISABLED:
            return functools.partial(self.function, record)
        kind, placed = laid_out(record)
        key = OpenFunction.generation, kind
        with self._lock:
            if key not in self._loaded:
                uninterrupted(lambda: self._loaded.update({key: self._code(record, kind).load()}))
        return functools.partial(self._loaded[key], placed)

    def placed(self, record: Any) -> tuple[int, Any] | None:
        """The address of the function as one of C, and the record that it takes, in memory.

        The C function takes the record's address; the number is 0. Where compiled code raises, it
        returns 0. None in the interpreter.
        """
        if JIT_DISABLED:
            return None
        kind, placed = laid_out(record)
        key = OpenFunction.generation, kind
        with self._lock:
            if key not in self._callbacks:
                uninterrupted(
                    lambda: self._callbacks.update({key: self._code(record, kind).load_callback()})
                )
        return self._callbacks[key].address, placed

    def place_on_disk(self, record: Any, kind: Any) -> pathlib.Path:
        """Path of the machine code for such records."""
        return self._place(sources_of(classes_of(record)), kind)

    def _place(self, sources: Any, kind: Any) -> pathlib.Path:
        name = f"{self.function.__module__}.{self.function.__name__} {kind_as_text(kind)}"
        folder = choose_cache_directory("kernel") / sources.digest()
        return folder / hashlib.sha256(name.encode()).hexdigest()[:16]

    def _code(self, record: Any, kind: Any) -> Any:
        from rave_agents.compiler.machine_code import found_or_compiled  # noqa: PLC0415  (slow: LLVM)

        sources = sources_of(classes_of(record))
        watch(sources.watched)

        def compiled() -> Any:
            from rave_agents.compiler.lowering import machine_code  # noqa: PLC0415  (slow: Numba)

            return machine_code(self.function, record, sources.dispatchers)

        place = self._place(sources, kind)
        return found_or_compiled(place, self.what, compiled, sources)


def entry(what: str) -> Callable[[Callable[[Any, int], int]], Entry]:
    """Mark a function of the kernel that Python calls, with a record and a number.

    Args:
        what: what is compiled, for the message to the user.
    """
    return functools.partial(Entry, what=what)
