"""Reads the cells of a board from the text of a position.

Games print their boards in few ways: dense (``x.o``) or spaced (``x . o``) rows of equal length,
rows shifted by half a cell (hexagons), or a FEN record; with or without row numbers and column
letters. This module reads all of these without knowing the game.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_VIEWER = re.compile(r"^P\d+ (?=\S)")
"""The prefix of a text that shows the view of one player."""
_ROW_NUMBER = re.compile(r"^(\s*(?:[^\w\s.]\s|[a-z]\s)?\s*)(\d{1,2})(?=\D|\d?\D|$)")
_FEN_FIELD = re.compile(r"(?:\+?[A-Za-z]~?|\d+)+")
_FEN_TOKEN = re.compile(r"\d+|\+?[A-Za-z]~?")
_NO_PIECES = frozenset(
    "|/\\=_:;,?!\u2500\u2502\u250c\u2510\u2514\u2518\u251c\u2524\u252c\u2534\u253c"
)
"""Characters of drawings and sentences, which do not occur in these boards."""
_SHARE_OF_ROWS = 0.7
"""Least share of rows with a cell in a column, for the column to belong to the board."""
_LEAST_CELLS = 4
_LINES_BETWEEN = 3
"""Largest distance in lines between two rows."""


class PrintedCell(NamedTuple):
    """A cell of a printed board."""

    row: int
    """Its row, 0 for the one printed first."""
    column: int
    """Its position in the line, in characters; in a FEN record, in cells."""
    piece: str
    """The printed character or characters."""


class PrintedBoard(NamedTuple):
    """A printed board."""

    cells: tuple[PrintedCell, ...]
    """The cells, row by row."""
    shifted: bool
    """True if each row is shifted by half a cell against the next, as with hexagons."""


class _Row(NamedTuple):
    line: int
    number: int | None
    cells: dict[int, str]
    """The characters, by position in the line."""


def read_board(text: str) -> PrintedBoard | None:
    """The largest board in a text, or None if there is none."""
    lines = _VIEWER.sub("", _COLOURS.sub("", text)).splitlines()
    # A FEN is unmistakable; row numbers are the next best sign, and equal columns the last one.
    for line in lines:
        cells = _fen(line)
        if cells:
            return PrintedBoard(cells, shifted=False)
    numbered = _numbered_rows(lines)
    runs = [numbered] if numbered else _runs(lines)
    boards = [board for run in runs if (board := _board(run)) is not None]
    return max(boards, key=lambda board: len(board.cells), default=None)


def _fen(line: str) -> tuple[PrintedCell, ...]:
    """The cells of a FEN record; empty if the line is not one."""
    words = line.split()
    fields = words[0].split("[")[0].split("/") if words else []
    if len(fields) < 3 or not all(_FEN_FIELD.fullmatch(field) for field in fields):
        return ()
    rows: list[list[str]] = []
    for field in fields:
        row: list[str] = []
        for token in _FEN_TOKEN.findall(field):
            row += ["."] * int(token) if token.isdecimal() else [token.rstrip("~")]
        rows.append(row)
    if len({len(row) for row in rows}) > 1:
        return ()
    return tuple(
        PrintedCell(y, x, piece) for y, row in enumerate(rows) for x, piece in enumerate(row)
    )


def _characters(line: str) -> dict[int, str]:
    """The characters of a line by position, without the brackets around the last move."""
    return {x: char for x, char in enumerate(line) if not char.isspace() and char not in "[]()"}


def _numbered_rows(lines: Sequence[str]) -> list[_Row]:
    """The longest run of lines that begin with row numbers, without the numbers."""
    best: list[_Row] = []
    run: list[_Row] = []
    for index, line in enumerate(lines):
        found = _ROW_NUMBER.match(line)
        if found is None:
            continue
        number = int(found[2])
        # Blanks in place of the number keep the columns; some games repeat it at the row's end.
        rest = " " * found.end() + line[found.end() :]
        rest = re.sub(rf"\s{number}\s*$", "", rest)
        row = _Row(index, number, _characters(rest))
        if run:
            # Numbers must rise or fall by one all the way: other numbered lines are no rows.
            step = number - (run[-1].number or 0)
            expected = step if len(run) == 1 else (run[1].number or 0) - (run[0].number or 0)
            near = index - run[-1].line <= _LINES_BETWEEN
            if not near or abs(step) != 1 or step != expected:
                run = []
        run.append(row)
        if len(run) > len(best):
            best = list(run)
    if len(best) < 3 or any(not row.cells for row in best):
        return []
    return _without_letters(lines, best)


def _without_letters(lines: Sequence[str], rows: list[_Row]) -> list[_Row]:
    """Remove the column letters that havannah prints at the end of rows."""
    above = lines[rows[0].line - 1].split() if rows[0].line > 0 else []
    if not above or above != [chr(ord("a") + place) for place in range(len(above))]:
        return rows
    following = ord("a") + len(above)
    for row in rows:
        last = max(row.cells)
        if row.cells[last] == chr(following) and len(row.cells) > 1:
            del row.cells[last]
            following += 1
    return rows


def _runs(lines: Sequence[str]) -> Iterable[list[_Row]]:
    """Yield runs of consecutive lines that look like rows of one board."""
    run: list[_Row] = []
    for index, line in enumerate(lines):
        cells = _characters(line)
        if not cells:
            continue
        row = _Row(index, None, cells)
        if not _NO_PIECES.isdisjoint(cells.values()):
            yield run
            run = []
            continue
        if run and not (run[-1].cells.keys() == cells.keys() or _half_a_cell_apart(run[-1], row)):
            yield run
            run = []
        run.append(row)
    yield run


def _half_a_cell_apart(one: _Row, other: _Row) -> bool:
    return (
        other.line - one.line == 1
        and _is_spaced(one)
        and _is_spaced(other)
        and (min(one.cells) - min(other.cells)) % 2 == 1
    )


def _is_spaced(row: _Row) -> bool:
    places = sorted(row.cells)
    return all(right - left == 2 for left, right in itertools.pairwise(places))


def _board(rows: Sequence[_Row]) -> PrintedBoard | None:
    if len(rows) < 2 or all(len(row.cells) == 1 for row in rows):
        return None
    shifted = all(_half_a_cell_apart(one, other) for one, other in itertools.pairwise(rows))
    columns = Counter(x for row in rows for x in row.cells)
    # Remarks at the end of some rows, such as captives, are in columns of their own.
    enough = {x for x, count in columns.items() if count >= _SHARE_OF_ROWS * len(rows)}
    cells = tuple(
        PrintedCell(y, x, piece)
        for y, row in enumerate(rows)
        for x, piece in sorted(row.cells.items())
        if shifted or x in enough
    )
    if len(cells) < _LEAST_CELLS or any(cell.piece in _NO_PIECES for cell in cells):
        return None
    return PrintedBoard(cells, shifted)
