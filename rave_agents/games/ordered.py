"""Lists of actions that are kept in ascending order, for rules."""

from typing import Any

from rave_agents.compiler.dispatch import kernel


@kernel
def insert(actions: Any, first: int, count: int, action: int) -> int:
    """Put an action in its place among those from ``first`` on; returns how many there are."""
    place = count
    while place > first and actions[place - 1] > action:
        actions[place] = actions[place - 1]
        place -= 1
    actions[place] = action
    return count + 1
