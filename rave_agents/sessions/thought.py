"""Thought: the figures of an agent's search as plain values, which can be sent and shown."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from rave_agents.results.search_result import SearchResult
from rave_agents.results.tables import two_decimals

SHOWN_LINE = 12
"""Maximum number of moves of a principal variation."""


class ActionThought(NamedTuple):
    """Figures of one action in a search; values are the mover's, in the game's utilities."""

    action: int
    name: str
    visits: int
    value: float | None
    amaf_visits: float
    amaf_value: float | None
    outcome: float | None
    """The mover's proven return after it; None if nothing is proven."""
    distance: int | None
    """Moves to the end then; None if nothing is proven."""


class Thought(NamedTuple):
    """Figures of a position in a search; values are the mover's, in the game's utilities."""

    player: int
    """The player to move."""
    action: int
    """The action that the search would play."""
    name: str
    """The action in the game's notation."""
    value: float | None
    """Its value; None if unknown."""
    proven: str | None
    """``win``, ``draw`` or ``loss``; None if nothing is proven."""
    returns: tuple[float, ...] | None
    """The proven returns of all players; None if nothing is proven."""
    simulations: int
    seconds: float
    line: tuple[str, ...]
    """The principal variation in the game's notation."""
    remarks: tuple[str, ...]
    """Remarks on the search, see ``SearchResult.remarks``."""
    actions: tuple[ActionThought, ...]
    """All actions, the best first."""

    @classmethod
    def of(cls, result: SearchResult) -> Self:
        """The figures of a search's result."""
        ranked = result.ranked_actions
        value = ranked[0].value if ranked else None
        if result.outcome is not None:
            value = result.outcome[result.player]
        elif value is None:
            value = result.value
        return cls(
            player=result.player,
            action=result.action,
            name=result.action_name(result.action),
            value=value,
            proven=result.proven,
            returns=None if result.outcome is None else tuple(map(float, result.outcome)),
            simulations=result.simulations,
            seconds=result.seconds,
            line=tuple(result.principal_variation_names[:SHOWN_LINE]),
            remarks=tuple(result.remarks),
            actions=tuple(
                ActionThought(
                    row.action,
                    result.action_name(row.action),
                    row.visits,
                    row.value,
                    row.amaf_visits,
                    row.amaf_value,
                    row.outcome,
                    row.distance,
                )
                for row in ranked
            ),
        )

    def value_of(self, seat: int, players: int) -> float | None:
        """The value for a seat; None if the mover's value does not determine it."""
        if self.returns is not None:
            return self.returns[seat]
        if self.value is None or seat == self.player:
            return self.value
        return -self.value if players == 2 else None

    def summary(self) -> str:
        """One line."""
        value = "" if self.value is None else f", value {two_decimals(self.value)}"
        value = value if self.proven is None else f", a proven {self.proven}"
        effort = f", {self.simulations} simulations in {self.seconds:.1f} s"
        return f"{self.name}{value}{effort}" + (
            f", expects {' '.join(self.line)}" if self.line else ""
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON; infinite and unknown ones are None."""
        values = self._asdict() | {"actions": [row._asdict() for row in self.actions]}
        return {key: _finite(value) for key, value in values.items()}


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value
