"""Literal blocks of docstrings, ``text::`` and indented lines, as blocks of code."""

import re
import textwrap
from typing import Any

from griffe import Extension, Object

LITERAL_BLOCK = re.compile(r"::\n\n((?:[ \t]+\S.*(?:\n|\Z)|[ \t]*\n(?=[ \t]))+)")


def fenced(block: re.Match[str]) -> str:
    """A literal block, the lines behind its two colons, between fences."""
    return f":\n\n```python\n{textwrap.dedent(block[1]).rstrip()}\n```\n"


class LiteralBlocks(Extension):
    """Puts fences around the literal blocks of every docstring."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring:
            obj.docstring.value = LITERAL_BLOCK.sub(fenced, obj.docstring.value)
