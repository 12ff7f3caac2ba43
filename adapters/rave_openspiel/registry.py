"""Registers the named bots with OpenSpiel, on request: ``rave_openspiel.register_bots()``.

OpenSpiel's registry takes C++ factories only, so the first request compiles a small library
(``registry.cpp``).
"""

import atexit
import ctypes
import functools
import math
import pathlib
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyspiel

from rave_agents.errors import RaveAgentsError
from rave_openspiel.bot_type import Bot
from rave_openspiel.load import BOT_TYPES, can_play, make_bot
from rave_openspiel.native import SWITCH, switch
from rave_openspiel.native_library import REGISTRY, BridgeError, SharedLibrary, built_library
from rave_openspiel.pointers import BOT, STATE, Borrowed, address_of

_ANSWER = ctypes.POINTER(ctypes.c_int64)
"""The address of a function's answer, unchanged after an exception."""

_CAN_PLAY = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int32, _ANSWER)
_MAKE = ctypes.CFUNCTYPE(
    None,
    ctypes.c_char_p,
    ctypes.c_void_p,
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_char_p),
    _ANSWER,
)
_SHOW = ctypes.CFUNCTYPE(None, ctypes.c_void_p, _ANSWER)
_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

_READ: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "bool": lambda text: text == "True",
    "str": lambda text: math.inf if text == "inf" else text,
    "unset": lambda text: None,
}
"""Parsers of a parameter's value, by OpenSpiel's type of the parameter."""

MakeBot = Callable[[str, pyspiel.Game, int, Mapping[str, Any]], pyspiel.Bot]
"""Makes a bot from its name, the game, the seat and the parameters."""


class Raiser(Bot):
    """Stores an exception, which C++ raises by calling ``restart``.

    pyspiel passes the exceptions of a bot's methods to the caller unchanged.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept = threading.local()

    def keep(self, error: BaseException) -> None:
        """Store the exception for this thread's next ``restart``."""
        self._kept.error = error

    def restart(self) -> None:
        """Raise the stored exception."""
        # Nothing is stored if a signal handler raised before the callback's ``try`` began.
        raise self._kept.__dict__.pop("error", None) or KeyboardInterrupt


class Registrar:
    """Registers Python bots with OpenSpiel, until the process ends.

    Args:
        path: the compiled ``registry.cpp``.
        make: makes the bots.

    Raises:
        BridgeError: if the library cannot be loaded.
    """

    def __init__(self, path: pathlib.Path, make: MakeBot) -> None:
        self._library = SharedLibrary(path)
        self._make = make
        self.held: dict[int, pyspiel.Bot | pyspiel.State] = {}
        """Python objects that C++ refers to, by address: bots, and states during a bot's call."""
        self._raiser = Raiser()
        # ctypes callbacks die with their Python object: keep them as long as C++ may call.
        self._functions = (
            _CAN_PLAY(self._answer_can_play),
            _MAKE(self._answer_make),
            _SHOW(self._answer_show),
            _RELEASE(self.held.pop),  # A C function: no bytecode in which a signal could raise.
        )
        # The factories live as long as the process, and call into this object.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))
        atexit.register(self._library.function("registry_end", None))

    def add(self, name: str) -> None:
        """Register a name, which must be free."""
        kinds = (ctypes.c_char_p, _CAN_PLAY, _MAKE, _SHOW, _RELEASE, ctypes.c_void_p)
        add = self._library.function("registry_add", None, *kinds)
        add(name.encode(), *self._functions, address_of(self._raiser, BOT))

    def _answer_can_play(self, name: bytes, game: int, player: int, answer: Any) -> None:
        try:
            # pyspiel has no way to wrap a bare pointer: lend the address for the calls below.
            borrowed = Borrowed(game)
            seats = range(pyspiel.Game.num_players(borrowed))
            kind = pyspiel.Game.get_type(borrowed)
            answer[0] = player in seats and can_play(name.decode(), kind)
        except BaseException as error:  # The caller in C++ raises it.
            self._raiser.keep(error)

    def _answer_make(
        self, name: bytes, state: int, player: int, count: int, parameters: Any, answer: Any
    ) -> None:
        try:
            texts = [parameters[i].decode() for i in range(3 * count)]
            game = pyspiel.State.get_game(Borrowed(state))
            given = _read(texts)
            if given.get("name") == name.decode():
                del given["name"]  # OpenSpiel adds it where the parameters are part of the name.
            bot = self._make(name.decode(), game, player, given)
            answer[0] = self._hold(bot, BOT)
        except BaseException as error:  # The caller in C++ raises it.
            self._raiser.keep(error)

    def _answer_show(self, state: int, answer: Any) -> None:
        try:
            # A clone, since the bot may keep the state after C++ has freed its own.
            answer[0] = self._hold(pyspiel.State.clone(Borrowed(state)), STATE)
        except BaseException as error:  # The caller in C++ raises it.
            self._raiser.keep(error)

    def _hold(self, wrapper: pyspiel.Bot | pyspiel.State, symbol: str) -> int:
        address = address_of(wrapper, symbol)
        self.held[address] = wrapper
        return address


def _read(texts: Sequence[str]) -> dict[str, Any]:
    """Parse the parameters from their names, types and values."""
    values = {}
    for name, kind, text in zip(texts[::3], texts[1::3], texts[2::3], strict=True):
        if kind not in _READ:
            raise TypeError(f"{name} must be a number, a Boolean or a string, got a {kind}.")
        values[name] = _READ[kind](text)
    return values


_lock = threading.Lock()


def register_bots() -> list[str]:
    """Register the named bots with OpenSpiel, so that ``pyspiel.load_bot`` finds them by name.

    The first call on a computer compiles a small library. Further calls change nothing, and a name
    that is already registered is left as it is. ``rave_openspiel.load_bot`` needs no registration.

    Returns:
        The names, which C++ programs in this process can load, too.

    Raises:
        RaveAgentsError: if the library cannot be compiled or loaded, with the reason, or if
            ``RAVE_AGENTS_NATIVE=0`` switches compiled libraries off.
        ValueError: if ``RAVE_AGENTS_NATIVE`` has an unknown value.
    """
    with _lock:
        _registrar()
    return sorted(BOT_TYPES)


@functools.cache
def _registrar() -> Registrar:
    if switch() == "0":
        raise RaveAgentsError(_refusal(f"{SWITCH}=0 switches compiled libraries off."))
    try:
        registrar = Registrar(built_library(REGISTRY, retry=switch() == "1"), make_bot)
    except BridgeError as error:
        raise RaveAgentsError(_refusal(f"{error}\n{error.details}".rstrip())) from error
    taken = set(pyspiel.registered_bots())  # A registered name keeps its bot.
    for name in BOT_TYPES:
        if name not in taken:
            registrar.add(name)
    return registrar


def _refusal(reason: str) -> str:
    return (
        "The bots cannot be registered with OpenSpiel; rave_openspiel.load_bot loads them without "
        f"registration: {reason}"
    )


def diagnosis() -> str:
    """Describe whether ``register_bots`` can register the bots, and why not; never raises."""
    try:
        if switch() == "0":
            return f"not used: {SWITCH}=0"
        return f"register_bots() loads {built_library(REGISTRY, retry=False)}"
    except (BridgeError, ValueError) as error:
        return f"not available: {error}"
