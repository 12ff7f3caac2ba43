"""Plots of a search result: statistics of the root's actions on the board or as bars."""

import io
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from rave_agents.errors import UnsupportedGameError
from rave_agents.game.arguments import check_names
from rave_agents.plots.board import Board, Place, find_board
from rave_agents.plots.board_plot import CHOSEN, draw_board, number_text
from rave_agents.plots.figures import Axes, Picture, literal, panels

QUANTITIES: Mapping[str, str] = {
    "visits": "visits",
    "value": "value",
    "amaf_visits": "AMAF visits",
    "amaf_value": "AMAF value",
    "outcome": "proven outcome",
    "proof_number": "proof number",
    "disproof_number": "disproof number",
    "prior": "prior",
    "probability": "probability",
}
"""The quantities of an action that can be plotted, with their titles."""
FILM_HEIGHT = 400
"""Rows of a film's picture with a search's statistics."""

_UNPLACED = 3
"""Largest number of actions without a place that are listed below a board."""
_BARS = 20
_SHARE_OF_MOST_VISITS = 0.05
"""Least share of the most visits for an action's value to widen the colour scale."""


def plot_result(
    result: Any, quantities: Sequence[str] = (), *, board: bool | None = None
) -> Picture:
    """Return a picture of a ``SearchResult``: one panel per quantity, the chosen action marked.

    Args:
        result: the result.
        quantities: names of ``QUANTITIES``. By default visits and values, AMAF values if the search
            keeps them, and proven outcomes if there are any.
        board: True for the board, False for bars of the 20 best actions. By default the board if
            one is found on which at least half of the actions have a place, else bars.

    Raises:
        ValueError: for an unknown quantity; the message offers the nearest name.
        UnsupportedGameError: with ``board=True``, if no board can be found.
    """
    check_names("quantity", quantities, QUANTITIES, ValueError)
    quantities = quantities or default_quantities(result)
    found = None if board is False else _board(result, demanded=board is True)
    if found is None:
        shown = min(_BARS, len(result.actions))
        picture, axes = panels(len(quantities), width=3.2, height=1.1 + 0.22 * shown)
    else:
        picture, axes = panels(len(quantities), width=4.0, height=_height(found))
    for panel, quantity in zip(axes, quantities, strict=True):
        if found is None:
            draw_bars(panel, result, quantity)
        else:
            draw_result(panel, result, quantity, board=found)
    return picture


def default_quantities(result: Any) -> tuple[str, ...]:
    """The quantities that are plotted by default."""
    quantities = ["visits", "value"]
    if any(row.amaf_visits > 0 for row in result.actions):
        quantities.append("amaf_value")
    if any(row.outcome is not None for row in result.actions):
        quantities.append("outcome")
    return tuple(quantities)


def _board(result: Any, *, demanded: bool) -> Board | None:
    try:
        board = find_board(result.state)
    except UnsupportedGameError:
        if demanded:
            raise
        return None
    placed = sum(row.action in board.places for row in result.actions)
    return board if demanded or 2 * placed >= len(result.actions) else None


def _height(board: Board) -> float:
    width = max(cell.x for cell in board.cells) + 2.5
    height = 2.5 - min(cell.y for cell in board.cells)
    return 0.7 + 3.2 * max(0.4, height / width)


def numbers_of(result: Any, quantity: str) -> dict[int, float]:
    """Return a quantity of the actions, by action; actions for which it is unknown are missing."""
    numbers = {}
    for row in result.actions:
        number = operator.attrgetter(quantity)(row)
        # Without visits, a value is None and the count says nothing.
        known = row.visits > 0 or quantity not in ("visits", "value")
        if number is not None and known:
            numbers[int(row.action)] = float(number)
    return numbers


def texts_of(result: Any, quantity: str) -> dict[int, str] | None:
    """Return the text for each action; None to write the plain numbers."""
    if quantity != "outcome":
        return None
    texts = {}
    for row in result.actions:
        if row.outcome is not None:
            texts[int(row.action)] = f"{row.outcome:+g}"
            if row.distance is not None:
                texts[int(row.action)] += f"\nin {row.distance}"
    return texts


def draw_result(
    axes: Axes,
    result: Any,
    quantity: str = "visits",
    *,
    board: Board | None = None,
    title: str | None = None,
) -> None:
    """Draw one quantity of a result on its board.

    Args:
        axes: where to draw.
        result: a ``SearchResult``.
        quantity: a name of ``QUANTITIES``.
        board: its board, if it has been found already.
        title: the title; by default the quantity's.

    Raises:
        ValueError: for an unknown quantity.
        UnsupportedGameError: if no board can be found.
    """
    check_names("quantity", [quantity], QUANTITIES, ValueError)
    board = find_board(result.state) if board is None else board
    numbers = _finite(numbers_of(result, quantity))
    proven = quantity == "outcome"
    largest = max((abs(number) for number in numbers.values()), default=1.0) or 1.0
    limits = None
    if proven:  # Green for a gain and red for a loss, in any range of utilities.
        limits = (-largest, largest)
    elif quantity == "value":
        limits = _limits(result, numbers)
    draw_board(
        axes,
        board,
        numbers,
        texts=texts_of(result, quantity),
        rank={int(row.action): float(row.visits) for row in result.actions},
        chosen=result.action,
        title=QUANTITIES[quantity] if title is None else title,
        colours="RdYlGn" if proven else "viridis",
        limits=limits,
        colour_bar=not proven,
    )
    unplaced = _unplaced(result, board.places, numbers)
    if unplaced:
        axes.text(0.5, 0.0, unplaced, transform=axes.transAxes, ha="center", va="top", fontsize=7)


def _limits(result: Any, numbers: Mapping[int, float]) -> tuple[float, float] | None:
    """Ends of a colour scale that ignores the values of rarely visited actions."""
    most = max((row.visits for row in result.actions), default=0)
    sure = {row.action for row in result.actions if row.visits >= _SHARE_OF_MOST_VISITS * most}
    known = [number for action, number in numbers.items() if action in sure]
    return (min(known), max(known)) if len(known) > 1 else None


def _finite(numbers: Mapping[int, float]) -> dict[int, float]:
    """Drop infinite proof numbers, which mark proven actions and do not fit a scale."""
    return {action: n for action, n in numbers.items() if abs(n) != float("inf")}


def _unplaced(result: Any, places: Mapping[int, Place], numbers: Mapping[int, float]) -> str:
    """The text that lists actions without a place on the board, such as a pass."""
    lost = [row.action for row in result.ranked_actions if row.action not in places]
    known = [action for action in lost if action in numbers]
    texts = [
        f"{literal(result.action_name(a))}: {number_text(numbers[a])}" for a in known[:_UNPLACED]
    ]
    more = len(known) - len(texts)
    return ", ".join([*texts, *([f"and {more} more"] if more else [])])


def draw_bars(axes: Axes, result: Any, quantity: str = "visits") -> None:
    """Draw one quantity of a result as bars, the best action at the top.

    Args:
        axes: where to draw.
        result: a ``SearchResult``.
        quantity: a name of ``QUANTITIES``.

    Raises:
        ValueError: for an unknown quantity.
    """
    check_names("quantity", [quantity], QUANTITIES, ValueError)
    numbers = _finite(numbers_of(result, quantity))
    rows = result.ranked_actions[:_BARS]
    texts = texts_of(result, quantity) or {}
    colours = [CHOSEN if row.action == result.action else "#3b6ea5" for row in rows]
    lengths = [numbers.get(row.action, 0.0) for row in rows]
    bars = axes.barh(range(len(rows)), lengths, color=colours)
    written: Callable[[int], str] = lambda a: texts.get(a, number_text(numbers[a]))  # noqa: E731
    labels = [written(row.action) if row.action in numbers else "" for row in rows]
    axes.bar_label(bars, [text.replace("\n", " ") for text in labels], fontsize=6, padding=2)
    names = [literal(result.action_name(row.action)) for row in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=7)
    axes.invert_yaxis()
    axes.margins(x=0.2)
    axes.axvline(0.0, color="grey", linewidth=0.5)
    axes.set_title(QUANTITIES[quantity])
    left_out = len(result.actions) - len(rows)
    if left_out:
        axes.set_xlabel(f"and {left_out} more actions", fontsize=7)


def add_statistics(
    picture: NDArray[np.uint8], result: Any, title: str, quantity: str
) -> NDArray[np.uint8]:
    """A picture with a search's statistics to the right of it; blank space without a search."""
    size = round(picture.shape[1] * FILM_HEIGHT / picture.shape[0]), FILM_HEIGHT
    picture = np.asarray(Image.fromarray(picture).resize(size))
    drawn, axes = panels(1, width=5.0, height=FILM_HEIGHT / 80, dpi=80)
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
    return np.hstack([picture, right[:FILM_HEIGHT]])
