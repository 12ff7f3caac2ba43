"""Texts of the user's modules, which name the machine code of the user's functions."""

import functools
import os
import sys
import types

from rave_agents.compiler.code_objects import codes_in

_scripts: list[str] = []
"""The script whose functions this process was sent: pickled functions do not name their file."""


def script() -> str | None:
    """The file of the program that this process runs; None for a notebook or a prompt."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    return os.path.abspath(file) if file is not None else None


def receive_from(file: str | None) -> None:
    """Name the script of the sending process, for functions that arrive without a file."""
    _scripts[:] = [] if file is None else [file]


def text_of(code: types.CodeType) -> bytes | None:
    """The text of the file that contains this code; None if no file does.

    A notebook's cell is in no file, and a file edited since its import contains other code.
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
    with open(file, "rb") as opened:
        text = opened.read()
    return text, frozenset(codes_in(compile(text, file, "exec", dont_inherit=True)))
