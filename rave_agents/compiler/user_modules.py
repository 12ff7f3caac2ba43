"""The text of the user's own modules, by which machine code of the user's functions is kept."""

import functools
import os
import sys
import types

from rave_agents.compiler.code_objects import codes_in

_scripts: list[str] = []
"""The script whose functions were sent to this process: pickled, they do not say their file."""


def script() -> str | None:
    """The file of the program that this process runs; None for a notebook or a prompt."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    return os.path.abspath(file) if file is not None else None


def receive_from(file: str | None) -> None:
    """Take a script of another process for the file of functions that came without one."""
    _scripts[:] = [] if file is None else [file]


def text_of(code: types.CodeType) -> bytes | None:
    """The text of the file that has some code; None if no file has it.

    No file has a notebook's cell, and one that has been edited since its import has other code.
    """
    for file in (code.co_filename, *_scripts):
        try:
            text, codes = _read(file, os.stat(file).st_mtime_ns)
        except (OSError, SyntaxError, ValueError):
            continue
        if code in codes:
            return text
    return None


@functools.lru_cache(maxsize=256)
def _read(file: str, changed: int) -> tuple[bytes, frozenset[types.CodeType]]:
    """The text of a file that was changed at that time, and the code that Python makes of it."""
    with open(file, "rb") as opened:
        text = opened.read()
    return text, frozenset(codes_in(compile(text, file, "exec", dont_inherit=True)))
