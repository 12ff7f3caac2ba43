"""Estimates with their intervals, one above the other."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from rave_agents.game.plain_text import shortened
from rave_agents.plots.figures import Picture, literal, panels

LONGEST_NAME = 60
"""Characters of a name."""


class Estimate(NamedTuple):
    """One number with its interval."""

    name: str
    """Its name."""
    value: float
    """The number; infinite or NaN if it is unknown."""
    interval: tuple[float, float] | None = None
    """Its interval, whose ends may be infinite; None without one."""


def plot_estimates(
    estimates: Sequence[Estimate], *, label: str, level: float | None = None, title: str = ""
) -> Picture:
    """Return a picture of estimates, the first on top; an arrow where one has no end.

    Args:
        estimates: the estimates; unknown ones get a name and no mark.
        label: the label of their axis.
        level: the value of a thin reference line, such as 0.5 for an even score.
        title: the title.
    """
    estimates = [Estimate(*estimate) for estimate in estimates]
    names = [shortened(estimate.name, LONGEST_NAME) for estimate in estimates]
    width = 5 + 0.07 * max(map(len, names), default=0)
    picture, (axes,) = panels(1, width=width, height=0.8 + 0.3 * max(1, len(estimates)))
    for place, estimate in enumerate(estimates):
        low, high = estimate.interval or (estimate.value, estimate.value)
        if math.isfinite(estimate.value):
            ends = [end for end in (low, high) if math.isfinite(end)]
            axes.plot(
                [min((*ends, estimate.value)), max((*ends, estimate.value))],
                [place, place],
                color="#7f8fa6",
                linewidth=3,
                zorder=1,
            )
            axes.plot(estimate.value, place, "o", color="#273c75")
        # An arrow at the known end points towards the infinite one.
        for bound, marker, open_end in ((low, ">", high), (high, "<", low)):
            if math.isfinite(bound) and math.isinf(open_end):
                axes.plot(bound, place, marker, color="#7f8fa6")
    axes.set_yticks(range(len(names)), list(map(literal, names)), fontsize=8)
    axes.set(xlabel=label, ylim=(max(1, len(estimates)) - 0.4, -0.6), title=literal(title))
    if level is not None:
        axes.axvline(level, color="grey", linewidth=0.5)
    axes.grid(axis="x", linewidth=0.4)
    return picture
