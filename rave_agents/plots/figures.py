"""Matplotlib figures that a notebook displays without ``plt.show()``."""

import io
import os
import pathlib
from typing import Any

from rave_agents.extras import missing
from rave_agents.files import replacing
from rave_agents.game.plain_text import printable, shortened

try:
    from matplotlib import colormaps, patches, rc_context, rcParams
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize, to_rgba
    from matplotlib.figure import Figure
    from matplotlib.patheffects import withStroke
    from matplotlib.text import Text
except ImportError as error:
    raise ImportError(missing("Pictures need", "plot", "matplotlib")) from error

__all__ = [
    "Axes",
    "Figure",
    "Normalize",
    "Picture",
    "ScalarMappable",
    "colormaps",
    "literal",
    "panels",
    "patches",
    "rc_context",
    "to_rgba",
    "withStroke",
]
"""Import matplotlib; the only place that does, so that one message covers a missing install."""


_LONGEST = 200
"""Characters of a name in a picture."""


class Picture(Figure):
    """A figure that a notebook displays at the end of a cell; ``savefig`` writes it to a file.

    It belongs neither to a window nor to pyplot's global state, so it need not be closed.
    """

    def savefig(self, fname: Any, **options: Any) -> Any:
        """Write it as matplotlib does; a file is replaced whole."""
        if not isinstance(fname, str | os.PathLike):
            return super().savefig(fname, **options)
        path = pathlib.Path(fname)
        kind = options.pop("format", None) or path.suffix[1:]
        if not kind:
            kind = rcParams["savefig.format"]
            path = path.with_name(f"{path.name}.{kind}")
        with replacing(path) as beside:
            return super().savefig(beside, format=kind, **options)

    def draw(self, renderer: Any) -> None:
        """Draw it without TeX, even if the user's settings ask for it: names are no formulas."""
        with rc_context({"text.usetex": False}):
            for text in self.findobj(Text):
                text.set_usetex(False)
            super().draw(renderer)

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, format="png")
        return data.getvalue()


def literal(text: str) -> str:
    """A name that matplotlib writes character by character, not as a formula."""
    return shortened(printable(text, lines=True), _LONGEST).replace("$", r"\$")


def panels(count: int, *, width: float, height: float, dpi: int = 80) -> tuple[Picture, list[Axes]]:
    """Return a picture with panels side by side, each of this width and height in inches."""
    with rc_context({"text.usetex": False}):
        picture = Picture(figsize=(width * count, height), dpi=dpi, layout="constrained")
        return picture, list(picture.subplots(1, count, squeeze=False)[0])
