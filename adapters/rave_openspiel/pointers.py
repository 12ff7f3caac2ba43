"""Addresses of pyspiel's C++ objects, and pyspiel's methods on addresses.

pybind11 has one method for both, ``_pybind11_conduit_v1_``: an object with this method returns the
address of the C++ object that it wraps, given the C++ type, and is accepted as such an object.
"""

import builtins
import ctypes
import functools
import re
from typing import Any

import pyspiel

from rave_openspiel.native_library import BridgeError

STATE = "_ZTIN10open_spiel5StateE"
"""The symbol of ``typeid(open_spiel::State)``."""

BOT = "_ZTIN10open_spiel3BotE"
"""The symbol of ``typeid(open_spiel::Bot)``."""

RANDOM_ROLLOUTS = "_ZTIN10open_spiel10algorithms22RandomRolloutEvaluatorE"
"""The symbol of ``typeid(open_spiel::algorithms::RandomRolloutEvaluator)``."""

_TYPE_INFO = b"St9type_info"
"""The name of type capsules, ``typeid(std::type_info).name()``; it must outlive them."""

_POINTER_KIND = b"raw_pointer_ephemeral"


def address_of(wrapper: Any, symbol: str) -> int:
    """Return the address of the C++ object, which lives as long as its wrapper.

    Args:
        wrapper: a pyspiel object.
        symbol: its C++ type, ``STATE``, ``BOT`` or ``RANDOM_ROLLOUTS``.

    Raises:
        BridgeError: if pyspiel does not return the address.
    """
    get = getattr(wrapper, "_pybind11_conduit_v1_", None)
    if get is not None:
        for platform in _platforms():
            capsule = get(platform, type_capsule(symbol), _POINTER_KIND)
            if capsule is not None:
                name = ctypes.pythonapi.PyCapsule_GetName
                name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
                pointer = ctypes.pythonapi.PyCapsule_GetPointer
                pointer.restype = ctypes.c_void_p
                pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
                return int(pointer(capsule, name(capsule)))
    raise BridgeError("pyspiel does not return the addresses of its C++ objects")


def rollouts_of(evaluator: pyspiel.RandomRolloutEvaluator) -> int:
    """Return the number of rollouts that OpenSpiel's C++ evaluator was made with.

    ``pyspiel`` does not expose it. It is the C++ object's first field after the pointer to its
    methods; reading an evaluator with a known number checks that.

    Raises:
        TypeError: if it cannot be read.
    """
    known = 7919  # No value that uninitialised memory is likely to hold.
    try:
        if _first_field(pyspiel.RandomRolloutEvaluator(known, 0)) == known:
            return _first_field(evaluator)
    except BridgeError:
        pass
    raise TypeError(
        "The number of rollouts of this pyspiel.RandomRolloutEvaluator cannot be read. Give "
        "rave_openspiel.mcts.RandomRolloutEvaluator(n) in its place."
    )


def _first_field(evaluator: pyspiel.RandomRolloutEvaluator) -> int:
    address = address_of(evaluator, RANDOM_ROLLOUTS)
    return ctypes.c_int.from_address(address + ctypes.sizeof(ctypes.c_void_p)).value


class Borrowed:
    """A C++ object without a Python wrapper, for use with the methods of its pyspiel class.

    ``pyspiel.Game.get_type(Borrowed(address))`` calls the method on the object at that address.

    Args:
        address: of an object of the class whose methods it is given to, which must outlive the
            call: nothing checks it.
    """

    def __init__(self, address: int) -> None:
        self._address = address

    def _pybind11_conduit_v1_(self, platform: bytes, kind: object, pointer_kind: bytes) -> Any:
        # None makes pybind11 raise its usual TypeError for an argument of a wrong type.
        if platform not in _platforms() or pointer_kind != _POINTER_KIND:
            return None
        return _capsule(self._address)


@functools.cache
def type_capsule(symbol: str) -> Any:
    """A capsule of the address of a type's ``std::type_info``.

    Raises:
        BridgeError: if pyspiel does not export it.
    """
    try:
        exported = ctypes.c_char.in_dll(ctypes.CDLL(pyspiel.__file__), symbol)
    except (OSError, ValueError) as error:
        raise BridgeError(f"pyspiel does not export a type of its own: {error}") from error
    return _capsule(ctypes.addressof(exported))


def _capsule(address: int) -> Any:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(address, _TYPE_INFO, None)


@functools.cache
def _platforms() -> tuple[bytes, ...]:
    """Return the platform name in the keys under which pybind11 modules share data.

    Modules cooperate only if their platform names are equal.
    """
    current = ctypes.pythonapi.PyInterpreterState_Get
    current.restype, current.argtypes = ctypes.c_void_p, []
    shared = ctypes.pythonapi.PyInterpreterState_GetDict
    shared.restype, shared.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    # The reference is borrowed: as the result of a function, ctypes would give it up as its own.
    internals = ctypes.cast(shared(current()), ctypes.py_object).value
    found = []
    for key in (*internals, *vars(builtins)):
        match = re.fullmatch(r"__pybind11_internals_v\d+(_.+?)__", str(key))
        if match is not None:
            # Versions of pybind11 pass the name with or without its leading underscore.
            found += [match[1].encode(), match[1][1:].encode()]
    return tuple(found)


def is_native_class(kind: type) -> bool:
    """True if the class of a game or state is implemented in C++."""
    return kind.__module__.partition(".")[0] == "pyspiel"
