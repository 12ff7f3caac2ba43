"""Messages about spaces of actions that a search does not take."""

from collections.abc import Mapping
from typing import Any

from rave_agents.game.abilities import Abilities, Method, Offered


class SpaceAbilities(Abilities):
    """What a space of Gymnasium's may have, by its kind."""

    __slots__ = ()

    spaces: Offered[Mapping[str, Any] | None] = Offered(None)
    """The spaces inside a ``Dict``."""
    n: Offered[int] = Offered(0)
    """The number of elements of a ``Discrete`` space; 0 for another."""
    start: Offered[int] = Offered(0)
    """The least of them."""
    shape: Offered[tuple[int, ...] | None] = Offered(None)
    """The shape of its arrays."""
    dtype: Offered[Any] = Offered(None)
    """The type of their entries."""


class EnvAbilities(Abilities):
    """What an environment of PettingZoo's or Gymnasium's may have, some only after a reset."""

    __slots__ = ()

    reset: Offered[Any] = Method(None)
    """``reset(seed=...)``: every environment has it."""
    metadata: Offered[Any] = Offered(None)
    """Facts that the author declares, such as the name."""
    spec: Offered[Any] = Offered(None)
    """How ``gymnasium.make`` made it."""
    unwrapped: Offered[Any] = Offered(None)
    """The environment inside all wrappers."""
    render_mode: Offered[str | None] = Offered(None)
    """The kind of pictures it draws."""
    action_space: Offered[Any] = Offered(None)
    """A space in Gymnasium; a function of the agent in PettingZoo."""
    observation_space: Offered[Any] = Offered(None)
    """The same for observations."""
    num_envs: Offered[int | None] = Offered(None)
    """The number of environments of a vectorised one."""
    possible_agents: Offered[Any] = Offered(())
    """All agents that it can have."""
    agents: Offered[Any] = Offered(())
    """The agents that are in the game."""
    agent_selection: Offered[Any] = Offered(None)
    """The agent to move, in an AEC environment."""
    observe: Offered[Any] = Method(None)
    """``observe(agent)``: what an agent of an AEC environment sees."""


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
