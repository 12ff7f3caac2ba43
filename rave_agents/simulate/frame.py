"""The frame: the buffers that the search and a provider of simulations share.

``rave_agents/simulate/simulator.py`` defines their use.
"""

import enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.simulate.random_stream import Stream

# One array of 64-bit words, so that providers in any language share it by a single address.
HEADER_LENGTH = 64

WINS, LOSES = 1, 2
"""Marks of a move in ``Frame.choices``: it wins at once; the next player can win after it."""


class Status(enum.IntEnum):
    """Return values of ``simulate`` and the loop."""

    FAILED = 0
    """An error, which the provider keeps for ``raise_pending``; nothing was counted."""
    DONE = 1
    """The simulation is done; from the loop, all simulations are."""
    STOPPED = 2
    """The deadline passed in the middle of a simulation, which was dropped."""
    FRAME_FULL = 3
    """A buffer of the frame is too small; ``REQUIRED_ACTIONS`` or ``REQUIRED_MOVES`` says so."""
    TREE_FULL = 4
    """The tree has no room for one more node (from the loop only)."""
    SOLVED = 5
    """Nothing is left to search: the root's outcome is known (from the loop only)."""
    NO_SCORE = 6
    """The selection rule gave NaN for every action of a position (from the loop only)."""
    PENDING = 7
    """The simulation waits for a leaf's evaluation (from the loop only)."""


class Header(enum.IntEnum):
    """Places in the frame's header."""

    PATH_LENGTH = 0
    """In: actions in ``path`` to apply from the root."""
    EXPAND = 1
    """In: 1 to list the leaf's actions, else 0."""
    PLAYOUTS = 2
    """In: playouts to run from the leaf, at least 1; or 0 if an evaluator judges it, see
    ``Frame.observations``."""
    PLAYER = 3
    """Out: who moves at the leaf, a player or CHANCE, SIMULTANEOUS or TERMINAL; always set. In, for
    ``Step.TRY_REPLY``: the player who replies."""
    NUM_ACTIONS = 4
    """Out: entries in ``actions``, if asked to expand; in, for ``Step.TRY_REPLY``."""
    UNIFORM = 5
    """Out: 1 if all actions are equally probable, and ``probabilities`` is not filled, else 0."""
    NUM_PLAYOUTS = 6
    """Out: playouts that ``playout_ends`` and ``returns`` hold; 0 if an evaluator judges."""
    REQUIRED_ACTIONS = 7
    """Out with FRAME_FULL: capacity that ``actions`` should have, else 0."""
    REQUIRED_MOVES = 8
    """Out with FRAME_FULL: capacity that the moves should have, else 0."""
    NUM_PLAYERS = 9
    """Constant: players of the game."""
    PATH_CAPACITY = 10
    """Constant: entries that fit into ``path``."""
    ACTION_CAPACITY = 11
    """Constant: entries that fit into ``actions`` and ``probabilities``."""
    MOVE_CAPACITY = 12
    """Constant: entries that fit into ``move_players`` and ``move_actions``."""
    CHECK_CHILDREN = 13
    """In: a ``CheckChildren``, the information to give on an expanded leaf's children."""
    PROVIDER = 14
    """Constant: for a provider of native code the address of its own data; unused by others."""
    NUM_MOVERS = 15
    """Out: where the leaf's player is SIMULTANEOUS, entries in ``movers``, if asked to expand."""
    STEP = 16
    """In: a ``Step``, the requested part of a simulation."""
    VIEW = 17
    """Out, for steps: a hash of what the player to move sees, see ``StateAbilities.view``; equal
    for two of their positions exactly if they see the same, except for collisions."""
    REPLY = 18
    """In, for ``Step.TRY_REPLY``: the reply."""
    NUM_WEIGHTS = 19
    """Constant: entries of each player in ``action_weights``, as many as there are distinct
    actions; 0 if playouts are uniform."""
    OBSERVATION = 20
    """Constant: numbers of one player's observation; 0 without observations."""
    PATH = 21
    """Constant, from here on: addresses of the buffers, in the order of ``Frame``'s fields."""
    PLAYOUT_MOVES = 42
    """Constant: moves of players after which a playout is cut, and its position judged by the value
    function that the provider was made with; -1 for playouts to the end."""
    WEIGHTS = 43
    """Constant: for a provider of native code the address of its value function's own numbers."""
    EVEN_WEIGHTS = 44
    """In: 1 if playouts draw actions without regard to ``action_weights``, which are equal."""
    SAMPLES = 45
    """Constant: maximum number of positions in ``samples``; 0 without samples."""
    NUM_SAMPLES = 46
    """Out: its number of positions. In: 0; or ``SAMPLES`` to request none."""
    IN_PYTHON = 47
    """Constant: 1 for a provider in Python: its ``STATUS`` counts instead of its return value."""
    STATUS = 48
    """Out, from Python: the ``Status``, written last. In: 0, ``FAILED``."""

    CHOOSE = 49
    """Constant: the address of the C function ``int32_t f(int64_t)`` of a policy that chooses each
    move of the playouts; 0 if there is none. Its argument is ``CHOOSE_RECORD``."""
    CHOOSE_RECORD = 50
    """Constant: its argument."""
    LOOKAHEAD = 51
    """Constant: moves of lookahead, from 0 to 2, see ``Frame.choices``."""
    CHOICE_PLAYER = 52
    """Out, for the policy: who moves."""
    NUM_CHOICES = 53
    """Out, likewise: entries in ``choices``."""
    PLAYOUT_START = 54
    """Out, likewise: place of the playout's first move in ``move_actions``."""
    PLAYOUT_END = 55
    """Out, likewise: one more than the place of its last move so far, without simultaneous moves
    still being chosen."""
    CHOSEN = 56
    """In, from the policy: the place of its choice, counted from 1, so that 0 can mean failure."""

    TELL_KEYS = 57
    """Constant: 1 to request the key of each expanded leaf, from providers with keys."""
    KEY_TOLD = 58
    """Out: 1 if ``FIRST_KEY`` and ``SECOND_KEY`` identify the leaf, not a terminal one. In: 0."""
    FIRST_KEY = 59
    """Out: 64 bits of a hash of the leaf's complete position, as a signed number."""
    SECOND_KEY = 60
    """Out: 64 bits more."""

    LAST_ACTION = 61
    """In: the action, or outcome, that led to the root; -1 if unknown."""
    FORESEE = 62
    """In: 1 to detect certain wins before the end, at expanded leaves and after replies, in
    providers whose rules foresee them."""
    FORESEEN = 63
    """Out: maximum moves left if the leaf's winner is foreseen: it then has no actions, and all
    playouts have that outcome's returns. In: 0."""


class CheckChildren(enum.IntEnum):
    """Requests to a provider for information about a new node's children."""

    NOTHING = 0
    """Nothing."""
    ENDS = 1
    """The actions that end the game, in ``child_ends``, and their returns."""
    JUDGE = 2
    """The same, and in ``child_returns`` the value function's values of the others. Where chance
    moves next, an outcome is drawn first."""
    OBSERVE = 3
    """The same as ``ENDS``, and in ``child_observations`` the observation of the player to move
    after the others; likewise after an outcome of chance."""


class Step(enum.IntEnum):
    """Requests to a provider: a simulation, or a part of one.

    With hidden information the loop asks for the parts one after the other, since the legal actions
    at each position of the path depend on the world (the determinization), which the provider keeps
    in between. It draws the outcomes of chance nodes: every position that it describes is a
    player's, or terminal.
    """

    WHOLE = 0
    """All of it, from the root."""
    BEGIN = 1
    """Draw a determinization, and describe the root in it: the player, the legal actions."""
    ADVANCE = 2
    """Apply the last action of the path, and describe the position after it, and its mover's
    view."""
    FINISH = 3
    """Play on from there, and give the returns; with EXPAND, list priors that are not uniform."""
    TRY_REPLY = 4
    """No part of a simulation: fill ``child_ends`` and ``child_returns`` for the frame's actions,
    which are legal at the end of the path, with whether ``PLAYER`` may answer each with ``REPLY``
    and so ends the game, and how. The frame's other buffers stay as they are."""


class Frame(NamedTuple):
    """The buffers that the loop and a provider share."""

    header: NDArray[np.int64]
    """[HEADER_LENGTH] see ``Header``."""
    path: NDArray[np.int32]
    """[PATH_CAPACITY] actions from the root to the leaf. Where several players move at the same
    time, it has those of all who have a legal action, one after the other."""
    actions: NDArray[np.int32]
    """[ACTION_CAPACITY] the leaf's legal actions or chance outcomes; where several players move at
    the same time, those of each after those of the one before."""
    probabilities: NDArray[np.float64]
    """[ACTION_CAPACITY] prior probabilities of the actions, or the chances of the outcomes."""
    move_players: NDArray[np.int32]
    """[MOVE_CAPACITY] who made each move of the playouts, one playout after the other."""
    move_actions: NDArray[np.int32]
    """[MOVE_CAPACITY] the action of each move."""
    playout_ends: NDArray[np.int32]
    """[PLAYOUTS] for each playout one more than the place of its last move."""
    returns: NDArray[np.float64]
    """[PLAYOUTS, NUM_PLAYERS] the returns of each playout, in the game's utilities."""
    playout_stream: Stream
    """[4] the stream that playouts draw from."""
    child_ends: NDArray[np.int8]
    """[ACTION_CAPACITY] with ``CHECK_CHILDREN`` or ``TRY_REPLY``: 1 if the action, outcome or reply
    ends the game; for a foreseen win, one more than the maximum moves until then."""
    child_returns: NDArray[np.float64]
    """[ACTION_CAPACITY, NUM_PLAYERS] the returns then, or the child's values."""
    path_nodes: NDArray[np.int32]
    """[PATH_CAPACITY] for each action of the path, the node where it is taken: a stable number
    until ``forget_positions``. A provider with that method may cache states by it."""
    movers: NDArray[np.int32]
    """[NUM_PLAYERS] the players who have legal actions at a simultaneous leaf, ascending."""
    mover_ends: NDArray[np.int32]
    """[NUM_PLAYERS] for each of them one more than the place of their last action."""
    action_weights: NDArray[np.float64]
    """[NUM_PLAYERS, NUM_WEIGHTS] a number above 0 for each action of each player: in playouts the
    player draws among their legal actions with probabilities in proportion to these numbers."""
    observations: NDArray[np.float32]
    """[NUM_PLAYERS, OBSERVATION] without playouts: the mover's observation at a decision node; with
    simultaneous moves each mover's, in the order of ``movers``. ``returns`` then holds the rewards
    collected so far."""
    discount: NDArray[np.float64]
    """[1] likewise: the discount of returns from the leaf on, seen from the root."""
    child_observations: NDArray[np.float32]
    """[ACTION_CAPACITY, OBSERVATION] with ``CheckChildren.OBSERVE``; 0 rows without samples."""
    child_players: NDArray[np.int32]
    """[ACTION_CAPACITY] likewise: who is to move there."""
    samples: NDArray[np.float32]
    """[SAMPLES, OBSERVATION] the mover's observations in the first playout: at the leaf, and after
    every fourth move of a player; never where chance moves."""
    sample_players: NDArray[np.int32]
    """[SAMPLES] who is to move at each."""
    choices: NDArray[np.int32]
    """[2, ACTION_CAPACITY] a policy's legal actions, with marks: with a ``LOOKAHEAD`` of 1,
    ``WINS`` if it ends the game with more for the player than for any other; with 2, also
    ``LOSES`` if the next player can then win so. The latter is checked for the chosen action only,
    and the policy chooses again. 0 otherwise, and for simultaneous moves."""


def moves_played(frame: Frame) -> int:
    """The number of moves in the playouts of the last simulation."""
    playouts = int(frame.header[Header.NUM_PLAYOUTS])
    return int(frame.playout_ends[playouts - 1]) if playouts > 0 else 0
