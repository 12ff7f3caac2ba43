"""Entries of the kernel: compiled for their records at the first call, or found on disk."""

import functools
import threading
from collections.abc import Callable
from typing import Any

from rave_agents.compiler.dispatch import JIT_DISABLED, OpenFunction
from rave_agents.compiler.layout import laid_out, rewritten
from rave_agents.compiler.progress import off_the_clock
from rave_agents.compiler.signals import uninterrupted


class Entry:
    """A function of the kernel that Python calls with a record and a number.

    It is compiled for each kind of record, at the first call, or found on disk.
    """

    def __init__(self, function: Callable[[Any, int], int], what: str) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.what = what
        """A name of the compiled code for messages to the user."""
        self._loaded: dict[Any, Callable[[Any, int], int]] = {}
        self._callbacks: dict[Any, Any] = {}
        self._lock = threading.Lock()

    def __call__(self, record: Any, number: int) -> int:
        """Run it, compiled for the record."""
        return self.bound(record)(number)

    def bound(self, record: Any, before: Any = None) -> functools.partial[int]:
        """The function for this record, whose arrays must not be reallocated meanwhile.

        Args:
            record: the record.
            before: the function for an earlier record, or None. If the layout is the same, it
                takes this record from now on. None of the arrays that both records share may have
                been reallocated since.
        """
        if JIT_DISABLED:
            return functools.partial(self.function, record)
        if before is not None:
            earlier = before.args[0]
            if earlier.generation == OpenFunction.generation and rewritten(record, earlier):
                return before
        kind, placed = laid_out(record)
        placed.generation = OpenFunction.generation
        key = placed.generation, kind
        with self._lock:
            if key not in self._loaded:
                with off_the_clock():
                    uninterrupted(
                        lambda: self._loaded.update({key: self._code(record, kind).load()})
                    )
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

    def _code(self, record: Any, kind: Any) -> Any:
        from rave_agents.compiler.entry_code import code_for  # noqa: PLC0415  (slow: LLVM)

        return code_for(self.function, self.what, record, kind)


def entry(what: str) -> Callable[[Callable[[Any, int], int]], Entry]:
    """Mark a function of the kernel that Python calls, with a record and a number.

    Args:
        what: what is compiled, for the message to the user.
    """
    return functools.partial(Entry, what=what)
