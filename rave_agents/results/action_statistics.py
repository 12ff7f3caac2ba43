"""Statistics of the root's actions, and the columns of their table."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rave_agents.game.game_state import GameState
from rave_agents.game.notation import action_name
from rave_agents.results.tables import Column


class _Statistics(NamedTuple):
    """The fields of ``ActionStatistics``."""

    action: int
    """The action."""
    visits: int
    """Simulations that began with it."""
    value: float | None
    """Mean return of those simulations; None without visits."""
    prior: float
    """Prior probability, including Dirichlet noise."""
    amaf_visits: float
    """Simulations in which the player took it at the root or later."""
    amaf_value: float | None
    """Mean return of those simulations; None without any."""
    probability: float
    """Probability of playing it, see ``SearchConfig.temperature``."""
    winning_move_number: float | None = None
    """Mean move number of the action in the won simulations in which the player took it, 1 for the
    root; None without any, or if winning moves are not counted (``WinningMoves``)."""
    weighted_win_rate: float = 0.0
    """Share of those simulations that were won, divided by that number; 0 without any."""
    outcome: float | None = None
    """The player's proven return after it with best play by all, else None."""
    distance: int | None = None
    """Moves to the end of the game, including this one, in the shortest known win or longest known
    defence; None if not proven."""
    proof_number: float | None = None
    """Proof number of the player's win after it; None without proof numbers."""
    disproof_number: float | None = None
    """Disproof number of the player's win after it; None without proof numbers."""
    improved: float | None = None
    """Probability in the improved policy, with ``rule=gumbel``; else None."""


class ActionStatistics(_Statistics):
    """One legal action of the root.

    Values are expected returns of the player to move there, in the game's utilities.
    """

    position: tuple[GameState, int] | None = None
    """The root and the player to move there; None for a row without a result."""

    @property
    def name(self) -> str:
        """The action in the game's notation; its number if the game has none."""
        if self.position is None:
            return str(self.action)
        state, player = self.position
        return action_name(state, self.action, player)


def action_columns(
    rows: Sequence[ActionStatistics],
    shown: Sequence[ActionStatistics],
    names: Sequence[str],
    reports: Mapping[str, Sequence[float]],
) -> list[Column]:
    """Columns of a table of actions.

    Args:
        rows: all legal actions; statistics that none of them has get no column.
        shown: the actions to show, in their order.
        names: the names of the shown actions.
        reports: figures of each of ``rows``, by name.
    """
    columns = [
        Column("action", names, text=True),
        Column("visits", [str(row.visits) for row in shown]),
        Column("value", [number_text(row.value) for row in shown]),
        *_amaf_columns(rows, shown),
        *_proof_columns(rows, shown),
        Column("prior", [f"{row.prior:.3f}" for row in shown], rank=7),
    ]
    if any(row.improved is not None for row in rows):
        columns.append(Column("improved", [number_text(row.improved) for row in shown], rank=2))
    columns.append(Column("probability", [f"{row.probability:.3f}" for row in shown], rank=1))
    places = {row.action: place for place, row in enumerate(rows)}
    for name, figures in reports.items():
        columns.append(Column(name, [number_text(figures[places[row.action]]) for row in shown]))
    return columns


def _amaf_columns(
    rows: Sequence[ActionStatistics], shown: Sequence[ActionStatistics]
) -> list[Column]:
    columns = []
    if any(row.amaf_visits > 0 for row in rows):
        columns += [
            Column("AMAF visits", [f"{row.amaf_visits:.0f}" for row in shown], rank=6),
            Column("AMAF value", [number_text(row.amaf_value) for row in shown], rank=2),
        ]
    if any(row.winning_move_number is not None for row in rows):
        moves = (row.winning_move_number for row in shown)
        rates = [f"{row.weighted_win_rate:.4f}" for row in shown]
        numbers = ["-" if number is None else f"{number:.1f}" for number in moves]
        columns.append(Column("winning move", numbers, rank=8))
        columns.append(Column("weighted win rate", rates, rank=9))
    return columns


def _proof_columns(
    rows: Sequence[ActionStatistics], shown: Sequence[ActionStatistics]
) -> list[Column]:
    columns = []
    if any(row.proof_number is not None for row in rows):
        columns += [
            Column("proof", [_count(row.proof_number) for row in shown], rank=5),
            Column("disproof", [_count(row.disproof_number) for row in shown], rank=5),
        ]
    if any(row.outcome is not None for row in rows):
        distances = ["-" if row.distance is None else str(row.distance) for row in shown]
        columns += [
            Column("outcome", [number_text(row.outcome) for row in shown], rank=1),
            Column("in moves", distances, rank=4),
        ]
    return columns


def _count(value: float | None) -> str:
    return "-" if value is None else "inf" if math.isinf(value) else f"{value:.0f}"


def number_text(value: float | None) -> str:
    """A number with three decimals, or a dash for None."""
    return "-" if value is None else f"{value:.3f}"
