"""Docstrings of the package as Markdown: literal blocks and simple tables become blocks of code."""

import re
import textwrap
from typing import Any

from griffe import Extension, Object

LITERAL_BLOCK = re.compile(r"(\S?)::\n\n((?:[ \t]+\S.*(?:\n|\Z)|[ \t]*\n(?=[ \t]))+)")
"""Text that ends in two colons, and the indented lines behind it."""

SIMPLE_TABLE = re.compile(r"^=+ +=+\n.*?^=+ +=+$", re.MULTILINE | re.DOTALL)
"""Rows between two lines of equals signs."""


def fenced(block: re.Match[str]) -> str:
    """A literal block between fences; of the two colons, one stays behind a word."""
    colon = f"{block[1]}:\n\n" if block[1] else ""
    return f"{colon}```python\n{textwrap.dedent(block[2]).rstrip()}\n```\n"


def as_markdown(text: str) -> str:
    """A docstring as Markdown."""
    text = LITERAL_BLOCK.sub(fenced, text)
    return SIMPLE_TABLE.sub(lambda table: f"```text\n{table[0].replace('``', '  ')}\n```", text)


class Docstrings(Extension):
    """Rewrites every docstring as Markdown."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
