"""Visits of histories of OpenSpiel's C++ games, by a compiled library."""

import ctypes
import enum
import pathlib
import weakref
from typing import Any

import pyspiel

from rave_agents.errors import GameError
from rave_agents.simulate.visits import Visit, VisitPlace
from rave_openspiel.native import OptionalLibrary, is_native, optional_library, raise_failure
from rave_openspiel.native_library import VISITOR
from rave_openspiel.player_views import sees_information_state
from rave_openspiel.pointers import STATE, address_of


class _Knowledge(enum.IntEnum):
    """What makes an information set, as ``visitor.cpp`` has it."""

    MOVES = 0
    INFORMATION_STATE = 1
    OBSERVATIONS = 2


class VisitorLibrary(OptionalLibrary):
    """The functions of the compiled library; see ``visitor.cpp``."""

    part = VISITOR
    otherwise = "searches from the start of the game go through Python's states, which is slower"

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__(path)
        pointer, number = ctypes.c_void_p, ctypes.c_int
        self.create: Any = self.function("visitor_create", pointer, pointer, number)
        self.release: Any = self.function("visitor_release", None, pointer)
        self.error: Any = self.function("visitor_error", number, pointer)
        self.message: Any = self.function("visitor_message", ctypes.c_char_p, pointer)
        visit = self._library.visitor_visit
        self.address: int = int(ctypes.cast(visit, pointer).value or 0)


class NativeVisitor:
    """Visits histories of a C++ game outside the interpreter; see ``Visitor``.

    Args:
        library: the compiled library.
        start: the state at which all histories begin; it is copied.
        visit: the buffers shared with the search.

    Raises:
        GameError: if the state cannot be copied.
    """

    provider = "native"
    outside_interpreter = True

    def __init__(self, library: VisitorLibrary, start: pyspiel.State, visit: Visit) -> None:
        self._library, self._start = library, start  # The library's copy may need it to live.
        self._visitor = library.create(address_of(start, STATE), _knowledge(start.get_game()))
        if not self._visitor:
            raise GameError(f"A state of {start.get_game()} cannot be cloned.")
        # A bound method here would keep ``self`` alive, and never be called.
        weakref.finalize(self, library.release, self._visitor)
        self.bind(visit)

    @property
    def address(self) -> int:
        """See ``Visitor``."""
        return self._library.address

    def bind(self, visit: Visit) -> None:
        """See ``Visitor``."""
        visit.header[VisitPlace.PROVIDER] = self._visitor

    def raise_pending(self) -> None:
        """See ``Visitor``."""
        raise_failure(self._library, self._visitor, self._start.get_game())


def _knowledge(game: pyspiel.Game) -> _Knowledge:
    if game.get_type().information == pyspiel.GameType.Information.PERFECT_INFORMATION:
        return _Knowledge.MOVES
    seen = sees_information_state(game)
    return _Knowledge.INFORMATION_STATE if seen else _Knowledge.OBSERVATIONS


def native_visitor(start: pyspiel.State, visit: Visit) -> NativeVisitor | None:
    """A visitor that runs outside the interpreter; None for games in Python."""
    library = optional_library(VisitorLibrary) if is_native(start) else None
    return None if library is None else NativeVisitor(library, start, visit)
