"""Limit and watch for a clocked search."""

import random
import time

from rave_agents.config.limit import Limit
from rave_agents.game.game_state import (
    GameState,
    drawn_outcome,
    is_simultaneous,
    joint_action,
    legal_actions_of,
    moving_players,
)
from rave_agents.searcher.clock import Clock
from rave_agents.searcher.watch import Watch
from rave_agents.tree.root_position import RootPosition

PLAYOUTS = 8
"""Number of random games that estimate how many moves are left."""

_SECONDS = 0.02
"""Time limit for these games, in seconds."""

MOVES_IN_A_SLOW_GAME = 40
"""Expected moves of the player if not even one of these games could be finished."""

_LONGEST = 2000
"""Maximum moves of a random game."""


def clocked_limit(clock: Clock, root: RootPosition, limit: Limit | None) -> tuple[Limit, Watch]:
    """The limit and the watch of a search whose time a clock determines.

    Args:
        clock: the player's clock.
        root: the position.
        limit: a limit in addition to the clock's time, or None.
    """
    state, player = root.state, root.player
    moves_left = expected_moves(state, player) if clock.needs_moves_left else 1.0
    allotment = clock.allot(moves_left=moves_left, ply=clock.moves * state.num_players())
    seconds = max(1e-4, allotment.seconds)
    if limit is None:
        return Limit(seconds=seconds), allotment
    if limit.seconds is not None:
        seconds = min(seconds, limit.seconds)
    return Limit(seconds=seconds, simulations=limit.simulations), allotment


def expected_moves(state: GameState, player: int | None = None) -> float:
    """Mean number of the player's moves left in random games, including this one.

    The games are the same at every call.

    Args:
        state: the position.
        player: the player, if moves are simultaneous.
    """
    draw = random.Random(0)
    player = state.current_player() if player is None else player
    ends = time.perf_counter() + _SECONDS
    counts: list[int] = []
    while len(counts) < PLAYOUTS and (not counts or time.perf_counter() < ends):
        own, ended = _own_moves(state.clone(), player, draw, ends)
        if not ended:
            counts = counts or [max(own, MOVES_IN_A_SLOW_GAME)]
            break
        counts.append(own)
    return sum(counts) / len(counts)


def _own_moves(state: GameState, player: int, draw: random.Random, ends: float) -> tuple[int, bool]:
    """Play on at random in ``state`` itself, counting the player's moves.

    Also returns whether there was enough time.
    """
    own = 0
    for _ in range(_LONGEST):
        if state.is_terminal():
            break
        if time.perf_counter() > ends:
            return own, False
        if state.is_chance_node():
            state.apply_action(drawn_outcome(state, draw))
            continue
        if is_simultaneous(state):
            movers = moving_players(state)
            joint = [draw.choice(legal_actions_of(state, mover)) for mover in movers]
            state.apply_actions(joint_action(movers, joint, state.num_players()))  # type: ignore[attr-defined]
            own += player in movers
            continue
        own += state.current_player() == player
        state.apply_action(draw.choice(state.legal_actions()))
    return max(1, own), True
