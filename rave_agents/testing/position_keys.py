"""Checks of ``position_key``: states with equal keys must be the same position."""

import random
from collections.abc import Hashable
from typing import Any

from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import PlayerId, apply_path, has_simultaneous_moves
from rave_agents.testing.common import drawn_move, movers, require

KEPT = 2000
"""Maximum number of keys kept."""

TRIED = 0.25
"""Share of positions at which moves are tried in another order."""


class KeyedPositions:
    """The positions of random games by key: equal keys must mean equal play.

    Args:
        draw: draws the moves to try.
    """

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._met: dict[Hashable, Any] = {}

    def look(self, state: Any, max_moves: int) -> None:
        """Check a position, and others reached by moves in another order."""
        if StateAbilities(state).position_key is None or state.is_terminal():
            return
        # Moves in another order often lead to the same position: equal keys must mean equal play.
        self._compare(state, max_moves)
        if self._draw.random() < TRIED and not has_simultaneous_moves(state):
            for after in _transposed(state, self._draw):
                self._compare(after, max_moves)

    def _compare(self, state: Any, max_moves: int) -> None:
        """Compare a position with the one of its key, if one was met; else keep it."""
        key = state.position_key()
        if key is None:
            return
        other = self._met.get(key)
        if other is None:
            if len(self._met) < KEPT:
                self._met[key] = state.clone()
            return
        # A key that misses castling rights or the like shows only later: play both on.
        one, other = state.clone(), other.clone()
        for _ in range(max_moves):
            shown, others = _describe(one), _describe(other)
            differing = [name for name, value in shown.items() if value != others.get(name)]
            require(
                not differing,
                "Equal keys of position_key() must be of positions in which the same player moves, "
                "the same is legal, and the same play has the same returns: two differ in their "
                f"{' and '.join(differing)}.",
            )
            if one.is_terminal():
                return
            move = drawn_move(one, self._draw)
            apply_path(one, move)
            apply_path(other, move)


def _transposed(state: Any, draw: random.Random) -> list[Any]:
    """The positions after three drawn moves, and after the same with the first and last exchanged.

    None where that is not legal.
    """
    # Of three moves the outer ones are often one player's: their exchange transposes.
    first, moves = state.clone(), []
    for _ in range(3):
        if first.is_terminal() or first.is_chance_node():
            return []
        moves.append(drawn_move(first, draw)[0])
        first.apply_action(moves[-1])
    second = state.clone()
    for move in reversed(moves):
        if second.is_terminal() or second.is_chance_node() or move not in second.legal_actions():
            return []
        second.apply_action(move)
    return [each for each in (first, second) if not each.is_terminal()]


def _describe(state: Any) -> dict[str, Any]:
    player = int(state.current_player())
    if player == PlayerId.TERMINAL:
        return {"player": player, "returns": [float(value) for value in state.returns()]}
    if player == PlayerId.CHANCE:
        outcomes = [(int(outcome), float(chance)) for outcome, chance in state.chance_outcomes()]
        return {"player": player, "chance": sorted(outcomes)}
    legal = [(mover, sorted(map(int, actions))) for mover, actions in movers(state)]
    return {"player": player, "legal actions": legal}
