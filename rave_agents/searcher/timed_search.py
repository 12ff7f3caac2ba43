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
"""Random games that tell how many moves are left."""

_SECONDS = 0.02
"""Time limit of the games played, in seconds."""

MOVES_IN_A_SLOW_GAME = 40
"""Moves of the player that are expected where not even one of these games could be played."""

_LONGEST = 2000
"""Moves after which a random game is broken off."""


def clocked_limit(clock: Clock, root: RootPosition, limit: Limit | None) -> tuple[Limit, Watch]:
    """Return the limit of a search whose time a clock decides, and what watches it meanwhile.

    Args:
        clock: of the player.
        root: the position.
        limit: in addition to the clock's time; None for none.
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
    """Mean number of moves that the player to move still makes in random games, this one included.

    The games are the same at every call.

    Args:
        state: the position.
        player: who is meant where players move at the same time.
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
    """Plays on at random in ``state`` itself and counts the player's moves.

    Returns also whether there was time to do so.
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
