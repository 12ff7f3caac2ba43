"""The adapter of Gymnasium."""

import importlib.metadata
import re
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium

from rave_agents.config.specs import parse_call
from rave_agents.errors import UnknownNameError
from rave_agents.frameworks.adapters import GameInfo, unknown_game
from rave_agents.frameworks.agent import AgentType
from rave_agents.game.game_state import GameState
from rave_gymnasium.checks import env_name, time_limit
from rave_gymnasium.cloning import CLONER
from rave_gymnasium.states import PlanningState
from rave_gymnasium.twin_observations import twin_observation


class GymnasiumGame:
    """A Gymnasium environment as a one-player ``rave_agents.frameworks.adapters.Game``.

    Args:
        name: the game's name, its parameters included.
        env: the environment.

    Raises:
        UnsupportedGameError, CloneError: if the search cannot plan in it; the message says why.
    """

    num_players = 1

    def __init__(self, name: str, env: Any) -> None:
        self.name = name
        self.env = env
        """The environment; states are copies of it."""
        self.new_initial_state()

    @property
    def framework_game(self) -> Any:
        """The environment, for agents of Gymnasium's users."""
        return self.env

    def new_initial_state(self) -> GameState:
        """Return the state after ``reset`` with seed 0."""
        return self.seeded_initial_state(0)

    def seeded_initial_state(self, seed: int) -> GameState:
        """Return the state after ``reset`` with a seed; it lasts to the end of the episode."""
        observation, info = self.env.reset(seed=seed)
        mask = info.get("action_mask")
        # A game lasts to the end of its episode; only searches stop at their horizon.
        limit, elapsed = time_limit(self.env)
        state = PlanningState(self.env, observation=observation, action_mask=mask)
        return state.lasting(limit - elapsed)


class GymnasiumAdapter:
    """Gymnasium's adapter; see ``rave_agents.frameworks.adapters.Adapter``."""

    name = "gymnasium"

    def observation_like(self, position: GameState, player: int, shape: tuple[int, ...]) -> Any:
        """See ``twin_observation``."""
        return twin_observation(position, player, shape)

    def wrap(self, state: Any) -> GameState | None:
        """Return an environment's position as a GameState; None for any other object.

        Raises:
            UnsupportedGameError, CloneError: if the search cannot plan in it.
        """
        if not isinstance(state, gymnasium.Env):
            return None

        return PlanningState(state)

    def wrap_game(self, game: Any) -> GymnasiumGame | None:
        """Return a copy of an environment as a Game; None for any other object.

        Raises:
            UnsupportedGameError, CloneError: if the search cannot plan in it.
        """
        if not isinstance(game, gymnasium.Env):
            return None
        return GymnasiumGame(env_name(game), CLONER.clone(game))

    def load_game(self, spec: str) -> GymnasiumGame:
        """Load the environment of this id, such as ``FrozenLake-v1(is_slippery=False)``.

        A module that registers it may precede the id: ``my_module:MyEnvironment-v0``.
        """
        if not re.search(r"-v\d+", spec):  # A cheap test: other frameworks' names come here too.
            raise UnknownNameError(
                f"{spec!r} is not a Gymnasium environment: their ids end in a version, such as "
                "CartPole-v1."
            )
        match = re.fullmatch(r"\s*([\w/:.-]+)\s*(?:\((.*)\))?\s*", spec, re.DOTALL)
        if match is None or not (":" in match[1] or match[1] in gymnasium.registry):
            name = spec if match is None else match[1]
            raise UnknownNameError(unknown_game(name, gymnasium.registry))
        try:
            parameters = parse_call(f"game({match[2] or ''})")[1]
            env = gymnasium.make(match[1], **parameters)
        except (TypeError, ValueError, ImportError, gymnasium.error.Error) as error:
            raise UnknownNameError(f"Gymnasium cannot make {spec!r}: {error}") from error
        return GymnasiumGame(f"gymnasium:{spec}", env)

    def games(self) -> Sequence[GameInfo]:
        """List Gymnasium's small environments with discrete actions."""
        return [
            GameInfo(name, f"Gymnasium: {kind.replace('_', ' ')}", name != "Blackjack-v1")
            for name, spec in sorted(gymnasium.registry.items())
            for kind in ("classic_control", "toy_text")
            if str(spec.entry_point).startswith(f"gymnasium.envs.{kind}")
            and name not in ("Pendulum-v1", "MountainCarContinuous-v0")
        ]

    def agent_types(self) -> Mapping[str, AgentType]:
        """Return no agents: this framework has none of its own."""
        return {}

    def diagnosis(self) -> Mapping[str, str]:
        """Return the installed version."""
        return {"gymnasium": importlib.metadata.version("gymnasium")}


ADAPTER = GymnasiumAdapter()
