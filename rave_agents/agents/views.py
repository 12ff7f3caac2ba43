"""An agent's view when it is to move: the observation, the mask, the position.

``View`` is the view in an environment; ``StateView``, at a position of a game, is computed lazily.
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
    """The view of an agent in an environment."""

    env: Any
    """The live environment."""
    observation: Any
    """The observation of the agent to move."""
    mask: Any
    """Its mask, 1 for each action that is allowed; None if the environment gives none."""
    agent: Any = None
    """The agent to move; None in a single-agent environment."""
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


class StateView:
    """The view of an agent at a position.

    Args:
        position: the position.
        seat: the agent's seat.
        observe: the observation of a state by a seat; None for the game's own.
    """

    player: Any = None
    observations: Any = None
    infos: Any = None

    def __init__(self, position: GameState, seat: int, observe: Observe | None = None) -> None:
        self._position = position
        self.seat = seat
        """The agent's seat."""
        self._observe = observe

    @functools.cached_property
    def position(self) -> GameState:
        """The position as a GameState: a copy, which an agent may change."""
        return self._position.clone()

    @functools.cached_property
    def _environment_view(self) -> View | None:
        """The view in the environment, where the position is one of an environment."""
        show = StateAbilities(self.position).policy_view if self._observe is None else None
        return None if show is None else show(self.seat)

    @property
    def start(self) -> int:
        """The agent's number of the first action."""
        return 0 if self._environment_view is None else self._environment_view.start

    @property
    def env(self) -> Any:
        """The environment.

        Raises:
            UnsupportedGameError: for a game that is none.
        """
        if self._environment_view is None:
            raise UnsupportedGameError("the game is no environment, so there is no env.")
        return self._environment_view.env

    @functools.cached_property
    def observation(self) -> Any:
        """The seat's observation, as numbers.

        Raises:
            UnsupportedGameError: for a game without observations.
        """
        if self._environment_view is not None:
            return self._environment_view.observation
        return (self._observe or observation_of)(self._position, self.seat)

    @functools.cached_property
    def mask(self) -> NDArray[np.int8]:
        """1 for each legal action."""
        mask = np.zeros(self._position.num_distinct_actions(), np.int8)
        mask[list(legal_actions_of(self._position, self.seat))] = 1
        return mask


AnyView = View | StateView


def framework_state(position: GameState) -> Any:
    """The state in its framework's own form, such as a ``pyspiel.State``."""
    found = StateAbilities(position).framework_state
    return position if found is None else found


def framework_game(game: Any) -> Any:
    """The game in its framework's own form, such as a ``pyspiel.Game``."""
    found = GameAbilities(game).framework_game
    return game if found is None else found


def framework_game_at(position: GameState, env: Any) -> Any:
    """The game of the framework's own state at a position; the environment if it has none."""
    of_state = StateAbilities(framework_state(position)).get_game
    return env if of_state is None else of_state()


def observation_of(position: GameState, player: int) -> NDArray[np.float32]:
    """A seat's observation of a position, as ``Opponent-v0`` shows it.

    Raises:
        UnsupportedGameError: for a game without observations.
    """
    observe = StateAbilities(position).observation
    if observe is None:
        raise UnsupportedGameError(
            "the game has no observation: its states lack the method observation(player). An agent "
            "that needs none is an object with step(state), or from_step(function)."
        )
    return np.array(observe(player), np.float32)


def observation_like(view: AnyView, shape: tuple[int, ...]) -> Any:
    """An observation of this shape from any framework that has the game; None without one.

    So a model that was trained on PettingZoo's observations plays OpenSpiel's game, and the other
    way round.
    """
    position = view.position
    player = int(view.seat if isinstance(view, StateView) else position.current_player())
    # An environment around an OpenSpiel state: that state may have the observation instead.
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
