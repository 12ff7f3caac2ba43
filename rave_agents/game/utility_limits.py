"""A game's numbers of players and actions, and its utilities.

``UtilityLimits`` defines the returns and values that a search accepts.
"""

import math
import sys
from typing import Annotated, Any, NamedTuple

from annotated_types import Ge, Le

from rave_agents.errors import GameError
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.arguments import is_number
from rave_agents.game.arrays import as_numbers
from rave_agents.game.validation import checked

ROUNDING = 1e-4
"""Tolerance for returns and values outside the utilities, as a share of their range, and for the
distance of priors' sums from 1: single precision."""

CHANCE_ROUNDING = 1e-6
"""Tolerance for the distance of chance's probabilities from a sum of 1: they are the game's own."""

MOST_PLAYERS = 127
"""Players that a game may have: the tree keeps who moves in a byte."""

MOST_ACTIONS = 2**63 - 1
"""Distinct actions that a game may have."""

MOST_LEGAL = 2**22
"""Legal actions that a position may have."""

MOST_OUTCOMES = 2**31 - 1
"""The largest chance outcome of a game."""


class UtilityLimits(NamedTuple):
    """The returns that a game allows, with room for rounding."""

    players: int
    """The number of players."""
    low: float
    """The least utility that the game states; minus infinity if it states none."""
    high: float
    """The greatest."""
    total: float | None
    """The sum of returns at every end; None if it varies or is unknown."""
    least: float
    """The least accepted return."""
    greatest: float
    """The greatest."""
    least_total: float
    """The least accepted sum of returns."""
    greatest_total: float
    """The greatest."""
    sum_of_two: float
    """The sum of two players' returns; NaN if it varies or is unknown, or there are others."""

    @classmethod
    def of(cls, players: int, low: float, high: float, total: float | None) -> "UtilityLimits":
        """The limits of a game that states these numbers."""
        bounded = math.isfinite(low) and math.isfinite(high)
        # The second term is for narrow ranges far from 0, where doubles themselves are coarse.
        slack = ROUNDING * (high - low) + 1e-9 * max(abs(low), abs(high)) if bounded else 0.0
        # Not infinity: a sum that has overflowed must fail the comparison.
        least_total, greatest_total = -sys.float_info.max, sys.float_info.max
        if total is not None:
            room = players * slack if bounded else ROUNDING * max(1.0, abs(total))
            least_total, greatest_total = total - room, total + room
        limits = low - slack, high + slack, least_total, greatest_total
        of_two = math.nan if total is None or players != 2 else total
        return cls(players, low, high, total, *limits, of_two)

    def numbers(self, given: Any) -> list[float] | None:
        """A finite number within the limits for each player; None for anything else."""
        numbers = as_numbers(given)
        if numbers is None or len(numbers) != self.players:
            return None
        fits = all(self.least <= each <= self.greatest and math.isfinite(each) for each in numbers)
        return numbers if fits else None

    def returns(self, given: Any) -> list[float]:
        """A finished game's returns, checked.

        Raises:
            GameError: if they are not one finite number within the utilities for each player, or
                have another sum than the game states.
        """
        numbers = as_numbers(given)
        if numbers is None:
            raise GameError(
                f"returns() must give a list of numbers, one for each player: got {shown(given)}."
            )
        if len(numbers) != self.players:
            raise GameError(
                f"Expected returns for {self.players} players, got {len(numbers)}: {shown(given)}."
            )
        if not all(map(math.isfinite, numbers)):
            raise GameError(f"Returns must be finite numbers, got {shown(given)}.")
        if min(numbers) < self.least or max(numbers) > self.greatest:
            raise GameError(
                f"returns() gave {shown(given)}, but min_utility() and max_utility() allow "
                f"{self.low:g} to {self.high:g}."
            )
        if self.total is not None and not (self.least_total <= sum(numbers) <= self.greatest_total):
            raise GameError(
                f"returns() gave {shown(given)}, which sum to {sum(numbers):g}, but utility_sum() "
                f"says {self.total:g}."
            )
        return numbers

    @property
    def one_says_all(self) -> bool:
        """True if the mover's return determines everybody's."""
        return self.players == 1 or not math.isnan(self.sum_of_two)

    @property
    def where(self) -> str:
        """The stated bounds, for a message; empty if there are none."""
        if self.low == -math.inf and self.high == math.inf:
            return ""
        return f", from {self.low:g} to {self.high:g}, the game's utilities"


def checked_limits(players: Any, low: Any, high: Any, total: Any) -> UtilityLimits:
    """The limits of a game that states these numbers.

    Raises:
        GameError: if no game can have such numbers.
    """
    players = checked("num_players", Annotated[int, Ge(1), Le(MOST_PLAYERS)], players, GameError)
    bounds = is_number(low) and is_number(high)
    if not bounds or not (low <= high and low < math.inf and high > -math.inf):
        raise GameError(
            "min_utility and max_utility must be numbers, the first not above the second, or "
            f"-inf and inf where nobody knows: got {shown(low)} and {shown(high)}."
        )
    if total is not None and not (is_number(total) and math.isfinite(total)):
        raise GameError(f"utility_sum must be a finite number or None, got {shown(total)}.")
    total = None if total is None else float(total)
    return UtilityLimits.of(players, float(low), float(high), total)


def utility_limits(state: Any) -> UtilityLimits:
    """Read a state's statement of its game's players and utilities.

    Raises:
        GameError: if no game can have such numbers.
    """
    stated = StateAbilities(state).utility_sum()
    return checked_limits(state.num_players(), state.min_utility(), state.max_utility(), stated)


def shown(value: Any) -> str:
    """A value for a message, cut to a line or two."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]} ..."
