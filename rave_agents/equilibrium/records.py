"""Indices, constants and records of the search of information sets, see ``traversal.py``."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.config.regrets import MCCFR
from rave_agents.game.game_state import PlayerId
from rave_agents.simulate.expansion import Answered
from rave_agents.simulate.random_stream import Stream
from rave_agents.simulate.visits import Visit, VisitPlace

# Numba compiles plain integers as constants, not enumerations.
LENGTH, PLAYOUT = int(VisitPlace.LENGTH), int(VisitPlace.PLAYOUT)
PLAYER, NUM_ACTIONS = int(VisitPlace.PLAYER), int(VisitPlace.NUM_ACTIONS)
CAPACITY, STATUS = int(VisitPlace.CAPACITY), int(VisitPlace.STATUS)
IN_PYTHON = int(VisitPlace.IN_PYTHON)
FIRST_KEY, SECOND_KEY = int(VisitPlace.FIRST_KEY), int(VisitPlace.SECOND_KEY)
ANSWERED, ANSWER_FULL = int(Answered.DONE), int(Answered.FULL)
CHANCE, TERMINAL = int(PlayerId.CHANCE), int(PlayerId.TERMINAL)

UNVISITED = -9
"""``Histories.player`` of a history that the search has not visited yet."""

START = 0
"""The history without actions."""

DONE, GOES_ON, FAILED, STACK_FULL, ROOM_FULL, LISTS_FULL, SETS_DIFFER, NO_TURNS = range(8)
"""Reasons why the search returns: all iterations done, no steps left, an error in the game, a path
too long for the stack, no room for another history, too many actions for the visit's buffers,
different actions in one information set, a history at which no player is to move."""

(
    DEPTH,
    ENTERING,
    TRAVERSER,
    ITERATION,
    LAST,
    GROWN,
    FROZEN,
    HISTORIES,
    SETS,
    ACTIONS,
    ENDS,
    HISTORY_ROOM,
    SET_ROOM,
    ACTION_ROOM,
    END_ROOM,
    STACK_ROOM,
    POOL_ROOM,
    INDEXED,
    INDEX_ROOM,
    PLAYOUTS,
    ENTERED,
    TARGET_PLAYER,
    TARGET,
    STAMP,
    DIRECTED,
    PASSED,
    TRIES,
    FLOOR,
    ARRIVED,
) = range(29)
"""Indices in ``Search.control``: the depth of the traversal, -1 between two; 1 to enter the history
there, 0 to take over the value of its child; the player whose regrets are updated; iterations done;
those to do; histories added in this traversal; 1 once the memory is used up; the used part of the
arrays of histories, of information sets, of their actions, and of ends of games; the length of each
of these, of the stack and of its pool; information sets in the index; the length of the index, a
power of two; playouts so far; histories entered so far. Of directed traversals, see
``targeting.py``: the player at whose information set they begin, -1 for none; how many decisions of
theirs come before it; the number of this target; 1 while a path is drawn; decisions of the player
on the path so far; paths dropped in this traversal; the depth at which it began, 0 if not directed;
paths that have arrived."""

CONTROL_WORDS = 29

VALUE, REGRET_WEIGHT, AVERAGE_WEIGHT, FACTOR, LIKELIHOOD, ARRIVED_WEIGHT = range(6)
"""Indices in ``Search.numbers``: the value of the history that the traversal has left; the weights
of this iteration's regrets and strategies; the factor of both in this traversal; the importance
weight of the path so far; the sum of those that have arrived."""

NUMBERS = 6


class Histories(NamedTuple):
    """The tree of histories that the search has visited, and of their children.

    The children of a history follow each other.
    """

    player: NDArray[np.int32]
    """Who moves there, or a ``PlayerId``, or ``UNVISITED``."""
    size: NDArray[np.int32]
    """The number of its children."""
    first: NDArray[np.int64]
    """The index of the first child."""
    place: NDArray[np.int64]
    """The information set where a player moves; the row of ``Ends`` where the game is over."""
    parent: NDArray[np.int64]
    """The history that it continues; -1 at the start."""
    action: NDArray[np.int64]
    """The last action or chance outcome of the history."""
    chance: NDArray[np.float64]
    """The probability of that outcome, if chance moved."""
    marked: NDArray[np.int64]
    """The number of the last target that cannot be reached through the history."""


class Sets(NamedTuple):
    """The information sets."""

    keys: NDArray[np.int64]
    """[2 * sets], see ``rave_agents.simulate.visits``."""
    player: NDArray[np.int32]
    size: NDArray[np.int32]
    """The number of legal actions."""
    first: NDArray[np.int64]
    """The index of the first action in ``SetActions``."""
    updates: NDArray[np.int64]
    """How often its regrets were updated."""


class SetActions(NamedTuple):
    """The actions of all information sets, set by set."""

    action: NDArray[np.int64]
    regret: NDArray[np.float64]
    """The cumulative regret of not having played the action."""
    strategy: NDArray[np.float64]
    """The sum of its probabilities in the strategies so far, see ``add_strategy``."""
    value: NDArray[np.float64]
    """The sum of the sampled returns after the action."""


class Stack(NamedTuple):
    """The path of the traversal: one history for each depth."""

    history: NDArray[np.int64]
    place: NDArray[np.int64]
    """Which child is on the path."""
    begin: NDArray[np.int64]
    """Where the numbers of its children begin in the pool."""
    target_set: NDArray[np.int64]
    """One for each decision: the player's information sets on the way to the target, and itself."""
    target_action: NDArray[np.int64]
    """Their actions there."""


class Pool(NamedTuple):
    """The strategy, and the children's values, of each history on the path."""

    strategy: NDArray[np.float64]
    value: NDArray[np.float64]


class Search(NamedTuple):
    """The data of a search of information sets."""

    variant: MCCFR
    histories: Histories
    sets: Sets
    actions: SetActions
    returns: NDArray[np.float64]
    """[ends * players]."""
    slots: NDArray[np.int64]
    """[a power of two] hash table of the information sets: their number + 1, 0 where free."""
    stack: Stack
    pool: Pool
    visit: Visit
    control: NDArray[np.int64]
    numbers: NDArray[np.float64]
    stream: Stream
    num_players: int
    visit_address: int
    header_address: int
