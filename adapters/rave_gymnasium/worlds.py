"""Worlds of a single-agent environment that hides something, drawn by the user's function."""

from typing import Any

import gymnasium

from rave_agents.environments.worlds import UserWorlds
from rave_agents.errors import GameError
from rave_gymnasium.cloning import deep_clone
from rave_gymnasium.support import env_name
from rave_gymnasium.wrappers import searched_part


class PlanningWorlds(UserWorlds):
    """Worlds of a Gymnasium environment by the user's function.

    An environment does not show its observation on request, so that only the kind of environment
    and its actions are compared.
    """

    def _adopted(self, world: Any) -> Any:
        if not isinstance(world, gymnasium.Env):
            raise GameError(f"worlds must return an environment, got {world!r}.")
        if _kind(world) != _kind(self._env):
            raise GameError(
                f"worlds returned the environment {env_name(world)} with the actions "
                f"{world.action_space} where {env_name(self._env)} with "
                f"{self._env.action_space} was expected."
            )
        return deep_clone(searched_part(world, keep_observations=True))


def _kind(env: Any) -> tuple[Any, ...]:
    """Return what two worlds have in common."""
    raw = type(env.unwrapped)
    return raw.__module__, raw.__qualname__, env.action_space
