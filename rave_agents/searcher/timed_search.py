"""A search whose time a clock decides."""

import random
import time
from collections.abc import Callable

from rave_agents.config.limit import Limit
from rave_agents.game.game_state import (
    GameState,
    is_simultaneous,
    joint_action,
    legal_actions_of,
    moving_players,
)
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.clock import Clock
from rave_agents.searcher.searcher import Searcher

PLAYOUTS = 8
"""Random games that tell how many moves are left."""

_SECONDS = 0.02
"""How long to play them at most; one is always played."""

_LONGEST = 2000
"""Moves after which a random game is broken off."""


def search_on_clock(
    searcher: Searcher,
    state: GameState,
    clock: Clock,
    *,
    player: int | None = None,
    simulations: int | None = None,
    progress: Callable[[SearchResult], None] | None = None,
) -> SearchResult:
    """Search for as long as a clock allows, and charge it.

    Args:
        searcher: what searches.
        state: the position; it is not changed.
        clock: of the player to move.
        player: whose action is to be chosen, see ``Searcher.search``.
        simulations: a limit in addition; None for none.
        progress: see ``Searcher.search``.

    Raises:
        Exception: what ``Searcher.search`` raises; the clock is then charged too.
    """
    searcher.prepare(state)
    started = time.perf_counter()
    moves_left = expected_moves(state, player) if clock.needs_moves_left else 1.0
    allotment = clock.allot(moves_left=moves_left, ply=clock.moves * state.num_players())
    spent = time.perf_counter() - started
    limit = Limit(seconds=max(1e-4, allotment.seconds - spent), simulations=simulations)
    try:
        return searcher.search(state, limit, player=player, progress=progress, watch=allotment)
    finally:
        clock.charge(time.perf_counter() - started)


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
        counts.append(_own_moves(state.clone(), player, draw))
    return sum(counts) / len(counts)


def _own_moves(state: GameState, player: int, draw: random.Random) -> int:
    """Plays on at random in ``state`` itself and counts the player's moves."""
    own = 0
    for _ in range(_LONGEST):
        if state.is_terminal():
            break
        if state.is_chance_node():
            outcomes, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(draw.choices(outcomes, weights)[0])
            continue
        if is_simultaneous(state):
            movers = moving_players(state)
            joint = [draw.choice(legal_actions_of(state, mover)) for mover in movers]
            state.apply_actions(joint_action(movers, joint, state.num_players()))  # type: ignore[attr-defined]
            own += player in movers
            continue
        own += state.current_player() == player
        state.apply_action(draw.choice(state.legal_actions()))
    return max(1, own)
