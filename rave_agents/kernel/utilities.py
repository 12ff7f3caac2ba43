"""The scale of values: the utilities that map to 0 and 1."""

from typing import Annotated, Any, NamedTuple

from rave_agents.compiler.arrays import FLOAT, Array, one
from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.kernel import codes

LOW = 0
HIGH = 1


class GameRange(NamedTuple):
    """The bounds stated by the game."""

    bounds: Annotated[Array, one(FLOAT, 2)]
    """[2] the utilities that map to 0 and 1, at ``LOW`` and ``HIGH``."""


class ObservedRange(NamedTuple):
    """The least and the greatest return seen so far."""

    bounds: Annotated[Array, one(FLOAT, 2)]
    """[2] the same; (inf, -inf) until the first return is seen."""


@kernel
def scaled(utilities: Any, utility: float) -> float:
    """``(utility - low) / (high - low)``: a utility scaled to [0, 1]; 0 while ``low == high``."""
    low, high = utilities.bounds[LOW], utilities.bounds[HIGH]
    if high <= low:
        return 0.0
    return (utility - low) / (high - low)


@open_function
def observe(utilities: Any, search: Any) -> tuple[bool, float, float]:
    """Widen the range to hold all returns of the frame.

    Returns whether stored values change, each value v to ``factor v + shift``, and both numbers.
    """
    return False, 1.0, 0.0


@implements(observe, ObservedRange)
def _observe(utilities: ObservedRange, search: Any) -> tuple[bool, float, float]:
    low, high = utilities.bounds[LOW], utilities.bounds[HIGH]
    new_low, new_high = low, high
    for place in range(search.frame.header[codes.NUM_PLAYOUTS] * search.settings.num_players):
        new_low = min(new_low, search.frame.returns[place])
        new_high = max(new_high, search.frame.returns[place])
    utilities.bounds[LOW], utilities.bounds[HIGH] = new_low, new_high
    # `high < low` before the first return: no stored value depends on the scale yet.
    if (new_low == low and new_high == high) or high < low:
        return False, 1.0, 0.0
    width = new_high - new_low
    # From (u - low) / (high - low) to (u - new_low) / width.
    return True, (high - low) / width, (low - new_low) / width


@open_function
def may_widen(utilities: Any) -> bool:
    """True if ``observe`` may change stored values."""
    return False


@implements(may_widen, ObservedRange)
def _may_widen(utilities: ObservedRange) -> bool:
    return True


@kernel
def set_values(search: Any, first: int, end: int) -> None:
    """Set ``path.values`` to the mean of the playouts from ``first`` to before ``end``."""
    players = search.settings.num_players
    for player in range(players):
        total = 0.0
        for playout in range(first, end):
            total += scaled(search.utilities, search.frame.returns[playout * players + player])
        search.path.values[player] = total / (end - first)


@kernel
def rescale_sums(value_sum: Any, visits: Any, rows: int, factor: float, shift: float) -> None:
    """Rescale the sums of values in the first ``rows`` rows."""
    for row in range(rows):
        value_sum[row] = factor * value_sum[row] + shift * visits[row]
