"""Machine code of entries: its place on disk, where it is found or compiled. It loads LLVM."""

import hashlib
import pathlib
from collections.abc import Callable
from typing import Any

from rave_agents.compiler.cache_key import CacheKey
from rave_agents.compiler.dispatch import classes_of
from rave_agents.compiler.edits import watch_functions
from rave_agents.compiler.folders import choose_cache_directory
from rave_agents.compiler.layout import kind_as_text
from rave_agents.compiler.machine_code import MachineCode, load_or_compile
from rave_agents.compiler.settings import codegen_settings
from rave_agents.compiler.toolchain import toolchain


def key_of_entry(function: Callable[..., Any], record: Any) -> CacheKey:
    """The key of an entry's machine code for records such as this one, but for their layout."""
    key = CacheKey(classes_of(record))
    key.note(toolchain(), codegen_settings())
    key.add(function)
    key.add_bodies()
    return key


def place_on_disk(function: Callable[[Any, int], int], record: Any, kind: Any) -> pathlib.Path:
    """Path of a function's machine code for records of this kind."""
    return _place(function, key_of_entry(function, record), kind)


def _place(function: Callable[[Any, int], int], key: CacheKey, kind: Any) -> pathlib.Path:
    name = f"{function.__module__}.{function.__name__} {kind_as_text(kind)}"
    folder = choose_cache_directory("kernel") / key.digest()
    return folder / hashlib.sha256(name.encode()).hexdigest()[:16]


def code_for(function: Callable[[Any, int], int], what: str, record: Any, kind: Any) -> MachineCode:
    """A function's machine code for records such as this one.

    Args:
        function: the function of the kernel.
        what: the name of the compiled code in messages to the user.
        record: such a record.
        kind: its kind, see ``layout.laid_out``.
    """
    key = key_of_entry(function, record)
    watch_functions(key.own_functions)

    def compiled() -> MachineCode:
        from rave_agents.compiler.lowering import machine_code  # noqa: PLC0415  (slow: Numba)

        return machine_code(function, record, key.dispatchers)

    return load_or_compile(_place(function, key, kind), what, compiled, key)
