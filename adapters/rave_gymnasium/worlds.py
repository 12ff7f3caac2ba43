"""Worlds of a single-agent environment that hides something, drawn by the user's function."""

from collections.abc import Callable
from typing import Any

import gymnasium

from rave_agents.environments.generators import find_generators, reseed
from rave_agents.environments.worlds import Unit, WorldFunction, world_random
from rave_agents.errors import GameError
from rave_gymnasium.cloning import deep_clone
from rave_gymnasium.support import env_name
from rave_gymnasium.wrappers import searched_part


class PlanningWorlds:
    """Worlds of the user's function.

    An environment does not show its observation on request, so that only the kind of environment
    and its actions are compared.

    Args:
        env: the true position. It is kept, and must not change.
        unit: draws the seed of the generator that the function gets.
        function: see ``WorldFunction``.
        clone: copies the position so that nothing but its generators is shared.
    """

    def __init__(
        self, env: Any, unit: Unit, function: WorldFunction, clone: Callable[[Any], Any]
    ) -> None:
        self._env = env
        self._function = function
        self._clone = clone
        self._random = world_random(unit)

    def __call__(self) -> Any:
        """Draw a world.

        Raises:
            GameError: if it is no such environment; the message says what differs.
        """
        given = self._clone(self._env)
        world = self._function(given, None, self._random)
        if world is given:
            return world
        if not isinstance(world, gymnasium.Env):
            raise GameError(f"worlds must return an environment, got {world!r}.")
        if _kind(world) != _kind(self._env):
            raise GameError(
                f"worlds returned the environment {env_name(world)} with the actions "
                f"{world.action_space} where {env_name(self._env)} with "
                f"{self._env.action_space} was expected."
            )
        world = deep_clone(searched_part(world, keep_observations=True))
        for found in find_generators(world, make_missing=True).inside:
            reseed(found.generator, int(self._random.integers(2**63)))
        return world


def _kind(env: Any) -> tuple[Any, ...]:
    """Key that two worlds of one environment share."""
    raw = type(env.unwrapped)
    return raw.__module__, raw.__qualname__, env.action_space
