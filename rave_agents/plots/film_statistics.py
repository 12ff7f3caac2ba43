"""A search's statistics as a picture, beside the picture of an environment."""

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from rave_agents.errors import UnsupportedGameError
from rave_agents.game.arguments import check_names
from rave_agents.plots.figures import literal, panels
from rave_agents.plots.result_plot import QUANTITIES, draw_bars, draw_result

HEIGHT = 400
"""Rows of both pictures together."""


def check_quantity(name: str) -> None:
    """Refuse a quantity that there is not.

    Raises:
        ValueError: if it is none of ``QUANTITIES``.
    """
    check_names("quantity", [name], QUANTITIES, ValueError)


def beside(
    picture: NDArray[np.uint8], result: Any, title: str, *, quantity: str
) -> NDArray[np.uint8]:
    """A picture with a search's statistics to the right of it; without a search, with nothing."""
    size = round(picture.shape[1] * HEIGHT / picture.shape[0]), HEIGHT
    picture = np.asarray(Image.fromarray(picture).resize(size))
    drawn, axes = panels(1, width=5.0, height=HEIGHT / 80, dpi=80)
    if result is None:
        axes[0].set_axis_off()
    else:
        try:
            draw_result(axes[0], result, quantity, title=literal(title) or None)
        except UnsupportedGameError:
            draw_bars(axes[0], result, quantity)
            axes[0].set_title(literal(title) or quantity)
    data = io.BytesIO()
    drawn.savefig(data, format="png")
    right = np.asarray(Image.open(data).convert("RGB"))
    return np.hstack([picture, right[:HEIGHT]])
