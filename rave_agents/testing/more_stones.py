"""The checks of ``more_stones_never_hurt`` and of ``foresee_end``, for ``check_rules``."""

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from rave_agents.games.kit.rules import Rules
from rave_agents.games.kit.rules_state import RulesState
from rave_agents.solver.proof_search import ProofSearch
from rave_agents.testing.common import require

POSITIONS = 20_000
"""Positions that may be searched to refute a foreseen win."""


def check_more_stones(rules: Rules, draw: random.Random) -> None:
    """Check monotonicity: with the same cells, taken in another order, the winner wins again.

    The opponent takes any other cells.

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
    # The winner may run out of cells, as the game may take longer: then any free one does, since
    # more stones never hurt.
    moves[winner] = iter([*kept, *free])
    while not again.is_terminal():
        legal = again.legal_actions()
        again.apply_action(next(each for each in moves[again.current_player()] if each in legal))
    require(
        again.returns()[winner] == 1.0,
        f"{what} player {winner} has won with the cells {sorted(kept)}, yet not in another game "
        f"with them: {again.history()}.",
    )


class ForeseenEnd(NamedTuple):
    """An end that rules foresee before it is played out."""

    winner: int
    """The player who wins for certain."""
    moves: int
    """Maximum number of moves left."""
    carrier: list[int]
    """The empty cells that the win needs, where more stones never hurt."""


def check_foreseen_win(rules: Rules, draw: random.Random) -> None:
    """Play a random game, and try to refute the first win that the rules foresee.

    Args:
        rules: the rules, which may foresee wins.
        draw: draws the game.

    Raises:
        ConformanceError: if the others can prevent the win.
    """
    for state, foreseen in foreseen_in_game(rules, draw):
        winner = foreseen.winner
        # All replies: the solver must not trust the carrier that is checked here.
        search = ProofSearch(state, max_memory_mb=1, all_replies=True)
        require(
            # None, undecided within the positions, counts as passed.
            search.prove(state, winner, 1.0, positions=POSITIONS) is not False,
            f"foresee_end says that player {winner} has won, whom the opponent can beat.",
        )
        return


def foreseen_in_game(rules: Rules, draw: random.Random) -> Iterator[tuple[RulesState, ForeseenEnd]]:
    """The positions of a random game whose end the rules foresee, with that end.

    Args:
        rules: the rules, which may foresee ends.
        draw: draws the game.
    """
    state = rules.new_initial_state()
    while not state.is_terminal():
        player = state.current_player()
        state.apply_action(draw.choice(state.legal_actions()))
        foreseen = None if state.is_terminal() else foreseen_end(state, player)
        if foreseen is not None:
            yield state, foreseen


def foreseen_end(state: RulesState, player: int) -> ForeseenEnd | None:
    """The end that rules foresee at a position; None if they foresee none.

    Args:
        state: a position that is not over.
        player: the player who moved last.
    """
    rules, found = state.rules, list[int]()
    carrier = np.zeros(rules.carrier_words, np.uint64)
    room = np.zeros(rules.foresight_room, np.int16)

    def look(record: Any) -> None:
        found.append(rules.foresee_end(record, player, carrier, room))

    # On a clone: ``foresee_end`` gets the record itself, and may write to it.
    state.clone().change(look)
    moves = found[0]
    if moves == 0:
        return None
    # Cell i is bit i % 64 of word i // 64; the byte view has this order on little-endian machines.
    bits = np.unpackbits(carrier.view(np.uint8), bitorder="little")
    cells = [int(cell) for cell in np.flatnonzero(bits)]
    # The sign names the winner: positive for the player who moved last.
    return ForeseenEnd(player if moves > 0 else 1 - player, abs(moves), cells)
