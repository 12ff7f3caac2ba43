"""Tables of results as plain text and for notebooks."""

import html
from collections.abc import Sequence

Table = Sequence[Sequence[str]]
"""The header and the rows."""


def aligned(table: Table) -> str:
    """The table as lines, every column as wide as it needs."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in table
    )


def html_table(title: str, table: Table) -> str:
    """The table with a line above it, as HTML."""
    header, *rows = table
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f"<p>{html.escape(title)}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
