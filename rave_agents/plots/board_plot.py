"""Boards in figures of matplotlib: the board's SVG, painted, with a number for each action."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

import numpy as np

from rave_agents.game.board import Board, Tiling
from rave_agents.plots.board_svg import STYLE, UNIT, board_svg
from rave_agents.plots.figures import (
    Axes,
    Normalize,
    ScalarMappable,
    colormaps,
    literal,
    patches,
    to_rgba,
    withStroke,
)

_Colour = tuple[float, float, float, float]

NOBODY = "#8b8577"
"""Colour of pieces that belong to no player."""
CHOSEN = "#e6007e"
"""Colour of the ring around the chosen action."""
_ARROWS = 8
"""Largest number of arrows for moves of pieces; more would cover each other."""
_WIDEST_WITH_TEXT = 13
"""Largest number of columns for which numbers are written into the cells."""
_RULE = re.compile(r"^\.board(?:\.(\w+))?\{([^}]*)\}", re.MULTILINE)
_VARIABLE = re.compile(r"--(\w+):(#\w+)")
_LAYERS = {"ground": 0, "line": 1, "shape": 2, "side": 2.5, "stone": 3, "label": 4, "mark": 4}
"""The elements of a board that are painted, by class, and their order; matplotlib's own order would
draw all lines above all patches."""


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
        colour_bar: whether to draw the scale of colours next to the board.
    """
    shown = {a: float(n) for a, n in (numbers or {}).items() if a in board.places}
    low, high = limits or (min(shown.values(), default=0.0), max(shown.values(), default=1.0))
    scale = ScalarMappable(Normalize(low, high if high > low else low + 1.0), colormaps[colours])
    # In rising order, so that the largest number of several actions on a cell is kept.
    placing = [a for a in sorted(shown, key=shown.__getitem__) if board.places[a].source is None]
    best = {board.places[action].target: action for action in placing}
    faces = {index: _colour(scale, shown[action]) for index, action in best.items()}
    stones = _paint(axes, board, faces)
    widest = max(Counter(cell.row for cell in board.cells).values())
    for index, action in best.items():
        cell = board.cells[index]
        text = number_text(shown[action]) if widest <= _WIDEST_WITH_TEXT else ""
        text = text if texts is None else texts.get(action, "")
        # A stone stays readable: the number is at its foot.
        foot = 0.3 if index in stones and not cell.is_narrow else 0.0
        colour = _readable(stones.get(index, faces[index]))
        _write(axes, cell.x, cell.y - foot, text, fontsize=6, color=colour, zorder=5)
    moves = [action for action in shown if board.places[action].source is not None]
    ranks = rank or shown
    for action in sorted(moves, key=lambda a: ranks.get(a, 0.0))[-_ARROWS:]:
        text = number_text(shown[action]) if texts is None else texts.get(action, "")
        _draw_arrow(axes, board, action, _colour(scale, shown[action]), text)
    if chosen is not None and chosen in board.places:
        target = board.cells[board.places[chosen].target]
        ring = patches.Circle((target.x, target.y), 0.46, fill=False, ec=CHOSEN, lw=2, zorder=6)
        ring.set_gid(f"chosen {chosen}")
        axes.add_patch(ring)
    axes.set_title(title)
    if shown and colour_bar:
        axes.figure.colorbar(scale, ax=axes, shrink=0.7, pad=0.02)


def number_text(number: float) -> str:
    """Format a number in few characters."""
    if number == int(number) and abs(number) >= 2:
        return f"{int(number)}" if abs(number) < 10_000 else f"{number / 1000:.0f}k"
    return f"{number:.2f}".replace("0.", ".", 1) if abs(number) < 1 else f"{number:.3g}"


def _colour(scale: ScalarMappable, number: float) -> _Colour:
    red, green, blue, alpha = scale.to_rgba(np.array([number]))[0]
    return (float(red), float(green), float(blue), float(alpha))


def _readable(colour: _Colour | str) -> str:
    red, green, blue, _ = to_rgba(colour)
    return "black" if 0.3 * red + 0.6 * green + 0.1 * blue > 0.5 else "white"


def _write(axes: Axes, x: float, y: float, text: str, **style: Any) -> None:
    axes.text(x, y, text, ha="center", va="center", **style)


def _paint(axes: Axes, board: Board, faces: Mapping[int, _Colour]) -> dict[int, str]:
    """Paint the SVG of a board and fit the axes to it, whose unit is the distance of neighbours.

    Args:
        axes: where to paint.
        board: the board.
        faces: the colours of cells that show a number, by their index.

    Returns:
        The colours of the stones, by the index of their cell.
    """
    root = ElementTree.fromstring(board_svg(board))
    colours = _page_colours(root.get("class", "").split())
    on_points = board.tiling is Tiling.POINTS
    for group in root:
        index = int(group.get("data-cell", -1))
        for element in group.iter():
            _paint_element(axes, element, colours, None if on_points else faces.get(index))
    for index, colour in faces.items() if on_points else ():  # Points have no shape to fill.
        middle = board.cells[index].x, board.cells[index].y
        axes.add_patch(patches.Circle(middle, 0.42, fc=colour, ec="none", zorder=_LAYERS["shape"]))
    left, top, width, height = (float(n) / UNIT for n in root.get("viewBox", "").split())
    # The y of an SVG grows downwards.
    axes.set(xlim=(left, left + width), ylim=(-top - height, -top), aspect="equal")
    axes.axis("off")
    return {
        index: colours.get(f"b{cell.owner}", NOBODY)
        for index, cell in enumerate(board.cells)
        if cell.piece is not None
    }


def _page_colours(kinds: list[str]) -> dict[str, str]:
    """The variables of the boards' style sheet, in light colours, for a board of these classes."""
    light = STYLE.partition("@media")[0]
    rules = [body for kind, body in _RULE.findall(light) if kind in ("", *kinds)]
    face = {"points": "none"}.get(kinds[1])
    found = dict(_VARIABLE.findall("".join(rules)))
    return {**found, "ground": found["bcell"], "shape": face or found["bcell"]}


def _paint_element(
    axes: Axes, element: Any, colours: Mapping[str, str], face: _Colour | None
) -> None:
    kind, owner, *_ = (element.get("class", "") + " - -").split()
    if kind not in _LAYERS:
        return
    layer = _LAYERS[kind]
    own = colours.get(f"b{owner[1:]}", NOBODY)  # of o1, m1 and s1
    if kind in ("mark", "label"):
        size, colour = (8, _readable(own)) if kind == "mark" else (7, "#555555")
        x, y = _numbers(element, "x", "y")
        text = literal(element.text or "")
        _write(axes, x, -y, text, fontsize=size, color=colour, zorder=layer)
    elif kind == "line":
        x1, x2, y1, y2 = _numbers(element, "x1", "x2", "y1", "y2")
        axes.plot([x1, x2], [-y1, -y2], color=colours["bline"], lw=0.6, zorder=layer)
    elif kind == "side":
        axes.plot(*zip(*_points(element), strict=True), color=own, lw=2, zorder=layer)
    else:
        patch = _patch(element)
        if kind == "stone":
            patch.set(facecolor=own, edgecolor="#1a1a1a", lw=0.8, zorder=layer)
        else:
            patch.set(
                facecolor=colours[kind] if face is None or kind == "ground" else face,
                edgecolor="none" if colours[kind] == "none" else colours["bline"],
                lw=0.6,
                zorder=layer,
            )
        axes.add_patch(patch)


def _patch(element: Any) -> patches.Patch:
    tag = element.tag.rpartition("}")[2]  # without the namespace
    if tag == "circle":
        x, y, radius = _numbers(element, "cx", "cy", "r")
        return patches.Circle((x, -y), radius)
    if tag == "polygon":
        return patches.Polygon(_points(element))
    x, y, width, height, corner = _numbers(element, "x", "y", "width", "height", "rx")
    if 2 * corner >= min(width, height):
        return patches.Ellipse((x + width / 2, -y - height / 2), width, height)
    return patches.Rectangle((x, -y - height), width, height)


def _numbers(element: Any, *names: str) -> list[float]:
    return [float(element.get(name, 0.0)) / UNIT for name in names]


def _points(element: Any) -> list[tuple[float, float]]:
    pairs = (pair.split(",") for pair in element.get("points").split())
    return [(float(x) / UNIT, -float(y) / UNIT) for x, y in pairs]


def _draw_arrow(axes: Axes, board: Board, action: int, colour: _Colour, text: str) -> None:
    place = board.places[action]
    assert place.source is not None
    start, end = board.cells[place.source], board.cells[place.target]
    arrow = patches.FancyArrowPatch(
        (start.x, start.y),
        (end.x, end.y),
        arrowstyle="-|>",
        mutation_scale=9,
        linewidth=2,
        color=colour,
        zorder=5,
    )
    arrow.set_gid(f"move {action}")
    axes.add_patch(arrow)
    middle = (start.x + end.x) / 2, (start.y + end.y) / 2
    outline = [withStroke(linewidth=2, foreground="white")]
    _write(axes, *middle, text, fontsize=6, zorder=7, path_effects=outline)
