"""Helpers of the conformance checks: report violations, compare positions, draw moves."""

import random
from collections.abc import Sequence
from typing import Any

from rave_agents.errors import ConformanceError
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import (
    GameState,
    PlayerId,
    drawn_outcome,
    is_simultaneous,
    moving_players,
)

TOLERANCE = 1e-6
"""Largest difference of two numbers that count as equal."""


def require(condition: bool, message: str) -> None:
    """Raise ConformanceError with this message unless the condition holds."""
    if not condition:
        raise ConformanceError(message)


def snapshot(state: GameState) -> tuple[Any, ...]:
    """Return the answers of all of a state's methods, to compare two states."""
    player = int(state.current_player())
    parts: list[Any] = [player, bool(state.is_terminal()), bool(state.is_chance_node())]
    if player == PlayerId.CHANCE:
        parts.append(tuple((int(action), float(p)) for action, p in state.chance_outcomes()))
    elif player == PlayerId.TERMINAL:
        parts.append(tuple(map(float, state.returns())))
    else:
        parts.append(tuple((mover, *map(int, actions)) for mover, actions in movers(state)))
    key = StateAbilities(state).position_key
    if key is not None:
        parts.append(key())
    # The default text is the object's address, which differs between clones.
    if type(state).__str__ is not object.__str__:
        parts.append(str(state))
    return tuple(parts)


def movers(state: Any) -> list[tuple[int, Sequence[int]]]:
    """Return the players to move at a decision node, each with their legal actions."""
    if is_simultaneous(state):
        return [(player, state.legal_actions(player)) for player in moving_players(state)]
    return [(int(state.current_player()), state.legal_actions())]


def drawn_move(state: GameState, draw: random.Random) -> list[int]:
    """Draw a random move, in the form of ``apply_path``: an action, or a joint action."""
    if state.is_chance_node():
        return [drawn_outcome(state, draw)]
    return [int(draw.choice(list(actions))) for _, actions in movers(state)]
