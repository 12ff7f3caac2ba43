"""The contract between the solver and a game: positions one move after the other, and their keys.

A solver walks down a path of positions and back. It calls the game by the address of one C
function, an *expander*: "at this depth, the position after this action; who moves there, the legal
actions, and for each the key of the position after it, or the returns if it ends the game". Depth 0
is the root. The expander keeps a position for each depth, copied from the one above it: nothing is
undone.
"""

import enum
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

HEADER_WORDS = 28

MOST_CARRIER_WORDS = 4
"""Maximum words of a proof's carrier; games with more cells than bits keep no carriers."""

FORESEEN = 2
"""An end that is not played out: the player who moved last wins against any play."""


class Place(enum.IntEnum):
    """Places in the header of an expansion."""

    DEPTH = 0
    """In: the depth of the position; the one above it, if any, was expanded last at its depth."""
    ACTION = 1
    """In: the action that leads there from the depth above; of no meaning at depth 0."""
    PLAYER = 2
    """Out: who moves there, a player or ``PlayerId.CHANCE``."""
    NUM_ACTIONS = 3
    """Out: legal actions there."""
    COUNT_MOVES = 4
    """In: 1 to count the moves of each position after an action, else 0."""
    STATUS = 5
    """Out, of an expander in Python: the status, since a callback's return value may be lost."""
    IN_PYTHON = 6
    """Constant: 1 if the expander runs in Python."""
    REQUIRED_ACTIONS = 7
    """Out: with ``FULL`` the capacity needed; after a refusal the number given."""
    REQUIRED_MOVES = 8
    """Out: after a refusal, its code."""
    PROVIDER = 9
    """Constant: address of the expander's own data."""
    ACTION_CAPACITY = 10
    """Constant: the most legal actions that fit."""
    NUM_PLAYERS = 11
    """Constant: the players of the game."""
    ACTIONS = 12
    """Constant: address of ``Expansion.actions``."""
    ENDS = 13
    RETURNS = 14
    KEYS = 15
    MOVES = 16
    CHANCES = 17
    MOVERS = 18
    IMAGES = 19
    CARRIERS = 20
    STACK = 21
    """Constant: address of the expander's positions."""
    DEPTHS = 22
    """Constant: how many positions the expander has room for."""
    CARRIER_WORDS = 23
    """In: words of a proof's carrier, 0 where none is kept."""
    FORESEE = 24
    """In: 1 where winners may be foreseen, else 0."""
    JUDGES = 25
    """Constant: 1 if a value function fills ``Expansion.values``, else 0."""
    WEIGHTS = 26
    """Constant: address of the value function's own numbers."""
    VALUES = 27
    """Constant: address of ``Expansion.values``."""


class Answered(enum.IntEnum):
    """Return values of an expander."""

    FAILED = 0
    """An error, which the expander keeps for ``raise_pending``."""
    DONE = 1
    FULL = 2
    """There is no room for so many actions."""


class Expansion(NamedTuple):
    """The buffers that a solver and an expander share."""

    header: NDArray[np.int64]
    """See ``Place``."""
    actions: NDArray[np.int32]
    """[actions] the legal actions, or the outcomes of chance."""
    ends: NDArray[np.int8]
    """[actions] 1 where the game is over after the action, ``FORESEEN`` where its winner is
    certain, else 0."""
    returns: NDArray[np.float64]
    """[actions * players] the returns where it is over."""
    keys: NDArray[np.uint64]
    """[2 * actions] the key of the position after each action where it is not over."""
    moves: NDArray[np.int32]
    """[actions] the number of moves after each action if they are counted, else 1. Where the winner
    is foreseen, the maximum number of moves left."""
    chances: NDArray[np.float64]
    """[actions] the probabilities of the outcomes where chance moves."""
    movers: NDArray[np.int32]
    """[actions] who moves after each action where the game is not over."""
    images: NDArray[np.int8]
    """[actions] the symmetry (rotation or reflection) under which the key after each action was
    taken; 0 for the identity."""
    carriers: NDArray[np.uint64]
    """[actions * words] where the winner is foreseen, the carrier: the empty cells that the win
    needs, a bit for each, with room for ``MOST_CARRIER_WORDS`` words an action."""
    values: NDArray[np.float64]
    """[actions] with ``JUDGES``, the expectation of the player who moves after each action, where
    the game is not over: from 0 for the least return to 1 for the greatest."""


def make_expansion(num_players: int, capacity: int) -> Expansion:
    """Buffers for so many legal actions."""
    made = Expansion(
        np.zeros(HEADER_WORDS, np.int64),
        np.zeros(capacity, np.int32),
        np.zeros(capacity, np.int8),
        np.zeros(capacity * num_players),
        np.zeros(2 * capacity, np.uint64),
        np.ones(capacity, np.int32),
        np.zeros(capacity),
        np.zeros(capacity, np.int32),
        np.zeros(capacity, np.int8),
        np.zeros(MOST_CARRIER_WORDS * capacity, np.uint64),
        np.zeros(capacity),
    )
    made.header[Place.ACTION_CAPACITY] = capacity
    made.header[Place.NUM_PLAYERS] = num_players
    # Addresses follow the order of the fields; ``values`` was added behind constants in use.
    arrays: Any = made[1:]
    places = *range(Place.ACTIONS, Place.STACK), Place.VALUES
    for place, array in zip(places, arrays, strict=True):
        made.header[place] = array.ctypes.data
    return made


class Expander(Protocol):
    """A game as the solver calls it; it keeps one position for each depth."""

    outside_interpreter: bool
    """True if no Python runs in it, so that several threads may expand at the same time."""

    @property
    def address(self) -> int:
        """Address of ``int32_t expand(int64_t header)``, which gives an ``Answered``."""

    def bind(self, expansion: Expansion) -> None:
        """Use these buffers from now on."""

    def set_root(self, state: Any) -> bool:
        """Begin at another position of the same game; returns False if this expander cannot."""

    def reserve(self, depths: int) -> None:
        """Make room for so many positions, and keep those in use."""

    def root_key(self) -> tuple[int, int]:
        """The root's key."""

    def raise_pending(self) -> None:
        """Raise the error that ended the last expansion."""
