"""PettingZoo's own environment that mirrors a game played elsewhere: for pictures and views."""

from collections.abc import Mapping
from typing import Any

from rave_agents.environments.facts import metadata_of
from rave_agents.environments.spaces import SpaceAbilities
from rave_agents.errors import UnsupportedGameError
from rave_pettingzoo.structure import env_name


class MirrorEnv:
    """An AEC environment that follows a game's moves, to draw it and to show observations.

    Args:
        env: the environment, new.
    """

    def __init__(self, env: Any) -> None:
        self.env = env
        """The environment."""

    def reset(self, seed: int) -> None:
        """Begin a new game."""
        self.env.reset(seed=seed)

    def step(self, action: int) -> None:
        """Play a move; agents that are out make none."""
        env = self.env
        while env.agents:
            agent = env.agent_selection
            if not (env.terminations[agent] or env.truncations[agent]):
                break
            env.step(None)
        env.step(action)

    def observation_space(self, seat: int) -> Any:
        """Return the space of a seat's observations, without the mask."""
        space = self.env.observation_space(self.env.possible_agents[seat])
        inner = SpaceAbilities(space).spaces
        return space if inner is None or "observation" not in inner else inner["observation"]

    def observation(self, seat: int) -> Any:
        """Return what a seat observes, without the mask."""
        # Unwrapped, since wrappers may refuse to observe.
        seen = self.env.unwrapped.observe(self.env.possible_agents[seat])
        if isinstance(seen, Mapping) and "observation" in seen:
            return seen["observation"]
        return seen

    def render(self) -> Any:
        """Return the picture as an array of rows, columns and colours; None for a window."""
        return self.env.render()

    def close(self) -> None:
        """Close the window."""
        self.env.close()


def check_draws(env: Any, mode: str) -> None:
    """Raise UnsupportedGameError if an environment does not draw in this mode."""
    modes = metadata_of(env.unwrapped).get("render_modes") or ()
    if mode not in modes:
        raise UnsupportedGameError(
            f"{env_name(env)} does not draw with render_mode={mode!r}; it has {list(modes)}."
        )
