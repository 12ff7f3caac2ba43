"""Simulations of OpenSpiel's C++ states by the compiled bridge."""

import contextlib
import functools
import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import pyspiel

from rave_agents.errors import GameError
from rave_agents.simulate.frame import moves_played
from rave_agents.simulate.python_callback import CallbackFailedError, PythonCallback
from rave_agents.simulate.random_stream import StreamUnit
from rave_agents.simulate.simulator import DeadlinePassed, Frame, Header
from rave_agents.simulate.world_record import COUNTED, RecordedWorlds, WorldSample
from rave_openspiel.native import raise_failure
from rave_openspiel.native_library import Library
from rave_openspiel.player_views import sees_information_state
from rave_openspiel.pointers import STATE, address_of
from rave_openspiel.relabelled import relabelled
from rave_openspiel.worlds import WorldFunction, recorded_worlds, resamples_at

WORLD_LATE = 1
"""Code for a world that missed the deadline, see ``bridge.cpp``."""


class Observation(NamedTuple):
    """The player whose knowledge worlds must agree with, and the source of the worlds."""

    player: int
    """The player, who is to move."""
    worlds: WorldFunction | None
    """The user's source of worlds, if any."""


class HasState(Protocol):
    """Wrapper of a ``pyspiel.State``: an ``OpenSpielState``."""

    state: pyspiel.State

    def clone(self) -> Self:
        """A copy that shares nothing that can change with it."""


class NativeSimulator:
    """A provider of simulations that calls a C++ state's own functions; see ``Simulator``.

    It draws the same random numbers as ``OpenSpielSimulator``, so that both build the same tree. It
    checks the deadline every few moves.

    Args:
        library: the bridge.
        root: a state for which ``is_native`` holds; the bridge copies it.
        frame: the buffers shared with the loop.
        shrinking: whether playouts draw from a shrinking list; ``is_shrinking`` of the game.
        observation: the player and source of worlds, to begin every simulation in another world
            (determinization); None to begin at the root. Worlds come from the state's own C++
            method, or else from Python.

    Raises:
        GameError: if the state cannot be copied.
    """

    provider = "native"

    def __init__(
        self,
        library: Library,
        root: pyspiel.State,
        frame: Frame,
        *,
        shrinking: bool,
        observation: Observation | None = None,
    ) -> None:
        self._library = library
        self._frame = frame
        self._shrinking = shrinking
        self._root: Any = None
        self._owner: Any = None
        self._deadline = math.inf
        self.address: int = library.simulate_address
        self.outside_interpreter: bool = True
        """True if simulations never return to Python."""
        self._give_world: PythonCallback | None = None
        self.worlds: RecordedWorlds | _OwnWorlds | None = None
        """The source of worlds, with the record of them; None without an observation."""
        self.set_root(root)
        if observation is not None:
            self._observe(root, frame, observation)

    @property
    def deadline(self) -> float:
        """The ``time.perf_counter()`` time at which simulations stop; infinity for no deadline."""
        return self._deadline

    @deadline.setter
    def deadline(self, deadline: float) -> None:
        self._deadline = deadline
        self._library.set_deadline(self._provider, deadline - time.perf_counter())

    def bind(self, frame: Frame) -> None:
        """Use this frame from now on."""
        self._frame = frame
        frame.header[Header.PROVIDER] = self._provider

    def forget_positions(self) -> None:
        """Drop the states that are kept by ``Frame.path_nodes``, see ``Simulator``."""
        self._library.forget_positions(self._provider)

    def set_root(self, root: pyspiel.State | HasState, moves: Sequence[int] | None = None) -> bool:
        """Simulate from another state of the same game, with nothing hidden, from now on.

        Args:
            root: the state; what wraps it is cloned.
            moves: unused.

        Returns:
            True: from any state of the game.

        Raises:
            GameError: if the state cannot be copied.
        """
        state: Any = root.clone().state if hasattr(root, "state") else root
        pointer = address_of(state, STATE)
        provider = self._library.create(pointer, state.num_distinct_actions(), self._shrinking)
        if not provider:
            raise GameError(f"A state of {state.get_game()} cannot be cloned.")
        owner = self._library.new_owner(provider, None, self._library.release)
        # The old copy and its provider stay alive until the new ones are in place.
        before = self._root, self._owner
        self._root = state  # The bridge's copy may need it to live.
        self._owner, self._provider = owner, provider
        self._frame.header[Header.PROVIDER] = provider
        del before  # Released once nothing refers to it, even if an interrupt came in between.
        return True

    def _observe(self, root: pyspiel.State, frame: Frame, observation: Observation) -> None:
        """Draw a world for every simulation."""
        game = root.get_game()
        from_python = observation.worlds is not None or not resamples_at(root)
        by_information_state = sees_information_state(game)
        address, given = 0, np.zeros(1, np.int64)
        if from_python:
            self.outside_interpreter = False
            unit = StreamUnit(frame.playout_stream)
            source = recorded_worlds(root, observation.player, unit, observation.worlds)
            answer = functools.partial(self._world_address, source)
            self._give_world = PythonCallback(answer, given.data, 0)
            source.moves_played = lambda: moves_played(self._frame)
            self.worlds, address = source, self._give_world.address
        else:
            start = relabelled(root, observation.player)
            if start is not root:
                self.set_root(start)
            self.worlds = _OwnWorlds(self._library, self._provider)
        self._given = given  # The bridge reads there.
        self._library.observe(
            self._provider, observation.player, by_information_state, address, given.ctypes.data
        )

    def root_view(self) -> int:
        """Return the number of what the observing player sees at the root.

        Raises:
            pyspiel.SpielError, GameError: if the game cannot say.
        """
        seen = np.zeros(1, np.int64)
        if not self._library.root_view(self._provider, seen.ctypes.data):
            raise_failure(self._library, self._provider, self._root.get_game())
        return int(seen[0])

    def _world_address(self, source: RecordedWorlds, _: int) -> int:
        """Return the address of a new world, valid until the next call."""
        try:
            self._world = source()  # Kept alive: the bridge reads from its address.
        except DeadlinePassed:
            return WORLD_LATE
        return address_of(self._world, STATE)

    def raise_pending(self) -> None:
        """Raise the error that ended the last simulation as pyspiel's exception."""
        if self._give_world is not None:
            # Prefer the user's own exception to the bridge's report that the callback failed.
            with contextlib.suppress(CallbackFailedError):
                self._give_world.raise_error()
        raise_failure(self._library, self._provider, self._root.get_game())


class _OwnWorlds:
    """The record of worlds that the bridge draws with the game's own method."""

    def __init__(self, library: Library, provider: int) -> None:
        self._library = library
        self._provider = provider

    def begin(self, simulations: float, deadline: float) -> None:
        """See ``RecordedWorlds``."""
        self._library.set_worlds_deadline(self._provider, deadline - time.perf_counter())

    def sample(self) -> WorldSample:
        """See ``RecordedWorlds``."""
        keys = np.empty(COUNTED, np.int64)
        seconds = np.empty(1, np.float64)
        drawn = self._library.worlds(self._provider, keys.ctypes.data, COUNTED, seconds.ctypes.data)
        return WorldSample(
            method="resample_from_infostate",
            drawn=int(drawn),
            keys=tuple(keys[:drawn].tolist()),
            pieces=(),
            cycle=0,
            settled=None,
            seconds=float(seconds[0]),
        )
