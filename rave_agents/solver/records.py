"""Places, numbers and records that the search for a proof works on, see ``search.py``."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.simulate.expansion import Answered, Expansion, Place
from rave_agents.solver.table import Table

# Compiled code takes plain numbers as constants.
HEADER_DEPTH, HEADER_ACTION = int(Place.DEPTH), int(Place.ACTION)
HEADER_PLAYER, HEADER_COUNT = int(Place.PLAYER), int(Place.NUM_ACTIONS)
HEADER_JUDGES = int(Place.JUDGES)
DEPTHS, NUM_PLAYERS = int(Place.DEPTHS), int(Place.NUM_PLAYERS)
HEADER_STATUS, IN_PYTHON = int(Place.STATUS), int(Place.IN_PYTHON)
CAPACITY = int(Place.ACTION_CAPACITY)
EXPANDED, ANSWER_FULL = int(Answered.DONE), int(Answered.FULL)

FAILED, GOES_ON, SETTLED, STACK_FULL, POOL_FULL, LISTS_FULL, NO_TURNS, TABLE_FULL = range(8)
"""Reasons that the search returns: an error of the game, its steps are used up, the root is
settled, a buffer is to be enlarged, a position where no player moves alone, the table is to be
collected."""

DEPTH, ENTERING, NODES, IDLE, LOOPS, TRAIL, NUM_VALUES, ROOM, POOL, WAITING = range(10)
PATHS, VARIES, STRIDE, SHARES, CELL_WORDS, MAY_LOOP = range(10, 16)
"""Places in ``Search.control``: the depth; 1 if the position there is not expanded yet; positions
expanded; those since the table last learned something new; loops met; entries on the trail; the
place of the next value; the most entries of the table before it is collected; room in the pool, on
the trail, and in ``on_path``, which is a power of two; 1 if positions with one parent have differed
by two and more in how many moves they have; the places from one value of this thread to its next; 1
if other threads search the same root; words of a proof's carrier, 0 where none is kept; 1 if
play may come back to a position."""

CONTROL_WORDS = 16

RANKS, MOST_RANK = 1024, 10_000
"""Places for actions in ``Search.decided``, a power of two; what is counted before all is halved.
"""

NO_DEPTH = 2**30
"""The depth that a result rests on which rests on none."""

WIDENING = 4096
"""Positions expanded without anything new after which thresholds are widened twofold: in the limit
the search is a plain depth-first one, which ends."""

MOST_DISTANCE, MOST_VALUES = 65535, 65535

TAKEN = 2**12
"""Places in ``Shared.taken``, a power of two."""

LOW = np.uint64(2**32 - 1)
"""The bits of a key that choose a place in ``on_path``."""

UNTOLD = 0
"""The place of no value: the value is at least, or at most, what the statement says."""


class Statement(NamedTuple):
    """A statement about the root, and about every position below it."""

    player: int
    """The player who is to force it."""
    at_least: float
    """The return."""
    loop_state: int
    """``PROVEN`` or ``REFUTED``: the side that endless play speaks for."""
    loop_value: int
    """The place of endless play's value among the values."""
    salt: int
    """A number of its own, by which its entries are told apart from those of other statements."""
    widening: float
    """ε: thresholds are 1 + ε times the second-best number."""


class Stack(NamedTuple):
    """The path, a node for each depth."""

    first: NDArray[np.int64]
    """The place of the first child in the pool."""
    size: NDArray[np.int64]
    """The number of children."""
    is_own: NDArray[np.int64]
    """1 where the statement's player moves."""
    most_phi: NDArray[np.int64]
    """The threshold of phi."""
    most_delta: NDArray[np.int64]
    """The threshold of delta."""
    chosen: NDArray[np.int64]
    """The place of the child that the path goes to, in the pool."""
    begin: NDArray[np.int64]
    """``NODES`` when the node was entered."""
    trail: NDArray[np.int64]
    """``TRAIL`` when the node was entered."""
    keys: NDArray[np.uint64]
    """[2 * depths] the positions' keys."""
    paths: NDArray[np.uint64]
    """[2 * depths] keys of the paths down to the positions."""
    taken: NDArray[np.int64]
    """1 where the position was written into ``Shared.taken``."""
    image: NDArray[np.int64]
    """The image whose key the position has."""


class Pool(NamedTuple):
    """The children of the nodes on the path, one node's after the other's."""

    action: NDArray[np.int32]
    keys: NDArray[np.uint64]
    """[2 * children]."""
    phi: NDArray[np.int64]
    """The number that counts for the node's phi: it takes so much to decide for the mover."""
    delta: NDArray[np.int64]
    """The one that counts for its delta."""
    word: NDArray[np.uint64]
    """The word of a settled child, see ``table.py``; 0 while it is open."""
    rests: NDArray[np.int64]
    """The depth that what is known rests on, or ``NO_DEPTH``."""
    rank: NDArray[np.int64]
    """Work that the mover's action has decided of late, at other positions."""
    cells: NDArray[np.uint64]
    """[children * CELL_WORDS] the carrier of a settled child's proof, see ``carriers.py``."""
    image: NDArray[np.int64]
    """The image, turned or mirrored, whose key it is."""


class Trail(NamedTuple):
    """Positions that are settled as long as the path stays the same."""

    keys: NDArray[np.uint64]
    """[2 * entries]."""
    word: NDArray[np.uint64]


class Shared(NamedTuple):
    """Words that the threads of a search share, beside the table and the values."""

    ended: NDArray[np.int64]
    """[1] not 0 once all threads are to return."""
    taken: NDArray[np.uint64]
    """[TAKEN] keys of positions on threads' paths, placed by their lowest bits; 0 for none."""


class Search(NamedTuple):
    """All that a search for a proof works on."""

    statement: Statement
    table: Table
    shared: Shared
    expansion: Expansion
    stack: Stack
    pool: Pool
    waiting: Trail
    on_path: NDArray[np.int64]
    """[a power of two] depths of positions on the path by their keys, plus 1; 0 where none is."""
    values: NDArray[np.float64]
    """The values met at ends of games, NaN where there is none yet; the first place is ``UNTOLD``.

    Of several threads each has places of its own, ``STRIDE`` apart, and reads all.
    """
    control: NDArray[np.int64]
    decided: NDArray[np.int64]
    """[2 * RANKS] how much each action has decided of late, for others and for the player."""
    weighed: NDArray[np.int64]
    """Findings of ``weigh``, see ``PHI``."""
    used: NDArray[np.uint64]
    """[3 * CELL_WORDS] the carrier of the node that is left; room for the must-play region, and for
    turned cells."""
    num_cells: int
    """Cells of the board; 1 where proofs have no carriers."""
    num_images: int
    """Images of the board, turned or mirrored, with itself; 1 where proofs have no carriers."""
    turned: NDArray[np.int64]
    """[2, images, cells] each cell's place in each image; each place's cell. As one list."""
    expand_address: int
    header_address: int


PHI, DELTA, BEST, SECOND, OTHERS, DECIDED, LOST, RESTS, FARTHEST = range(9)
"""Places in ``Search.weighed``: the node's numbers; the best child; the second-best phi; open
children beside the best; the child that decides the node for the mover; the settled child that is
best for the mover where none does; the least depth that all settled children rest on; their
greatest distance."""

WEIGHED = 9

NO_CHILD = -1
