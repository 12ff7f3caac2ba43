"""Pictures of a report: ratings, cross table, strength over limits, seconds per move, positions."""

import base64
import html
import io
import math
from typing import Any

from rave_agents.arena.replay import Step
from rave_agents.arena.report_data import ReportData
from rave_agents.errors import UnsupportedGameError
from rave_agents.plots.board import find_board
from rave_agents.plots.board_plot import draw_board
from rave_agents.plots.curves import Curve, draw_curves, plain_ticks
from rave_agents.plots.figures import Picture, colormaps, literal, panels, rc_context
from rave_agents.plots.result_plot import numbers_of
from rave_agents.records.fields import GREATEST

HEAT = "RdYlGn"
"""Colours of the cross table, from score 0 to 1."""


def strength_picture(data: ReportData) -> Picture | None:
    """Ratings over simulations or seconds, a line per kind of agent; None without limits."""
    for unit in ("simulations", "seconds"):
        curves = _strengths(data, unit)
        if any(len(curve.simulations) > 1 for curve in curves.values()):
            picture, (axes,) = panels(1, width=6, height=3.2)
            draw_curves(axes, curves, label="Elo")
            axes.set_xlabel(f"{unit} a move")
            return picture
    return None


def _strengths(data: ReportData, unit: str) -> dict[str, Curve]:
    ratings = data.result.ratings()
    points: dict[str, list[tuple[float, float, float, float]]] = {}
    for name, spec in data.specs.items():
        limit = None if spec is None else spec.parameters.get(unit)
        if spec is None or not _is_limit(limit) or not math.isfinite(ratings[name]):
            continue
        rest = {key: value for key, value in spec.parameters.items() if key != unit}
        kind = str(type(spec)(spec.name, rest))
        ends = (end if math.isfinite(end) else math.nan for end in ratings.interval(name))
        points.setdefault(kind, []).append((float(limit), ratings[name], *ends))  # type: ignore[arg-type]
    return {kind: Curve(*zip(*sorted(found), strict=True)) for kind, found in points.items()}


def _is_limit(value: Any) -> bool:
    """True if a parameter from a file is a number for a logarithmic axis."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 < value <= GREATEST


def seconds_picture(data: ReportData) -> Picture:
    """Mean time per move of each agent, in milliseconds."""
    spent = {name: [0, 0.0] for name in data.result.agents}
    for match in data.result.matches:
        for name, effort in zip(match.agents, match.efforts, strict=True):
            spent[name][0] += effort.moves
            spent[name][1] += effort.seconds
    names = [name for name in data.result.ratings().order if spent[name][0]]
    picture, (axes,) = panels(1, width=6, height=0.8 + 0.3 * max(1, len(names)))
    values = [1000 * spent[name][1] / spent[name][0] for name in names]
    axes.plot(values, range(len(names)), "o", color="#1f3a6e")
    axes.grid(axis="x", linewidth=0.5)
    axes.set_yticks(range(len(names)), list(map(literal, names)), fontsize=8)
    axes.invert_yaxis()
    axes.set(xlabel="milliseconds a move")
    if values and min(values) > 0:
        axes.set_xscale("log")
        plain_ticks(axes, ())
        axes.set_xlim(min(values) / 2, max(values) * 2)
    return picture


def position_picture(step: Step) -> Picture | None:
    """The position with the visits of each move, or with the move only; None without a board."""
    try:
        board = find_board(step.state)
    except UnsupportedGameError:
        return None
    width = max(cell.x for cell in board.cells) - min(cell.x for cell in board.cells) + 2.5
    height = max(cell.y for cell in board.cells) - min(cell.y for cell in board.cells) + 2.5
    picture, (axes,) = panels(1, width=3.4, height=0.4 + 3.0 * min(1.5, max(0.4, height / width)))
    numbers = {} if step.result is None else numbers_of(step.result, "visits")
    shown = {action: number for action, number in numbers.items() if number is not None}
    draw_board(axes, board, shown, chosen=step.action, colour_bar=False)
    return picture


def image(picture: Picture, label: str) -> str:
    """A picture as an HTML element that loads nothing from elsewhere."""
    data = io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "rave-agents"}):
        picture.savefig(data, format="svg", metadata={"Date": None})
    text = base64.b64encode(data.getvalue()).decode("ascii")
    width, height = picture.get_size_inches()
    return (
        f'<img src="data:image/svg+xml;base64,{text}" alt="{html.escape(label, quote=True)}" '
        f'width="{96 * width:.0f}" height="{96 * height:.0f}" loading="lazy">'
    )


def heat_colour(score: float) -> str:
    """The CSS colour of a score in the cross table."""
    red, green, blue, _ = (round(255 * part) for part in colormaps[HEAT](score))
    return f"rgb({red},{green},{blue})"
