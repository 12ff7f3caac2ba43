"""Speeds of agents compared with a baseline."""

import dataclasses
import functools
import statistics
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rave_agents.arena.match_result import SCORE, MatchResult
from rave_agents.arena.measurements import MOVE_SIMULATIONS, Round
from rave_agents.arena.result import View
from rave_agents.arena.run import Pairing
from rave_agents.results.numbers import counted, fixed, whole
from rave_agents.results.rows import Field, exact_columns, plain_row, table_columns
from rave_agents.results.tables import Column, Table


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpeedRow:
    """The speed of one agent on one game."""

    game: str
    """The game, as given."""
    agent: str
    """The agent's spec."""
    simulations_per_second: float
    """Median over the rounds."""
    baseline_simulations_per_second: float
    """The baseline's median over the same rounds."""
    match: MatchResult | None = None
    """The match against the baseline at equal time; None without one."""

    @property
    def ratio(self) -> float:
        """Simulations of the agent per simulation of the baseline in the same time."""
        return self.simulations_per_second / self.baseline_simulations_per_second


class MoveRow(NamedTuple):
    """The time per move of one agent in whole games."""

    game: str
    """The game, as given."""
    agent: str
    """The agent's spec."""
    simulations: int
    """Simulations per move."""
    seconds: float
    """Median over the games of their medians."""
    baseline_seconds: float
    """The baseline's."""


_BASE = "baseline_simulations_per_second"

FIELDS = (
    Field("game", "game"),
    Field("agent", "agent"),
    Field("simulations_per_second", "simulations_per_second"),
    Field(_BASE, _BASE, json_name="mctsbot_simulations_per_second"),
    Field("ratio", "ratio"),
)
"""The values of a row."""


@dataclasses.dataclass(frozen=True, eq=False)
class Speeds(View):
    """All agents on all games of one run, game by game."""

    baseline: str
    """The baseline agent."""
    counted: int
    """Number of agents in addition to the baseline, without peers."""

    @functools.cached_property
    def rows(self) -> tuple[SpeedRow, ...]:
        """A row per game and agent that have finished a round."""
        found: list[SpeedRow] = []
        for table, pairing, medians in self._medians():
            if len(medians) > 1:
                continue
            base, *others = medians[0]
            for number, (agent, speed) in enumerate(zip(pairing.agents[1:], others, strict=True)):
                found.append(
                    SpeedRow(
                        game=pairing.game,
                        agent=agent,
                        simulations_per_second=speed,
                        baseline_simulations_per_second=base,
                        match=self._match(table + 1 + number) if number < self.counted else None,
                    )
                )
        return tuple(found)

    @functools.cached_property
    def moves(self) -> tuple[MoveRow, ...]:
        """A row per game, agent and number of simulations, for the times per move."""
        return tuple(
            MoveRow(pairing.game, agent, simulations, seconds, base)
            for _, pairing, medians in self._medians()
            if len(medians) > 1
            for simulations, (base, *others) in zip(MOVE_SIMULATIONS, medians, strict=True)
            for agent, seconds in zip(pairing.agents[1:], others, strict=True)
        )

    def _medians(self) -> Iterator[tuple[int, Pairing, list[list[float]]]]:
        """For each table with rounds: its number, its agents, and their medians as in a round.

        A round of speeds has one line of values, one of times per move a line for each of
        ``MOVE_SIMULATIONS``.
        """
        for table, pairing in enumerate(self.run.pairings):
            rounds = self.run.records[table]
            if rounds and isinstance(rounds[0], Round):
                yield table, pairing, np.median([each.values for each in rounds], axis=0).tolist()

    def _match(self, table: int) -> MatchResult | None:
        records = self.run.records[table] if table < len(self.run.records) else ()
        return self.run.match(table) if records and not isinstance(records[0], Round) else None

    @functools.cached_property
    def geometric_mean(self) -> dict[str, float]:
        """Geometric mean of each agent's ratios over the games."""
        ratios: dict[str, list[float]] = {}
        for row in self.rows:
            ratios.setdefault(row.agent, []).append(row.ratio)
        return {agent: statistics.geometric_mean(values) for agent, values in ratios.items()}

    @functools.cached_property
    def mean_score(self) -> dict[str, float]:
        """Mean of each agent's scores at equal time over the games that were played."""
        scores: dict[str, list[float]] = {}
        for row in self.rows:
            if row.match is not None:
                scores.setdefault(row.agent, []).append(row.match.score.score)
        return {agent: statistics.fmean(values) for agent, values in scores.items()}

    @property
    def game(self) -> str:
        """The game that is being measured; empty at the end."""
        for table, planned in enumerate(self.run.games_planned or ()):
            if len(self.run.records[table]) < planned:
                return self.run.pairings[table].game
        return ""

    @property
    def latest_line(self) -> str:
        """The game that is being measured; empty at the end."""
        return self.game

    def summary(self) -> str:
        """The games, and each agent's geometric mean."""
        games = counted(len({row.game for row in self.rows}), "game")
        means = (f"{agent} {ratio:.2f}" for agent, ratio in self.geometric_mean.items())
        line = f"simulations per second compared with {self.baseline}, {games}"
        return f"{line}: {', '.join(means)}" if self.rows else line

    def tables(self) -> list[Table]:
        """A row per game and agent, with means; matches at equal time."""
        tables = [self._speeds()]
        if any(row.match is not None for row in self.rows):
            tables.append(self._matches())
        if self.moves:
            tables.append(self._move_times())
        return tables

    def _move_times(self) -> Table:
        columns = [
            Column("game", [row.game for row in self.moves], text=True),
            Column("agent", [row.agent for row in self.moves], text=True),
            Column("simulations", [str(row.simulations) for row in self.moves]),
            Column("agent's", [whole(1e6 * row.seconds) for row in self.moves]),
            Column("baseline's", [whole(1e6 * row.baseline_seconds) for row in self.moves]),
        ]
        return Table(columns, title="Microseconds per move over whole games", keys=3)

    def _speeds(self) -> Table:
        means = self.geometric_mean
        empty = [""] * len(means)
        ratios = [*(row.ratio for row in self.rows), *means.values()]
        columns = [
            *_names(self.rows, "geometric mean", list(means)),
            Column("agent's", [whole(row.simulations_per_second) for row in self.rows] + empty),
            Column(
                "baseline's",
                [whole(row.baseline_simulations_per_second) for row in self.rows] + empty,
                rank=1,
            ),
            Column("ratio", [f"{value:.2f}" for value in ratios]),
        ]
        return Table(columns, keys=2)

    def _matches(self) -> Table:
        rows = [row for row in self.rows if row.match is not None]
        matches = [row.match for row in rows if row.match is not None]
        means = self.mean_score
        games, score, interval, *_ = table_columns(SCORE, matches)
        empty = [""] * len(means)
        taken = [
            " and ".join(fixed(seconds, 4) for seconds in match.seconds_per_move)
            for match in matches
        ]
        columns = [
            *_names(rows, "mean", list(means)),
            Column("games", [*games.cells, *empty], rank=2),
            Column("score", [*score.cells, *(fixed(value) for value in means.values())]),
            Column("95 % interval", [*interval.cells, *empty], rank=1),
            Column("seconds a move, both", [*taken, *empty]),
        ]
        return Table(columns, title=f"Scores against {self.baseline} at equal time", keys=2)

    def columns(self) -> dict[str, list[Any]]:
        """A row per game and agent."""
        found = exact_columns(FIELDS, self.rows)
        if any(row.match is not None for row in self.rows):
            played = [_equal_time(row.match) for row in self.rows]
            found |= {name: [values[name] for values in played] for name in _equal_time(None)}
        return found

    def estimates(self) -> dict[str, Any]:
        """The ratios."""
        estimates = [(f"{row.game}, {row.agent}", row.ratio) for row in self.rows]
        label = f"simulations for each one of {self.baseline}"
        return {"estimates": estimates, "label": label, "level": 1.0}

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        rows = [
            plain_row(FIELDS, row) | ({} if row.match is None else _equal_time(row.match))
            for row in self.rows
        ]
        moves = {"moves": [row._asdict() for row in self.moves]} if self.moves else {}
        return {"rows": rows, "geometric_mean": self.geometric_mean, **moves}


def _names(rows: Sequence[SpeedRow], mean: str, agents: Sequence[str]) -> list[Column]:
    return [
        Column("game", [*(row.game for row in rows), *([mean] * len(agents))], text=True),
        Column("agent", [*(row.agent for row in rows), *agents], text=True),
    ]


def _equal_time(match: MatchResult | None) -> dict[str, Any]:
    """Plain values of a match at equal time; all None without one."""
    names = ("games", "score", "score_low", "score_high", "seconds", "baseline_seconds")
    if match is None:
        return dict.fromkeys(names)
    values = (match.score.games, match.score.score, *match.interval, *match.seconds_per_move)
    return dict(zip(names, values, strict=True))
