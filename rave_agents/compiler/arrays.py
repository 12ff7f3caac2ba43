"""Declarations of parts' arrays: their rows, their type, and the rows that they point to.

A field of a part that is an array says so by its annotation:

    visits: Annotated[Array, Rows(Axis.EDGE, np.float64)]

Storage allocates, grows, keeps, clears and counts all arrays by these annotations. Rows that no
node, edge, table or child uses yet are filled with ``fill``. How long values last, ``kept`` says.
"""

import enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Axis(enum.IntEnum):
    """Objects that an array has a row for. The first four grow as the search goes on."""

    NODE = 0
    """Every node of the tree."""
    EDGE = 1
    """Every edge of the tree."""
    TABLE = 2
    """Every AMAF table."""
    CHILD = 3
    """Every entry of the table of children."""
    PLACE = 4
    """Every place of the hash table of children: a power of two, at least twice the entries."""
    PATH = 5
    """Every edge of the longest path, and every player."""
    MOVE = 6
    """Every move of the longest simulation."""
    PLAYER = 7
    """Every player of the game."""
    ACTION = 8
    """Every distinct action of the game."""
    ONE = 9
    """One row."""
    FEATURE = 10
    """Every number of an observation, and one that is always 1."""


LANES = 8
"""Rows that a processor works on at once. There are so many more rows of edges than
``Tree.capacity`` says."""

GROWING = (Axis.NODE, Axis.EDGE, Axis.TABLE, Axis.CHILD)
"""The axes that are counted in ``Tree.used`` and ``Tree.capacity``."""

NODE = int(Axis.NODE)
EDGE = int(Axis.EDGE)
TABLE = int(Axis.TABLE)
CHILD = int(Axis.CHILD)


class Kept(enum.Enum):
    """Lifetimes of the values of an array; after it all its items are ``fill`` again."""

    GAME = "game"
    """The game: through all searches of it; rows of nodes, edges, tables and children last while
    these are in the tree."""
    ROOT = "root"
    """Until another position becomes the root, or the tree is dropped."""
    SEARCH = "search"
    """Until another search begins."""
    ALWAYS = "always"
    """The memory's life: for arrays that storage itself writes."""


class Rows(NamedTuple):
    """An array with a row for each item of an axis; flat, row after row."""

    axis: Axis
    """The objects that the array has a row for."""
    dtype: Any
    """The type of its items."""
    inner: tuple[Axis, ...] = ()
    """The axes of each row's items, the last varying fastest; empty for a single item."""
    fill: float = 0
    """The value of items that are not used yet."""
    points_to: Axis | None = None
    """The axis whose rows its items are, ``np.int32``, where they are not negative; None for other
    numbers."""
    length: int = 1
    """Items in each row."""
    kept: Kept = Kept.GAME
    """The lifetime of its values."""


def one(dtype: Any, length: int = 1, fill: float = 0, kept: Kept = Kept.GAME) -> Rows:
    """An array of ``length`` items."""
    return Rows(Axis.ONE, dtype, fill=fill, length=length, kept=kept)


INT = np.int64
FLOAT = np.float64


def whole_lanes(count: int) -> int:
    """A number of rows; in compiled code the next multiple of ``LANES``, which takes less time."""
    return count
