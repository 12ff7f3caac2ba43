"""Worlds of an environment, drawn by the user's function.

A world (determinization) is an environment that an agent cannot tell from the live one. Neither
PettingZoo's nor Gymnasium's interface can draw them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from rave_agents.environments.generators import reseed_inside

Unit = Callable[[], float]
"""Draws a uniform random number in [0, 1)."""

WorldFunction = Callable[[Any, Any, np.random.Generator], Any]
"""A source of worlds, called as ``worlds(env, agent, rng)``: it returns an environment in a state
that ``agent``, who is to move, cannot tell from that of ``env``. A Gymnasium environment has one
agent without a name: ``agent`` is None.

``env`` is a copy, without the wrappers that only watch over the caller; it may be changed and
returned. The future is hidden, too: shuffle a deck, and replace a random generator of the
environment, by draws of ``rng``."""


class UserWorlds:
    """Worlds of an environment by the user's function, each of them checked.

    Args:
        env: the true position. It is kept, and must not change.
        agent: whose knowledge the worlds agree with; None for the only one.
        unit: draws the seed of the generator that the function gets.
        function: see ``WorldFunction``.
        clone: copies the position.
    """

    def __init__(
        self,
        env: Any,
        agent: Any,
        unit: Unit,
        function: WorldFunction,
        clone: Callable[[Any], Any],
    ) -> None:
        self._env = env
        self._agent = agent
        self._function = function
        self._clone = clone
        self._random = np.random.default_rng([int(unit() * 2**32) for _ in range(4)])

    def __call__(self) -> Any:
        """Draw a world.

        Raises:
            GameError: if it is no world; the message says what differs.
        """
        given = self._clone(self._env)
        world = self._function(given, self._agent, self._random)
        # A new environment has generators of its own: unseeded, all worlds might draw alike.
        if world is not given:
            world = self._adopted(world)
            reseed_inside(world, self._random)
        self._check(world)
        return world

    def _adopted(self, world: Any) -> Any:
        """Return a copy to search of an environment that the user's function has made.

        Raises:
            GameError: if it is none.
        """
        raise NotImplementedError

    def _check(self, world: Any) -> None:
        """Raise GameError if the agent can tell a world from the true position."""
