"""Boards: cells with their pieces, and the place of each action.

Most boards are read from the text that a game prints, see ``rave_agents.plots.board``. A game whose
text shows no board declares one by ``drawn_board``.
"""

import dataclasses
import enum
import functools
import re
from collections.abc import Mapping, Sequence

_COORDINATES = re.compile(r"[a-z]\d{1,2}")


class Tiling(enum.StrEnum):
    """The shape of a board's cells."""

    SQUARES = enum.auto()
    HEXAGONS = enum.auto()
    POINTS = enum.auto()
    """Stones are on crossings of lines, as in Go."""
    PITS = enum.auto()
    """Round hollows that hold seeds, as in mancala."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cell:
    """A cell of a board."""

    row: int
    """Its row, 0 at the top."""
    column: int
    """Its column, 0 at the left; where rows are shifted, in half cells."""
    x: float
    """Its centre, to the right, in units of the distance between neighbours."""
    y: float
    """Its centre, upwards, in the same units."""
    piece: str | None
    """The piece on it, as the game prints it; None if it is empty."""
    owner: int | None
    """The player who owns the piece; None if no player does, or the owner is unknown."""
    count: int = 1
    """The number of such pieces on it."""
    width: float = 1.0
    """Its width, in the same units; narrow cells, such as lines, are filled by their piece."""
    height: float = 1.0
    """Its height, likewise."""

    @property
    def is_regular(self) -> bool:
        """True if it is as wide and as high as the distance between neighbours."""
        return self.width == self.height == 1.0

    @property
    def is_narrow(self) -> bool:
        """True if it is too narrow for a stone."""
        return min(self.width, self.height) < 0.75


@dataclasses.dataclass(frozen=True)
class Place:
    """The cell or cells of an action."""

    target: int
    """Index of the cell where a stone is placed, to which a piece moves, or from which one is
    taken."""
    source: int | None = None
    """Index of the cell from which the piece moves; None for an action that places a stone."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Board:
    """The board of a position: its cells, and the place of each action."""

    tiling: Tiling
    """The shape of its cells."""
    cells: tuple[Cell, ...]
    """The cells, row by row from the top."""
    places: Mapping[int, Place]
    """The place of each legal action; actions without a place, such as a pass, are missing."""
    names: tuple[str, ...] = ()
    """The name of each cell, such as ``b3`` in the names of moves; empty if they have none."""
    lines: tuple[tuple[int, int], ...] | None = None
    """Pairs of points that a line joins; None for all neighbours in rows and columns."""

    def drawn_lines(self) -> Sequence[tuple[int, int]]:
        """Return the pairs of cells that a line joins; none unless cells are points."""
        if self.tiling is not Tiling.POINTS:
            return ()
        if self.lines is not None:
            return self.lines
        # By row and column: boards may lack cells, so neighbours may be far apart in the list.
        there = {(cell.row, cell.column): index for index, cell in enumerate(self.cells)}
        return [
            (index, there[neighbour])
            for (row, column), index in there.items()
            for neighbour in ((row, column + 1), (row + 1, column))
            if neighbour in there
        ]

    def owners(self) -> dict[int, int]:
        """Return the owner of each piece, by the index of its cell."""
        return {i: cell.owner for i, cell in enumerate(self.cells) if cell.owner is not None}

    @functools.cached_property
    def has_coordinates(self) -> bool:
        """True if all cells are named by a letter and a number."""
        return bool(self.names) and all(map(_COORDINATES.fullmatch, self.names))
