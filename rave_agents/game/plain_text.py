"""Texts from outside, with escapes in place of characters that cannot be seen."""

import re

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
"""Escape codes with which games colour their boards."""

_KEPT = frozenset("\n\t\u00a0\u200c\u200d\ufe0f")
"""Line ends, tabs, no-break spaces, joiners and variation selectors."""


def printable(text: str, *, lines: bool = False) -> str:
    r"""A text with escapes, such as ``\x1b``, in place of control characters.

    So a name can neither move a terminal's cursor nor reverse the direction of the text.

    Args:
        text: a name, or anything else out of a file.
        lines: whether ends of lines and the like stay as they are.
    """
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or (lines and character in _KEPT)
        else character.encode("unicode_escape").decode()
        for character in text
    )


def without_colours(text: str) -> str:
    """A text without the escape codes with which games colour their boards."""
    return _COLOURS.sub("", text)


def shortened(text: str, most: int) -> str:
    """A text cut to a number of characters, with dots at its end."""
    return text if len(text) <= most else f"{text[: most - 3]}..."
