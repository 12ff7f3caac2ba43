"""Shows a few rows of the long tables of the results, and all of them on request."""

import itertools
import re
from collections.abc import Iterator

from mkdocs.structure.pages import Page

LONG = 11
"""Rows from which on a table is long; ``style.css`` says which of them are shown."""

TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Put a switch before each long table of the results."""
    if page.file.src_uri != "results.md":
        return html
    numbers = itertools.count(1)
    return TABLE.sub(lambda match: _with_a_switch(match[0], numbers), html)


def _with_a_switch(table: str, numbers: Iterator[int]) -> str:
    rows = table.count("<tr>") - 1
    if rows < LONG:
        return table
    name = f"all-rows-{next(numbers)}"
    return (
        f'<div class="long-table"><input type="checkbox" id="{name}">'
        f'<label for="{name}">all {rows} rows</label>\n{table}</div>'
    )
