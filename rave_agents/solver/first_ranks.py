"""Ranks of actions with which a search for a proof begins: all moves of playouts as first ones.

Between children that are equally near, a search goes to the action that has decided the most work
elsewhere (see ``search.py``). Before it has decided anything, the action goes first that stood the
most often in playouts from the root which came out as its player wishes (AMAF; Brügmann 1993).
That helps where an action is worth about the same at any time, as in Hex and Y; elsewhere it does
not.
"""

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.game.game_state import GameState
from rave_agents.solver.records import RANKS

PLAYOUTS = 500
"""Playouts: they take a tenth of a second in Hex 6x6."""

GREATEST = 1000
"""The rank of an action that always came out best, where another always came out worst."""


def first_ranks(state: GameState, player: int) -> NDArray[np.int64]:
    """The ranks of actions, [2 * RANKS] as in ``Search.decided``: for others, and for the player.

    Args:
        state: the root, which is not changed, of a game that ends soon.
        player: the player of the statement, who wants a high return; others want a low one.
    """
    draw, values = random.Random(0), list[float]()
    games = list[list[tuple[int, int]]]()
    for _ in range(PLAYOUTS):
        now, game = state.clone(), list[tuple[int, int]]()
        while not now.is_terminal():
            action = draw.choice(now.legal_actions())
            game.append((int(now.current_player() == player), action & (RANKS - 1)))
            now.apply_action(action)
        games.append(game)
        values.append(float(now.returns()[player]))
    return _ranks_of(games, values)


def _ranks_of(games: list[list[tuple[int, int]]], values: list[float]) -> NDArray[np.int64]:
    """The ranks, by the moves of games and what these were worth to the player."""
    taken: Any = np.zeros((2, RANKS))
    worth: Any = np.zeros((2, RANKS))
    least, most = min(values, default=0.0), max(values, default=0.0)
    for game, value in zip(games, values, strict=True):
        share = (value - least) / (most - least) if most > least else 0.0
        for own, action in game:
            taken[own, action] += 1
            worth[own, action] += share if own else 1.0 - share
    mean = worth / np.maximum(taken, 1)
    worst = np.where(taken > 0, mean, 1.0).min(axis=1, keepdims=True)
    ranks = np.where(taken > 0, GREATEST * (mean - worst), 0)
    return ranks.astype(np.int64).ravel()
