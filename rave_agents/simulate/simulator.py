"""The simulate() contract: the only way in which a search reaches a game.

A provider of simulations offers the address of one C function,

    int32_t simulate(int64_t *header);

which does this: apply the path of actions from the root; report who moves at the leaf; if asked to
expand, list the leaf's legal actions (or its chance outcomes and their probabilities), and if asked
to check its children, those that end the game, with their returns; then play ``PLAYOUTS`` playouts
to the end, with moves drawn uniformly, in proportion to ``action_weights``, or chosen by the
function ``CHOOSE``; record every (player, action) of a player, and the returns of each playout. A
terminal leaf has the returns of the game and no moves.
If ``PLAYOUTS`` is 0, it writes observations of the leaf instead of playing. If ``SAMPLES`` is above
0, it also writes observations of positions of the first playout, and of the leaf's children; only
providers of states that have ``observed_in_playouts`` are asked to.
Where an evaluator replaces playouts, it gives one vector of returns and no moves. A value function,
see ``value.py``, ends playouts after ``PLAYOUT_MOVES`` moves with its value.

The header and all buffers are a ``Frame``. The function returns a ``Status``, never throws, and
must not change the frame's path. It draws every random number from the frame's playout stream.
Python cannot keep these two promises, see ``python_callback.py``: its status is in the header.
Three kinds of provider fit: Python behind a ctypes callback (``python_simulator.py``), a Numba
``cfunc``, and native code.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.layout import address_of, call_address
from rave_agents.game.abilities import Abilities, Method, Offered
from rave_agents.simulate.frame import HEADER_LENGTH, Frame, Header, Status, Step
from rave_agents.simulate.random_stream import Stream

# Members of enumerations take three times as long as indices.
_STATUS, _IN_PYTHON, _FAILED = int(Header.STATUS), int(Header.IN_PYTHON), int(Status.FAILED)

__all__ = ["HEADER_LENGTH", "Frame", "Header", "Status", "Step"]


def make_frame(
    *,
    num_players: int,
    playouts: int,
    playout_stream: Stream,
    path_capacity: int = 256,
    action_capacity: int = 256,
    move_capacity: int = 1024,
    action_weights: NDArray[np.float64] | None = None,
    playout_moves: int = -1,
    observation: int = 0,
    even_weights: bool = False,
    samples: int = 0,
    tells_keys: bool = False,
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
        playout_ends=np.zeros(max(playouts, 1), np.int32),
        returns=np.zeros((max(playouts, 1), num_players), np.float64),
        playout_stream=playout_stream,
        child_ends=np.zeros(action_capacity, np.int8),
        child_returns=np.zeros((action_capacity, num_players), np.float64),
        path_nodes=np.zeros(path_capacity, np.int32),
        movers=np.zeros(num_players, np.int32),
        mover_ends=np.zeros(num_players, np.int32),
        action_weights=action_weights,
        observations=np.zeros((0 if samples else num_players, observation), np.float32),
        discount=np.ones(1, np.float64),
        child_observations=np.zeros((action_capacity if samples else 0, observation), np.float32),
        child_players=np.zeros(action_capacity if samples else 0, np.int32),
        samples=np.zeros((samples, observation), np.float32),
        sample_players=np.zeros(samples, np.int32),
        choices=np.zeros((2, action_capacity), np.int32),
    )
    frame.header[Header.PLAYOUTS] = playouts
    frame.header[Header.OBSERVATION] = observation
    frame.header[Header.NUM_PLAYERS] = num_players
    frame.header[Header.PATH_CAPACITY] = path_capacity
    frame.header[Header.ACTION_CAPACITY] = action_capacity
    frame.header[Header.MOVE_CAPACITY] = move_capacity
    frame.header[Header.NUM_WEIGHTS] = action_weights.shape[1]
    frame.header[Header.PLAYOUT_MOVES] = playout_moves
    frame.header[Header.EVEN_WEIGHTS] = even_weights
    frame.header[Header.SAMPLES] = samples
    frame.header[Header.TELL_KEYS] = tells_keys
    # The header holds raw addresses: whoever uses it must keep the frame, and its arrays, alive.
    addresses = [address_of(each) if each.size > 0 else each.ctypes.data for each in frame[1:]]
    frame.header[Header.PATH : Header.PATH + len(addresses)] = addresses
    return frame


def grown_frame(frame: Frame) -> Frame:
    """A larger frame, with the capacities that the header of one that was too small asks for."""
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
        playout_moves=int(header[Header.PLAYOUT_MOVES]),
        observation=int(header[Header.OBSERVATION]),
        even_weights=bool(header[Header.EVEN_WEIGHTS]),
        samples=int(header[Header.SAMPLES]),
        tells_keys=bool(header[Header.TELL_KEYS]),
    )


def reweighted_frame(frame: Frame, action_weights: NDArray[np.float64]) -> Frame:
    """The same buffers with other weights, whose address replaces the old one in the header."""
    frame.header[Header.NUM_WEIGHTS] = action_weights.shape[1]
    place = Header.PATH + Frame._fields[1:].index("action_weights")
    frame.header[place] = action_weights.ctypes.data
    return frame._replace(action_weights=action_weights)


class Simulator(Protocol):
    """A provider of simulations, bound to one root position; see also ``SimulatorAbilities``."""

    @property
    def address(self) -> int:
        """The address of ``simulate``, valid until ``raise_pending`` or the end of this object."""

    deadline: float
    """``time.perf_counter()`` time after which a provider that can stop in the middle of a
    simulation returns STOPPED; infinity for never."""

    def bind(self, frame: Frame) -> None:
        """Use this frame from now on."""

    def raise_pending(self) -> None:
        """Raise the error that was kept after FAILED, the very same object."""


class SimulatorAbilities(Abilities):
    """What a provider of simulations may offer in addition to the methods of ``Simulator``."""

    __slots__ = ()

    provider: Offered[str] = Offered("python")
    """The kind of the provider, for results."""
    outside_interpreter: Offered[bool] = Offered(False)
    """True if ``simulate`` never takes the interpreter's lock, so that providers of several threads
    can run at the same time."""
    slice: Offered[Callable[[], AbstractContextManager[Any]] | None] = Method(None)
    """``slice()``: a context manager that the search enters for some milliseconds at a time."""
    set_root: Offered[Callable[[Any, Sequence[int] | None], bool] | None] = Method(None)
    """``set_root(state, moves)``: goes on to another position of the same game, after these moves
    from the last root, or None if they are not known; False if that needs a new provider."""
    is_sensible: Offered[bool] = Offered(False)
    """True if playouts leave out moves that make no sense."""
    make_sensible: Offered[Callable[[], Any] | None] = Method(None)
    """``make_sensible()``: from then on playouts leave out such moves."""
    tells_keys: Offered[bool] = Offered(False)
    """True if it writes keys of positions."""
    forget_positions: Offered[Callable[[], Any]] = Method(lambda: None)
    """``forget_positions()``: from then on numbers in ``Frame.path_nodes`` mean other positions."""
    root_view: Offered[Callable[[], int] | None] = Method(None)
    """``root_view()``: with worlds, what the player to move sees at the root, a number as in
    ``Header.VIEW``."""
    number_actions: Offered[Callable[[Any], Any] | None] = Method(None)
    """``number_actions(numbers)``: from then on it numbers the actions of large games densely."""


def flat_frame(frame: Frame) -> Frame:
    """The same buffers, those of two dimensions as rows one after the other, for the kernel."""
    flat: Any = [array.reshape(-1) for array in frame]
    return Frame(*flat)


def simulated(simulator: Simulator, frame: Frame) -> int:
    """Run one simulation from Python; returns its ``Status``."""
    header = frame.header
    header[_STATUS] = _FAILED
    status = call_address(simulator.address, address_of(header))
    return int(header[_STATUS]) if header[_IN_PYTHON] else status


class SimulationDropped(Exception):  # noqa: N818  (nothing went wrong)
    """Raised inside a simulation to drop it."""


class DeadlinePassed(SimulationDropped):
    """Raised when its time is up."""


class FrameTooSmall(SimulationDropped):
    """Raised where a buffer of the frame is too small; the header says which."""


class PolicyFailed(SimulationDropped):
    """Raised when the playout policy has made no choice; the search keeps the reason."""
