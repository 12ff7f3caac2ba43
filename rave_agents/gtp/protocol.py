"""The form of the Go Text Protocol: commands, answers, colours (Farnebäck 2002, version 2)."""

import re
from typing import NamedTuple

COLOURS = ("b", "w")
"""How players 0 and 1 are written."""

_COLOUR_NAMES = {"b": 0, "black": 0, "w": 1, "white": 1}
_DISCARDED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class GtpError(Exception):
    """What an engine answers with ``?``: the message says why."""


class Command(NamedTuple):
    """A command as an engine got it."""

    number: str
    """The command's id, empty if it has none."""
    name: str
    """What is to be done."""
    arguments: list[str]
    """The words after it."""


def parse_command(line: str) -> Command | None:
    """The command of a line; None if it is empty or a comment.

    Control characters are dropped, tabs are spaces, and a comment begins with ``#``.
    """
    text = _DISCARDED.sub("", line.replace("\t", " ")).partition("#")[0]
    words = text.split()
    if not words:
        return None
    number = words.pop(0) if words[0].isdecimal() and words[0].isascii() else ""
    if not words:
        return Command(number, "", [])
    return Command(number, words[0], words[1:])


def answer(number: str, text: str, *, failed: bool = False) -> str:
    """An answer with the two line ends that close it; the text loses its empty lines."""
    lines = [line.rstrip() or " " for line in text.strip("\n").splitlines()]
    body = "\n".join(lines)
    space = " " if body and not text.startswith("\n") else ""
    start = "\n" if text.startswith("\n") and body else ""
    return f"{'?' if failed else '='}{number}{space}{start}{body}\n\n"


def parse_colour(word: str) -> int:
    """The player of a colour.

    Raises:
        GtpError: if it is none.
    """
    if word.lower() not in _COLOUR_NAMES:
        raise GtpError("invalid color")
    return _COLOUR_NAMES[word.lower()]
