"""Curves over simulations."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rave_agents.game.arguments import check_names
from rave_agents.plots.figures import Axes, Picture, panels
from rave_agents.plots.result_plot import QUANTITIES, numbers_of


class Curve(NamedTuple):
    """One line over simulations."""

    simulations: Sequence[float]
    """Where its points are."""
    values: Sequence[float]
    """Their heights."""
    low: Sequence[float] | None = None
    """Lower ends of the intervals around the points; None without intervals."""
    high: Sequence[float] | None = None
    """Upper ends, likewise."""


def draw_curves(
    axes: Axes, curves: Mapping[str, Curve], *, label: str = "", level: float | None = None
) -> None:
    """Draw curves over simulations, on a logarithmic scale, with intervals where there are any.

    Args:
        axes: where to draw.
        curves: the curves by name.
        label: what the values are.
        level: height of a thin line for comparison, such as 0.5 for an even score.

    Raises:
        ValueError: for a curve whose points lack a value or an end of an interval.
    """
    for name, curve in curves.items():
        lengths = {len(part) for part in curve if part is not None}
        if len(lengths) != 1 or (curve.low is None) != (curve.high is None):
            raise ValueError(
                f"The curve {name!r} needs as many values, and low and high ends if any, as "
                "simulations."
            )
        (line,) = axes.plot(curve.simulations, curve.values, "o-", markersize=3, label=name)
        if curve.low is not None and curve.high is not None:
            axes.fill_between(
                curve.simulations, curve.low, curve.high, color=line.get_color(), alpha=0.2, lw=0
            )
    if level is not None:
        axes.axhline(level, color="grey", linewidth=0.5)
    axes.set(xscale="log", xlabel="simulations", ylabel=label)
    if curves:
        axes.legend(fontsize=7)


def plot_curves(
    curves: Mapping[str, Curve], *, label: str = "", level: float | None = None
) -> Picture:
    """Picture of curves over simulations; see ``draw_curves``."""
    picture, (axes,) = panels(1, width=5, height=3)
    draw_curves(axes, curves, label=label, level=level)
    return picture


def action_curves(
    results: Sequence[Any], quantity: str = "visits", *, actions: int = 5
) -> dict[str, Curve]:
    """How the best actions of one position fared as simulations came in.

    Args:
        results: ``SearchResult``s of searches of one position, by rising simulations.
        quantity: a name of ``QUANTITIES``; visits are given as shares of all.
        actions: how many actions, the best of the last result first.

    Raises:
        ValueError: without results, and for a quantity that there is not.
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
