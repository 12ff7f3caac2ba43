"""Inputs of a policy when it is to move, by the names of its parameters.

In an environment they are there, as a ``View``; at a position of a game, a ``StateView`` makes each
when it is asked for.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import AdapterAbilities, GameAbilities, adapters, as_game_state
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState, legal_actions_of

Observe = Callable[[GameState, int], Any]
"""The observation of a state by a seat."""


class View(NamedTuple):
    """The inputs of a policy in an environment."""

    env: Any
    """The live environment."""
    observation: Any
    """The selected agent's observation."""
    mask: Any
    """Its mask, 1 for each action that is allowed; None if the environment gives none."""
    info: Any
    """Its info."""
    agent: Any = None
    """The agent that is to move; in a single-agent environment the policy's seat, or None."""
    player: Any = None
    """The agent, in a Parallel environment; None in AEC environments, where it is selected."""
    observations: Mapping[Any, Any] | None = None
    """The observations of all agents, in a Parallel environment."""
    infos: Mapping[Any, Any] | None = None
    """The infos of all agents, in a Parallel environment."""
    start: int = 0
    """The environment's number of the first action."""

    @property
    def position(self) -> GameState:
        """The environment's position as a GameState.

        Raises:
            UnsupportedGameError, CloneError: if the environment cannot be copied or searched.
        """
        return as_game_state(self.env)

    @property
    def state(self) -> Any:
        """The position in the form of the framework whose game it is."""
        return framework_state(self.position)

    @property
    def legal(self) -> list[int]:
        """The legal actions."""
        if self.mask is None:
            return list(self.position.legal_actions())
        return [int(action) for action in np.flatnonzero(self.mask)]


class StateView:
    """The inputs of a policy at a position.

    Args:
        position: the position.
        agent: the seat of the policy.
        observe: the observation of a state by a seat; None for the game's own.
    """

    player: Any = None
    observations: Any = None
    infos: Any = None

    def __init__(self, position: GameState, agent: int, observe: Observe | None = None) -> None:
        self._position = position
        self.seat = agent
        """The seat of the policy."""
        self._observe = observe

    @functools.cached_property
    def position(self) -> GameState:
        """The position as a GameState: a copy, which a policy may change."""
        return self._position.clone()

    @functools.cached_property
    def _shown(self) -> View | None:
        """The environment's view, where the position is one of an environment."""
        show = StateAbilities(self.position).policy_view if self._observe is None else None
        return None if show is None else show(self.seat)

    @property
    def state(self) -> Any:
        """The framework's own state."""
        return framework_state(self.position)

    @property
    def legal(self) -> list[int]:
        """The legal actions."""
        return list(legal_actions_of(self._position, self.seat))

    @property
    def start(self) -> int:
        """The number by which the first action is known to policies."""
        return 0 if self._shown is None else self._shown.start

    @property
    def agent(self) -> Any:
        """The environment's name of the agent that is to move, else the seat."""
        return self.seat if self._shown is None else self._shown.agent

    @property
    def env(self) -> Any:
        """The environment.

        Raises:
            UnsupportedGameError: for a game that is none.
        """
        if self._shown is None:
            raise UnsupportedGameError(
                "the game is no environment, so there is no env: take state, observation or mask."
            )
        return self._shown.env

    @functools.cached_property
    def observation(self) -> Any:
        """The seat's observation, as numbers.

        Raises:
            UnsupportedGameError: for a game without observations.
        """
        if self._shown is not None:
            return self._shown.observation
        return (self._observe or observation_of)(self._position, self.seat)

    @functools.cached_property
    def mask(self) -> NDArray[np.int8]:
        """1 for each legal action."""
        mask = np.zeros(self._position.num_distinct_actions(), np.int8)
        mask[self.legal] = 1
        return mask

    @property
    def info(self) -> Any:
        """The environment's info, else the mask and the seat."""
        if self._shown is not None:
            return self._shown.info
        return {"action_mask": self.mask, "seat": self.seat}


AnyView = View | StateView


def framework_state(position: GameState) -> Any:
    """The state in the form of the framework whose game it is: OpenSpiel's ``pyspiel.State``."""
    found = StateAbilities(position).framework_state
    return position if found is None else found


def framework_game(game: Any) -> Any:
    """The game in the form of the framework whose it is: OpenSpiel's ``pyspiel.Game``."""
    found = GameAbilities(game).framework_game
    return game if found is None else found


def observation_like(view: AnyView, shape: tuple[int, ...]) -> Any:
    """A policy's observation of this shape, of any framework's that has the game; None without one.

    A model that was trained on PettingZoo's observations plays in OpenSpiel's game, and the other
    way round.
    """
    position = view.position
    player = int(view.seat if isinstance(view, StateView) else position.current_player())
    theirs = framework_state(position)
    if theirs is not position and StateAbilities(position).policy_view is not None:
        shown = observation_of(as_game_state(theirs), player)
        if shown.shape == shape:
            return shown
    for adapter in adapters().values():
        seen = AdapterAbilities(adapter).observation_like(position, player, shape)
        if seen is not None:
            return seen
    return None


def framework_game_at(position: GameState, env: Any) -> Any:
    """The game that the framework's own state at a position is of; the environment if of none."""
    of_state = getattr(framework_state(position), "get_game", None)
    return env if of_state is None else of_state()


def observation_of(position: GameState, player: int) -> NDArray[np.float32]:
    """A seat's observation of a position, as ``Opponent-v0`` shows it.

    Raises:
        UnsupportedGameError: for a game without observations.
    """
    observe = StateAbilities(position).observation
    if observe is None:
        raise UnsupportedGameError(
            "the game has no observation: its states lack the method observation(player)."
        )
    return np.array(observe(player), np.float32)
