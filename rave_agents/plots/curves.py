"""Curves over simulations."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rave_agents.game.arguments import check_names
from rave_agents.plots.figures import Axes, Picture, literal, panels
from rave_agents.plots.result_plot import QUANTITIES, numbers_of

MOST_TICKS = 6
"""Maximum number of points of an axis that each get a tick."""


class Curve(NamedTuple):
    """One line over simulations."""

    simulations: Sequence[float]
    """The numbers of simulations of its points."""
    values: Sequence[float]
    """The values at the points."""
    low: Sequence[float] | None = None
    """Lower ends of the intervals around the points; None without intervals."""
    high: Sequence[float] | None = None
    """Upper ends of the intervals around the points; None without intervals."""


def draw_curves(
    axes: Axes, curves: Mapping[str, Curve], *, label: str = "", level: float | None = None
) -> None:
    """Draw curves over simulations on a logarithmic axis, with intervals where they are given.

    Args:
        axes: where to draw.
        curves: the curves by name.
        label: the label of the values' axis.
        level: the value of a thin reference line, such as 0.5 for an even score.

    Raises:
        ValueError: for a curve whose values or interval ends differ in number from its points.
    """
    for name, curve in curves.items():
        lengths = {len(part) for part in curve if part is not None}
        if len(lengths) != 1 or (curve.low is None) != (curve.high is None):
            raise ValueError(
                f"The curve {name!r} must have as many values, low ends and high ends as "
                "simulations."
            )
        # A label that begins with an underscore would be left out.
        shown = f" {literal(name)}" if name.startswith("_") else literal(name)
        (line,) = axes.plot(curve.simulations, curve.values, "o-", markersize=3, label=shown)
        if curve.low is not None and curve.high is not None:
            axes.fill_between(
                curve.simulations, curve.low, curve.high, color=line.get_color(), alpha=0.2, lw=0
            )
    if level is not None:
        axes.axhline(level, color="grey", linewidth=0.5)
    if not any(math.isfinite(value) for curve in curves.values() for value in curve.values):
        # Where nothing is drawn, a logarithmic axis has no ends.
        points = [point for curve in curves.values() for point in curve.simulations] or [1.0]
        axes.set_xlim(min(points) / 1.1, max(points) * 1.1)
    axes.set(xscale="log", xlabel="simulations", ylabel=label)
    plain_ticks(axes, [point for curve in curves.values() for point in curve.simulations])
    if curves:
        axes.legend(fontsize=7)


def plain_ticks(axes: Axes, points: Sequence[float]) -> None:
    """Write the ticks of a logarithmic axis as plain numbers, at the points if these are few."""
    distinct = sorted(set(points))
    if 0 < len(distinct) <= MOST_TICKS:
        axes.set_xticks(distinct)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.15g}")
    axes.xaxis.set_minor_formatter(lambda value, _: "")


def plot_curves(
    curves: Mapping[str, Curve], *, label: str = "", level: float | None = None
) -> Picture:
    """Return a picture of curves over simulations; see ``draw_curves``."""
    picture, (axes,) = panels(1, width=5, height=3)
    draw_curves(axes, curves, label=label, level=level)
    return picture


def action_curves(
    results: Sequence[Any], quantity: str = "visits", *, actions: int = 5
) -> dict[str, Curve]:
    """Return curves of a quantity of the best actions of one position, over simulations.

    Args:
        results: ``SearchResult``s of searches of one position, by rising simulations.
        quantity: a name of ``QUANTITIES``; visits are shares of all visits.
        actions: the number of actions, the best of the last result first.

    Raises:
        ValueError: if there are no results, or for an unknown quantity.
    """
    check_names("quantity", [quantity], QUANTITIES, ValueError)
    if not results:
        raise ValueError("results must not be empty.")
    curves = {}
    for row in results[-1].ranked_actions[:actions]:
        points = []
        for result in results:
            number = numbers_of(result, quantity).get(row.action)
            if quantity == "visits":
                number = (number or 0.0) / max(1, sum(other.visits for other in result.actions))
            if number is not None:
                points.append((result.root_visits, number))
        if points:
            simulations, values = zip(*points, strict=True)
            curves[results[-1].action_name(row.action)] = Curve(simulations, values)
    return curves
