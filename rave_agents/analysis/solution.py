"""``Solution``: a position, and bounds on the return that its player can force or expect."""

import dataclasses
import math
import operator
from typing import Any, Literal, NamedTuple

from rave_agents.game.game_state import GameState
from rave_agents.game.notation import action_name, position_text
from rave_agents.game.utility_limits import utility_limits
from rave_agents.results.numbers import counted, finite, whole
from rave_agents.results.result import Result
from rave_agents.results.tables import Column, Table

End = Literal["solved", "positions", "seconds", "exhausted", "interrupted"]
"""The reason that a search ended: the position is solved, a limit was reached, play can go on for
ever and the bounds do not meet, or the user interrupted it."""

ENDS = {
    "positions": "not solved: the positions are used up",
    "seconds": "not solved: the time is used up",
    "exhausted": "not solved: play can go on for ever, and the bounds do not meet",
    "interrupted": "not solved: interrupted",
}
"""Messages for searches that ended without a solution."""


class MoveBounds(NamedTuple):
    """A legal action, and bounds on the player's return after it."""

    action: int
    name: str
    """The action as the game prints it."""
    low: float
    high: float


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Solution(Result):
    """A position, and bounds on the player's return against all others together.

    Without chance, the return that the player can force, proven; in games of chance, the expected
    return. The rows of ``to_csv`` and ``to_frame`` are the legal
    actions.
    """

    game: str
    """The game's name as the caller gave it."""
    moves: tuple[int, ...]
    """The actions that led to the position, including chance outcomes."""
    state: GameState
    """The position."""
    player: int
    """The player to move."""
    end: End
    """The reason that the search ended."""
    bounds: tuple[float, float]
    """The player can force, or expect, at least the first and at most the second; equal if the
    position is solved, up to rounding with chance; infinite if the game states no bounds."""
    actions: tuple[MoveBounds, ...]
    """The legal actions; in games of chance the best first."""
    positions: int
    """Positions expanded."""
    seconds: float
    """Seconds of the search."""
    memory_mb: float
    """Megabytes (2**20 bytes) of the table."""
    table_share: float
    """The share of the table in use at the end."""
    search: Any = dataclasses.field(compare=False)
    """The ``ProofSearch`` or ``ExpectedValue``, whose table has every position met."""
    line: tuple[int, ...] = ()
    """Best play of all sides, in which each move keeps the value; empty if unknown."""
    loops: int = 0
    """Times that a position was met again on its own path."""
    repetition: float | None = None
    """The return that endless play counts as; None if it never counts as enough."""
    at_least: float | None = None
    """The return of the last statement "at least x"; None in games of chance."""
    proof_number: float = math.nan
    """Its proof number."""
    disproof_number: float = math.nan
    """Its disproof number."""

    @property
    def value(self) -> float | None:
        """The return that the player can force; None if unknown."""
        return self.bounds[0] if self.bounds[0] == self.bounds[1] else None

    @property
    def action_bounds(self) -> dict[int, tuple[float, float]]:
        """For each action, bounds on the player's return after it."""
        return {each.action: (each.low, each.high) for each in self.actions}

    @property
    def outcome(self) -> tuple[float, ...] | None:
        """The returns of all players under best play; None if unknown, and in games of chance.

        With a constant sum of two players one return gives the other. With more players, the return
        that one can force does not give the others'.
        """
        if self.value is None or self.at_least is None:
            return None
        limits = utility_limits(self.state)
        if limits.players == 1:
            return (self.value,)
        # With three players, others who hold one down need not play their own best.
        if math.isnan(limits.sum_of_two):
            return None
        own, other = self.value, limits.sum_of_two - self.value
        return (own, other) if self.player == 0 else (other, own)

    @property
    def proven(self) -> str | None:
        """``"win"``, ``"draw"`` or ``"loss"`` of the player to move; None if unknown.

        A single player wins with the game's greatest utility.
        """
        outcome = self.outcome
        if outcome is None:
            return None
        own = outcome[self.player]
        if len(outcome) == 1:
            greatest = self.state.max_utility()  # A single player has nobody to compare with.
            return None if math.isinf(greatest) else "win" if own >= greatest else "loss"
        # Exact comparison: without chance returns are the game's own numbers, not sums.
        other = outcome[1 - self.player]
        return "win" if own > other else "draw" if own == other else "loss"

    @property
    def line_names(self) -> tuple[str, ...]:
        """The line as people write it."""
        state, names = self.state.clone(), []
        for action in self.line:
            names.append(action_name(state, action, state.current_player()))
            state.apply_action(action)
        return tuple(names)

    def summary(self) -> str:
        """The game and the outcome."""
        moves = f" after {counted(len(self.moves), 'move')}" if self.moves else ""
        return f"{self.game}{moves}: {self._outcome}"

    @property
    def _outcome(self) -> str:
        low, high = self.bounds
        if self.at_least is None:
            if self.end == "solved":
                return f"player {self.player} can expect {(low + high) / 2:.10g}"
            return f"{ENDS[self.end]}; player {self.player} can expect from {low:.6g} to {high:.6g}"
        if self.value is None:
            return ENDS[self.end]
        if self.proven is not None:
            return f"{self.proven} for player {self.player}"
        return f"player {self.player} can force {self.value:g} against all others, and no more"

    def tables(self) -> list[Table]:
        """The result and the effort; in games of chance the actions with their bounds, too."""
        facts = {"outcome": self._outcome}
        low, high = self.bounds
        if self.at_least is not None and self.value is None:
            facts[f"returns of player {self.player}"] = f"from {low:g} to {high:g}"
            facts["proof number"] = whole(self.proof_number)
            facts["disproof number"] = whole(self.disproof_number)
        elif self.at_least is not None and self.outcome is not None:
            facts["returns"] = ", ".join(f"{value:g}" for value in self.outcome)
        if self.loops:
            endless = "nothing" if self.repetition is None else f"{self.repetition:g}"
            facts["endless play"] = f"counts for {endless}"
        if self.at_least is not None and self.value is not None:
            facts["proven line"] = " ".join(self.line_names)
        facts |= {
            "positions": whole(self.positions),
            "seconds": f"{self.seconds:.2f}",
            "memory": f"{self.memory_mb:.1f} MB, {self.table_share:.0%} used",
        }
        known = Table([Column("", [*facts], text=True), Column("", [*facts.values()], text=True)])
        if self.at_least is not None:
            return [known]
        names = Column("move", [row.name for row in self.actions], text=True)
        least = Column("at least", [f"{row.low:.6g}" for row in self.actions])
        most = Column("at most", [f"{row.high:.6g}" for row in self.actions])
        return [known, Table([names, least, most])]

    def columns(self) -> dict[str, list[Any]]:
        """A row for each action."""
        return {
            name: list(map(operator.attrgetter(name), self.actions)) for name in MoveBounds._fields
        }

    def _estimates(self) -> dict[str, Any]:
        rows = [(each.name, (each.low + each.high) / 2, each[2:]) for each in self.actions]
        can = "expect" if self.at_least is None else "force"
        return {
            "estimates": rows,
            "label": f"what player {self.player} can {can}",
            "title": self.summary(),
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; infinite and unknown ones are None."""
        plain = ("game", "player", "end", "proven", "value", "repetition")
        effort = ("positions", "loops", "seconds", "memory_mb", "table_share")
        numbers = ("at_least", "proof_number", "disproof_number")
        return {
            **{name: operator.attrgetter(name)(self) for name in plain},
            "moves": list(self.moves),
            "position": position_text(self.state),
            "bounds": [finite(each) for each in self.bounds],
            "outcome": None if self.outcome is None else list(self.outcome),
            **{name: finite(operator.attrgetter(name)(self)) for name in numbers},
            "line": list(self.line),
            "line_names": list(self.line_names),
            **{name: operator.attrgetter(name)(self) for name in effort},
            "actions": [
                {**each._asdict(), "low": finite(each.low), "high": finite(each.high)}
                for each in self.actions
            ],
        }
