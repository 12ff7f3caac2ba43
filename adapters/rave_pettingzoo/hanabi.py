"""Hanabi in PettingZoo: worlds, and the value of positions at which simulations are cut off."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from rave_agents.errors import GameError
from rave_pettingzoo.structure import openspiel

HORIZON = 6
"""Moves that simulations look ahead by default. Random play to the end loses all lives, and with
them the whole score, so that full playouts tell no moves apart."""

LIFE = 2.0
"""Value of a life left where a simulation is cut off, in points."""


def legal(raw: Any) -> Sequence[int]:
    """Return the legal actions of the agent to move."""
    selected, mover = raw.agent_selection, raw.hanabi_env.agent_selection
    if selected != mover:
        raise GameError(
            f"hanabi_v5 selects {selected!r}, but its game lets {mover!r} move: PettingZoo's "
            "random_start_player=True does so at the start. Leave it out."
        )
    actions: Sequence[int] = raw.hanabi_env.game_state.legal_actions()
    return actions


def lives(state: Any) -> list[float]:
    """Return the value of the lives left, for every player; see ``ValueFunction``."""
    text = str(state.env.unwrapped.hanabi_env.game_state)
    found = re.search(r"Life tokens: (\d+)", text)
    return [LIFE * int(found[1]) if found else 0.0] * state.num_players()


def deal(env: Any, agent: Any, rng: np.random.Generator) -> Any:
    """Deal an agent's own hand anew, which only the others see; see ``WorldFunction``."""
    raw = env.unwrapped
    inner, seat = raw.hanabi_env, raw.possible_agents.index(agent)
    inner.game_state = openspiel().HanabiWorlds(inner.game_state, seat, rng.random)()
    inner._update_observations()  # The others' views, which show that hand.
    return env
