"""Simulations of OpenSpiel's C++ states by the compiled bridge, without returning to Python.

The environment variable ``RAVE_AGENTS_NATIVE`` controls the bridge: 0 (or false, no, off) disables
it, 1 (or true, yes, on) raises an error if it cannot be used; by default the search uses it if it
can.
"""

import contextlib
import functools
import logging
import math
import os
import time
from typing import Any, ClassVar, NamedTuple, NoReturn, Protocol, Self, TypeVar

import numpy as np
import pyspiel

from rave_agents.errors import GameError, RaveAgentsError
from rave_agents.game.endless import endless_game
from rave_agents.simulate.frame import moves_played
from rave_agents.simulate.python_callback import CallbackFailedError, PythonCallback
from rave_agents.simulate.random_stream import Stream, fill_words
from rave_agents.simulate.simulator import DeadlinePassed, Frame, Header
from rave_agents.simulate.world_record import COUNTED, RecordedWorlds, WorldSample
from rave_openspiel.native_library import (
    BRIDGE,
    ERRORS,
    BridgeError,
    Library,
    Part,
    SharedLibrary,
    built_library,
)
from rave_openspiel.player_views import sees_information_state
from rave_openspiel.pointers import STATE, address_of, is_native_class, type_capsule
from rave_openspiel.worlds import WorldFunction, recorded_worlds, resamples_at

SWITCH = "RAVE_AGENTS_NATIVE"
"""The environment variable that controls the bridge and the registration of bots."""

SHRINKING_GAMES = frozenset(
    ["dots_and_boxes", "gomoku", "havannah", "hex", "mnk", "tic_tac_toe", "y"]
)
"""Games in which an action disappears when taken, and no other action becomes legal or illegal
before the end: a playout draws from one list that shrinks. A rule for swapping breaks this."""

_WORDS = {
    "": ("",),
    "0": ("0", "false", "f", "no", "n", "off"),
    "1": ("1", "true", "t", "yes", "y", "on"),
}
"""The values of the switch; the command line's options take the same words."""

WORLD_LATE = 1
"""Code for a world that missed the deadline, see ``bridge.cpp``."""

_IN_USE = "in use"

_log = logging.getLogger("rave_agents")

AnyLibrary = TypeVar("AnyLibrary", bound="OptionalLibrary")


def is_native(state: pyspiel.State) -> bool:
    """True if a state is implemented in C++ throughout, so that it needs no interpreter."""
    # A C++ wrapper, such as misere, may hold a Python game, which needs the interpreter.
    return is_native_class(type(state)) and _is_native_game(state.get_game())


def is_shrinking(game: pyspiel.Game) -> bool:
    """True if playouts of the game can draw from one shrinking list of actions."""
    return game.get_type().short_name in SHRINKING_GAMES and not game.get_parameters().get("swap")


def _is_native_game(game: pyspiel.Game) -> bool:
    """True if the game, and every game that it transforms, is implemented in C++."""
    return all(is_native_class(type(each)) for each in (game, *inner_games(game)))


def inner_games(game: pyspiel.Game) -> list[pyspiel.Game]:
    """Return the games that a game transforms, recursively."""
    found = []
    for value in game.get_parameters().values():
        if isinstance(value, dict):  # OpenSpiel stores an inner game as its parameters.
            others = {name: each for name, each in value.items() if name != "name"}
            inner = pyspiel.load_game(value["name"], others)
            found += [inner, *inner_games(inner)]
    return found


@functools.cache
def bridge() -> Library | None:
    """Return the compiled bridge, building it if needed; None if it is disabled or unusable.

    Raises:
        ValueError: if the switch has an unknown value.
        RaveAgentsError: if the switch requires the bridge, but it cannot be used.
    """
    demanded = switch() == "1"
    if switch() == "0":
        return None
    try:
        return _load(retry=demanded)
    except BridgeError as error:
        if demanded:
            raise RaveAgentsError(
                f"{SWITCH}=1, but the bridge to OpenSpiel's C++ states cannot be used: {error}\n"
                f"{error.details}".rstrip()
            ) from error
        _log.warning(
            "rave_openspiel: the bridge to OpenSpiel's C++ states cannot be used, so playouts go "
            "through Python: slower, as strong in as many simulations, but with one seed they draw "
            "other playouts and may choose other moves than with the bridge: %s. %s=0 silences "
            "this.",
            error,
            SWITCH,
        )
        return None


def raise_failure(library: Any, provider: int, game: pyspiel.Game) -> NoReturn:
    """Raise the last failure of a provider of a library, see ``Failure`` in ``states.h``."""
    kind = ERRORS[library.error(provider) - 1]
    if kind == "ENDLESS":
        raise endless_game(str(game))
    message = library.message(provider).decode(errors="replace")
    errors = {"GAME": GameError, "SPIEL": pyspiel.SpielError, "MEMORY": MemoryError}
    raise errors.get(kind, RuntimeError)(message)


class OptionalLibrary(SharedLibrary):
    """A library without which the same is done in Python."""

    part: ClassVar[Part]
    """What it is compiled from."""
    otherwise: ClassVar[str]
    """What happens without it, for the warning."""


def optional_library(kind: type[AnyLibrary]) -> AnyLibrary | None:
    """A library, built if needed; None if the switch is off or it cannot be built."""
    loaded: Any = _optional  # mypy takes no class for hashable.
    return None if switch() == "0" else loaded(kind, switch() == "1")


@functools.cache
def _optional(kind: Any, retry: bool, /) -> Any:
    try:
        return kind(built_library(kind.part, retry=retry))
    except BridgeError as error:
        _log.warning("rave_openspiel: %s: %s.", kind.otherwise, error)
        return None


def is_in_use() -> bool:
    """True if the bridge simulates C++ games."""
    return diagnosis().startswith(_IN_USE)


def diagnosis() -> str:
    """Report whether the bridge is in use, and why not; never raises."""
    try:
        if switch() == "0":
            return f"not used: {SWITCH}=0"
        return f"{_IN_USE}: {_load(retry=False).path}"
    except (BridgeError, ValueError) as error:
        return f"not used: {error}"


def switch() -> str:
    """Return the value of ``RAVE_AGENTS_NATIVE``: "0", "1", or None if it is not set.

    Raises:
        ValueError: for another value.
    """
    value = os.environ.get(SWITCH, "")
    for answer, words in _WORDS.items():
        if value.strip().lower() in words:
            return answer
    raise ValueError(
        f"{SWITCH} must be 0 (or false, no, off), 1 (or true, yes, on) or not set, got {value!r}."
    )


@functools.cache
def _load(*, retry: bool) -> Library:
    type_capsule(STATE)  # Fails early, with the reason, if pyspiel hides its types.
    return Library(built_library(BRIDGE, retry=retry))


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

    def set_root(self, root: pyspiel.State | HasState) -> bool:
        """Simulate from another state of the same game, with nothing hidden, from now on.

        Args:
            root: the state; what wraps it is cloned.

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
            unit = functools.partial(_drawn_unit, frame.playout_stream, np.empty(1, np.int64))
            source = recorded_worlds(root, observation.player, unit, observation.worlds)
            answer = functools.partial(self._world_address, source)
            self._give_world = PythonCallback(answer, given.data, 0)
            source.moves_played = lambda: moves_played(self._frame)
            self.worlds, address = source, self._give_world.address
        else:
            self.worlds = _OwnWorlds(self._library, self._provider)
        self._given = given  # The bridge reads there.
        self._library.observe(
            self._provider, observation.player, by_information_state, address, given.ctypes.data
        )

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


def _drawn_unit(stream: Stream, word: np.ndarray) -> float:
    """The stream's next number in [0, 1), as the bridge draws it."""
    fill_words(stream, word)
    return int(word[0]) / 4294967296.0
