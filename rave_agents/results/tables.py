"""Tables of results as plain text and for notebooks."""

import csv
import html
import io
from collections.abc import Iterable, Sequence
from typing import Any

from rave_agents.game.plain_text import printable

Table = Sequence[Sequence[str]]
"""The header and the rows."""


def aligned(table: Table) -> str:
    """The table as lines, every column as wide as it needs."""
    table = [[printable(cell) for cell in line] for line in table]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in table
    )


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as CSV, in which no spreadsheet takes a name for a formula: it is preceded by ``'``."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(_inert, row) for row in rows)
    return text.getvalue()


def _inert(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    text = printable(cell)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def html_table(title: str, table: Table) -> str:
    """The table with a line above it, as HTML."""
    header, *rows = table
    head = "".join(f"<th>{html.escape(printable(cell))}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(printable(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return (
        f"<p>{html.escape(printable(title))}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
