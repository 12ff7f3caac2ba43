"""Matplotlib figures that a notebook displays without ``plt.show()``."""

import io

try:
    from matplotlib import colormaps
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize, to_rgba
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle, FancyArrowPatch, Patch, Rectangle, RegularPolygon
    from matplotlib.patheffects import withStroke
except ImportError as error:
    raise ImportError(
        "Pictures need matplotlib, which is not installed. Install the extra: "
        'pip install "rave-agents[plot]"'
    ) from error

__all__ = [
    "Axes",
    "Circle",
    "FancyArrowPatch",
    "Figure",
    "Normalize",
    "Patch",
    "Picture",
    "Rectangle",
    "RegularPolygon",
    "ScalarMappable",
    "colormaps",
    "panels",
    "to_rgba",
    "withStroke",
]
"""Import matplotlib; the only place that does, so that one message covers a missing install."""


class Picture(Figure):
    """A figure that a notebook displays at the end of a cell; ``savefig`` writes it to a file.

    It belongs to no window and not to pyplot's global state, so that it needs no closing.
    """

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, format="png")
        return data.getvalue()


def panels(count: int, *, width: float, height: float, dpi: int = 80) -> tuple[Picture, list[Axes]]:
    """Return a picture with panels side by side, each of this width and height in inches."""
    picture = Picture(figsize=(width * count, height), dpi=dpi, layout="constrained")
    return picture, list(picture.subplots(1, count, squeeze=False)[0])
