"""Result of a match."""

import dataclasses
import functools
import math
from typing import Any, Self

from rave_agents.arena.pairs import PairCounts
from rave_agents.arena.record import GameRecord
from rave_agents.arena.sprt import Sprt
from rave_agents.arena.statistics import (
    MatchScore,
    elo_difference,
    finite,
    mean_interval,
    units_interval,
)
from rave_agents.arena.worker import UnfinishedError
from rave_agents.frameworks.agent import Effort


@dataclasses.dataclass(frozen=True, kw_only=True)
class MatchResult:
    """The finished games of a match and their score, from the first agent's view."""

    game: str
    """The game as it was asked for."""
    agents: tuple[str, str]
    """The specs of the first and the second agent, with their limits."""
    seed: int
    """The seed of everything random."""
    planned: int
    """Games planned."""
    records: tuple[GameRecord, ...]
    """The finished games, by number."""
    sprt: Sprt | None = None
    """The test that ends the match; None for a match with a fixed number of games."""
    latest: GameRecord | None = None
    """The game that ended last."""
    interrupted: bool = False
    """True if it was ended before its time."""

    @functools.cached_property
    def score(self) -> MatchScore:
        """Wins, draws and losses of the first agent."""
        wins = sum(record.margin > 0 for record in self.records)
        losses = sum(record.margin < 0 for record in self.records)
        return MatchScore(wins, len(self.records) - wins - losses, losses)

    @functools.cached_property
    def pairs(self) -> PairCounts:
        """Whole pairs of games from one opening by the points of the first agent."""
        return PairCounts.of(self._pair_scores)

    @functools.cached_property
    def _pair_scores(self) -> dict[int, list[float]]:
        scores: dict[int, list[float]] = {}
        for record in self.records:
            scores.setdefault(record.pair, []).append(record.score)
        return scores

    @functools.cached_property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the expected score, from pairs; [0, 1] without games.

        A game whose pair is not whole counts as one game.
        """
        return units_interval((math.fsum(s), len(s), 1) for s in self._pair_scores.values())

    @property
    def elo_interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the Elo difference; its ends may be infinite."""
        low, high = self.interval
        return elo_difference(low), elo_difference(high)

    @property
    def llr(self) -> float | None:
        """The test's log-likelihood ratio, from whole pairs; None without a test."""
        return None if self.sprt is None else self.sprt.llr(self.pairs.counts)

    @property
    def verdict(self) -> str | None:
        """``"elo0"`` or ``"elo1"``, which the test accepts; None without a test, or not yet."""
        return None if self.sprt is None else self.sprt.verdict(self.pairs.counts)

    @functools.cached_property
    def margin(self) -> float:
        """Mean return a game of the first agent less the second's; not a number without games."""
        margins = [record.margin for record in self.records]
        return math.fsum(margins) / len(margins) if margins else math.nan

    @functools.cached_property
    def margin_interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the expected margin; infinite for less than two games."""
        return mean_interval([record.margin for record in self.records])

    @property
    def is_won_by_margins(self) -> bool:
        """True if games were won by different margins, so that the score does not tell all."""
        return len({abs(record.margin) for record in self.records} - {0.0}) > 1

    @property
    def finished(self) -> int:
        """Number of finished games."""
        return len(self.records)

    @property
    def all_planned(self) -> int:
        """Number of planned games."""
        return self.planned

    @property
    def complete(self) -> bool:
        """True if all planned games are finished, or the test ended the match."""
        return len(self.records) == self.planned or self.verdict is not None

    @functools.cached_property
    def efforts(self) -> tuple[Effort, Effort]:
        """The effort of the first and the second agent in all finished games."""
        return self._effort(0), self._effort(1)

    def _effort(self, index: int) -> Effort:
        efforts = [record.efforts[index] for record in self.records]
        return Effort(*map(sum, zip(*efforts, strict=True))) if efforts else Effort()

    @property
    def seconds_per_move(self) -> tuple[float | None, float | None]:
        """Mean seconds that each agent thought about a move; None without moves."""
        first, second = (_ratio(effort.seconds, effort.moves) for effort in self.efforts)
        return first, second

    @property
    def simulations_per_second(self) -> tuple[float | None, float | None]:
        """Simulations that each agent ran in a second of thinking; None without moves."""
        first, second = (_ratio(effort.simulations, effort.seconds) for effort in self.efforts)
        return first, second

    @property
    def endings(self) -> dict[int, str]:
        """Reasons that games ended otherwise than by their rules, by their numbers from 1."""
        return {record.number + 1: record.ending for record in self.records if record.ending}

    @property
    def faults(self) -> tuple[int, int]:
        """Games that the first and the second agent lost by failing or breaking the rules.

        They count as lost, and say little of how well the agent plays.
        """
        lost = [record.margin < 0 for record in self.records if record.fault]
        return sum(lost), len(lost) - sum(lost)

    def score_to_dict(self) -> dict[str, Any]:
        """Plain values of the score, with the intervals that pairs give."""
        return {
            **self.score.to_dict(),
            "ci95": list(self.interval),
            "elo_ci95": [finite(end) for end in self.elo_interval],
        }

    def _sprt_to_dict(self) -> dict[str, Any]:
        if self.sprt is None:
            return {}
        test = {**dataclasses.asdict(self.sprt), "bounds": list(self.sprt.bounds)}
        return {"sprt": {**test, "llr": self.llr, "verdict": self.verdict}}

    def plus(self, *records: GameRecord) -> Self:
        """The result with more finished games."""
        ordered = sorted((*self.records, *records), key=lambda record: record.number)
        latest = records[-1] if records else self.latest
        return dataclasses.replace(self, records=tuple(ordered), latest=latest)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON: what is infinite or unknown is None."""
        return {
            "game": self.game,
            "agents": list(self.agents),
            **self.score_to_dict(),
            "pairs": list(self.pairs.counts),
            **self._sprt_to_dict(),
            "margin": finite(self.margin),
            "margin_ci95": [finite(end) for end in self.margin_interval],
            "seconds_per_move": list(self.seconds_per_move),
            "simulations_per_second": list(self.simulations_per_second),
            "seed": self.seed,
            "endings": [
                {"game": record.number + 1, "why": record.ending, "fault": record.fault}
                for record in self.records
                if record.ending
            ],
        }


class MatchError(UnfinishedError[MatchResult]):
    """A game of a match failed; the message names the game, the seat and the agent."""


def _ratio(total: float, count: float) -> float | None:
    return total / count if count > 0 else None
