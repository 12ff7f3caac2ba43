"""Tables of results as text that fits a width, as HTML, and as CSV."""

import csv
import dataclasses
import html
import io
import itertools
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rave_agents.game.plain_text import printable

GAP = "  "
"""Gap between two columns."""

_LEAST_TEXT = 24
"""Columns of text are folded down to this width before columns are dropped."""


@dataclasses.dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    """Its header."""
    cells: Sequence[str]
    """Its rows."""
    text: bool = False
    """True for names and other text: aligned to the left, and may be folded."""
    rank: int = 0
    """If the width is too small, columns with the highest rank are dropped first; those with rank 0
    are never dropped."""


@dataclasses.dataclass(frozen=True)
class Table:
    """Columns of equal length.

    Text never cuts a word or number in two: if the width is too small, headers are folded between
    words, then names, then columns are dropped by rank. Columns that still do not fit follow below,
    next to the repeated key columns.
    """

    columns: Sequence[Column]
    """The columns."""
    title: str = ""
    """A line above them; empty for none."""
    notes: Sequence[str] = ()
    """Lines below them."""
    keys: int = 1
    """Number of key columns, repeated if others continue below."""

    @property
    def rows(self) -> list[list[str]]:
        """The header and the rows."""
        return [list(row) for row in zip(*([c.name, *c.cells] for c in self.columns), strict=True)]

    def text(self, width: int) -> str:
        """The title, lines of at most ``width`` characters, and the notes."""
        columns = [
            dataclasses.replace(
                column, name=printable(column.name), cells=[*map(printable, column.cells)]
            )
            for column in self.columns
        ]
        blocks = (_lines(block, width) for block in _blocks(columns, self.keys, width))
        parts = ["\n".join(lines) for lines in blocks]
        lines = [printable(line) for line in (self.title, *self.notes)]
        return "\n".join([*lines[: bool(self.title)], "\n\n".join(parts), *lines[1:]])

    def html(self) -> str:
        """The title and the whole table as HTML."""
        header, *rows = (
            [html.escape(printable(cell)) for cell in row] for row in self.rows or [[]]
        )
        head = "".join(f"<th>{cell}</th>" for cell in header)
        body = "".join(
            "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows
        )
        title, notes = (
            f"<p>{'<br>'.join(html.escape(printable(line)) for line in lines)}</p>" if lines else ""
            for lines in ([self.title] if self.title else [], self.notes)
        )
        return f"{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


_LEAST_CUT = 8
"""As a last resort, pieces of names are cut to this many characters."""

_PIECE = re.compile(r"[^\s,;(/]*[\s,;(/]?")
"""A piece of a name that is not cut: up to a space, comma or similar."""


def _longest_piece(text: str) -> int:
    return max((len(piece.strip()) for piece in _PIECE.findall(text)), default=0)


class _Extent:
    """The possible widths of a column; only text is folded."""

    def __init__(self, column: Column) -> None:
        self._header = len(column.name)
        self._header_piece = _longest_piece(column.name)
        self.whole = max(map(len, column.cells), default=0)
        self._piece = max(map(_longest_piece, column.cells), default=0)
        self._is_text = column.text

    def width(self, header: int, text: int) -> int:
        """The width with header and text folded to these widths, but no piece of them cut."""
        header = min(self._header, max(header, self._header_piece))
        return max(header, min(self.whole, max(text, self._piece)) if self._is_text else self.whole)

    def cut(self, most: int) -> int:
        return max(min(self._header, most), min(self.whole, most) if self._is_text else self.whole)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _blocks(columns: Sequence[Column], keys: int, width: int) -> list[list[Column]]:
    # By identity: two columns may be equal.
    least = {id(column): _Extent(column).width(1, _LEAST_TEXT) for column in columns}

    def fits(some: Sequence[Column]) -> bool:
        return _total([least[id(column)] for column in some]) <= width

    kept = list(columns)
    for column in sorted(columns, key=lambda column: -column.rank):
        if column.rank > 0 and not fits(kept):
            kept = [each for each in kept if each is not column]
    blocks = [kept[:keys]]
    for column in kept[keys:]:
        # A block has at least one column besides the keys, even if that is too wide.
        if len(blocks[-1]) > keys and not fits([*blocks[-1], column]):
            blocks.append(kept[:keys])
        blocks[-1].append(column)
    return blocks


def _lines(columns: Sequence[Column], width: int) -> list[str]:
    widths = _widths(columns, width)
    header = [_folded(c.name, w) for c, w in zip(columns, widths, strict=True)]
    body = zip(*(c.cells for c in columns), strict=True)
    rows = [header, *([*map(_folded, row, widths)] for row in body)]
    # Folded text is often narrower than its column could be.
    widths = [max(len(line) for row in rows for line in row[i]) for i in range(len(columns))]
    lines: list[str] = []
    for row in rows if any(c.name for c in columns) else rows[1:]:
        for line in range(max(map(len, row))):
            texts = [cell[line] if line < len(cell) else "" for cell in row]
            aligned = (
                text.ljust(w) if column.text else text.rjust(w)
                for text, w, column in zip(texts, widths, columns, strict=True)
            )
            lines.append(GAP.join(aligned).rstrip())
    return lines


def _widths(columns: Sequence[Column], width: int) -> list[int]:
    """The widths of columns: whole if there is room, else with folded headers, then names."""
    extents = [_Extent(column) for column in columns]
    most = max(max(extent.whole, len(c.name)) for extent, c in zip(extents, columns, strict=True))
    sizes = range(most, 0, -1)
    # Widest first: fold headers, then names, then cut pieces.
    for widths in itertools.chain(
        ([extent.width(size, most) for extent in extents] for size in sizes),
        ([extent.width(1, size) for extent in extents] for size in sizes),
        ([extent.cut(size) for extent in extents] for size in sizes if size >= _LEAST_CUT),
    ):
        if _total(widths) <= width:
            break
    return widths


def _folded(text: str, width: int) -> list[str]:
    """A name in lines of at most this width, broken after brackets, commas and blanks."""
    if len(text) <= width:
        return [text]
    lines = [""]
    for piece in _PIECE.findall(text):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
        while len(lines[-1].rstrip()) > width:  # A piece longer than a line.
            lines[-1:] = [lines[-1][:width], lines[-1][width:]]
    return [line.strip() for line in lines]


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as CSV, with ``'`` before names that a spreadsheet would take for formulas.

    Unknown values (None, NaN) are empty, and lists are written as JSON.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(_csv_cell, row) for row in rows)
    return text.getvalue()


def _csv_cell(cell: Any) -> Any:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, Mapping | list | tuple):
        cell = json.dumps(cell)
    if not isinstance(cell, str):
        return cell
    text = printable(cell)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
