"""The simulate() contract: all that the search knows of a game.

A provider of simulations offers the address of one C function,

    int32_t simulate(int64_t *header);

which does this: from the root position, apply the path of actions; say who moves at the leaf; if
asked to expand, list the leaf's legal actions (or its chance outcomes and their probabilities), and
if asked to check its children, which of them end the game, and with what returns;
then play ``PLAYOUTS`` times on to the end, with moves drawn uniformly or in proportion to
``action_weights``, each time recording every (player, action) of a player, and give the returns of
each playout. A terminal leaf has the returns of the game and no moves.
Where an evaluator stands in for playouts, it gives one vector of returns and no moves.

The header and all buffers are a ``Frame``. The function returns a ``Status``, never throws, and
must not change the frame's path. It draws every random number from the frame's playout stream.
Three kinds of provider fit: Python behind a ctypes callback (``python_simulator.py``), a Numba
``cfunc``, and native code.
"""

import ctypes
import enum
import functools
from typing import Any, NamedTuple, Protocol

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from rave_agents.search.compiler import kernel
from rave_agents.search.random_stream import Stream

HEADER_LENGTH = 40


class Status(enum.IntEnum):
    """What ``simulate`` and the loop return. A callback that fails outright returns 0."""

    FAILED = 0
    """An error, which the provider keeps for ``raise_pending``; nothing was counted."""
    DONE = 1
    """The simulation, or all that were asked for, are done."""
    STOPPED = 2
    """The deadline passed in the middle of a simulation, which was dropped."""
    FRAME_FULL = 3
    """A buffer of the frame is too small; ``REQUIRED_ACTIONS`` or ``REQUIRED_MOVES`` says so."""
    TREE_FULL = 4
    """The tree has no room for one more node (from the loop only)."""
    SOLVED = 5
    """Nothing is left to search: the root's outcome is known (from the loop only)."""
    NO_SCORE = 6
    """A selection formula of the user's own raised, or gave NaN for every action of a position
    (from the loop only)."""


class Header(enum.IntEnum):
    """Places in the frame's header."""

    PATH_LENGTH = 0
    """In: actions in ``path`` to apply from the root."""
    EXPAND = 1
    """In: 1 to list the leaf's actions, else 0."""
    PLAYOUTS = 2
    """In: playouts to run from the leaf, at least 1."""
    PLAYER = 3
    """Out: who moves at the leaf, a player or CHANCE, SIMULTANEOUS or TERMINAL; always set. In, for
    ``Step.TRY_REPLY``: the player who replies."""
    NUM_ACTIONS = 4
    """Out: entries in ``actions``, if asked to expand; in, for ``Step.TRY_REPLY``."""
    UNIFORM = 5
    """Out: 1 if all actions are equally probable, and ``probabilities`` is not filled, else 0."""
    NUM_PLAYOUTS = 6
    """Out: playouts that ``playout_ends`` and ``returns`` hold, at least 1."""
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
    """In: 1 to tell, where the leaf is expanded, which actions end the game there, else 0."""
    PROVIDER = 14
    """Constant: for a provider of native code the address of its own data; others leave it."""
    NUM_MOVERS = 15
    """Out: where the leaf's player is SIMULTANEOUS, entries in ``movers``, if asked to expand."""
    STEP = 16
    """In: a ``Step``, which part of a simulation is asked for."""
    VIEW = 17
    """Out, if asked for a step: a number that is the same for two positions exactly when the same
    player moves there and the searching player sees the same; but for hash collisions."""
    REPLY = 18
    """In, for ``Step.TRY_REPLY``: the reply."""
    NUM_WEIGHTS = 19
    """Constant: entries of each player in ``action_weights``, as many as there are distinct
    actions; 0 if playouts are uniform."""
    PATH = 20
    """Constant, from here on: addresses of the buffers, in the order of ``Frame``'s fields."""


class Step(enum.IntEnum):
    """What a provider is asked for: a simulation, or a part of one.

    With hidden information the loop asks for one after the other, since only the world tells at
    each position of the path what is legal; the provider keeps the world in between. It plays on
    where chance moves: a position described is that of a player, or the end.
    """

    WHOLE = 0
    """All of it, from the root."""
    BEGIN = 1
    """Draw a world, and describe the root in it: who moves, what is legal."""
    ADVANCE = 2
    """Apply the last action of the path, and describe the position after it; and what is seen."""
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
    time, those of all who have a legal action stand there, one after the other."""
    actions: NDArray[np.int32]
    """[ACTION_CAPACITY] the leaf's legal actions or chance outcomes; where several players move at
    the same time, those of each after those of the one before."""
    probabilities: NDArray[np.float64]
    """[ACTION_CAPACITY] prior probabilities of the actions, or the chances of the outcomes."""
    move_players: NDArray[np.int32]
    """[MOVE_CAPACITY] who made each move of the playouts, one playout after the other."""
    move_actions: NDArray[np.int32]
    """[MOVE_CAPACITY] what he played."""
    playout_ends: NDArray[np.int32]
    """[PLAYOUTS] for each playout one more than the place of its last move."""
    returns: NDArray[np.float64]
    """[PLAYOUTS, NUM_PLAYERS] the returns of each playout, in the game's utilities."""
    playout_stream: Stream
    """[4] the stream that playouts draw from."""
    child_ends: NDArray[np.int8]
    """[ACTION_CAPACITY] 1 if the action, or outcome, ends the game, if asked to check; or if the
    reply to it does."""
    child_returns: NDArray[np.float64]
    """[ACTION_CAPACITY, NUM_PLAYERS] the returns then."""
    path_nodes: NDArray[np.int32]
    """[PATH_CAPACITY] for each action of the path the position that it is taken at, as a number
    that means the same position as long as the provider lives: it may keep states by it."""
    movers: NDArray[np.int32]
    """[NUM_PLAYERS] who moves at a leaf where players move at the same time: all who have a legal
    action, in ascending order."""
    mover_ends: NDArray[np.int32]
    """[NUM_PLAYERS] for each of them one more than the place of his last action."""
    action_weights: NDArray[np.float64]
    """[NUM_PLAYERS, NUM_WEIGHTS] a number above 0 for each action of each player: in playouts he
    takes it with a probability in proportion to it, among his legal actions."""


def make_frame(
    *,
    num_players: int,
    playouts: int,
    playout_stream: Stream,
    path_capacity: int = 256,
    action_capacity: int = 256,
    move_capacity: int = 1024,
    action_weights: NDArray[np.float64] | None = None,
) -> Frame:
    """A frame with buffers of these sizes; weights and stream are used as they are, not copied."""
    if action_weights is None:
        action_weights = np.zeros((num_players, 0), np.float64)
    frame = Frame(
        header=np.zeros(HEADER_LENGTH, np.int64),
        path=np.zeros(path_capacity, np.int32),
        actions=np.zeros(action_capacity, np.int32),
        probabilities=np.zeros(action_capacity, np.float64),
        move_players=np.zeros(move_capacity, np.int32),
        move_actions=np.zeros(move_capacity, np.int32),
        playout_ends=np.zeros(playouts, np.int32),
        returns=np.zeros((playouts, num_players), np.float64),
        playout_stream=playout_stream,
        child_ends=np.zeros(action_capacity, np.int8),
        child_returns=np.zeros((action_capacity, num_players), np.float64),
        path_nodes=np.zeros(path_capacity, np.int32),
        movers=np.zeros(num_players, np.int32),
        mover_ends=np.zeros(num_players, np.int32),
        action_weights=action_weights,
    )
    frame.header[Header.PLAYOUTS] = playouts
    frame.header[Header.NUM_PLAYERS] = num_players
    frame.header[Header.PATH_CAPACITY] = path_capacity
    frame.header[Header.ACTION_CAPACITY] = action_capacity
    frame.header[Header.MOVE_CAPACITY] = move_capacity
    frame.header[Header.NUM_WEIGHTS] = action_weights.shape[1]
    addresses = [buffer.ctypes.data for buffer in frame[1:]]
    frame.header[Header.PATH : Header.PATH + len(addresses)] = addresses
    return frame


def grown_frame(frame: Frame) -> Frame:
    """A larger frame in place of one that was too small in the way that its header says."""
    header = frame.header
    return make_frame(
        num_players=int(header[Header.NUM_PLAYERS]),
        playouts=int(header[Header.PLAYOUTS]),
        playout_stream=frame.playout_stream,
        path_capacity=max(
            int(header[Header.PATH_CAPACITY]), 2 * (int(header[Header.PATH_LENGTH]) + 1)
        ),
        action_capacity=max(
            int(header[Header.ACTION_CAPACITY]), int(header[Header.REQUIRED_ACTIONS])
        ),
        move_capacity=max(int(header[Header.MOVE_CAPACITY]), int(header[Header.REQUIRED_MOVES])),
        action_weights=frame.action_weights,
    )


def reweighted_frame(frame: Frame, action_weights: NDArray[np.float64]) -> Frame:
    """The same buffers with other weights, of which the header tells from now on."""
    frame.header[Header.NUM_WEIGHTS] = action_weights.shape[1]
    place = Header.PATH + Frame._fields[1:].index("action_weights")
    frame.header[place] = action_weights.ctypes.data
    return frame._replace(action_weights=action_weights)


class Simulator(Protocol):
    """A provider of simulations, bound to one root position.

    It may have ``slice()``, a context manager that the search enters for some milliseconds of
    simulations, one time after the other.
    """

    address: int
    """The address of ``simulate``; it stays valid as long as this object lives."""

    deadline: float
    """``time.perf_counter()`` time after which a provider that can stop in the middle of a
    simulation returns STOPPED; infinity for never."""

    outside_interpreter: bool
    """Whether ``simulate`` never takes the interpreter's lock, so that providers of several threads
    can run at the same time; False for one that does not say."""

    def bind(self, frame: Frame) -> None:
        """Use this frame from now on."""

    def raise_pending(self) -> None:
        """After FAILED: raise the error that was kept, the very same object."""


@intrinsic
def _call_address(typing_context: Any, address: Any, argument: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function_type = ir.FunctionType(ir.IntType(32), [ir.IntType(64)])
        pointer = builder.inttoptr(arguments[0], function_type.as_pointer())
        return builder.call(pointer, [arguments[1]])

    return types.int32(types.int64, types.int64), codegen


@functools.lru_cache(maxsize=8)
def _function_at(address: int) -> Any:
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(address)


def _call_interpreted(address: int, argument: int) -> int:
    return int(_function_at(address)(argument))


@overload(_call_interpreted)
def _call_compiled(address: Any, argument: Any) -> Any:
    def call(address: Any, argument: Any) -> Any:
        return _call_address(address, argument)

    return call


def simulated(simulator: Simulator, frame: Frame) -> int:
    """Run one simulation from Python; returns its ``Status``."""
    return _call_interpreted(simulator.address, frame.header.ctypes.data)


@kernel
def header_address(frame: Frame) -> Any:
    """The address of the frame's header, which ``simulate`` takes."""
    return np.int64(frame.header.ctypes.data)


@kernel
def call_simulate(address: int, header_address: int) -> int:
    """Call the ``simulate`` function at ``address``; returns its ``Status``."""
    return _call_interpreted(address, header_address)
