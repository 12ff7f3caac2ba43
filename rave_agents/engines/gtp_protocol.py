"""The syntax of the Go Text Protocol, version 2 (Farnebäck 2002): commands and answers."""

import math
import re
from typing import NamedTuple

from rave_agents.engines.client.gtp import GtpError

_COLOUR_NAMES = {"b": 0, "black": 0, "w": 1, "white": 1}
_DISCARDED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class Command(NamedTuple):
    """A command that an engine received."""

    number: str
    """The command's id, empty if it has none."""
    name: str
    """The command's name, such as ``genmove``."""
    arguments: list[str]
    """The words after the name."""


def parse_command(line: str) -> Command | None:
    """Parse a line; None if it is empty or a comment.

    Control characters are dropped, tabs count as spaces, and ``#`` begins a comment.
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
    """Format an answer, closed by an empty line; empty lines of the text get a space."""
    lines = [line.rstrip() or " " for line in text.strip("\n").splitlines()]
    body = "\n".join(lines)
    space = " " if body and not text.startswith("\n") else ""
    start = "\n" if text.startswith("\n") and body else ""
    return f"{'?' if failed else '='}{number}{space}{start}{body}\n\n"


def first_words(arguments: list[str], count: int) -> list[str]:
    """The first arguments of a command; raises GtpError if there are fewer."""
    if len(arguments) < count:
        raise GtpError("syntax error")
    return arguments[:count]


def parse_number(word: str) -> float:
    """Parse a finite number; raises GtpError for another word."""
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise GtpError("syntax error")
    return number


def parse_integer(word: str) -> int:
    """Parse an integer; raises GtpError for another word."""
    try:
        return int(word)
    except ValueError:
        raise GtpError("syntax error") from None


def parse_colour(word: str) -> int:
    """Return the player of a colour; raises GtpError for another word."""
    if word.lower() not in _COLOUR_NAMES:
        raise GtpError("invalid color")
    return _COLOUR_NAMES[word.lower()]
