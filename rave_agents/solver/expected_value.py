"""``ExpectedValue``: bounds on a player's expected return in games with chance."""

import math
import time
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from rave_agents.certificates.checker import after
from rave_agents.errors import GameError
from rave_agents.game.game_state import GameState
from rave_agents.game.utility_limits import utility_limits
from rave_agents.game.validation import NonNegative, Positive, validated
from rave_agents.solver import records as codes
from rave_agents.solver.bounds_table import NONE, SLOTS, USED, BoundsTable, look_up
from rave_agents.solver.buffers import PathBuffers, next_slice
from rave_agents.solver.expectation import (
    CUT,
    LIMIT,
    SWEEP,
    Pool,
    Question,
    Search,
    Stack,
    run,
)
from rave_agents.solver.keys import hashed
from rave_agents.solver.proof_search import check_provable

FIRST_LIMIT = 16
"""Depth limit of the first sweep; it doubles while sweeps are cut off."""

MOST_LIMIT = 2**20
"""Maximum depth of a sweep."""

UNCHANGED_SWEEPS = 5
"""After this many sweeps without better root bounds, play must cycle and the search ends."""

ENTRY_BYTES = 40
"""Bytes of an entry of the table."""

EXACT = 1e-12
"""Bounds this close, as a share of the range of returns, differ by rounding only."""

UNKNOWN_UTILITY = 1e300
"""Bound used for games that state no bounds of returns."""


class ValueBounds(NamedTuple):
    """Lower and upper bound of a value; both always hold."""

    low: float
    high: float


class ValueProgress(NamedTuple):
    """The progress of a search for a value."""

    bounds: ValueBounds
    """The bounds after the last sweep."""
    limit: int
    """Depth limit of this sweep."""
    positions: int
    """Positions expanded."""
    seconds: float
    table_share: float
    """The share of the table in use."""


class ExpectedValue(PathBuffers):
    """Finds the expected return that a player can guarantee from positions, against all others.

    The player maximises the return and all others together minimise it; in two-player constant-sum
    games that is the value of the game. If play can go on forever, the bounds hold for any value of
    endless play, and may not meet.

    Args:
        state: a position of the game.
        player: the player.
        max_memory_mb: the size of the table in megabytes (2**20 bytes).
        precision: the search ends when the bounds are this close, at least 0; at 0, values are
            exact up to rounding.

    Raises:
        UnsupportedGameError: for a game with hidden information or simultaneous moves, or whose
            environment draws chance itself.
        ValueError: for an invalid memory size or precision.
    """

    Stack, Pool = Stack, Pool
    _NEEDS = "a single player to move, or chance,"

    @validated
    def __init__(
        self,
        state: GameState,
        player: int,
        *,
        max_memory_mb: Positive = 256.0,
        precision: NonNegative = 0.0,
    ) -> None:
        check_provable(state)
        super().__init__(state)
        limits = utility_limits(state)
        span = limits.high - limits.low
        self.question: Question = Question(
            player,
            max(limits.low, -UNKNOWN_UTILITY),
            min(limits.high, UNKNOWN_UTILITY),
            max(precision, EXACT * span) if math.isfinite(span) else precision,
            # 63 bits: compiled records hold signed integers.
            hashed(f"expected value of player {player}".encode())[0] >> 1,
        )
        buckets = max(1, int(max_memory_mb * 2**20) // (ENTRY_BYTES * SLOTS))
        entries = buckets * SLOTS
        self._table = BoundsTable(
            np.zeros(entries, np.uint64),
            np.zeros(entries),
            np.zeros(entries),
            np.zeros(entries, np.int64),
            np.zeros(entries, np.int64),
            buckets,
        )
        self._bounds = np.zeros(2)
        self._slice = 1000
        self.end: Literal["solved", "positions", "seconds", "exhausted"] = "seconds"
        """Why the last search ended: ``"solved"``, ``"positions"``, ``"seconds"``, or
        ``"exhausted"`` if play can go on forever and the bounds do not meet."""

    @property
    def positions(self) -> int:
        """Positions expanded so far."""
        return int(self.control[codes.NODES])

    def solve(
        self,
        state: GameState,
        *,
        positions: int | None = None,
        seconds: float | None = None,
        watch: Callable[[ValueProgress], object] | None = None,
    ) -> ValueBounds:
        """Search for the value of a position.

        Args:
            state: any position of the game.
            positions: the maximum number of positions to expand; None for no limit.
            seconds: the maximum time in seconds; None for no limit.
            watch: called every few hundredths of a second.

        Returns:
            The bounds: equal within the precision, unless a limit was reached or play can go on
            forever.
        """
        if state.is_terminal():
            value = float(state.returns()[self.question.player])
            return ValueBounds(value, value)
        begin, first, unchanged, limit = time.perf_counter(), self.positions, 0, FIRST_LIMIT
        found, self.end = self.known(state), "solved"
        while found.high - found.low > self.question.precision:
            self._begin(state, limit)
            while not self._go_on():
                spent = time.perf_counter() - begin
                if watch is not None:
                    watch(ValueProgress(found, limit, self.positions, spent, self.table_share))
                counted = positions is not None and self.positions - first >= positions
                if counted or (seconds is not None and spent >= seconds):
                    self.end = "positions" if counted else "seconds"
                    return found
            # Deepen first: unchanged bounds mean nothing while sweeps are cut off.
            before, found = found, self.known(state)
            if self.control[CUT] > 0 and limit < MOST_LIMIT:
                limit *= 2
            elif found != before:
                unchanged = 0
            elif (unchanged := unchanged + 1) == UNCHANGED_SWEEPS:
                self.end = "exhausted"
                break
        return found

    @property
    def table_share(self) -> float:
        """The share of the table in use."""
        return float(self.control[USED]) / len(self._table.keys)

    def known(self, state: GameState) -> ValueBounds:
        """The table's bounds of a position, or those of the game's utilities."""
        if state.is_terminal():
            value = float(state.returns()[self.question.player])
            return ValueBounds(value, value)
        first, second = self._key(state)
        with np.errstate(over="ignore"):
            place = look_up(self._table, np.uint64(first), np.uint64(second))
        if place == NONE:
            return ValueBounds(self.question.least, self.question.greatest)
        return ValueBounds(float(self._table.low[place]), float(self._table.high[place]))

    def answer(self, state: GameState) -> int:
        """The action that guarantees the known bound of a position for the side that moves.

        The player maximises, the others minimise. Missing table entries of the children are
        searched again.
        """
        own = state.current_player() == self.question.player
        bounds = self.known(state)
        for look in (self.known, self.solve):
            best, chosen = -math.inf, -1
            for action in state.legal_actions():
                low, high = look(after(state, action))
                if (merit := low if own else -high) > best:
                    best, chosen = merit, int(action)
            if best >= (bounds.low if own else -bounds.high):
                break
        return chosen

    def is_unknown(self, state: GameState, *, low: bool) -> bool:
        """True if a position's bound is still trivial for the side that proves.

        Args:
            state: the position.
            low: True for the player's lower bound, False for the others' upper bound.
        """
        bounds, question = self.known(state), self.question
        return bounds.low <= question.least if low else bounds.high >= question.greatest

    def _key(self, state: GameState) -> tuple[int, int]:
        if not self.expander.set_root(state):
            raise GameError("The position belongs to another game than the search.")
        first, second = self.expander.root_key()
        return first ^ self.question.salt, second ^ self.question.salt

    def _begin(self, state: GameState, limit: int) -> None:
        """Start a sweep."""
        control, stack = self.control, self.stack
        stack.keys[:2] = self._key(state)
        stack.alpha[0], stack.beta[0] = -math.inf, math.inf
        control[codes.DEPTH], control[codes.ENTERING], control[LIMIT] = 0, 1, limit
        control[CUT] = control[codes.LOOPS] = 0
        control[SWEEP] += 1
        self.on_path[:] = 0
        self._bind()

    def _bind(self) -> None:
        """Pass the current arrays to the compiled search."""
        self._run = run.bound(
            Search(
                self.question,
                self._table,
                self.expansion,
                self.stack,
                self.pool,
                self.on_path,
                self._bounds,
                self.control,
                self.expander.address,
                self.expansion.header.ctypes.data,
            )
        )

    def _go_on(self) -> bool:
        """Run one slice; returns whether the sweep is finished."""
        begin = time.perf_counter()
        with np.errstate(over="ignore"):
            status = self._run(self._slice)
        if status == codes.GOES_ON:
            self._slice = next_slice(self._slice, time.perf_counter() - begin)
        if self.grow(status):
            self._bind()
        return bool(status == codes.SETTLED)
