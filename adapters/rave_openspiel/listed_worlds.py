"""All histories that fit a player's knowledge, where there are few."""

import bisect
import itertools
import math
from typing import NamedTuple

import pyspiel

from rave_openspiel.history_chain import Budget
from rave_openspiel.knowledge import Knowledge, OutOfBudget
from rave_openspiel.uniform_moves import Unit, weighted_choices


class _Open(NamedTuple):
    """A history whose continuations are not listed yet."""

    state: pyspiel.State
    moment: int
    """The next moment at which the player's view counts."""
    weight: float
    """The logarithm of its probability."""


class ListedWorlds:
    """The current positions of all histories that fit.

    Each has the probability of its history, if the others move uniformly at random.
    """

    def __init__(self, found: list[_Open]) -> None:
        most = max(each.weight for each in found)
        self.states: list[pyspiel.State] = [each.state for each in found]
        """The positions."""
        shares = (math.exp(each.weight - most) for each in found)
        self._sums = list(itertools.accumulate(shares))

    def draw(self, unit: Unit) -> pyspiel.State:
        """Draw one."""
        place = bisect.bisect_right(self._sums, unit() * self._sums[-1])
        return self.states[min(place, len(self.states) - 1)]


def listed(knowledge: Knowledge, budget: Budget) -> ListedWorlds | None:
    """List all histories that fit, or return None if the budget ends first.

    Which of both depends on the player's knowledge alone, unless the budget has a time.
    """
    found: list[_Open] = []
    stack = [_Open(knowledge.start, 0, 0.0)]
    try:
        while stack:
            now = stack.pop()
            state, moment = now.state, now.moment
            if state.is_terminal():
                continue
            weighted = None
            if knowledge.is_moment(state.current_player()):
                if not knowledge.fits(state, moment):
                    continue
                if moment + 1 == len(knowledge.moments):
                    found.append(now)
                    continue
                own_action = knowledge.moments[moment].action
                weighted = None if own_action is None else [(own_action, 0.0)]
                moment += 1
            weighted = weighted or weighted_choices(state)
            budget.spend(len(weighted))
            stack += [_Open(state.child(a), moment, now.weight + w) for a, w in weighted]
    except OutOfBudget:
        return None
    return ListedWorlds(found) if found else None
