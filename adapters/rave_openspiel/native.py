"""Simulations of OpenSpiel's C++ states by the compiled bridge, without returning to Python.

The environment variable ``RAVE_AGENTS_NATIVE`` controls the bridge: 0 (or false, no, off) disables
it, 1 (or true, yes, on) raises an error if it cannot be used; by default the search uses it if it
can.
"""

import functools
import logging
import os
from typing import Any, ClassVar, NoReturn, TypeVar

import pyspiel

from rave_agents.errors import GameError, RaveAgentsError
from rave_agents.game.endless import endless_game
from rave_openspiel.native_library import (
    BRIDGE,
    ERRORS,
    BridgeError,
    Library,
    Part,
    SharedLibrary,
    built_library,
)
from rave_openspiel.pointers import STATE, is_native_class, type_capsule

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
