"""The visit of one history: the interface between a game and the search of information sets.

A history is a sequence of actions and chance outcomes from the start of a game. The search asks the
game about each history once: who moves there, what is legal or what chance may do, and which
information set it belongs to; at the end of the game, the returns. Instead of listing the actions,
a visit may play on at random and give the returns of that playout.

Players who move at the same time are visited one after the other, in the order of their seats:
their actions follow each other on the path, and none of them sees the choices of the others.

An information set is known by a key of 128 bits, of the player and of what they know: their
information state; where a game has none, their own history of observations and actions; with
perfect information, the moves so far.
"""

import enum
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rave_agents.simulate.random_stream import Stream


class VisitPlace(enum.IntEnum):
    """Places in ``Visit.header``."""

    PROVIDER = 0
    """The visitor's own word."""
    STATUS = 1
    """The answer of a visitor in Python, an ``Answered`` of ``rave_agents.simulate.expansion``."""
    IN_PYTHON = 2
    """1 if the visitor writes its answer to ``STATUS``."""
    LENGTH = 3
    """The number of actions on the path."""
    PLAYOUT = 4
    """1 to play to the end at random and give the returns; 0 to list the actions."""
    PLAYER = 5
    """Who moves: a player, or a ``PlayerId``."""
    NUM_ACTIONS = 6
    CAPACITY = 7
    """Room for so many actions."""
    REQUIRED_ACTIONS = 8
    """The room that is needed, after ``Answered.FULL``."""
    NUM_PLAYERS = 9
    FIRST_KEY = 10
    SECOND_KEY = 11
    """The key of the information set, where a player moves."""
    PATH = 12
    """From here on: the addresses of the buffers."""
    ACTIONS = 13
    CHANCES = 14
    RETURNS = 15
    STREAM = 16


HEADER_WORDS = len(VisitPlace)


class Visit(NamedTuple):
    """The buffers that a search and a visitor share."""

    header: NDArray[np.int64]
    """See ``VisitPlace``."""
    path: NDArray[np.int64]
    """The actions and chance outcomes from the start of the game."""
    actions: NDArray[np.int64]
    """The legal actions, or the outcomes of chance."""
    chances: NDArray[np.float64]
    """The probabilities of the outcomes where chance moves."""
    returns: NDArray[np.float64]
    """[players] the returns at the end of the game, or of the playout."""
    stream: Stream
    """Random numbers for playouts."""


def make_visit(num_players: int, depths: int, actions: int, stream: Stream) -> Visit:
    """Buffers for paths of so many actions, and for so many actions of one history."""
    made = Visit(
        np.zeros(HEADER_WORDS, np.int64),
        np.zeros(depths, np.int64),
        np.zeros(actions, np.int64),
        np.zeros(actions),
        np.zeros(num_players),
        stream,
    )
    made.header[VisitPlace.CAPACITY] = actions
    made.header[VisitPlace.NUM_PLAYERS] = num_players
    arrays: Any = made[1:]
    for place, array in zip(range(VisitPlace.PATH, HEADER_WORDS), arrays, strict=True):
        made.header[place] = array.ctypes.data
    return made


class Visitor(Protocol):
    """A game as the search of information sets calls it."""

    provider: str
    """Its name, see ``SearchResult.provider``."""
    outside_interpreter: bool
    """True if no Python runs in it."""

    @property
    def address(self) -> int:
        """Address of ``int32_t visit(int64_t header)``, which gives an ``Answered``."""

    def bind(self, visit: Visit) -> None:
        """Use these buffers from now on."""

    def raise_pending(self) -> None:
        """Raise the error that ended the last visit."""
