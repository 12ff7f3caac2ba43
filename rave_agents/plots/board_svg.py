"""Boards as SVG, with the colours of a style sheet (``STYLE``), light or dark as the page is."""

import dataclasses
import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

from rave_agents.game.board import Board, Cell, Tiling

UNIT = 44.0
"""Distance of neighbours, in the picture's units."""

_MARGIN = 0.45
"""Margin for the names of rows and columns, in distances of neighbours."""

_EDGE = 0.12
"""Margin of boards without names, likewise."""

_STACKED = 0.77
"""Distance of stones on a long cell, such as a point of backgammon, likewise."""

_LEAST_HIT = 0.5
"""Least width and height of the clickable area of a cell, likewise."""

_OF_CHESS = ("chess", "dark_chess", "kriegspiel", "antichess", "crazyhouse")
"""Beginnings of the names of games with the pieces of chess."""

_CHESS = dict(zip("kqrbnp", "♚♛♜♝♞♟", strict=True))

STYLE = """
.board{--b0:#2563eb;--b1:#e4572e;--b2:#2a9d5c;--b3:#8b5cf6;--bline:#b9b3a4;--bcell:#f4efe3;
--bcell2:#e6dcc6;--btext:#6b6557;--heat:#7c3aed;--last:#16a34a;--num:#2b2140;display:block;
width:100%;height:auto;font-family:system-ui,sans-serif;touch-action:manipulation}
.board.stones{--b0:#1b1b1f;--b1:#fdfdfb}
.board.points{--bcell:#e3bd78;--bline:#8a6a35}
.board .shape{fill:var(--bcell);stroke:var(--bline);stroke-width:1}
.board .dark .shape{fill:var(--bcell2)}
.board.points .shape{fill:transparent;stroke:none}
.board .hit{fill:transparent;stroke:none}
.board.pits{--bcell:#e9d9bb}
.board .ground{fill:var(--bcell);stroke:var(--bline)}
.board .line{stroke:var(--bline);stroke-width:1.4;stroke-linecap:round}
.board .label{fill:var(--btext);font-size:13px;text-anchor:middle;dominant-baseline:central}
.board .stone{stroke:#0006;stroke-width:1.2;pointer-events:none}
.board .o0{fill:var(--b0)}.board .o1{fill:var(--b1)}.board .o2{fill:var(--b2)}
.board .o3{fill:var(--b3)}.board .on{fill:#8b8577}
.board .mark{font-size:21px;font-weight:700;text-anchor:middle;dominant-baseline:central;
fill:#fff;pointer-events:none}.board.stones .mark.m1{fill:#222}
.board .last{fill:none;stroke:var(--last);stroke-width:3.2;pointer-events:none}
.board .heat{fill:var(--heat);opacity:0;pointer-events:none;transition:opacity .25s}
.board .heat.held{fill:none;stroke:var(--heat);stroke-width:4px}
.board .num.held{font-size:9px;paint-order:stroke;stroke:var(--bcell);stroke-width:3px}
.board .num{font-size:11.5px;font-weight:600;text-anchor:middle;dominant-baseline:central;
fill:var(--num);pointer-events:none}
.board .s0{stroke:var(--b0)}.board .s1{stroke:var(--b1)}
.board .side{fill:none;stroke-width:6;stroke-linecap:round;stroke-linejoin:round}
@media (prefers-color-scheme:dark){.board{--b0:#5b9bff;--b1:#ff7a54;--bline:#57524a;
--bcell:#35322d;--bcell2:#27251f;--btext:#a59e8e;--heat:#a78bfa;--last:#4ade80;--num:#fff}
.board.stones{--b0:#0e0e10;--b1:#e9e7e1}.board.stones .stone{stroke:#8889}
.board.points{--bcell:#a57c41;--bline:#5e4520;--num:#fff}.board.pits{--bcell:#4a3f2c}}
"""
"""The style sheet of all boards."""

GOALS: Mapping[str, Mapping[str, int]] = {
    name: {"top": 0, "bottom": 0, "left": 1, "right": 1} for name in ("hex", "dark_hex")
}
"""The players who connect the sides of a board, by the short name of the game."""


def board_svg(
    board: Board,
    *,
    last: Sequence[int] = (),
    heat: Mapping[int, float] | None = None,
    name: str = "",
    chequered: bool = False,
    label: str = "Board",
) -> str:
    """Draw a board.

    Each cell is an element ``.cell`` with its index as ``data-cell``; ``.heat`` and ``.num`` of the
    same ``data-at`` show a quantity.

    Args:
        board: the board.
        last: indices of the cells of the last move.
        heat: shares from 0 to 1, by the index of a cell.
        name: the game's name without parameters, for its goals and pieces.
        chequered: whether squares have two colours.
        label: the name of the picture for screen readers.
    """
    left, top, width, height = _frame(board)
    kind = board.tiling.value
    if name.startswith(_OF_CHESS) or (board.tiling is Tiling.POINTS and not _white_begins(board)):
        kind += " stones"
    parts = [
        f'<svg class="board {kind}" viewBox="{left:g} {top:g} {width:g} {height:g}" role="group" '
        f'aria-label="{html.escape(label)}" xmlns="http://www.w3.org/2000/svg">'
    ]
    if board.tiling is Tiling.POINTS:
        parts += _ground(board)
    parts += [
        f'<g class="cell{" dark" * (chequered and _is_dark(cell))}" data-cell="{index}">'
        f"<title>{html.escape(cell_label(board, index))}</title>{_shape(board.tiling, cell)}</g>"
        for index, cell in enumerate(board.cells)
    ]
    parts += _sides(board, GOALS.get(name, {}))
    parts += _labels(board)
    parts.append(f'<g class="pieces">{pieces_svg(board, last=last, name=name)}</g>')
    heat = heat or {}
    for index, cell in enumerate(board.cells):
        x, y = _place(cell)
        share = heat.get(index)
        shown = "" if share is None else f' style="opacity:{0.12 + 0.7 * share:.2f}"'
        radius = 10 if cell.is_narrow else 17
        # A piece stays readable: its cell gets a ring, and the number is at its foot.
        held = "" if cell.piece is None or cell.is_narrow else " held"
        parts.append(
            f'<circle class="heat{held}" data-at="{index}" cx="{x:g}" cy="{y:g}" r="{radius}"'
            f"{shown}/>"
        )
        parts.append(
            f'<text class="num{held}" data-at="{index}" x="{x:g}" y="{y + 14 * bool(held):g}">'
            "</text>"
        )
    return "".join([*parts, "</svg>"])


def pieces_svg(board: Board, *, last: Sequence[int] = (), name: str = "") -> str:
    """Draw the pieces of a board alone, and mark the cells of the last move."""
    # Pieces get letters only if colours do not tell them apart.
    kinds = {(cell.owner, cell.piece) for cell in board.cells if cell.piece is not None}
    owners = [owner for owner, _ in kinds]
    several = any(owners.count(owner) > 1 or owner is None for owner in owners)
    middle = sum(cell.y for cell in board.cells) / max(1, len(board.cells))
    parts = []
    for cell in board.cells:
        if cell.piece is None:
            continue
        owner = "n" if cell.owner is None else str(cell.owner % 4)
        if cell.is_narrow:
            parts.append(_box(board.tiling, cell, f"stone o{owner}"))
            continue
        stones = _stones(cell, middle)
        parts += [
            f'<circle class="stone o{owner}" cx="{x:g}" cy="{y:g}" r="16.5"/>' for x, y in stones
        ]
        mark = _mark(cell.piece, name) if several else ""
        if board.tiling is Tiling.PITS or cell.count > len(stones):
            mark = str(cell.count)
        if mark:
            x, y = stones[-1]
            parts.append(
                f'<text class="mark m{owner}" x="{x:g}" y="{y:g}">{html.escape(mark)}</text>'
            )
    return "".join([*parts, *(ring_svg(board, index, "last") for index in last)])


def _white_begins(board: Board) -> bool:
    """True if seat 0 has white pieces: stones drawn by seat would have the wrong colours."""
    return any(cell.owner == 0 and cell.piece in ("W", "w") for cell in board.cells)


def _stones(cell: Cell, middle: float) -> list[tuple[float, float]]:
    """The places of stones: the middle of a cell, or on a long one from its outer end inwards."""
    x, y = _place(cell)
    room = int(cell.height / _STACKED)
    if room < 3 or cell.count < 1:
        return [(x, y)]
    inwards = 1 if cell.y > middle else -1
    end = y - inwards * UNIT * (cell.height - 1) / 2
    places = range(min(room, cell.count))
    return [(x, round(end + inwards * UNIT * _STACKED * place, 2)) for place in places]


def ring_svg(board: Board, index: int, kind: str) -> str:
    """Draw a ring around a cell; ``kind`` is its class in the style sheet."""
    cell = board.cells[index]
    if not cell.is_regular:
        return _box(board.tiling, cell, kind, more=5.0)
    x, y = _place(cell)
    return f'<circle class="{kind}" cx="{x:g}" cy="{y:g}" r="19"/>'


def cell_label(board: Board, index: int) -> str:
    """A cell in words: its name, or row and column, and its piece."""
    cell = board.cells[index]
    named = board.names[index] if index < len(board.names) else ""
    where = named or f"row {cell.row + 1}, column {cell.column + 1}"
    if cell.piece is None:
        return f"{where}, empty"
    whose = "" if cell.owner is None else f" of seat {cell.owner}"
    piece = cell.piece if cell.piece.isalpha() or len(cell.piece) <= 3 else "piece"
    number = "" if cell.count == 1 else f"{cell.count} times "
    return f"{where}, {number}{piece}{whose}"


def _mark(piece: str, name: str) -> str:
    if name.startswith(_OF_CHESS):
        return _CHESS.get(piece.lower(), piece)
    return piece if len(piece) <= 3 else ""


def _place(cell: Cell) -> tuple[float, float]:
    return round(cell.x * UNIT, 2), round(-cell.y * UNIT, 2)  # In SVG, y grows downwards.


def _frame(board: Board) -> tuple[float, float, float, float]:
    left = min(cell.x - cell.width / 2 for cell in board.cells)
    right = max(cell.x + cell.width / 2 for cell in board.cells)
    top = min(-cell.y - cell.height / 2 for cell in board.cells)
    bottom = max(-cell.y + cell.height / 2 for cell in board.cells)
    named = _MARGIN if board.has_coordinates else _EDGE
    named += 0.2 if board.tiling is Tiling.HEXAGONS else 0.0
    numbers = left - named, top - named, right + _EDGE - left + named, bottom + _EDGE - top + named
    left, top, width, height = (round(UNIT * number, 2) for number in numbers)
    return left, top, width, height


def _is_dark(cell: Cell) -> bool:
    return cell.is_regular and (cell.row + cell.column) % 2 == 1


def _shape(tiling: Tiling, cell: Cell) -> str:
    if tiling is Tiling.HEXAGONS:
        points = " ".join(f"{a:g},{b:g}" for a, b in _corners(*_place(cell)))
        return f'<polygon class="shape" points="{points}"/>'
    wide, high = max(cell.width, _LEAST_HIT), max(cell.height, _LEAST_HIT)
    is_hit = (wide, high) != (cell.width, cell.height)
    larger = dataclasses.replace(cell, width=wide, height=high)
    hit = _box(Tiling.SQUARES, larger, "hit") if is_hit else ""
    return hit + _box(tiling, cell, "shape")


def _box(tiling: Tiling, cell: Cell, kind: str, more: float = 0.0) -> str:
    x, y = _place(cell)
    width, height = UNIT * cell.width + more, UNIT * cell.height + more
    round_by = min(width, height) / 2 if tiling is Tiling.PITS else 0 if cell.is_regular else 3
    corner = f' rx="{round_by:g}"' if round_by else ""
    return (
        f'<rect class="{kind}" x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width:g}" '
        f'height="{height:g}"{corner}/>'
    )


def _corners(x: float, y: float) -> list[tuple[float, float]]:
    radius = UNIT / math.sqrt(3)
    angles = [math.radians(60 * number - 90) for number in range(6)]
    return [
        (round(x + radius * math.cos(a), 2), round(y + radius * math.sin(a), 2)) for a in angles
    ]


def _ground(board: Board) -> list[str]:
    places = [_place(cell) for cell in board.cells]
    xs, ys = zip(*places, strict=True)
    edge = UNIT * 0.5
    ground = (
        f'<rect class="ground" x="{min(xs) - edge:g}" y="{min(ys) - edge:g}" rx="4" '
        f'width="{max(xs) - min(xs) + 2 * edge:g}" height="{max(ys) - min(ys) + 2 * edge:g}"/>'
    )
    ends = ((*places[one], *places[other]) for one, other in board.drawn_lines())
    lines = (
        f'<line class="line" x1="{x:g}" y1="{y:g}" x2="{right:g}" y2="{down:g}"/>'
        for x, y, right, down in ends
    )
    return [ground, *lines]


def _sides(board: Board, goals: Mapping[str, int]) -> list[str]:
    """Lines along the sides of a rhombus of hexagons, in the colours of the players' goals."""
    if not goals or board.tiling is not Tiling.HEXAGONS:
        return []
    rows: dict[int, list[Cell]] = {}
    for cell in board.cells:
        rows.setdefault(cell.row, []).append(cell)
    first, final = rows[min(rows)], rows[max(rows)]
    lefts = [min(row, key=lambda c: c.x) for row in rows.values()]
    rights = [max(row, key=lambda c: c.x) for row in rows.values()]
    # Corners are numbered as in ``_corners``: 0 is the top one, and so on clockwise.
    lines = {
        "top": [(cell, corner) for cell in first for corner in (5, 0, 1)],
        "bottom": [(cell, corner) for cell in final for corner in (4, 3, 2)],
        "left": [(cell, corner) for cell in lefts for corner in (5, 4, 3)],
        "right": [(cell, corner) for cell in rights for corner in (0, 1, 2)],
    }
    drawn = []
    for side, player in goals.items():
        points = [_corners(*_place(cell))[corner] for cell, corner in lines[side]]
        text = " ".join(f"{x:g},{y:g}" for x, y in points)
        drawn.append(f'<polyline class="side s{player}" points="{text}"/>')
    return drawn


def _labels(board: Board) -> list[str]:
    if not board.has_coordinates:
        return []
    parts = []
    first = board.cells[0].row
    beyond = UNIT * (0.95 if board.tiling is Tiling.HEXAGONS else 0.74)
    begun: set[int] = set()
    for cell, name in zip(board.cells, board.names, strict=True):
        x, y = _place(cell)
        letters = name.rstrip("0123456789")
        if cell.row == first and letters:
            parts.append(_label(x, y - beyond, letters))
        if cell.row not in begun and name[len(letters) :]:
            parts.append(_label(x - beyond, y, name[len(letters) :]))
        begun.add(cell.row)
    return parts


def _label(x: float, y: float, text: Any) -> str:
    return f'<text class="label" x="{x:g}" y="{y:g}">{html.escape(str(text))}</text>'
