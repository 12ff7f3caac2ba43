"""Boards of games whose text shows none: rows of pits, grids of wide and narrow lines."""

from collections.abc import Mapping, Sequence

from rave_agents.game.board import Board, Cell, Place, Tiling

PITCH = 1.6
"""The width of a wide and a narrow row of a grid together: room for a stone, and to click."""

Content = tuple[str, int | None]
"""A piece, and its owner."""


def drawn_pits(
    rows: Sequence[Sequence[int]], stores: Sequence[int], places: Mapping[int, Place], piece: str
) -> Board:
    """Two rows of pits between two stores, player 1's above.

    Cells are player 1's store, their pits from the left, player 0's pits and their store.

    Args:
        rows: the seeds in each player's pits, in the order in which they are sown.
        stores: the seeds that each player has taken.
        places: the cell of each action.
        piece: the name of a seed.
    """
    width = len(rows[0])
    layout = [
        (0, 0, stores[1], 1),
        *((0, 1 + place, count, 1) for place, count in enumerate(reversed(rows[1]))),
        *((1, 1 + place, count, 0) for place, count in enumerate(rows[0])),
        (1, 1 + width, stores[0], 0),
    ]
    cells = tuple(
        Cell(
            row=row,
            column=column,
            x=1.1 * column,
            y=-0.55 if column in (0, 1 + width) else -1.1 * row,
            height=2.0 if column in (0, 1 + width) else 1.0,
            piece=piece if count else None,
            owner=owner if count else None,
            count=int(count),
        )
        for row, column, count, owner in layout
    )
    names = (
        "store of seat 1",
        *(f"pit {width - place} of seat 1" for place in range(width)),
        *(f"pit {1 + place} of seat 0" for place in range(width)),
        "store of seat 0",
    )
    return Board(tiling=Tiling.PITS, cells=cells, places=places, names=names)


def pit_cell(player: int, pit: int, width: int) -> int:
    """The index of the cell of a pit on a board of ``drawn_pits``."""
    return 1 + width + pit if player == 0 else width - pit


def drawn_grid(
    contents: Sequence[Content | None],
    columns: int,
    places: Mapping[int, int | Place],
    *,
    wide: float,
    first_is_wide: bool,
) -> Board:
    """A grid in which wide rows and columns alternate with narrow ones.

    Args:
        contents: what is on each cell, row after row; None for nothing.
        columns: the number of columns.
        places: the cell of each action, or its place.
        wide: the share that a wide row has of it and a narrow one.
        first_is_wide: whether the first row and column are wide.
    """
    sizes = [PITCH * wide, PITCH * (1 - wide)]
    if not first_is_wide:
        sizes.reverse()
    cells = []
    for at, content in enumerate(contents):
        row, column = divmod(at, columns)
        piece, owner = content or (None, None)
        cells.append(
            Cell(
                row=row,
                column=column,
                x=PITCH * column / 2,
                y=-PITCH * row / 2,
                piece=piece,
                owner=owner,
                width=sizes[column % 2],
                height=sizes[row % 2],
            )
        )
    found = {a: Place(each) if isinstance(each, int) else each for a, each in places.items()}
    return Board(tiling=Tiling.SQUARES, cells=tuple(cells), places=found)


def square_cell(row: int, column: int, piece: str | None, owner: int | None) -> Cell:
    """A cell of a board of squares."""
    return Cell(row=row, column=column, x=float(column), y=float(-row), piece=piece, owner=owner)
