"""Checked reading of the values of a file of games: errors name the field.

The reader of the file adds the line number, see ``journal.reading``.
"""

import math
import reprlib
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from annotated_types import Ge, Le

from rave_agents.game.plain_text import printable
from rave_agents.game.validation import checked

MOST = 2**63 - 1
"""The greatest integer in a file: larger ones fit neither actions nor counts."""

GREATEST = 1e100
"""The greatest size of other numbers, whose sums of squares are still finite."""

LONGEST_TEXT = 10_000
"""Maximum characters of a name or spec."""

_T = TypeVar("_T")

_brief = reprlib.Repr()
_brief.maxstring = _brief.maxother = 60
_brief.maxlist = _brief.maxtuple = _brief.maxdict = 4


def brief(value: Any) -> str:
    """A value for a message, shortened and printable."""
    return printable(_brief.repr(value))


def field(values: Mapping[str, Any], name: str) -> Any:
    """The value of a line under a name.

    Raises:
        ValueError: if it is missing.
    """
    if name not in values:
        raise ValueError(f"{name} is missing.")
    return values[name]


def integer(value: Any, what: str, least: int = 0, most: int = MOST) -> int:
    """An integer of these bounds.

    Raises:
        ValueError: if it is not.
    """
    if type(value) is int and least <= value <= most:  # Files have millions of these.
        return value
    bounds = Annotated[int, Ge(least), Le(most)]
    return checked(what, bounds, value, ValueError)  # type: ignore[no-any-return]


def number(value: Any, what: str, least: float = -GREATEST, most: float = GREATEST) -> float:
    """A finite number of these bounds.

    Raises:
        ValueError: if it is not.
    """
    if type(value) is float and least <= value <= most:
        return value
    bounds = Annotated[float, Ge(least), Le(most)]
    return checked(what, bounds, value, ValueError)  # type: ignore[no-any-return]


def text(value: Any, what: str) -> str:
    """A text that can be encoded.

    Raises:
        ValueError: if it is none, or too long for a name.
    """
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise ValueError(f"{what} must be a text, got {brief(value)}.")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError(f"{what} has half a surrogate pair, got {brief(value)}.")
    return value


def flag(value: Any, what: str) -> bool:
    """True or False.

    Raises:
        ValueError: if it is neither.
    """
    return checked(what, bool, value, ValueError)  # type: ignore[no-any-return]


def listed(
    value: Any, what: str, each: Callable[[Any, str], _T], count: int | None = None
) -> tuple[_T, ...]:
    """A list of values, each checked.

    Args:
        value: the given value.
        what: its name for the message.
        each: checks one item.
        count: the required number of items; None for any number.

    Raises:
        ValueError: if it is not.
    """
    if not isinstance(value, list) or count not in (None, len(value)):
        many = "" if count is None else f" of {count}"
        raise ValueError(f"{what} must be a list{many}, got {brief(value)}.")
    return tuple(each(item, f"{what}[{index}]") for index, item in enumerate(value))


def named(value: Any, what: str, each: Callable[[Any, str], _T]) -> dict[str, _T]:
    """Values by name, each checked.

    Raises:
        ValueError: if it is not.
    """
    if not isinstance(value, dict):
        raise ValueError(f"{what} must be an object, got {brief(value)}.")
    return {text(name, what): each(item, f"{what}.{brief(name)}") for name, item in value.items()}


def positive(value: Any, what: str) -> float:
    """A finite number above 0.

    Raises:
        ValueError: if it is not.
    """
    checked = number(value, what, 0.0)
    if checked == 0 or not math.isfinite(checked):
        raise ValueError(f"{what} must be above 0, got {brief(value)}.")
    return checked
