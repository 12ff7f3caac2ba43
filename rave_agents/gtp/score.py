"""Area scoring of a Go board by the Tromp-Taylor rules."""

import re
from collections.abc import Sequence

BLACK, WHITE, EMPTY = "X", "O", "+"


def go_rows(board: str) -> list[str]:
    """The rows of a Go board as OpenSpiel prints it, from the top."""
    return re.findall(r"^ *\d+ ([+XO]+) *$", board, re.MULTILINE)


def area_score(rows: Sequence[str], komi: float) -> float:
    """Black's area minus White's area and the komi.

    A player's area is their stones and the empty regions that border on their stones alone.
    """
    cells = {(y, x): colour for y, row in enumerate(rows) for x, colour in enumerate(row)}
    score = -komi
    seen: set[tuple[int, int]] = set()
    for place, colour in cells.items():
        if colour != EMPTY:
            score += 1 if colour == BLACK else -1
        elif place not in seen:
            region, borders = _region(cells, place)
            seen |= region
            if borders == {BLACK}:
                score += len(region)
            elif borders == {WHITE}:
                score -= len(region)
    return score


def _region(
    cells: dict[tuple[int, int], str], start: tuple[int, int]
) -> tuple[set[tuple[int, int]], set[str]]:
    """The empty region around a point, and the colours that border on it."""
    region, borders, waiting = {start}, set(), [start]
    while waiting:
        y, x = waiting.pop()
        for near in ((y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)):
            colour = cells.get(near)
            if colour in (BLACK, WHITE):
                borders.add(colour)
            elif colour == EMPTY and near not in region:
                region.add(near)
                waiting.append(near)
    return region, borders


def score_text(score: float) -> str:
    """Format a score as the protocol does: ``B+3.5``, ``W+1``, or ``0`` for a draw."""
    return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"
