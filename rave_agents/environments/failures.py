"""Messages about exceptions that an environment itself raises."""

from typing import Any

from rave_agents.environments.masks import LOOKED_FOR
from rave_agents.errors import GameError

Line = tuple[Any, ...]
"""The actions so far: empty, or the line before the last action, and that action."""

NOT_RESET = "Call env.reset() first if it has not been reset. "
"""Hint of messages where the very first step fails."""

SHOWN = 20
"""Actions that a message shows."""


def step_failed(name: str, error: Exception, line: Line) -> GameError:
    """Return the error for a simulation's step in which an environment raised an exception.

    Args:
        name: the environment's name.
        error: what it raised.
        line: the actions since the position that is searched.
    """
    hint = NOT_RESET if line and not line[0] else ""
    return GameError(
        f"{name} raised {described(error)} in a simulation, at {actions_of(line)}. The error is "
        f"the environment's own, not one of the search. {hint}If the last action is not "
        f"allowed there, let a mask say so. {LOOKED_FOR}; "
        "act(observation, action_mask) takes the present one."
    )


def described(error: Exception) -> str:
    """Return an exception's type and message."""
    return f"{type(error).__name__}: {error}"


def actions_of(line: Line) -> str:
    """Return the actions of a line as text, the last ones if there are many."""
    actions: list[Any] = []
    count = 0
    while line:
        line, action = line
        count += 1
        if count <= SHOWN:
            actions.append(action)
    return counted(actions[::-1], count)


def counted(actions: list[Any], count: int) -> str:
    """Return the last actions of a game as text."""
    if count == 1:
        return f"step 1 from the present position, the action {actions[0]}"
    before = f"{count - len(actions)} others and " if count > len(actions) else ""
    return (
        f"step {count} from the present position, after {before}the actions "
        f"{', '.join(map(str, actions))}"
    )
