"""Solving a position: the search for a proof of its outcome, and the solution it found."""

import contextlib
import dataclasses
import math
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from rave_agents.analysis.position_analysis import decision_after
from rave_agents.analysis.proof_moments import Moments
from rave_agents.errors import UnsupportedGameError
from rave_agents.evaluators.shipped import rules_of, value_for
from rave_agents.frameworks.own_games import as_game
from rave_agents.frameworks.rules_digest import rules_digest
from rave_agents.game.game_state import GameState, compiled_form, has_chance
from rave_agents.game.notation import Moves, action_name, position_text
from rave_agents.game.validation import Count, Positive, validated
from rave_agents.games.kit.values import judged_rules
from rave_agents.results.numbers import counted, whole
from rave_agents.results.progress import Progress, shown
from rave_agents.results.result import Result
from rave_agents.results.tables import Column, Table
from rave_agents.searcher.evaluators import as_evaluator
from rave_agents.solver.best_line import best_line
from rave_agents.solver.proof_search import ProofProgress, ProofSearch, Threads, check_provable
from rave_agents.solver.state_expander import with_history
from rave_agents.solver.value_search import (
    Interval,
    ValueSearch,
    action_bounds,
    loops_are_drawn,
)

MEMORY_MB = 256.0
"""Megabytes of the table."""

LINE_POSITIONS = 10_000
"""Positions that may be expanded, even after a shorter search, for what the proven line lacks."""

SAVED_EVERY = 120.0
"""Seconds after which a table that has a file is written again."""

End = Literal["solved", "positions", "seconds", "interrupted"]
"""Reason that a search for a proof ended: the position is solved, a limit was reached, or the user
interrupted it."""

ENDS = {
    "positions": "not solved: the positions are used up",
    "seconds": "not solved: the time is used up",
    "interrupted": "not solved: interrupted",
}
"""Messages for a search that ended without a proof, by the reason."""


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Solution(Result):
    """A position, and bounds on what the player to move can force against all others.

    The rows of ``to_csv`` and ``to_frame`` are the actions there, with bounds on what the player
    can force after each.
    """

    game: str
    """The game's name as the caller gave it."""
    moves: tuple[int, ...]
    """The actions that led to the position."""
    state: GameState
    """The position."""
    end: End
    """The reason that the search ended."""
    player: int
    """The player to move, whose returns the bounds are of."""
    bounds: tuple[float, float]
    """He can force at least the first against all others, and no more than the second; equal where
    the position is solved, infinite where the game states no bounds."""
    repetition: float | None
    """The return that endless play counts for; None if it never counts as enough."""
    proof_number: float
    """The proof number of the statement looked at last: at least ``at_least`` for the player."""
    disproof_number: float
    """Its disproof number."""
    at_least: float
    """The return that was looked at last."""
    line: tuple[int, ...]
    """Best play of all, each move of which keeps the value; empty unless that is known."""
    action_bounds: dict[int, tuple[float, float]]
    """For each action, bounds on what the player can force after it."""
    positions: int
    """Positions expanded."""
    loops: int
    """Times that a position was met again on its own path."""
    seconds: float
    """Seconds of the search."""
    memory_mb: float
    """Megabytes (2**20 bytes) of the table."""
    table_share: float
    """The share of the table in use at the end."""
    search: ProofSearch = dataclasses.field(compare=False)
    """The search, whose table answers for every position met."""

    @property
    def value(self) -> float | None:
        """The return that the player can force; None if it is not known."""
        return self.bounds[0] if self.bounds[0] == self.bounds[1] else None

    @property
    def outcome(self) -> tuple[float, ...] | None:
        """The returns of all under best play; None unless they are known.

        Of two players who share a constant sum one's return tells the other's; of more, what one
        can force tells nothing of the others.
        """
        if self.value is None:
            return None
        if self.state.num_players() == 1:
            return (self.value,)
        total = _sum_of_two(self.state)
        if total is None:
            return None
        own, other = self.value, total - self.value
        return (own, other) if self.player == 0 else (other, own)

    @property
    def proven(self) -> str | None:
        """``"win"``, ``"draw"`` or ``"loss"`` of the player to move; None where that is not known.

        A player alone wins with the game's greatest utility.
        """
        outcome = self.outcome
        if outcome is None:
            return None
        own = outcome[self.player]
        if len(outcome) == 1:
            greatest = self.state.max_utility()
            return None if math.isinf(greatest) else "win" if own >= greatest else "loss"
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
        if self.value is None:
            return ENDS[self.end]
        if self.proven is not None:
            return f"{self.proven} for player {self.player}"
        return f"player {self.player} can force {self.value:g} against all others, and no more"

    def tables(self) -> list[Table]:
        """The proof, or how far it came, and its effort."""
        facts = {"outcome": self._outcome}
        low, high = self.bounds
        if self.value is None:
            facts[f"returns of player {self.player}"] = f"from {low:g} to {high:g}"
            facts["proof number"] = whole(self.proof_number)
            facts["disproof number"] = whole(self.disproof_number)
        elif self.outcome is not None:
            facts["returns"] = ", ".join(f"{value:g}" for value in self.outcome)
        if self.loops:
            endless = "nothing" if self.repetition is None else f"{self.repetition:g}"
            facts["endless play"] = f"counts for {endless}"
        if self.value is not None:
            facts["proven line"] = " ".join(self.line_names)
        facts |= {
            "positions": whole(self.positions),
            "seconds": f"{self.seconds:.2f}",
            "memory": f"{self.memory_mb:.1f} MB, {self.table_share:.0%} used",
        }
        return [Table([Column("", [*facts], text=True), Column("", [*facts.values()], text=True)])]

    def columns(self) -> dict[str, list[Any]]:
        """A row for each action."""
        actions = list(self.action_bounds)
        return {
            "action": actions,
            "name": [action_name(self.state, each, self.player) for each in actions],
            "low": [self.action_bounds[each][0] for each in actions],
            "high": [self.action_bounds[each][1] for each in actions],
        }

    def _estimates(self) -> dict[str, Any]:
        rows = self.columns()
        pairs = zip(rows["name"], rows["low"], rows["high"], strict=True)
        return {
            "estimates": [(name, (low + high) / 2, (low, high)) for name, low, high in pairs],
            "label": f"what player {self.player} can force",
            "title": self.summary(),
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; what is infinite or unknown is None."""
        return {
            "game": self.game,
            "moves": list(self.moves),
            "position": position_text(self.state),
            "end": self.end,
            "player": self.player,
            "proven": self.proven,
            "value": self.value,
            "bounds": [_finite(each) for each in self.bounds],
            "outcome": None if self.outcome is None else list(self.outcome),
            "repetition": self.repetition,
            "at_least": _finite(self.at_least),
            "proof_number": _finite(self.proof_number),
            "disproof_number": _finite(self.disproof_number),
            "line": list(self.line),
            "line_names": list(self.line_names),
            "positions": self.positions,
            "loops": self.loops,
            "seconds": self.seconds,
            "memory_mb": self.memory_mb,
            "table_share": self.table_share,
            "actions": [
                {"action": action, "low": _finite(low), "high": _finite(high)}
                for action, (low, high) in self.action_bounds.items()
            ],
        }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _value_for(initial: GameState, name: str, evaluator: Any, known: bool) -> Any:
    """The value function that a search for a proof asks; None for none."""
    if evaluator is None:
        rules = rules_of(initial) if known else None
        return None if rules is None else value_for(rules)
    given, found = as_evaluator(evaluator), compiled_form(initial)
    if found is None or judged_rules(given, found.rules) is None:
        raise ValueError(
            f"evaluator must be a learned value or another one that is compiled with the rules of "
            f"{name}, got {evaluator!r}: values in Python would cost more than they save."
        )
    return given


def _sum_of_two(state: GameState) -> float | None:
    half = loops_are_drawn(state)
    return None if half is None else 2 * half


@validated
def solve_position(
    game: Any,
    *,
    moves: Moves = "",
    position: str | os.PathLike[str] | None = None,
    positions: Count | None = None,
    seconds: Positive | None = None,
    max_memory_mb: Positive = MEMORY_MB,
    threads: Threads = 1,
    table: str | os.PathLike[str] | None = None,
    repetition: float | Literal["draw"] | None = "draw",
    all_replies: bool = False,
    evaluator: Any = None,
    known: bool = True,
    progress: Progress[ProofProgress] = None,
) -> Solution:
    """Search for a proof of what the player to move can force, until there is one, or Ctrl-C.

    The memory does not grow: a full table drops what was cheap to find.

    Args:
        game: the game or its name, such as ``"tic_tac_toe"``; see ``as_game``.
        moves: the moves to play first, a text or a sequence of actions, see
            ``rave_agents.game.notation.apply_moves``.
        position: the position that these begin at, see ``rave_agents.records.positions.set_up``.
        positions: the largest number of positions to expand, at least 1.
        seconds: the largest number of wall-clock seconds, above 0.
        max_memory_mb: the size of the table in megabytes (2**20 bytes), at least 1.
        threads: threads that search with one table, 1 to 256. With one, the same search finds the
            same proof; several gain time where the rules are compiled or in C++.
        table: a file that keeps the table: read if it exists, written at the end, every two minutes
            and at Ctrl-C, so that the next search of the same position goes on.
        repetition: each player's return where play goes on for ever, in games whose rules let it,
            a number within the game's utilities; ``"draw"`` for half of the sum of two players'
            returns, where that is constant, and else None: endless play then never counts as
            enough.
        all_replies: True to look at every reply, also where a proof answers it anyhow, as in Hex
            and Y: a certificate, which tells an answer to each, is then smaller and sooner written.
        evaluator: a value that was learned, or its file, or another one that is compiled with the
            game's rules, see ``rave_agents.as_evaluator``: the search begins where it expects most.
            What is proven does not depend on it.
        known: whether a value that is shipped with the package does so, if there is one.
        progress: None for a display in a terminal or notebook, False for none, True for one
            anywhere; or a function, which is called about ten times a second with a
            ``ProofProgress``.

    Raises:
        UnknownNameError: for a game that does not exist.
        UnsupportedGameError: if the game cannot be solved; the message says why.
        TypeError, ValueError: for a value that is not allowed, an illegal move, a position where no
            player is to move, an evaluator that is not compiled with the game's rules, or a table
            that is of another game, other rules or another size, or damaged, or cannot be bound to
            the game's rules, see ``rave_agents.frameworks.rules_digest``.
        OSError: if the table cannot be read or written.
    """
    loaded = as_game(game)
    initial = loaded.new_initial_state()
    check_provable(initial, loaded.name)
    if has_chance(initial):
        raise UnsupportedGameError(
            f"{loaded.name} cannot be solved so: chance moves in it, and a proof covers what "
            "players can force. See rave_agents.analysis.expected_value.solve_expected."
        )
    value_of_loops = loops_are_drawn(initial) if repetition == "draw" else repetition
    search = ProofSearch(
        with_history(initial),
        max_memory_mb=max_memory_mb,
        repetition=value_of_loops,
        threads=threads,
        all_replies=all_replies,
        value=_value_for(initial, loaded.name, evaluator, known),
        name=loaded.name,
    )
    decided, played = decision_after(loaded, moves, position)
    state = with_history(decided, played)
    rules = "" if table is None else rules_digest(loaded)
    if table is not None and Path(table).exists():
        search.load(table, loaded.name, rules)
    player = int(state.current_player())
    values = ValueSearch(search, state, player)
    begin = time.perf_counter()
    interrupted, line = False, tuple[int, ...]()
    view = Moments(positions).view
    with shown(progress, view) as tell, _kept(search, table, loaded.name, rules) as keep:

        def watch(progress: ProofProgress) -> None:
            keep()
            if tell is not None:
                tell(progress)

        try:
            values.run(positions=positions, seconds=seconds, watch=watch)
        except KeyboardInterrupt:
            interrupted = True
        spent, expanded, loops = time.perf_counter() - begin, search.positions, search.loops
        with contextlib.suppress(KeyboardInterrupt):
            line = best_line(values, positions=max(expanded, LINE_POSITIONS))
    solved = values.interval.is_point
    limit: End = "positions" if _is_used_up(search, positions) else "seconds"
    proof, disproof = search.numbers(state, player, values.at_least)
    return Solution(
        game=game if isinstance(game, str) else loaded.name,
        moves=tuple(played),
        state=state,
        end="solved" if solved else "interrupted" if interrupted else limit,
        player=player,
        bounds=(values.interval.low, values.interval.high),
        repetition=value_of_loops,
        proof_number=proof,
        disproof_number=disproof,
        at_least=values.at_least,
        line=line,
        action_bounds=action_bounds(values),
        positions=expanded,
        loops=loops,
        seconds=spent,
        memory_mb=search.megabytes,
        table_share=search.table_share,
        search=search,
    )


def _is_used_up(search: ProofSearch, positions: int | None) -> bool:
    return positions is not None and search.positions >= positions


@contextlib.contextmanager
def _kept(
    search: ProofSearch, table: str | os.PathLike[str] | None, name: str, rules: str
) -> Iterator[Any]:
    """Write the table from time to time, by a function that is called often, and at the end."""
    last = time.monotonic()

    def keep() -> None:
        nonlocal last
        if table is not None and time.monotonic() - last > SAVED_EVERY:
            search.save(table, name, rules)
            last = time.monotonic()

    try:
        yield keep
    finally:
        if table is not None:
            search.save(table, name, rules)


__all__ = ["Interval", "Solution", "solve_position"]
