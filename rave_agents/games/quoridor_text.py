"""The text of a board of Quoridor, as OpenSpiel writes it."""

from collections.abc import Sequence
from typing import Any

from rave_agents.games.coordinates import cell_name

PLAIN = [""] * 4, [" 0 ", " @ ", " # ", " % "], ""
"""Colours of coordinates (below, above, left, right), pawns, and the end of a colour."""

COLOURS = [f"\033[1;{number}m" for number in range(33, 37)]

RESET = "\033[0m"

COLOURED = COLOURS, [f"{COLOURS[at]} {'O@#%'[at]} {RESET}" for at in range(4)], RESET
"""The same for terminals."""


def board_text(cells: Any, walls: Sequence[int], *, coloured: bool) -> str:
    """A grid of squares and walls, with its coordinates, under the numbers of walls left.

    Args:
        cells: [rows, columns] 0 for an empty place, one more than the pawn's player, or a wall.
        walls: how many walls each player has left, in the order of turns.
        coloured: write control characters for a terminal's colours.
    """
    colours, pawns, end = COLOURED if coloured else PLAIN
    size = (len(cells) + 1) // 2
    below, above = (
        "".join(f"   {colour}{cell_name(column, 0)[0]}" for column in range(size)) + end
        for colour in colours[:2]
    )
    lines = [f"Board size: {size}, walls: {', '.join(map(str, walls))}", above]
    for line, row in enumerate(cells.tolist()):
        signs = "".join(_sign(line, place, kind, pawns) for place, kind in enumerate(row))
        number = str(line // 2 + 1)
        sides = [f"{' ' * (2 - len(number))}{colour}{number}{end}" for colour in colours[2:]]
        lines.append(signs.join(sides if line % 2 == 0 else ["  ", "  "]))
    return "\n".join([*lines, below, ""])


def _sign(line: int, place: int, kind: int, pawns: Sequence[str]) -> str:
    """The text of one place of the grid."""
    if line % 2 == 0 and place % 2 == 0:
        return pawns[kind - 1] if kind > 0 else " . "
    wall = "+" if line % 2 == place % 2 else "|" if place % 2 == 1 else "---"
    return wall if kind > 0 else " " * len(wall)
