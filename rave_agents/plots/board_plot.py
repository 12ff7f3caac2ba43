"""Boards with their stones, and a number for each action on them."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from rave_agents.game.board import Board, Cell, Place, Tiling
from rave_agents.plots.figures import (
    Axes,
    Circle,
    Ellipse,
    FancyArrowPatch,
    Normalize,
    Patch,
    Rectangle,
    RegularPolygon,
    ScalarMappable,
    colormaps,
    literal,
    to_rgba,
    withStroke,
)

_Colour = tuple[float, float, float, float]

STONES = ("#1a1a1a", "#fafafa", "#c0392b", "#2e86c1", "#27ae60", "#f39c12")
"""Colours of the players' stones, from player 0 on."""
NOBODY = "#9e9e9e"
"""Colour of pieces that belong to no player."""
EMPTY = "#f2efe6"
"""Colour of cells without a number."""
CHOSEN = "#e6007e"
"""Colour of the ring around the chosen action."""
_ARROWS = 8
"""Largest number of arrows for moves of pieces; more would cover each other."""
_WIDEST_WITH_TEXT = 13
"""Largest number of columns for which numbers are written into the cells."""


def draw_board(
    axes: Axes,
    board: Board,
    numbers: Mapping[int, float] | None = None,
    *,
    texts: Mapping[int, str] | None = None,
    rank: Mapping[int, float] | None = None,
    chosen: int | None = None,
    title: str = "",
    colours: str = "viridis",
    limits: tuple[float, float] | None = None,
    colour_bar: bool = True,
) -> None:
    """Draw a board, its stones, and a number for each action at the action's place.

    A cell where a stone can be placed takes the colour of its number; a move of a piece gets an
    arrow of that colour, at most eight in all. If several actions place a stone on one cell, the
    largest number counts.

    Args:
        axes: where to draw.
        board: the board from ``find_board``.
        numbers: a number for each action; actions without one, or without a place, are not shown.
        texts: the text for each action; by default its number, if there is room.
        rank: numbers that decide which moves get an arrow, the largest first; by default
            ``numbers``.
        chosen: the action to mark with a ring.
        title: the title above the board.
        colours: the name of a colour map of matplotlib.
        limits: the numbers at the ends of the colour map; by default the least and the largest.
        colour_bar: whether to draw the scale of colours beside the board.
    """
    shown = {a: float(n) for a, n in (numbers or {}).items() if a in board.places}
    scale = ScalarMappable(_normalized(shown, limits), colormaps[colours])
    best: dict[int, int] = {}
    for action in sorted(shown, key=shown.__getitem__):
        if board.places[action].source is None:
            best[board.places[action].target] = action
    _draw_lines(axes, board)
    for index, cell in enumerate(board.cells):
        taken = best.get(index)
        colour = None if taken is None else _colour(scale, shown[taken])
        _draw_cell(axes, board, cell, colour)
        if cell.piece is not None:
            _draw_stone(axes, board, cell)
        if taken is not None and colour is not None:
            text = _text(board, taken, shown[taken], texts)
            axes.text(
                cell.x,
                cell.y,
                text,
                ha="center",
                va="center",
                fontsize=6,
                color=_readable(to_rgba(_stone_colour(cell)) if cell.piece else colour),
            )
    _draw_arrows(axes, board, shown, rank or shown, scale, texts)
    if chosen is not None and chosen in board.places:
        target = board.cells[board.places[chosen].target]
        ring = Circle(
            (target.x, target.y), 0.46, fill=False, edgecolor=CHOSEN, linewidth=2, zorder=6
        )
        ring.set_gid(f"chosen {chosen}")
        axes.add_patch(ring)
    _finish(axes, board, title)
    if shown and colour_bar:
        axes.figure.colorbar(scale, ax=axes, shrink=0.7, pad=0.02)


def _normalized(shown: Mapping[int, float], limits: tuple[float, float] | None) -> Normalize:
    if limits is None:
        limits = (min(shown.values(), default=0.0), max(shown.values(), default=1.0))
    low, high = limits
    return Normalize(low, high if high > low else low + 1.0)


def _text(board: Board, action: int, number: float, texts: Mapping[int, str] | None) -> str:
    if texts is not None:
        return texts.get(action, "")
    widest = max(Counter(cell.row for cell in board.cells).values())
    return number_text(number) if widest <= _WIDEST_WITH_TEXT else ""


def number_text(number: float) -> str:
    """Format a number in few characters."""
    if number == int(number) and abs(number) >= 2:
        return f"{int(number)}" if abs(number) < 10_000 else f"{number / 1000:.0f}k"
    return f"{number:.2f}".replace("0.", ".", 1) if abs(number) < 1 else f"{number:.3g}"


def _colour(scale: ScalarMappable, number: float) -> _Colour:
    red, green, blue, alpha = scale.to_rgba(np.array([number]))[0]
    return (float(red), float(green), float(blue), float(alpha))


def _readable(colour: _Colour) -> str:
    """Return black or white, whichever is readable on a colour."""
    red, green, blue, _ = colour
    return "black" if 0.3 * red + 0.6 * green + 0.1 * blue > 0.5 else "white"


def _draw_lines(axes: Axes, board: Board) -> None:
    """Draw the lines between points."""
    for first, second in board.drawn_lines():
        one, other = board.cells[first], board.cells[second]
        axes.plot([one.x, other.x], [one.y, other.y], color="grey", lw=0.6, zorder=0)


def _draw_cell(axes: Axes, board: Board, cell: Cell, colour: _Colour | None) -> None:
    patch: Patch
    if board.tiling is Tiling.POINTS:
        if colour is None or cell.piece is not None:
            return
        patch = Circle((cell.x, cell.y), 0.42, facecolor=colour, edgecolor="none", zorder=2)
    else:
        middle = (cell.x, cell.y)
        face = EMPTY if colour is None else colour
        if board.tiling is Tiling.HEXAGONS:
            patch = RegularPolygon(middle, 6, radius=0.577, lw=0.6, fc=face, ec="#8a8a8a")
        elif board.tiling is Tiling.PITS:
            patch = Ellipse(middle, cell.width, cell.height, lw=0.6, fc=face, ec="#8a8a8a")
        else:
            patch = _rectangle(cell, face, "#8a8a8a")
    patch.set_gid(f"cell {cell.row} {cell.column}")
    axes.add_patch(patch)


def _stone_colour(cell: Cell) -> str:
    return NOBODY if cell.owner is None else STONES[cell.owner % len(STONES)]


def _rectangle(cell: Cell, face: _Colour | str, edge: str) -> Rectangle:
    corner = (cell.x - cell.width / 2, cell.y - cell.height / 2)
    return Rectangle(corner, cell.width, cell.height, lw=0.6, fc=face, ec=edge)


def _draw_stone(axes: Axes, board: Board, cell: Cell) -> None:
    colour = _stone_colour(cell)
    stone: Patch
    if cell.is_narrow:
        stone = _rectangle(cell, colour, "#1a1a1a")
    else:
        stone = Circle((cell.x, cell.y), 0.4, facecolor=colour, edgecolor="#1a1a1a", linewidth=0.8)
    stone.set_zorder(3)
    stone.set_gid(f"stone {cell.row} {cell.column}")
    axes.add_patch(stone)
    kinds = {other.piece for other in board.cells if other.owner == cell.owner and other.piece}
    counted = board.tiling is Tiling.PITS or cell.count > 1
    piece = str(cell.count) if counted else cell.piece or ""
    if (len(kinds) > 1 or counted) and len(piece) <= 2 and not cell.is_narrow:
        colour = _readable(to_rgba(colour))
        axes.text(
            cell.x,
            cell.y,
            literal(piece),
            ha="center",
            va="center",
            fontsize=8,
            color=colour,
            zorder=4,
        )


def _draw_arrows(
    axes: Axes,
    board: Board,
    shown: Mapping[int, float],
    rank: Mapping[int, float],
    scale: ScalarMappable,
    texts: Mapping[int, str] | None,
) -> None:
    moves = [action for action in shown if board.places[action].source is not None]
    for action in sorted(moves, key=lambda a: rank.get(a, 0.0))[-_ARROWS:]:
        start, end = _ends(board, board.places[action])
        arrow = FancyArrowPatch(
            (start.x, start.y),
            (end.x, end.y),
            arrowstyle="-|>",
            mutation_scale=9,
            linewidth=2,
            color=_colour(scale, shown[action]),
            zorder=5,
        )
        arrow.set_gid(f"move {action}")
        axes.add_patch(arrow)
        text = number_text(shown[action]) if texts is None else texts.get(action, "")
        axes.text(
            0.5 * start.x + 0.5 * end.x,
            0.5 * start.y + 0.5 * end.y,
            text,
            ha="center",
            va="center",
            fontsize=6,
            zorder=7,
            path_effects=[withStroke(linewidth=2, foreground="white")],
        )


def _ends(board: Board, place: Place) -> tuple[Cell, Cell]:
    assert place.source is not None
    return board.cells[place.source], board.cells[place.target]


def _finish(axes: Axes, board: Board, title: str) -> None:
    for x, y, text in _labels(board):
        axes.text(x, y, literal(text), ha="center", va="center", fontsize=7, color="#555555")
    named = board.has_coordinates
    room = 0.8 if named else 0.2
    axes.set(
        xlim=(
            min(cell.x - cell.width / 2 for cell in board.cells) - room,
            max(cell.x + cell.width / 2 for cell in board.cells) + 0.2 + 0.5 * named,
        ),
        ylim=(
            min(cell.y - cell.height / 2 for cell in board.cells) - room,
            max(cell.y + cell.height / 2 for cell in board.cells) + room,
        ),
        aspect="equal",
        title=title,
    )
    axes.axis("off")


def _labels(board: Board) -> list[tuple[float, float, str]]:
    """Write the rows' numbers to their left, and the columns' letters at the end of row 1."""
    if not board.has_coordinates:
        return []
    rows: dict[str, list[Cell]] = {}
    columns: dict[str, list[Cell]] = {}
    for cell, name in zip(board.cells, board.names, strict=True):
        rows.setdefault(name[1:], []).append(cell)
        columns.setdefault(name[0], []).append(cell)
    labels = [(cells[0].x - 0.85, cells[0].y, number) for number, cells in rows.items()]
    first = -1 if board.cells[-1].row == rows["1"][0].row else 0
    lean = _lean(columns)
    up = 1 if first == 0 else -1
    for letter, cells in columns.items():
        labels.append((cells[first].x - up * lean * 0.85, cells[first].y + up * 0.8, letter))
    return labels


def _lean(columns: Mapping[str, list[Cell]]) -> float:
    """Horizontal shift of a column for each row down."""
    longest = max(columns.values(), key=len)
    return (longest[-1].x - longest[0].x) / max(1, longest[-1].row - longest[0].row)
