"""Checks of what rules give, so that a search refuses what it cannot use.

The position of a new node is looked at in full, once. In playouts each player and action is looked
at before it is recorded or played, each count before the list is read, and the returns at the end.
"""

from typing import Any

from rave_agents.compiler.dispatch import kernel
from rave_agents.game.utility_limits import CHANCE_ROUNDING
from rave_agents.simulate.evaluations import is_value
from rave_agents.simulate.frame import Header

# Compiled code takes plain numbers as constants.
REQUIRED_ACTIONS = int(Header.REQUIRED_ACTIONS)
REQUIRED_MOVES = int(Header.REQUIRED_MOVES)

ENDLESS = -2
"""Code for a playout without an end."""

BAD_VALUE = -3
"""Code for a value that is no number within the utilities; the values are in the frame."""

BAD_RETURNS = -4
"""Code for returns that break the rules' own statements; they are in the frame."""

BAD_COUNT = -5
"""Code for a position with no actions, or with more than ``max_actions``."""

BAD_PLAYER = -6
"""Code for a player who does not exist."""

BAD_ACTION = -7
"""Code for an action, or an outcome of chance, that is out of range."""

TWICE = -8
"""Code for an action, or an outcome of chance, that is listed twice."""

BAD_CHANCE = -9
"""Code for probabilities that are no distribution."""

BAD_PLAYOUT = -10
"""Code for a game's own playout that ends before it begins, or beyond the frame."""

NO_CHOICE = -11
"""Code for a playout policy that has failed."""

NO_PLACE = -1
"""Code for no place in a list."""

GUARD = 32
"""Numbers on either side of ``scratch``, for rules that write to a player that there is not."""


@kernel
def refuse(frame: Any, code: int, given: Any) -> int:
    """Keep what is wrong with the rules, and the number that they gave. Returns the code."""
    frame.header[REQUIRED_MOVES] = code
    frame.header[REQUIRED_ACTIONS] = given
    return code


@kernel
def take_numbers(rules: Any, frame: Any, returns: Any, row: int, code: int) -> bool:
    """Copy returns, or values, from where the rules have written them, if they are in range."""
    fine, total = True, 0.0
    for player in range(frame.scratch.shape[0]):
        value = frame.scratch[player]
        fine = fine and is_value(value, rules.least_return, rules.greatest_return)
        total += value
        returns[row, player] = value
    if code == BAD_RETURNS:  # Values are estimates, of any sum.
        fine = fine and rules.least_total <= total <= rules.greatest_total
    if not fine:
        for player in range(frame.scratch.shape[0]):
            frame.returns[0, player] = frame.scratch[player]
        refuse(frame, code, 0)
    return fine


@kernel
def first_wrong(actions: Any, count: int, top: int) -> int:
    """The place of the first entry that is not from 0 to below ``top``, or is there before."""
    for place in range(count):
        if not 0 <= actions[place] < top:
            return place
        for before in range(place):
            if actions[before] == actions[place]:
                return place
    return NO_PLACE


@kernel
def wrong_place(actions: Any, count: int, top: int) -> int:
    """``first_wrong``, in one pass without a branch where the list is in ascending order."""
    ascends = actions[0] >= 0 and actions[count - 1] < top
    for place in range(1, count):
        ascends &= actions[place - 1] < actions[place]
    return NO_PLACE if ascends else first_wrong(actions, count, top)


@kernel
def take_chances(probabilities: Any, count: int, frame: Any) -> bool:
    """Copy probabilities to the frame. Returns whether they are a distribution."""
    total, fine = 0.0, True
    for place in range(count):
        total += probabilities[place]
        fine = fine and probabilities[place] >= 0.0
        frame.probabilities[place] = probabilities[place]
    return fine and abs(total - 1.0) < CHANCE_ROUNDING
