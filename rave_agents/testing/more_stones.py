"""The check of ``more_stones_never_hurt``, for ``check_rules``."""

import random

from rave_agents.games.kit.rules import Rules
from rave_agents.testing.common import require


def check_more_stones(rules: Rules, draw: random.Random) -> None:
    """Play a random game, and another in which the winner is to have the same cells.

    The winner takes them in any order, and the opponent any other cells; the winner must win again.

    Args:
        rules: the rules, which say ``more_stones_never_hurt``.
        draw: draws both games.

    Raises:
        ConformanceError: if somebody else wins.
    """
    what = "more_stones_never_hurt is set, and"
    state = rules.new_initial_state()
    cells, taken = set(state.legal_actions()), list[list[int]]([[], []])
    while not state.is_terminal():
        player, action = state.current_player(), draw.choice(state.legal_actions())
        taken[player].append(action)
        state.apply_action(action)
    returns = state.returns()
    require(sorted(returns) == [-1.0, 1.0], f"{what} nobody has won: {returns}.")
    winner = returns.index(1.0)
    kept, free = taken[winner], list(cells - set(taken[winner]))
    draw.shuffle(kept)
    draw.shuffle(free)
    again, moves = rules.new_initial_state(), [iter(free), iter(free)]
    moves[winner] = iter([*kept, *free])
    while not again.is_terminal():
        legal = again.legal_actions()
        again.apply_action(next(each for each in moves[again.current_player()] if each in legal))
    require(
        again.returns()[winner] == 1.0,
        f"{what} player {winner} has won with the cells {sorted(kept)}, yet not in another game "
        f"with them: {again.history()}.",
    )
