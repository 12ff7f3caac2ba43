"""Expansions of OpenSpiel's C++ states for the solver, by a compiled library."""

import ctypes
import pathlib
import weakref
from typing import Any

import numpy as np
import pyspiel

from rave_agents.errors import GameError
from rave_agents.simulate.action_numbers import has_tables_of_ids
from rave_agents.simulate.expansion import Expansion, Place
from rave_agents.solver.keys import Key, hashed, key_of
from rave_openspiel.native import OptionalLibrary, is_native
from rave_openspiel.native_library import EXPANDER
from rave_openspiel.pointers import STATE, address_of
from rave_openspiel.positions import Traits, visible_start
from rave_openspiel.same_game import game_key


class ExpanderLibrary(OptionalLibrary):
    """The functions of the compiled library; see ``expander.cpp``."""

    part = EXPANDER
    otherwise = "the solver goes through Python's states, which is slower"

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__(path)
        pointer, word, number = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int
        self.create: Any = self.function("expander_create", pointer, number)
        self.release: Any = self.function("expander_release", None, pointer)
        self.set_root: Any = self.function(
            "expander_set_root", number, pointer, pointer, word, word
        )
        self.root_key: Any = self.function("expander_root_key", None, pointer, pointer)
        self.message: Any = self.function("expander_message", ctypes.c_char_p, pointer)
        expand = self._library.expander_expand
        self.address: int = int(ctypes.cast(expand, pointer).value or 0)


class NativeExpander:
    """Expands positions of a C++ state's game outside the interpreter; see ``Expander``.

    Args:
        library: the compiled library.
        root: a state for which ``can_expand`` holds; it is copied.
        traits: how states of its game identify their positions.
        expansion: the buffers shared with the solver.
    """

    outside_interpreter = True

    def __init__(
        self, library: ExpanderLibrary, root: Any, traits: Traits, expansion: Expansion
    ) -> None:
        self._library, self._traits = library, traits
        self._game = game_key(root.state.get_game())
        self._expander = library.create(traits.fixed_by_text)
        # A bound method here would keep ``self`` alive, and never be called.
        weakref.finalize(self, library.release, self._expander)
        self.bind(expansion)
        self.reserve(0)
        self.set_root(root)

    @property
    def address(self) -> int:
        """See ``Expander``."""
        return self._library.address

    def bind(self, expansion: Expansion) -> None:
        """See ``Expander``."""
        self._expansion = expansion
        expansion.header[Place.PROVIDER] = self._expander

    def reserve(self, depths: int) -> None:
        """See ``Expander``: the library's own path grows as needed."""
        self._expansion.header[Place.DEPTHS] = depths

    def set_root(self, state: Any) -> bool:
        """See ``Expander``."""
        if game_key(state.state.get_game()) != self._game:
            return False
        # Where a history identifies a position, keys chain from the start; text keys need none.
        start = hashed(b"")
        if not self._traits.fixed_by_text:
            start = key_of((self._game, visible_start(state.state, self._traits))) or start
        self._root = state.clone()  # The library's copy may need it to live.
        if not self._library.set_root(self._expander, address_of(self._root.state, STATE), *start):
            raise GameError(f"A state of {self._root.state.get_game()} cannot be cloned.")
        return True

    def root_key(self) -> Key:
        """See ``Expander``."""
        words = np.zeros(2, np.uint64)
        self._library.root_key(self._expander, words.ctypes.data)
        first, second = words.tolist()
        return first, second

    def raise_pending(self) -> None:
        """See ``Expander``."""
        raise GameError(self._library.message(self._expander).decode(errors="replace"))


def can_expand(state: Any, traits: Traits) -> bool:
    """True if the library expands a state's game: C++, no chance, identifiable positions.

    Args:
        state: an ``OpenSpielState``.
        traits: how its game's states identify their positions.
    """
    identified = traits.fixed_by_text or traits.fixed_by_history
    kind = state.state.get_game().get_type()
    return (
        identified
        and not traits.simultaneous
        and kind.chance_mode == pyspiel.GameType.ChanceMode.DETERMINISTIC
        and is_native(state.state)
        and has_tables_of_ids(state)
    )
