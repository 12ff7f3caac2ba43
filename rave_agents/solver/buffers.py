"""``PathBuffers``: the buffers of the solver's searches and of a game, and how they grow."""

from typing import Any, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from rave_agents.errors import GameError, UnsupportedGameError
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState, compiled_form
from rave_agents.game.utility_limits import MOST_LEGAL
from rave_agents.games.kit.values import judged_rules
from rave_agents.simulate.expansion import Expander, Expansion, Place, make_expansion
from rave_agents.solver import records as codes
from rave_agents.solver.carriers import words_of
from rave_agents.solver.path import mark_path
from rave_agents.solver.state_expander import StateExpander

SLICE_SECONDS = 0.05
"""Approximate seconds that a search runs between two checks of its limits."""

MOST_DEPTHS = 2**20
"""Maximum length of the path: a longer game is taken to be endless."""

FIRST_DEPTHS, FIRST_CHILDREN, FIRST_ACTIONS = 64, 4096, 256
"""Initial capacity for positions on the path, for their children, and for actions of one
position."""


def expander_of(state: GameState, value: Any = None) -> tuple[Expansion, Expander]:
    """The buffers and the expander of a state's game, compiled if the game has one.

    Args:
        state: the state.
        value: a value function for compiled rules, see ``judged_rules``.
    """
    players = state.num_players()
    found = compiled_form(state)
    if found is not None:
        expansion = make_expansion(players, found.rules.max_actions)
        judged = None if value is None else judged_rules(value, found.rules)
        return expansion, found.expander(expansion, judged)
    expansion = make_expansion(players, FIRST_ACTIONS)
    own = StateAbilities(state).expander
    made = None if own is None else own(expansion)
    return expansion, StateExpander(state, expansion) if made is None else made


def cell_words_of(state: GameState) -> int:
    """Words per carrier of a proof in a state's game; 0 if proofs have no carriers."""
    found = compiled_form(state)
    if found is None or not found.rules.more_stones_never_hurt:
        return 0
    rules = found.rules
    if rules.num_images > 1 and rules.num_board_cells != rules.num_distinct_actions:
        return 0  # Some actions are not cells, so symmetries cannot map them.
    return words_of(rules.num_distinct_actions)


class PathBuffers:
    """The buffers of a compiled search along a path of positions, which grow as it needs them.

    Subclasses have records ``Stack``, of arrays by depth, and ``Pool``, of the children of the
    positions on the path.

    Args:
        state: a position of the game.
        value: a value function for compiled rules, see ``judged_rules``.
        cell_words: words of a carrier.
    """

    Stack: Any
    Pool: Any
    _NEEDS = "a single player to move"
    """What the search needs in each position, for the message."""

    def __init__(self, state: GameState, value: Any = None, cell_words: int = 0) -> None:
        self.control: NDArray[np.int64] = np.zeros(codes.CONTROL_WORDS, np.int64)
        """Numbers of the search, see ``records.py``."""
        self.expansion: Expansion
        self.expander: Expander
        self.expansion, self.expander = expander_of(state, value)
        self._widths = {"keys": 2, "paths": 2, "cells": cell_words}
        self.stack: Any = None
        self.pool: Any = None
        self._grow_stack(FIRST_DEPTHS)
        self._grow_pool(FIRST_CHILDREN)

    def grow(self, status: int) -> bool:
        """Handle the reason why a search returned; returns whether buffers have changed.

        Raises:
            UnsupportedGameError: if nobody, or several players, are to move.
            GameError: if the game does not end.
            Exception: any exception of the game, unchanged.
        """
        header = self.expansion.header
        if status == codes.FAILED:
            self.expander.raise_pending()
        if status == codes.NO_TURNS:
            raise UnsupportedGameError(
                f"The solver needs {self._NEEDS} in each position, but in one it is player "
                f"{header[Place.PLAYER]}'s turn."
            )
        if status == codes.STACK_FULL:
            self._grow_stack(2 * int(header[Place.DEPTHS]))
        elif status == codes.POOL_FULL:
            self._grow_pool(2 * len(self.pool.action) + int(header[Place.ACTION_CAPACITY]))
        elif status == codes.LISTS_FULL:
            self._grow_lists()
        return status in (codes.FAILED, codes.STACK_FULL, codes.POOL_FULL, codes.LISTS_FULL)

    def _grow_stack(self, depths: int) -> None:
        if depths > MOST_DEPTHS:
            raise GameError(f"A game has not ended after {MOST_DEPTHS // 2} moves.")
        # The search writes the next depth before it checks for room.
        self.stack = self._grown(self.stack, self.Stack, depths + 1)
        self.expander.reserve(depths)
        # At most a quarter full, for short probes; a power of two, since capacities double.
        self.on_path: NDArray[np.int64] = np.zeros(4 * depths, np.int64)
        self.control[codes.PATHS] = 4 * depths
        with np.errstate(over="ignore"):
            for depth in range(int(self.control[codes.DEPTH])):
                mark_path(self, depth)

    def _grow_pool(self, children: int) -> None:
        self.pool = self._grown(self.pool, self.Pool, children)
        self.control[codes.POOL] = children

    def _grown(self, old: Any, record: Any, rows: int) -> Any:
        """A record of arrays for so many rows, with the content of the old one."""
        arrays = {
            name: np.zeros(max(1, rows * self._widths.get(name, 1)), get_args(kind.__args__[1])[0])
            for name, kind in get_type_hints(record).items()  # NDArray[type] is a type's dtype.
        }
        for name, before in ({} if old is None else old._asdict()).items():
            array = arrays[name]
            array[: len(before)] = before
        return record(**arrays)

    def _grow_lists(self) -> None:
        """Make room for all actions of the position that did not fit."""
        old, actions = self.expansion, int(self.expansion.header[Place.REQUIRED_ACTIONS])
        if actions > MOST_LEGAL:
            raise GameError(f"A position has {actions} legal actions, more than {MOST_LEGAL}.")
        self.expansion = make_expansion(int(old.header[Place.NUM_PLAYERS]), actions)
        kept = Place.DEPTH, Place.ACTION, Place.DEPTHS, Place.COUNT_MOVES
        for place in (*kept, Place.CARRIER_WORDS, Place.FORESEE):
            self.expansion.header[place] = old.header[place]
        self.expander.bind(self.expansion)


def next_slice(steps: int, spent: float, seconds: float = SLICE_SECONDS) -> int:
    """Steps of a slice that takes ``seconds``, after one of ``steps`` steps has taken ``spent``.

    It changes by at most a factor of two: one slow position must not stall the clock.
    """
    return int(steps * min(2.0, max(0.5, seconds / max(spent, 1e-6)))) + 1
