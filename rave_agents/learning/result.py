"""``LearningResult``: what was learned into a file, and its strength after each round."""

import dataclasses
from typing import Any

from rave_agents.arena.statistics import MatchScore
from rave_agents.evaluators.learned_file import NOT_MEASURED, FileMatch
from rave_agents.learning.rounds import Learned
from rave_agents.results.numbers import counted, finite, score_text
from rave_agents.results.result import Result
from rave_agents.results.tables import Column, Table

CHECK_SIMULATIONS = 100
"""Simulations a move in checks of strength."""

OPPONENTS = ("beginning", "before", "mcts")
"""The opponents of a check, fields of ``Check``."""


@dataclasses.dataclass(frozen=True)
class Check:
    """Strength after a round, at ``CHECK_SIMULATIONS`` a move."""

    learned: Learned
    """The progress by then."""
    beginning: MatchScore
    """Against the same search with playouts."""
    before: MatchScore | None
    """Against the round before; None for the first."""
    mcts: MatchScore | None
    """Against OpenSpiel's bot; None if it does not play the game."""


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class LearningResult(Result):
    """The outcome of learning into a file. Its rows are the checks of strength."""

    game: str
    """The game."""
    output: str
    """The text for ``evaluator=``: the file, and the code of a custom network."""
    learned: Learned
    """The progress at the end."""
    checks: tuple[Check, ...]
    """The checks of strength, from the first round to the last."""
    minimax: MatchScore | None = None
    """``auto`` with minimax backups of a board's value against ``auto`` with averages; None if that
    was not played."""
    match: FileMatch | None = None
    """The agent with the file against the agent without it; None if that was not played."""

    def summary(self) -> str:
        """The game, the effort and the file."""
        learned = self.learned
        effort = f"{counted(learned.games, 'game')}, {counted(learned.positions, 'position')}"
        line = (
            f"{self.game}: {effort}, {learned.seconds:.0f} s. Agents take it as "
            f'evaluator="{self.output}".'
        )
        if self.minimax is not None:
            line += f" With minimax backups auto scored {_text(self.minimax)} against averages."
        if self.match is None:
            return f"{line} Its strength is {NOT_MEASURED}."
        line += f" With the file the agent scored {self.match}"
        return f"{line}: the file makes it weaker." if self.match.lost else f"{line}."

    def tables(self) -> list[Table]:
        """Scores of the checks with their intervals."""
        if not self.checks:
            return []
        columns = [
            Column("seconds", [f"{check.learned.seconds:.0f}" for check in self.checks]),
            Column("games", [f"{check.learned.games:,}" for check in self.checks]),
        ]
        columns += [
            Column(f"against {name}", [_text(vars(check)[name]) for check in self.checks])
            for name in OPPONENTS
        ]
        return [Table(columns, title=f"Scores at {CHECK_SIMULATIONS} simulations a move")]

    def columns(self) -> dict[str, list[Any]]:
        """A row for each check."""
        found: dict[str, list[Any]] = {
            "seconds": [check.learned.seconds for check in self.checks],
            "games": [check.learned.games for check in self.checks],
        }
        for name in OPPONENTS:
            scores = [vars(check)[name] for check in self.checks]
            found[name] = [None if each is None else each.score for each in scores]
            found[f"{name}_elo"] = [None if each is None else finite(each.elo) for each in scores]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON."""
        return {
            "game": self.game,
            "output": self.output,
            **_plain(self.learned),
            "checks": [
                {
                    **_plain(check.learned),
                    **{name: _score(vars(check)[name]) for name in OPPONENTS},
                }
                for check in self.checks
            ],
            "minimax": _score(self.minimax),
            "match": None if self.match is None else self.match.to_dict(),
        }

    def _estimates(self) -> dict[str, Any]:
        rows = [
            (
                f"{check.learned.seconds / 60.0:.1f} min",
                check.beginning.score,
                check.beginning.interval,
            )
            for check in self.checks
        ]
        return {"estimates": rows, "label": "score against the beginning", "level": 0.5}


def _text(score: MatchScore | None) -> str:
    return "-" if score is None else score_text(score.score, score.interval, 2)


def _plain(learned: Learned) -> dict[str, Any]:
    return {name: finite(value) for name, value in learned._asdict().items()}


def _score(score: MatchScore | None) -> dict[str, Any] | None:
    return None if score is None else score.to_dict()
