"""Result of a match."""

import dataclasses
import functools
import math
from typing import Any

from rave_agents.arena.sprt import Sprt
from rave_agents.arena.statistics import (
    MatchScore,
    PairCounts,
    elo_interval_at,
    mean_interval,
    units_interval,
)
from rave_agents.frameworks.agent import Effort
from rave_agents.game.plain_text import shortened
from rave_agents.records.record import GameRecord
from rave_agents.results.numbers import (
    counted,
    elo_interval_text,
    elo_text,
    finite,
    fixed,
    interval_text,
    played,
    score_text,
    whole,
)
from rave_agents.results.result import GrowingResult, by_column
from rave_agents.results.rows import Field, Interval
from rave_agents.results.tables import Column, Table

ENDINGS_SHOWN = 10
"""Up to this many games that did not end by their rules are listed one by one."""


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class MatchResult(GrowingResult):
    """The finished games of a match and their score, from the first agent's view.

    The rows of ``to_csv`` and ``to_frame`` are games.
    """

    game: str
    """The game, as given."""
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
    """The latest finished game."""
    interrupted: bool = False
    """True if the run was interrupted."""

    @functools.cached_property
    def score(self) -> MatchScore:
        """Wins, draws and losses of the first agent."""
        wins = sum(record.margin > 0 for record in self.records)
        losses = sum(record.margin < 0 for record in self.records)
        return MatchScore(wins, len(self.records) - wins - losses, losses)

    @functools.cached_property
    def pairs(self) -> PairCounts:
        """Complete pairs of games from one opening, by the first agent's points."""
        return PairCounts.of(self._pair_scores)

    @functools.cached_property
    def _pair_scores(self) -> dict[int, list[float]]:
        scores: dict[int, list[float]] = {}
        for record in self.records:
            scores.setdefault(record.pair, []).append(record.score)  # One score if interrupted.
        return scores

    @functools.cached_property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the expected score, from pairs; [0, 1] without games.

        A game whose pair is incomplete counts alone.
        """
        return units_interval((math.fsum(s), len(s), 1) for s in self._pair_scores.values())

    @property
    def elo_interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the Elo difference; its ends may be infinite."""
        return elo_interval_at(self.interval)

    @property
    def llr(self) -> float | None:
        """The test's log-likelihood ratio, from complete pairs; None without a test."""
        return None if self.sprt is None else self.sprt.llr(self.pairs.counts)

    @property
    def verdict(self) -> str | None:
        """The accepted hypothesis, ``"elo0"`` or ``"elo1"``; None without a test or decision."""
        return None if self.sprt is None else self.sprt.verdict(self.pairs.counts)

    @functools.cached_property
    def margin(self) -> float:
        """Mean difference of the agents' returns per game; NaN without games."""
        margins = [record.margin for record in self.records]
        return math.fsum(margins) / len(margins) if margins else math.nan

    @functools.cached_property
    def margin_interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the expected margin; infinite below two games."""
        return mean_interval([record.margin for record in self.records])

    @property
    def is_won_by_margins(self) -> bool:
        """True if games were won by different margins, so the margin adds to the score."""
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
        first, second = (Effort.total(r.efforts[index] for r in self.records) for index in (0, 1))
        return first, second

    @property
    def seconds_per_move(self) -> tuple[float | None, float | None]:
        """Mean seconds per move of each agent; None without moves."""
        return self.efforts[0].seconds_per_move, self.efforts[1].seconds_per_move

    @property
    def simulations_per_second(self) -> tuple[float | None, float | None]:
        """Simulations per second of thinking of each agent; None without moves."""
        return self.efforts[0].simulations_per_second, self.efforts[1].simulations_per_second

    @property
    def endings(self) -> dict[int, str]:
        """The reasons why games did not end by their rules, by their numbers from 1."""
        return {record.number + 1: record.ending for record in self.records if record.ending}

    @property
    def faults(self) -> tuple[int, int]:
        """Games that the first and the second agent lost by failing or breaking the rules.

        They count as lost, but say little about the agent's strength.
        """
        # True where the first agent lost by its fault.
        lost = [record.margin < 0 for record in self.records if record.fault]
        return sum(lost), len(lost) - sum(lost)

    def score_to_dict(self) -> dict[str, Any]:
        """Plain values of the score, with intervals from pairs."""
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

    @property
    def latest_line(self) -> str:
        """One line on the latest finished game; empty if there is none."""
        return "" if self.latest is None else self.latest.line(self.agents)

    def summary(self) -> str:
        """The game, the agents, and the first agent's wins-draws-losses and score."""
        one, two = (shortened(agent, 40) for agent in self.agents)
        games = played(self.finished, self.planned if self.sprt is None else 0, "game")
        line = f"{self.game}, {games}, seed {self.seed}: {one} {self.score} against {two}"
        if not self.records:
            return line
        return f"{line}, score {score_text(self.score.score, self.interval)}"

    def tables(self) -> list[Table]:
        """The score from each agent's view, and the effort of both."""
        score = self.score
        (low, high), (elo_low, elo_high) = self.interval, self.elo_interval
        rows: list[tuple[str, ...]] = [
            ("wins", str(score.wins), str(score.losses)),
            ("draws", str(score.draws), str(score.draws)),
        ]
        if any(self.faults):
            rows.append(("lost by faults", *map(str, self.faults)))
        rows += [
            ("score", fixed(score.score), fixed(1 - score.score)),
            ("95 % interval", interval_text((low, high)), interval_text((1 - high, 1 - low))),
            ("Elo difference", elo_text(score.elo), elo_text(-score.elo)),
            (
                "95 % interval",
                elo_interval_text((elo_low, elo_high)),
                elo_interval_text((-elo_high, -elo_low)),
            ),
            *self._margin_rows(),
            *self._test_rows(),
            ("seconds a move", *(fixed(seconds, 4) for seconds in self.seconds_per_move)),
            ("simulations a second", *map(whole, self.simulations_per_second)),
        ]
        labels, first, second = zip(*rows, strict=True)
        columns = [Column("", labels, text=True)]
        columns += [Column(self.agents[0], first), Column(self.agents[1], second)]
        return [Table(columns, notes=self._ending_lines())]

    def _margin_rows(self) -> list[tuple[str, str, str]]:
        if not self.is_won_by_margins:
            return []
        low, high = self.margin_interval
        return [
            ("mean margin", f"{self.margin:+.3g}", f"{-self.margin:+.3g}"),
            ("95 % interval", f"{low:+.3g} to {high:+.3g}", f"{-high:+.3g} to {-low:+.3g}"),
        ]

    def _test_rows(self) -> list[tuple[str, str, str]]:
        if self.sprt is None:
            return []
        low, high = self.sprt.bounds
        verdict = {None: "not decided", "elo0": "no", "elo1": "yes"}[self.verdict]
        return [
            ("pairs with 0, ½, 1, 1½, 2", " ".join(map(str, self.pairs.counts)), ""),
            ("log-likelihood ratio", f"{self.llr:+.2f} of {low:+.2f} to {high:+.2f}", ""),
            (f"{self.sprt.elo1:+g} rather than {self.sprt.elo0:+g}?", verdict, ""),
        ]

    def _ending_lines(self) -> list[str]:
        endings = [f"game {number}: {why}" for number, why in self.endings.items()]
        if len(endings) > ENDINGS_SHOWN:
            endings[ENDINGS_SHOWN:] = [f"and {len(endings) - ENDINGS_SHOWN} more games"]
        return endings

    def columns(self) -> dict[str, list[Any]]:
        """A row per game: seats, score, returns, and the effort of both agents."""
        names = ("game", "first_seat", "score", "first_return", "second_return", "moves")
        efforts = ("first_seconds", "second_seconds", "first_simulations", "second_simulations")
        return by_column(
            (*names, *efforts, "ending", "fault"),
            [
                (
                    record.number,
                    record.first_seat,
                    record.score,
                    record.returns[record.first_seat],
                    record.returns[1 - record.first_seat],
                    len(record.actions),
                    *(effort.seconds for effort in record.efforts),
                    *(effort.simulations for effort in record.efforts),
                    record.ending or None,
                    record.fault,
                )
                for record in self.records
            ],
        )

    def _estimates(self) -> dict[str, Any]:
        low, high = self.interval
        score = self.score.score
        estimates = [(self.agents[0], score, (low, high))]
        estimates.append((self.agents[1], 1 - score, (1 - high, 1 - low)))
        label = "score, with 95 % intervals"
        title = f"{self.game}, {counted(self.finished, 'game')}"
        return {"estimates": estimates, "label": label, "level": 0.5, "title": title}

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON; infinite and unknown ones are None."""
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


SCORE = (
    Field("games", "finished", "games", rank=2),
    Field("wins", "score.wins"),
    Field("draws", "score.draws"),
    Field("losses", "score.losses"),
    Field("score", "score.score", "score", fixed),
    Interval("score_", "interval", "95 % interval", interval_text, rank=1),
    Field("elo", "score.elo", "Elo", elo_text),
    Interval("elo_", "elo_interval", "95 % interval", elo_interval_text),
)
"""The score of a match from the first agent's view, for tables of several matches."""
