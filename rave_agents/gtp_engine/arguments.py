"""Arguments of commands of the Go Text Protocol."""

import math

from rave_agents.gtp.protocol import GtpError


def words(arguments: list[str], count: int) -> list[str]:
    """The first arguments of a command.

    Raises:
        GtpError: if there are fewer.
    """
    if len(arguments) < count:
        raise GtpError("syntax error")
    return arguments[:count]


def number_of(word: str) -> float:
    """A finite number.

    Raises:
        GtpError: if the word is none.
    """
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise GtpError("syntax error")
    return number


def integer(word: str) -> int:
    """An integer.

    Raises:
        GtpError: if the word is none.
    """
    try:
        return int(word)
    except ValueError:
        raise GtpError("syntax error") from None
