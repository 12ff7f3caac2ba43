"""Histories that fit a player's knowledge, replayed on OpenSpiel's C++ states.

The library does what ``knowledge.py``, ``history_chain.py`` and ``first_history.py`` do, several
times as fast. From one stream of random numbers both draw the same histories.
"""

import ctypes
import math
import pathlib
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyspiel
from numpy.typing import NDArray

from rave_agents.errors import GameError
from rave_agents.simulate.random_stream import Stream, StreamUnit
from rave_openspiel.history_chain import BLOCK, ELSEWHERE, REDRAWS, Budget, HistoryChain
from rave_openspiel.knowledge import Knowledge, Line, OutOfBudget
from rave_openspiel.native import OptionalLibrary, is_native, optional_library, raise_failure
from rave_openspiel.native_library import HISTORIES
from rave_openspiel.player_views import sees_information_state
from rave_openspiel.pointers import STATE, Borrowed, address_of
from rave_openspiel.uniform_moves import Unit

_LATE = -1
"""The library's code for a function that the time has ended."""

_NONE = -1
"""The library's number for no moment and no action."""


class HistoriesLibrary(OptionalLibrary):
    """The functions of the compiled library; see ``histories.cpp``."""

    part = HISTORIES
    otherwise = "worlds are replayed in Python, which is slower"

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__(path)
        pointer, number, long = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
        text, real = ctypes.c_char_p, ctypes.c_double
        self.create: Any = self.function(
            "histories_create", pointer, pointer, number, number, number
        )
        self.new_owner: Any = self.capsules("histories_set_capsule_reader")
        self.release: Any = ctypes.cast(self._library.histories_release, pointer)
        self.release_search: Any = ctypes.cast(self._library.histories_release_search, pointer)
        self.release_line: Any = ctypes.cast(self._library.histories_release_line, pointer)
        self.add_moment: Any = self.function(
            "histories_add_moment", None, pointer, number, text, long, pointer, long, long
        )
        self.adopt: Any = self.function("histories_adopt", pointer, pointer, long, *[pointer] * 4)
        self.continue_line: Any = self.function(
            "histories_continue", pointer, pointer, pointer, pointer, real, pointer
        )
        self.search: Any = self.function("histories_search", pointer, pointer, pointer, pointer)
        self.find: Any = self.function("histories_find", pointer, pointer, pointer, real)
        self.played: Any = self.function("histories_played", real, pointer)
        self.advance: Any = self.function(
            *("histories_advance", pointer, pointer, pointer, long, pointer, long),
            *(pointer, pointer, real, pointer, pointer, pointer),
        )
        self.error: Any = self.function("histories_error", number, pointer)
        self.message: Any = self.function("histories_message", text, pointer)
        self.length: Any = self.function("histories_length", long, pointer)
        self.last: Any = self.function("histories_last", pointer, pointer)
        self.read: Any = self.function("histories_read", None, pointer, *[pointer] * 4)


class NativeLine(Line):
    """A line that the library holds; its parts are read when they are first asked for.

    Args:
        library: the library.
        start: the state at which it begins.
        address: the library's line, which this object owns.
    """

    def __init__(self, library: HistoriesLibrary, start: pyspiel.State, address: int) -> None:
        self._library, self._start = library, start
        self.address = address
        self._owner = library.new_owner(address, None, library.release_line)
        self._length = int(library.length(address))

    def __len__(self) -> int:
        return self._length

    def __getattr__(self, name: str) -> Any:
        if name == "states":
            self.states = [self._start]
            for action in self.actions:
                self.states.append(self.states[-1].child(action))
        elif name in ("movers", "actions", "weights", "moments"):
            count = self._length
            movers, moments = np.empty(count, np.int32), np.empty(count + 1, np.int32)
            actions, weights = np.empty(count, np.int64), np.empty(count)
            parts = [each.ctypes.data for each in (movers, actions, weights, moments)]
            self._library.read(self.address, *parts)
            self.movers, self.actions = movers.tolist(), actions.tolist()
            self.weights = weights.tolist()
            self.moments = [None if moment < 0 else moment for moment in moments.tolist()]
        else:
            raise AttributeError(name)
        return self.__dict__[name]

    def world(self) -> pyspiel.State:
        """A copy of the last state."""
        return pyspiel.State.clone(Borrowed(self._library.last(self.address)))


class NativeKnowledge(Knowledge):
    """A player's knowledge, with the library's copy of it.

    Args:
        library: the library.
        state: the true position, of a C++ game.
        player: the player.
        ends: see ``Knowledge``.
    """

    def __init__(
        self, library: HistoriesLibrary, state: pyspiel.State, player: int, ends: float
    ) -> None:
        super().__init__(state, player, ends)
        self.library = library
        self._game = state.get_game()
        self.address = library.create(
            address_of(self.start, STATE),
            player,
            sees_information_state(self._game),
            self.counts_moves,
        )
        if not self.address:
            raise GameError(f"A state of {self._game} cannot be cloned.")
        self._owner = library.new_owner(self.address, None, library.release)
        for moment in self.moments:
            view = moment.view.encode()
            legal = np.array(moment.legal or [], np.int64)
            count = -1 if moment.legal is None else len(legal)
            action = _NONE if moment.action is None else moment.action
            library.add_moment(
                self.address, moment.mover, view, len(view), legal.ctypes.data, count, action
            )

    def made(self, address: int | None) -> Line | None:
        """The line that a function of the library has returned, or None.

        Raises:
            OutOfBudget: if the time was over.
            Exception: what the game has raised.
        """
        if address:
            return NativeLine(self.library, self.start, address)
        error = self.library.error(self.address)
        if error == _LATE:
            raise OutOfBudget
        if error != 0:
            raise_failure(self.library, self.address, self._game)
        return None

    def adopted(self, line: Line) -> NativeLine:
        """The library's line of the same history."""
        if isinstance(line, NativeLine):
            return line
        moments = [_NONE if moment is None else moment for moment in line.moments]
        parts = (
            np.array(line.movers, np.int32),
            np.array(line.actions, np.int64),
            np.array(line.weights, np.float64),
            np.array(moments, np.int32),
        )
        addresses = [each.ctypes.data for each in parts]
        made = self.made(self.library.adopt(self.address, len(line), *addresses))
        assert isinstance(made, NativeLine)
        return made

    def begun(self, unit: Unit) -> tuple[Line | None, int]:
        """See ``Knowledge``."""
        return self._continued(None, unit)

    def continued(self, line: Line, unit: Unit) -> tuple[Line | None, int]:
        """See ``Knowledge``."""
        return self._continued(self.adopted(line), unit)

    def _continued(self, line: NativeLine | None, unit: Unit) -> tuple[Line | None, int]:
        assert isinstance(unit, StreamUnit)
        played = ctypes.c_int64()
        address = self.library.continue_line(
            self.address,
            None if line is None else line.address,
            unit.address,
            self.ends - time.perf_counter(),
            ctypes.byref(played),
        )
        return self.made(address), played.value


class NativeSearch:
    """The library's search for a first history, see ``first_history.py``.

    Args:
        knowledge: what the player knows.
        settings: the constants, as ``RepairSettings`` in ``first_history.h`` has them.
        stream: gives the random choices.
    """

    def __init__(
        self, knowledge: NativeKnowledge, settings: Sequence[float], stream: Stream
    ) -> None:
        self._library = library = knowledge.library
        numbers = np.array(settings, np.float64)
        self._address = library.search(knowledge.address, numbers.ctypes.data, stream.ctypes.data)
        if not self._address:
            knowledge.made(None)
        self._owner = library.new_owner(self._address, None, library.release_search)

    @property
    def played(self) -> float:
        """See ``first_history.Search``."""
        return float(self._library.played(self._address))

    def found(self, knowledge: Knowledge, ends: float) -> Line | None:
        """Search on until this time; see ``first_history.Search``."""
        assert isinstance(knowledge, NativeKnowledge)
        seconds = ends - time.perf_counter()
        return knowledge.made(knowledge.library.find(knowledge.address, self._address, seconds))


class NativeChain(HistoryChain):
    """The Markov chain, run by the library.

    Args:
        knowledge: what the player knows.
        unit: draws random numbers.
    """

    def __init__(self, knowledge: NativeKnowledge, unit: StreamUnit) -> None:
        super().__init__(knowledge, unit)
        self._native = knowledge
        self._stream = unit
        # Buffers, made once: a call would take less time than making them.
        self._site_buffer, self._sites_of = _Buffer(np.zeros(0, np.int32)), _Known([], [])
        self._settings = _Buffer(np.array([*self._kinds, ELSEWHERE, REDRAWS, BLOCK]))
        self._counts = _Buffer(np.zeros(2 * len(self._kinds), np.int64))
        self._changed = _Buffer(np.zeros(0, np.int8))
        self._steps = ctypes.c_double()

    def advance(self, line: Line, proposals: int, budget: Budget | None = None) -> Line:
        """See ``HistoryChain``."""
        known, before = self._native, self._native.adopted(line)
        if budget is None:
            budget = Budget(math.inf)
        self._fill_sites(before)
        if len(self._changed.array) < len(before):
            self._changed = _Buffer(np.zeros(2 * len(before), np.int8))
        counts, changed, self._steps.value = self._counts.array, self._changed.array, budget.steps
        counts.fill(0)
        changed.fill(0)
        made = known.library.advance(
            *(known.address, before.address, proposals),
            *(self._site_buffer.address, len(self._site_buffer.array), self._settings.address),
            *(ctypes.byref(self._steps), min(known.ends, budget.ends) - time.perf_counter()),
            *(self._stream.address, self._counts.address, self._changed.address),
        )
        after = known.made(made)
        budget.steps = self._steps.value
        taken, kinds = counts.tolist(), len(self._kinds)
        for kind in range(kinds):
            self._tried[kind] += taken[kind]
            self._accepted_of[kind] += taken[kinds + kind]
        self.accepted += sum(taken[kinds:])
        if after is None:
            return before
        self._changed_at.update(changed.nonzero()[0].tolist())
        after.movers, after.moments = before.movers, before.moments
        return after

    def adapt(self) -> None:
        """See ``HistoryChain``."""
        super().adapt()
        self._settings.array[: len(self._kinds)] = self._kinds

    def _fill_sites(self, line: NativeLine) -> None:
        """Write the steps that look hidden; none stands for all steps of the others."""
        last = self._sites_of
        if not self.sites or (last.sites is self.sites and last.movers is line.movers):
            return
        self._site_buffer = _Buffer(np.array(self._places(line)[0], np.int32))
        self._sites_of = _Known(self.sites, line.movers)


class _Buffer:
    """An array and its address."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.address: int = array.ctypes.data


class _Known(NamedTuple):
    """The lists for which the buffer of sites was filled."""

    sites: list[int]
    movers: list[int]


def chain_of(
    state: pyspiel.State, player: int, unit: StreamUnit, ends: float
) -> tuple[Knowledge, HistoryChain]:
    """The fastest way to replay histories: a player's knowledge, and the chain.

    Args:
        state: the true position.
        player: the player.
        unit: draws random numbers.
        ends: the ``time.perf_counter()`` time until which histories may be replayed.

    Raises:
        UnsupportedGameError: if the history cannot be replayed.
        OutOfBudget: if the time ends first.
    """
    library = optional_library(HistoriesLibrary) if is_native(state) else None
    if library is None:
        knowledge = Knowledge(state, player, ends)
        return knowledge, HistoryChain(knowledge, unit)
    known = NativeKnowledge(library, state, player, ends)
    return known, NativeChain(known, unit)
