"""Simulations of OpenSpiel's C++ states without a return to Python, by the compiled bridge.

The environment variable ``RAVE_AGENTS_NATIVE`` decides: 0 does without the bridge, 1 makes it an
error that it cannot be used; by default the search does with what there is.
"""

import builtins
import ctypes
import functools
import logging
import math
import os
import re
import time
import weakref
from typing import Any

import pyspiel

from rave_agents.errors import GameError, RaveAgentsError
from rave_agents.search.simulator import Frame, Header
from rave_openspiel.native_library import ERRORS, BridgeError, Library, built_library

SWITCH = "RAVE_AGENTS_NATIVE"
"""The environment variable that switches the bridge."""

SHRINKING_GAMES = frozenset(
    ["dots_and_boxes", "gomoku", "havannah", "hex", "mnk", "tic_tac_toe", "y"]
)
"""Games in which an action disappears when taken, and no other action becomes legal or illegal
before the end: a playout draws from one list that shrinks. A rule for swapping breaks this."""

_STATE_TYPE = "_ZTIN10open_spiel5StateE"
"""The symbol of ``typeid(open_spiel::State)``."""

_IN_USE = "in use"

_log = logging.getLogger("rave_agents")


def is_native(state: pyspiel.State) -> bool:
    """Whether a state is implemented in C++ all through, so that it needs no interpreter."""
    return _is_native_class(type(state)) and _is_native_game(state.get_game())


def is_shrinking(game: pyspiel.Game) -> bool:
    """Whether playouts of the game can draw from one list that shrinks."""
    return game.get_type().short_name in SHRINKING_GAMES and not game.get_parameters().get("swap")


def _is_native_class(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "pyspiel"


def _is_native_game(game: pyspiel.Game) -> bool:
    """Whether the game is in C++, with every game that it transforms."""
    inner = [value for value in game.get_parameters().values() if isinstance(value, dict)]
    return _is_native_class(type(game)) and all(map(_is_native_game, map(_loaded, inner)))


def _loaded(parameters: dict[str, Any]) -> pyspiel.Game:
    others = {name: value for name, value in parameters.items() if name != "name"}
    return pyspiel.load_game(parameters["name"], others)


@functools.cache
def bridge() -> Library | None:
    """The compiled bridge, built if need be; None if it is not to be used or cannot be.

    Raises:
        ValueError: if the switch is set to what it does not know.
        RaveAgentsError: if the switch demands the bridge, but it cannot be used.
    """
    switch = _switch()
    if switch == "0":
        return None
    try:
        return _load(retry=switch == "1")
    except BridgeError as error:
        if switch == "1":
            raise RaveAgentsError(
                f"{SWITCH}=1, but the bridge to OpenSpiel's C++ states cannot be used: {error}\n"
                f"{error.details}".rstrip()
            ) from error
        _log.warning(
            "rave_openspiel: the bridge to OpenSpiel's C++ states cannot be used, so playouts go "
            "through Python, with the same games but slower: %s. %s=0 silences this.",
            error,
            SWITCH,
        )
        return None


def is_in_use() -> bool:
    """Whether C++ games are played by the bridge."""
    return diagnosis().startswith(_IN_USE)


def diagnosis() -> str:
    """Whether the bridge is in use, and why not; never raises."""
    try:
        if _switch() == "0":
            return f"not used: {SWITCH}=0"
        return f"{_IN_USE}: {_load(retry=False).path}"
    except (BridgeError, ValueError) as error:
        return f"not used: {error}"


def _switch() -> str:
    switch = os.environ.get(SWITCH, "")
    if switch not in ("", "0", "1"):
        raise ValueError(f"{SWITCH} must be 0, 1 or not set, got {switch!r}.")
    return switch


@functools.cache
def _load(*, retry: bool) -> Library:
    _state_type()
    return Library(built_library(retry=retry))


class NativeSimulator:
    """A provider of simulations that calls a C++ state's own functions; see ``Simulator``.

    It draws what ``OpenSpielSimulator`` draws, so both grow the same trees. The deadline is looked
    at every few moves.

    Args:
        library: the bridge.
        root: a state for which ``is_native`` holds; the bridge copies it.
        frame: the buffers shared with the loop.
        shrinking: whether playouts draw from a list that shrinks: ``is_shrinking`` of the game.

    Raises:
        GameError: if the state cannot be copied.
    """

    outside_interpreter = True

    def __init__(
        self, library: Library, root: pyspiel.State, frame: Frame, *, shrinking: bool
    ) -> None:
        self._library = library
        pointer = state_pointer(root)
        self._provider = library.create(pointer, root.num_distinct_actions(), shrinking)
        if not self._provider:
            raise GameError(f"A state of {root.get_game()} cannot be cloned.")
        weakref.finalize(self, library.release, self._provider).atexit = False
        self._deadline = math.inf
        self.address = library.simulate_address
        self.bind(frame)

    @property
    def deadline(self) -> float:
        """``time.perf_counter()`` time after which a simulation stops; infinity for never."""
        return self._deadline

    @deadline.setter
    def deadline(self, deadline: float) -> None:
        self._deadline = deadline
        self._library.set_deadline(self._provider, deadline - time.perf_counter())

    def bind(self, frame: Frame) -> None:
        """Use this frame from now on."""
        frame.header[Header.PROVIDER] = self._provider

    def raise_pending(self) -> None:
        """Raise the error that ended the last simulation, as pyspiel would."""
        kind = ERRORS[self._library.error(self._provider) - 1]
        message = self._library.message(self._provider).decode(errors="replace")
        errors = {"GAME": GameError, "SPIEL": pyspiel.SpielError, "MEMORY": MemoryError}
        raise errors.get(kind, RuntimeError)(message)


def state_pointer(state: pyspiel.State) -> int:
    """The address of the C++ object, which lives as long as ``state``.

    Raises:
        BridgeError: if pyspiel does not give it.
    """
    get = getattr(state, "_pybind11_conduit_v1_", None)
    if get is not None:
        for platform in _platforms():
            capsule = get(platform, _state_type(), b"raw_pointer_ephemeral")
            if capsule is not None:
                name = ctypes.pythonapi.PyCapsule_GetName
                name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
                pointer = ctypes.pythonapi.PyCapsule_GetPointer
                pointer.restype = ctypes.c_void_p
                pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
                return int(pointer(capsule, name(capsule)))
    raise BridgeError("pyspiel does not tell the addresses of its C++ states")


@functools.cache
def _platforms() -> tuple[bytes, ...]:
    """What modules built with pybind11 call their platform, as the keys of their shared data say.

    A module answers only to whom calls it the same.
    """
    current = ctypes.pythonapi.PyInterpreterState_Get
    current.restype, current.argtypes = ctypes.c_void_p, []
    shared = ctypes.pythonapi.PyInterpreterState_GetDict
    shared.restype, shared.argtypes = ctypes.py_object, [ctypes.c_void_p]
    found = []
    for key in (*shared(current()), *vars(builtins)):
        match = re.fullmatch(r"__pybind11_internals_v\d+(_.+?)__", str(key))
        if match is not None:
            found += [match[1].encode(), match[1][1:].encode()]
    return tuple(found)


@functools.cache
def _state_type() -> Any:
    """A capsule of ``&typeid(open_spiel::State)``."""
    try:
        symbol = ctypes.c_char.in_dll(ctypes.CDLL(pyspiel.__file__), _STATE_TYPE)
    except (OSError, ValueError) as error:
        raise BridgeError(f"pyspiel does not export the type of its states: {error}") from error
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(symbol), _CAPSULE_NAME, None)


_CAPSULE_NAME = b"St9type_info"
"""What the name of the capsule must be, kept alive for it: ``typeid(std::type_info).name()``."""
