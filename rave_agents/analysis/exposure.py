"""The result of a measurement of exploitability: a row for each agent."""

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from rave_agents.analysis.exploit_tables import ResponseRecord, SetRecord
from rave_agents.arena.result import View
from rave_agents.arena.statistics import Z, mean_interval
from rave_agents.frameworks.information_sets import ProfileValues
from rave_agents.results.numbers import fixed, played, whole
from rave_agents.results.rows import Field, Interval, exact_columns, plain_row, table_columns
from rave_agents.results.tables import Column, Table

PLACES = 4
"""Decimals in tables."""


class Exposed(NamedTuple):
    """What is known of an agent's exploitability."""

    agent: str
    """The agent."""
    seeds: int
    """Seeds whose policies are measured."""
    exploitability: float
    """NashConv / players, the mean over seeds; NaN if no seed is finished."""
    interval: tuple[float, float]
    """Its 95 % interval: over seeds, or for a bound over the responders' games."""
    nash_conv: float
    """The sum over players of what each gains by a best response, the mean over seeds."""
    mixture: float
    """The exploitability of the mean of all seeds' policies: of the agent to an opponent who does
    not know its seed. NaN before all seeds are finished."""
    values: tuple[float, ...]
    """Each player's return if all play the policy; NaN if unknown."""
    responses: tuple[float, ...]
    """Each player's return by a best response; for a bound, by the responder's."""
    simulations: float
    """Mean simulations of a search."""
    search_seconds: float
    """Mean CPU seconds of a search."""
    seconds: float
    """CPU seconds of all searches of one seed."""


def _number(value: float) -> str:
    return fixed(value, PLACES)


def _interval(ends: tuple[float, float]) -> str:
    low, high = ends
    return f"{low:.{PLACES}f} to {high:.{PLACES}f}" if math.isfinite(high - low) else "-"


ROW = (
    Field("agent", "agent", "agent", is_text=True),
    Field("exploitability", "exploitability", "exploitability", _number),
    Interval("exploitability_", "interval", "95 % interval", _interval, rank=2),
    Field("nash_conv", "nash_conv", "NashConv", _number, rank=4),
    Field("mixture", "mixture", "of the mean policy", _number, rank=3),
    Field("seeds", "seeds", "seeds", whole, rank=5),
    Field("simulations", "simulations", "simulations", whole, rank=5),
    Field("search_cpu_seconds", "search_seconds", "CPU s a search", _number, rank=3),
    Field("cpu_seconds", "seconds", "CPU s in all", lambda value: fixed(value, 2), rank=1),
)
"""The row of an agent."""


@dataclasses.dataclass(frozen=True, eq=False)
class Exposure(View):
    """The exploitability of one or more agents in a game."""

    players: int
    """The game's number of players."""
    units: int
    """Numbers of the run for each seed: information sets, or seats of the best responder."""
    bound: bool
    """True for lower bounds by a best responder that learns."""
    total: float | None
    """The sum of all players' returns; None if it varies."""
    families: tuple[str, ...]
    """For each agent, its name without the limit: a curve in the picture."""
    measured: Mapping[tuple[int, int], ProfileValues]
    """The values of each finished policy, by the indices of agent and seed."""
    mixed: Mapping[int, ProfileValues]
    """The values of the mean of all seeds' policies, by the index of the agent."""

    @functools.cached_property
    def rows(self) -> tuple[Exposed, ...]:
        """A row for each agent, in the order given."""
        row = self._bounded if self.bound else self._exact
        return tuple(row(table) for table in range(len(self.run.pairings)))

    def _exact(self, table: int) -> Exposed:
        records: Sequence[SetRecord] = self.run.records[table]
        found = [each for (agent, _), each in sorted(self.measured.items()) if agent == table]
        mixed = self.mixed.get(table)
        exploitable = [each.exploitability for each in found]
        low, high = mean_interval(exploitable)
        return Exposed(
            self.run.pairings[table].agents[0],
            len(found),
            _mean(exploitable),
            # Student's t knows nothing of the least value, 0.
            (max(low, 0.0), high) if len(found) > 1 else (math.nan, math.nan),
            _mean([each.nash_conv for each in found]),
            math.nan if mixed is None else mixed.exploitability,
            self._by_player([each.values for each in found]),
            self._by_player([each.responses for each in found]),
            _mean([float(each.simulations) for each in records]),
            _mean([each.seconds for each in records]),
            _mean([each.seconds / each.shared for each in records]) * self.units,
        )

    def _bounded(self, table: int) -> Exposed:
        records: Sequence[ResponseRecord] = self.run.records[table]
        seeds: dict[int, dict[int, ResponseRecord]] = {}
        for each in records:
            number, seat = divmod(each.number, self.units)
            seeds.setdefault(number, {})[seat] = each
        whole_seeds = [seats for seats in seeds.values() if len(seats) == self.units]
        gains = [self._gain(list(seats.values())) for seats in whole_seeds]
        errors = [each.error**2 for seats in whole_seeds for each in seats.values()]
        error = Z * math.sqrt(math.fsum(errors)) / max(len(gains), 1) / self.players
        bound = _mean(gains) / self.players
        ordered = [[seats[seat] for seat in range(self.units)] for seats in whole_seeds]
        own = [tuple(each.returns_of for each in seats) for seats in ordered]
        unknown = (math.nan,) * self.players
        return Exposed(
            self.run.pairings[table].agents[0],
            len(gains),
            bound,
            (bound - error, bound + error),
            _mean(gains),
            math.nan,
            unknown if self.total is not None else self._by_player(own),
            self._by_player([tuple(each.returns for each in seats) for seats in ordered]),
            sum(r.simulations for r in records) / max(sum(r.searches for r in records), 1),
            sum(r.seconds for r in records) / max(sum(r.searches for r in records), 1),
            _mean([sum(each.seconds for each in seats) for seats in ordered]),
        )

    def _gain(self, seats: Sequence[ResponseRecord]) -> float:
        """NashConv of one seed's policy, at least: what all responders gain."""
        total = self.total
        if total is None:
            total = math.fsum(each.returns_of for each in seats)
        return math.fsum(each.returns for each in seats) - total

    def _by_player(self, found: Sequence[Sequence[float]]) -> tuple[float, ...]:
        return tuple(_mean([each[player] for each in found]) for player in range(self.players))

    @property
    def game(self) -> str:
        """The game."""
        return self.run.pairings[0].game

    @property
    def latest_line(self) -> str:
        """The agent of the latest unit."""
        latest = self.run.latest
        return "" if latest is None else self.run.pairings[latest[0]].agents[0]

    def summary(self) -> str:
        """The game, what was done, and how much of it is finished."""
        noun = "best response" if self.bound else "search"
        done = played(self.run.finished, self.run.all_planned or 0, noun)
        what = "Exploitability, at least," if self.bound else "Exploitability"
        return f"{what} in {self.game}, {done}, seed {self.run.seed}"

    @property
    def remarks(self) -> Sequence[str]:
        """What the numbers are."""
        of = "NashConv / players" if self.players > 1 else "NashConv"
        if self.bound:
            return [f"{of} by best responders that learn: the true value may be larger"]
        return [f"{of} by exact best responses; {self.units:,} information sets with a choice"]

    def tables(self) -> list[Table]:
        """A row per agent."""
        columns = table_columns(ROW, self.rows)
        if self.bound:
            cells = [f"≥ {cell}" if cell != "-" else cell for cell in columns[1].cells]
            columns[1] = Column("exploitability, at least", cells)
            del columns[4]  # A bound has no mixture.
        for player in range(self.players):
            values = [row.values[player] for row in self.rows]
            if not all(map(math.isnan, values)):
                columns.append(Column(f"value {player}", list(map(_number, values)), rank=6))
        return [Table(columns)]

    def columns(self) -> dict[str, list[Any]]:
        """A row per agent."""
        columns = {"game": [self.game] * len(self.rows), **exact_columns(ROW, self.rows)}
        columns["bound"] = [self.bound] * len(self.rows)
        for player in range(self.players):
            columns[f"value_{player}"] = [row.values[player] for row in self.rows]
            columns[f"response_{player}"] = [row.responses[player] for row in self.rows]
        return {
            name: [None if isinstance(v, float) and math.isnan(v) else v for v in values]
            for name, values in columns.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON; unknown ones are None."""
        rows = []
        for row in self.rows:
            by_player = {"values": row.values, "responses": row.responses}
            plain = {name: [_known(v) for v in values] for name, values in by_player.items()}
            rows.append({**plain_row(ROW, row), **plain})
        return {
            "game": self.game,
            "bound": self.bound,
            "information_sets": None if self.bound else self.units,
            "seed": self.run.seed,
            "complete": self.run.complete,
            "rows": rows,
        }

    def curves(self) -> dict[str, list[Exposed]]:
        """The rows with simulations of each agent, by its name without a limit."""
        curves: dict[str, list[Exposed]] = {}
        for family, row in zip(self.families, self.rows, strict=True):
            if row.simulations > 0 and row.exploitability > 0:
                curves.setdefault(family, []).append(row)
        for rows in curves.values():
            rows.sort(key=lambda row: row.simulations)
        return curves

    def plot(self) -> Any:
        """A picture against simulations and against CPU seconds, a ``matplotlib`` figure.

        Agents without simulations are horizontal lines.

        Raises:
            ImportError: without matplotlib (the extra ``plot``).
        """
        from rave_agents.plots import curves, figures  # noqa: PLC0415  (slow: matplotlib)

        picture, panels = figures.panels(2, width=5, height=3.4)
        label = f"exploitability{', at least' if self.bound else ''}"
        level = [row for row in self.rows if row.simulations == 0 and row.exploitability > 0]
        for axes, effort in zip(panels, ("simulations", "search_seconds"), strict=True):
            for row in level:
                name = figures.literal(row.agent)
                axes.axhline(row.exploitability, color="grey", linestyle=":", label=name)
            drawn = {
                name: curves.Curve(*_curve(rows, effort)) for name, rows in self.curves().items()
            }
            curves.draw_curves(axes, drawn, label=label)
            axes.set(yscale="log", title=figures.literal(self.game))
            axes.legend(fontsize=7)
        panels[0].set_xlabel("simulations a search")
        panels[1].set_xlabel("CPU seconds a search")
        return picture


def _curve(rows: Sequence[Exposed], effort: str) -> tuple[list[float], ...]:
    """The points of a curve and the ends of its band, for a logarithmic axis."""
    points = [float(row._asdict()[effort]) for row in rows]
    values = [row.exploitability for row in rows]
    # An end that is unknown or not positive is drawn at the point.
    ends = [[end if end > 0 else row.exploitability for end in row.interval] for row in rows]
    return points, values, [low for low, _ in ends], [high for _, high in ends]


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else math.nan


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
