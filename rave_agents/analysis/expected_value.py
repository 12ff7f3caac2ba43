"""The value of a position of a game of chance: the return that the player to move can expect."""

import dataclasses
import os
import time
from typing import Any, NamedTuple

from rave_agents.analysis.position_analysis import decision_after
from rave_agents.certificates.checker import after
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.game_state import GameState
from rave_agents.game.notation import Moves, action_name, position_text
from rave_agents.game.validation import Count, NonNegative, Positive, validated
from rave_agents.results.numbers import counted, whole
from rave_agents.results.progress import Progress, View, shown
from rave_agents.results.result import Result
from rave_agents.results.tables import Column, Table
from rave_agents.solver.expected_value import ExpectedValue, ValueBounds, ValueProgress
from rave_agents.solver.proof_search import check_provable
from rave_agents.solver.state_expander import with_history

ENDS = {
    "solved": "solved",
    "positions": "not solved: the positions are used up",
    "seconds": "not solved: the time is used up",
    "exhausted": "not solved: play can go on for ever, and the bounds do not meet",
    "interrupted": "not solved: interrupted",
}
"""Messages by the reason that a search ended."""


class MoveBounds(NamedTuple):
    """A legal action, and the bounds of the value after it."""

    action: int
    name: str
    """The action as the game prints it."""
    low: float
    high: float


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class ExpectedSolution(Result):
    """A position and the bounds of the return that the player to move can expect.

    The player does their best, and all others together do their worst: with two players and a
    constant sum, that is the value of the game. The rows of ``to_csv`` and ``to_frame`` are the
    legal actions, the best first.
    """

    game: str
    """The game's name as the caller gave it."""
    moves: tuple[int, ...]
    """The actions that led to the position, chance outcomes included."""
    state: GameState
    """The position."""
    player: int
    """The player to move."""
    end: str
    """The reason that the search ended: ``"solved"``, ``"positions"``, ``"seconds"``,
    ``"exhausted"`` or ``"interrupted"``."""
    bounds: ValueBounds
    """Bounds that hold the expected return; where it is solved, they differ by rounding at most."""
    actions: tuple[MoveBounds, ...]
    """Every legal action, the best first."""
    positions: int
    """Positions that were expanded."""
    seconds: float
    memory_mb: float
    """The size of the table in megabytes."""
    search: ExpectedValue = dataclasses.field(compare=False)
    """The search, whose table has the bounds of every position met."""

    def summary(self) -> str:
        """The game and what is known."""
        moves = f" after {counted(len(self.moves), 'move')}" if self.moves else ""
        return f"{self.game}{moves}: {self._outcome}"

    @property
    def _outcome(self) -> str:
        low, high = self.bounds
        if self.end == "solved":
            return f"player {self.player} can expect {(low + high) / 2:.10g}"
        return f"{ENDS[self.end]}; player {self.player} can expect from {low:.6g} to {high:.6g}"

    def tables(self) -> list[Table]:
        """The effort, and the actions with their bounds."""
        facts = {
            "outcome": self._outcome,
            "positions": whole(self.positions),
            "seconds": f"{self.seconds:.2f}",
            "memory": f"{self.memory_mb:.1f} MB",
        }
        names = Column("move", [row.name for row in self.actions], text=True)
        low = Column("at least", [f"{row.low:.6g}" for row in self.actions])
        high = Column("at most", [f"{row.high:.6g}" for row in self.actions])
        known = Table([Column("", [*facts], text=True), Column("", [*facts.values()], text=True)])
        return [known, Table([names, low, high])]

    def columns(self) -> dict[str, list[Any]]:
        """A row for each action."""
        rows = [row._asdict() for row in self.actions]
        return {name: [row[name] for row in rows] for name in MoveBounds._fields}

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "game": self.game,
            "moves": list(self.moves),
            "position": position_text(self.state),
            "player": self.player,
            "end": self.end,
            "bounds": list(self.bounds),
            "actions": [row._asdict() for row in self.actions],
            "positions": self.positions,
            "seconds": self.seconds,
            "memory_mb": self.memory_mb,
        }


def _view(progress: ValueProgress) -> View:
    low, high = progress.bounds
    facts = {
        "bounds": f"{low:.6g} to {high:.6g}",
        "moves deep": whole(progress.limit),
        "positions": whole(progress.positions),
        "positions a second": whole(progress.positions / max(progress.seconds, 1e-6)),
        "table in use": f"{progress.table_share:.0%}",
    }
    table = Table([Column("", [*facts], text=True), Column("", [*facts.values()], text=True)])
    return View(progress.positions, None, "", table.text)


@validated
def solve_expected(
    game: Any,
    *,
    moves: Moves = "",
    position: str | os.PathLike[str] | None = None,
    positions: Count | None = None,
    seconds: Positive | None = None,
    max_memory_mb: Positive = 256.0,
    precision: NonNegative = 0.0,
    progress: Progress[ValueProgress] = None,
) -> ExpectedSolution:
    """Search for the return that the player to move can expect in a game of chance.

    Args:
        game: the game or its name, such as ``"pig(winscore=20)"``; see ``as_game``.
        moves: the moves to play first, a text or a sequence of actions, see
            ``rave_agents.game.notation.apply_moves``.
        position: the position that these begin at, see ``rave_agents.records.positions.set_up``.
        positions: the most positions to expand, at least 1.
        seconds: the largest number of wall-clock seconds, above 0.
        max_memory_mb: the size of the table in megabytes (2**20 bytes), above 0.
        precision: the distance of the bounds at which the search ends, at least 0.
        progress: None for a display in a terminal or notebook, False for none, True for one
            anywhere; or a function, which is called with the state of the search.

    Raises:
        UnknownNameError: for a game that does not exist.
        UnsupportedGameError: if the game cannot be solved.
        TypeError, ValueError: for a value that is not allowed, an illegal move, or a position where
            no player is to move.
        OSError: if the file of the position cannot be read.
    """
    loaded = as_game(game)
    check_provable(loaded.new_initial_state(), loaded.name)
    decided, played = decision_after(loaded, moves, position)
    state = with_history(decided, played)
    name = game if isinstance(game, str) else loaded.name
    player, begin = int(state.current_player()), time.perf_counter()
    search = ExpectedValue(state, player, max_memory_mb=max_memory_mb, precision=precision)
    interrupted = False
    with shown(progress, _view) as tell:
        try:
            search.solve(state, positions=positions, seconds=seconds, watch=tell)
        except KeyboardInterrupt:
            interrupted = True
    bounds = search.known(state)
    rows = [
        MoveBounds(int(a), action_name(state, int(a)), *search.known(after(state, int(a))))
        for a in state.legal_actions()
    ]
    return ExpectedSolution(
        game=name,
        moves=tuple(played),
        state=state,
        player=player,
        end="interrupted" if interrupted else search.end,
        bounds=bounds,
        actions=tuple(sorted(rows, key=lambda row: (-row.low, -row.high))),
        positions=search.positions,
        seconds=time.perf_counter() - begin,
        memory_mb=max_memory_mb,
        search=search,
    )
