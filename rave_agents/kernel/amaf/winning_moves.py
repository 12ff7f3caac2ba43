"""Winning-move numbers: how early an action is taken in won simulations.

For each action the statistics also sum the move numbers of its first use in won simulations
(Kozlovsky 2013, on the Computer-go list). An action that wins early is preferred.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Le

from rave_agents.compiler.arrays import Array, Axis, Rows
from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.compiler.part_fields import Takes
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import hooks

WON = 0.5
"""A player whose value exceeds this has won the simulation."""


class NoWinningMoves(NamedTuple):
    """Winning moves are not counted."""


class WinningMoves(NamedTuple):
    """Winning moves are counted, and may bias the AMAF value."""

    weight: Annotated[float, Ge(0), Le(1)] = 0.0
    """Their share in the AMAF value, in [0, 1], scaled so that the best sibling gets the siblings'
    best AMAF value. At 0 they are only reported."""


Winning = Annotated[Any, Takes(NoWinningMoves, WinningMoves)]
"""Type of a field that switches the counting of winning moves."""


@runs_as(WinningMoves)
class EdgeWins(NamedTuple):
    """Winning moves at edges."""

    options: WinningMoves
    wins: Annotated[Array, Rows(Axis.EDGE, np.float32)]
    """AMAF visits that were won."""
    win_moves: Annotated[Array, Rows(Axis.EDGE, np.float32)]
    """Sum of the move numbers of these wins; a simulation's first move is number 1."""


class TableWins(NamedTuple):
    """Winning moves in AMAF tables."""

    options: WinningMoves
    wins: Annotated[Array, Rows(Axis.TABLE, np.float32, (Axis.PLAYER, Axis.ACTION))]
    win_moves: Annotated[Array, Rows(Axis.TABLE, np.float32, (Axis.PLAYER, Axis.ACTION))]


@open_function
def note_win(winning: Any, row: int, won: bool, weight: float, number: int) -> None:
    """Count an update of this weight if it was won, with its move number."""


@implements(note_win, EdgeWins, TableWins)
def _note_win(winning: Any, row: int, won: bool, weight: float, number: int) -> None:
    if won:
        winning.wins[row] = np.float64(winning.wins[row]) + weight
        winning.win_moves[row] = np.float64(winning.win_moves[row]) + weight * number


@kernel
def winning_rate(winning: Any, row: int, visits: float) -> float:
    """The weighted win rate of a row."""
    return weighted_win_rate(visits, float(winning.wins[row]), float(winning.win_moves[row]))


@kernel
def weighted_win_rate(visits: float, wins: float, win_moves: float) -> float:
    """``(wins / visits) / (win_moves / wins)``: the win rate by the mean winning move number.

    Kozlovsky 2013, on the Computer-go list. 0 without wins.
    """
    if wins <= 0.0:
        return 0.0
    return (wins / visits) / (win_moves / wins)


@open_function
def biased_sum(winning: Any, row: int, n_amaf: float, amaf_value_sum: float, scale: float) -> float:
    """The sum of AMAF values, biased by winning moves; no bias if ``scale`` is 0."""
    return amaf_value_sum


@implements(biased_sum, EdgeWins, TableWins)
def _biased_sum(
    winning: Any, row: int, n_amaf: float, amaf_value_sum: float, scale: float
) -> float:
    if scale <= 0.0:
        return amaf_value_sum
    weighted = n_amaf * scale * winning_rate(winning, row, n_amaf)
    weight = winning.options.weight
    return (1.0 - weight) * amaf_value_sum + weight * weighted


@implements(hooks.copy_edge, EdgeWins)
def _copy_wins(winning: EdgeWins, old: int, new: int) -> None:
    winning.wins[new] = winning.wins[old]
    winning.win_moves[new] = winning.win_moves[old]
