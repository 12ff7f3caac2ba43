"""Statistics of the root's actions, and the columns of their table."""

import functools
import math
import operator
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rave_agents.game.game_state import GameState
from rave_agents.game.notation import action_name
from rave_agents.results.numbers import fixed
from rave_agents.results.rows import Field
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


def _count(value: float | None) -> str:
    return "-" if value is None else "inf" if math.isinf(value) else f"{value:.0f}"


_tenths = functools.partial(fixed, places=1)
_rate = functools.partial(fixed, places=4)

_FIELDS = (
    ("", Field("", "visits", "visits")),
    ("", Field("", "value", "value", fixed)),
    ("amaf_visits", Field("", "amaf_visits", "AMAF visits", _count, rank=6)),
    ("amaf_visits", Field("", "amaf_value", "AMAF value", fixed, rank=2)),
    ("winning_move_number", Field("", "winning_move_number", "winning move", _tenths, rank=8)),
    ("winning_move_number", Field("", "weighted_win_rate", "weighted win rate", _rate, rank=9)),
    ("proof_number", Field("", "proof_number", "proof", _count, rank=5)),
    ("proof_number", Field("", "disproof_number", "disproof", _count, rank=5)),
    ("outcome", Field("", "outcome", "outcome", fixed, rank=1)),
    ("outcome", Field("", "distance", "in moves", _count, rank=4)),
    ("", Field("", "prior", "prior", fixed, rank=7)),
    ("improved", Field("", "improved", "improved", fixed, rank=2)),
    ("", Field("", "probability", "probability", fixed, rank=1)),
)
"""The columns of the table, each with the statistic that some row must have for it."""


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
    columns = [Column("action", names, text=True)]
    for needed, field in _FIELDS:
        values = map(operator.attrgetter(needed), rows) if needed else [1]
        # A proof number of 0 is known; AMAF visits are 0 without AMAF.
        if any(value is not None and (value != 0 or needed != "amaf_visits") for value in values):
            columns.append(field.column(shown))
    places = {row.action: place for place, row in enumerate(rows)}
    for name, figures in reports.items():
        columns.append(Column(name, [fixed(figures[places[row.action]]) for row in shown]))
    return columns
