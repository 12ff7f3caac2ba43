"""Indices, constants and records of the proof search, see ``search.py``."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.simulate.expansion import Answered, Expansion, Place
from rave_agents.solver.table import Table

# Numba compiles plain integers as constants, not enumerations.
HEADER_DEPTH, HEADER_ACTION = int(Place.DEPTH), int(Place.ACTION)
HEADER_PLAYER, HEADER_COUNT = int(Place.PLAYER), int(Place.NUM_ACTIONS)
HEADER_JUDGES = int(Place.JUDGES)
DEPTHS, NUM_PLAYERS = int(Place.DEPTHS), int(Place.NUM_PLAYERS)
HEADER_STATUS, IN_PYTHON = int(Place.STATUS), int(Place.IN_PYTHON)
CAPACITY = int(Place.ACTION_CAPACITY)
EXPANDED, ANSWER_FULL = int(Answered.DONE), int(Answered.FULL)

FAILED, GOES_ON, SETTLED, STACK_FULL, POOL_FULL, LISTS_FULL, NO_TURNS, TABLE_FULL = range(8)
"""Reasons why the search returns: an error in the game, no steps left, root settled, a full buffer,
a position without a single mover, a full table."""

DEPTH, ENTERING, NODES, IDLE, LOOPS, TRAIL, NUM_VALUES, ROOM, POOL, WAITING = range(10)
PATHS, VARIES, STRIDE, SHARES, CELL_WORDS, MAY_LOOP = range(10, 16)
"""Indices in ``Search.control``: the depth; 1 if the position there is not yet expanded; positions
expanded; positions expanded since the table last gained an entry; loops met; entries on the trail;
index of the next value; table entries at which it is collected; capacity of the pool, of the trail
and of ``on_path`` (a power of two); 1 once siblings have differed by two or more in their number of
moves; stride between this thread's values; 1 if other threads search the same root; words of a
carrier, 0 without carriers; 1 if positions may repeat."""

CONTROL_WORDS = 16

RANKS, MOST_RANK = 1024, 10_000
"""Size of ``Search.decided`` per side, a power of two; all counts are halved when one exceeds the
maximum.
"""

NO_DEPTH = 2**30
"""The depth of a result that depends on no loop."""

WIDENING = 4096
"""After this many expansions without a new entry, thresholds double: in the limit the search is
plain depth-first, which terminates."""

MOST_DISTANCE, MOST_VALUES = 65535, 65535

TAKEN = 2**12
"""Size of ``Shared.taken``, a power of two."""

LOW = np.uint64(2**32 - 1)
"""The bits of a key that select a place in ``on_path``."""

NO_VALUE = 0
"""Index for "no value stored": only the statement's bound is known."""


class Statement(NamedTuple):
    """A statement about the root, and about every position below it."""

    player: int
    """The player who forces it."""
    at_least: float
    """The return."""
    loop_state: int
    """``PROVEN`` or ``REFUTED``: the result of endless play."""
    loop_value: int
    """Index of the value of endless play."""
    salt: int
    """Separates its table entries from those of other statements."""
    widening: float
    """ε: thresholds are 1 + ε times the second-best number."""


class Stack(NamedTuple):
    """The path: one node per depth."""

    first: NDArray[np.int64]
    """Index of the first child in the pool."""
    size: NDArray[np.int64]
    """The number of children."""
    is_own: NDArray[np.int64]
    """1 at OR nodes, where the statement's player moves."""
    most_phi: NDArray[np.int64]
    """The threshold of phi."""
    most_delta: NDArray[np.int64]
    """The threshold of delta."""
    chosen: NDArray[np.int64]
    """Index in the pool of the child on the path."""
    begin: NDArray[np.int64]
    """``NODES`` when the node was entered."""
    trail: NDArray[np.int64]
    """``TRAIL`` when the node was entered."""
    keys: NDArray[np.uint64]
    """[2 * depths] the positions' keys."""
    paths: NDArray[np.uint64]
    """[2 * depths] keys of the paths to the positions."""
    taken: NDArray[np.int64]
    """1 if the position was written to ``Shared.taken``."""
    image: NDArray[np.int64]
    """The symmetric image that gave the position's key."""


class Pool(NamedTuple):
    """The children of the nodes on the path, node after node."""

    action: NDArray[np.int32]
    keys: NDArray[np.uint64]
    """[2 * children]."""
    phi: NDArray[np.int64]
    """The child's number for the node's phi: the effort to decide in the mover's favour."""
    delta: NDArray[np.int64]
    """The child's number for the node's delta: the effort to decide against the mover."""
    word: NDArray[np.uint64]
    """The word of a settled child, see ``table.py``; 0 while it is open."""
    rests: NDArray[np.int64]
    """The depth that the result depends on through a loop, or ``NO_DEPTH``."""
    rank: NDArray[np.int64]
    """How much work the action has recently decided at other positions."""
    cells: NDArray[np.uint64]
    """[children * CELL_WORDS] the carrier of a settled child's proof, see ``carriers.py``."""
    image: NDArray[np.int64]
    """The rotated or reflected image that gave the key."""


class Trail(NamedTuple):
    """Positions settled only as long as the path stays the same."""

    keys: NDArray[np.uint64]
    """[2 * entries]."""
    word: NDArray[np.uint64]


class Shared(NamedTuple):
    """Words shared by the threads, in addition to the table and the values."""

    ended: NDArray[np.int64]
    """[1] nonzero once all threads are to return."""
    taken: NDArray[np.uint64]
    """[TAKEN] keys of positions on threads' paths, indexed by their lowest bits; 0 if free."""


class Search(NamedTuple):
    """The data of a proof search."""

    statement: Statement
    table: Table
    shared: Shared
    expansion: Expansion
    stack: Stack
    pool: Pool
    waiting: Trail
    on_path: NDArray[np.int64]
    """[a power of two] hash table of the path: depth + 1 by key; 0 if free."""
    values: NDArray[np.float64]
    """The values met at ends of games, NaN where unused; index 0 is ``NO_VALUE``.

    Each of several threads writes its own places, ``STRIDE`` apart, and reads all.
    """
    control: NDArray[np.int64]
    decided: NDArray[np.int64]
    """[2 * RANKS] how much work each action has decided recently, for others and for the player."""
    weighed: NDArray[np.int64]
    """Results of ``weigh``, see ``PHI``."""
    used: NDArray[np.uint64]
    """[3 * CELL_WORDS] the carrier of the node being left; the must-play region; a carrier mapped
    to an image."""
    num_cells: int
    """Cells of the board; 1 if proofs have no carriers."""
    num_images: int
    """Symmetric images of the board, including itself; 1 if proofs have no carriers."""
    turned: NDArray[np.int64]
    """[2, images, cells] as one list: the map of cells to places in each image, and its inverse."""
    expand_address: int
    header_address: int


PHI, DELTA, BEST, SECOND, OTHERS, DECIDED, LOST, RESTS, FARTHEST = range(9)
"""Indices in ``Search.weighed``: the node's numbers; the best child; the second-best phi; delta's
share of the open children but one; the child that decides the node for the mover; else the settled
child that is best for the mover; the least depth that the settled children depend on; their
greatest distance."""

WEIGHED = 9

NO_CHILD = -1
