"""Messages about spaces of actions that a search does not take."""

from typing import Any


def is_of_old_gym(thing: Any) -> bool:
    """True if an object's class is, or inherits from, one of the old package gym."""
    return any(kind.__module__.partition(".")[0] == "gym" for kind in type(thing).__mro__)


def not_discrete(space: Any) -> str:
    """Say what a space of actions is, what a search needs, and how to get there."""
    if is_of_old_gym(space):
        return (
            f"a gym.spaces.{space}, of the old package gym, and the search needs "
            "gymnasium.spaces.Discrete(n): write import gymnasium in place of import gym"
        )
    if space is None:
        return "missing (action_space), and the search needs Discrete(n)"
    remedies = {
        "Discrete": "number the actions from 0",
        "Box": "let a wrapper choose among some of them, such as gymnasium.wrappers."
        "DiscretizeAction(env, bins)",
        "MultiDiscrete": "let a wrapper number their combinations",
        "MultiBinary": "let a wrapper number their combinations",
        "Tuple": "let a wrapper number their combinations",
        "Dict": "let a wrapper number their combinations",
    }
    remedy = remedies.get(type(space).__name__)
    return f"{space}, and the search needs Discrete(n)" + (f": {remedy}" if remedy else "")
