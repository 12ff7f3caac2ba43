"""Observations of OpenSpiel's games in the form of PettingZoo's environments, for models."""

import functools
from typing import Any

import numpy as np

from rave_agents.agents.views import framework_state
from rave_agents.errors import RaveAgentsError
from rave_agents.frameworks.adapters import load_game
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState
from rave_gymnasium.opponent_game import mirror


def twin_observation(position: GameState, player: int, shape: tuple[int, ...]) -> Any:
    """Return a seat's observation of this shape; None if PettingZoo's game has none.

    Args:
        position: the position, of a game of OpenSpiel's.
        player: the seat.
        shape: the shape of an array.
    """
    state = framework_state(position)
    if not hasattr(state, "get_game") or StateAbilities(state).history is None:
        return None
    twin = _twin(str(state.get_game()))
    if twin is None or tuple(twin.observation_space(player).shape or ()) != shape:
        return None
    # One cached environment serves all positions: replay the game on it each time.
    twin.reset(0)
    for action in state.history():
        twin.step(action)
    return np.array(twin.observation(player))


@functools.lru_cache(maxsize=8)
def _twin(name: str) -> Any:
    try:
        return mirror(load_game(name), None)
    except RaveAgentsError:
        return None
