"""The cells of a board, read from how a game prints a position.

Games print their boards in few ways: dense (``x.o``) or spaced (``x . o``) rows of equal length,
rows that are shifted by half a cell (hexagons), a FEN record; with or without the numbers of the
rows and the letters of the columns around. All of these are read here without knowing the game.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_ROW_NUMBER = re.compile(r"^(\s*(?:[^\w\s.]\s|[a-z]\s)?\s*)(\d{1,2})(?=\D|\d?\D|$)")
_FEN_FIELD = re.compile(r"(?:\+?[A-Za-z]~?|\d+)+")
_FEN_TOKEN = re.compile(r"\d+|\+?[A-Za-z]~?")
_NO_PIECES = frozenset(
    "|/\\=_:;,?!\u2500\u2502\u250c\u2510\u2514\u2518\u251c\u2524\u252c\u2534\u253c"
)
"""Characters of drawings and sentences, which are no boards of this kind."""
_SHARE_OF_ROWS = 0.7
"""A column belongs to the board if so many of its rows have a cell there."""
_LEAST_CELLS = 4
_LINES_BETWEEN = 3
"""How many lines apart two rows may be printed."""


class PrintedCell(NamedTuple):
    """A cell of a printed board."""

    row: int
    """Its row, 0 for the one that is printed first."""
    column: int
    """Its place in the line, in characters or, in a FEN record, in cells."""
    piece: str
    """What is printed there."""


class PrintedBoard(NamedTuple):
    """A board as it is printed."""

    cells: tuple[PrintedCell, ...]
    """The cells, row by row."""
    shifted: bool
    """Whether rows are shifted by half a cell against the next, as hexagons are."""


class _Row(NamedTuple):
    line: int
    number: int | None
    cells: dict[int, str]
    """The characters by their place in the line."""


def read_board(text: str) -> PrintedBoard | None:
    """The largest board in a text, or None if there is none."""
    lines = _COLOURS.sub("", text).splitlines()
    for line in lines:
        cells = _fen(line)
        if cells:
            return PrintedBoard(cells, shifted=False)
    numbered = _numbered_rows(lines)
    runs = [numbered] if numbered else _runs(lines)
    boards = [board for run in runs if (board := _board(run)) is not None]
    return max(boards, key=lambda board: len(board.cells), default=None)


def _fen(line: str) -> tuple[PrintedCell, ...]:
    """The cells of a FEN record; none if the line is not one."""
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
    """What is printed where; brackets around the last move are no cells."""
    return {x: char for x, char in enumerate(line) if not char.isspace() and char not in "[]()"}


def _numbered_rows(lines: Sequence[str]) -> list[_Row]:
    """The longest run of lines that begin with the numbers of their rows, without these."""
    best: list[_Row] = []
    run: list[_Row] = []
    for index, line in enumerate(lines):
        found = _ROW_NUMBER.match(line)
        if found is None:
            continue
        number = int(found[2])
        rest = " " * found.end() + line[found.end() :]
        rest = re.sub(rf"\s{number}\s*$", "", rest)
        row = _Row(index, number, _characters(rest))
        if run:
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
    """Without the letters of columns that go on behind the rows, as havannah prints them."""
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
    """Lines that follow each other and look like rows of one board."""
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
        if run and not (_same_columns(run[-1], row) or _half_a_cell_apart(run[-1], row)):
            yield run
            run = []
        run.append(row)
    yield run


def _same_columns(one: _Row, other: _Row) -> bool:
    return one.cells.keys() == other.cells.keys()


def _half_a_cell_apart(one: _Row, other: _Row) -> bool:
    return (
        other.line - one.line == 1
        and _is_spaced(one)
        and _is_spaced(other)
        and (min(one.cells) - min(other.cells)) % 2 == 1
    )


def _is_spaced(row: _Row) -> bool:
    """Whether there is one blank between any two cells."""
    places = sorted(row.cells)
    return all(right - left == 2 for left, right in itertools.pairwise(places))


def _board(rows: Sequence[_Row]) -> PrintedBoard | None:
    if len(rows) < 2 or all(len(row.cells) == 1 for row in rows):
        return None
    shifted = all(_half_a_cell_apart(one, other) for one, other in itertools.pairwise(rows))
    columns = Counter(x for row in rows for x in row.cells)
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
