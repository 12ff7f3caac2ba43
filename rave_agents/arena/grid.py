"""Grids and curves: the matches of an agent by the values of its parameters."""

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from rave_agents.arena.match_result import SCORE, MatchResult
from rave_agents.arena.result import MatchesView
from rave_agents.config.part_specs import is_part, plain
from rave_agents.config.specs import format_parameters
from rave_agents.records.record import GameRecord
from rave_agents.results.numbers import counted, played
from rave_agents.results.rows import exact_columns, table_columns
from rave_agents.results.tables import Column, Table

ALL_GAMES = "all games"
"""The name for all games together."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cell:
    """One combination of values, and its match in one game or in all of them."""

    parameters: dict[str, Any]
    """The varied parameters with their values."""
    match: MatchResult
    """The finished games; the agent with these values is the first one."""

    @property
    def opponent(self) -> str:
        """The opponent's spec with its limit."""
        return self.match.agents[1]

    def __str__(self) -> str:
        return format_parameters(plain_values(self.parameters))


@dataclasses.dataclass(frozen=True, eq=False)
class Grid(MatchesView):
    """The matches of every combination of values, from the view of the varied agent."""

    agent: str
    """The spec of the varied agent, without the varied parameters."""
    values: tuple[dict[str, Any], ...]
    """The varied parameters of each table: game by game, those of the last one vary fastest."""

    @functools.cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The combinations, in the order of the tables."""
        pairs = zip(self.values, self.matches, strict=True)
        return tuple(Cell(parameters=values, match=match) for values, match in pairs)

    @property
    def opponent(self) -> str:
        """The opponent's spec, with its limits."""
        return self.cells[0].opponent

    def of(self, game: str | None = None) -> tuple[Cell, ...]:
        """The combinations in one game, or in all games together (None).

        Raises:
            KeyError: for a game that was not planned.
        """
        self.check_game(game)
        if game is None:
            return self._overall
        return tuple(cell for cell in self.cells if cell.match.game == game)

    @functools.cached_property
    def _overall(self) -> tuple[Cell, ...]:
        if len(self.games) == 1:
            return self.cells
        count = len(self.cells) // len(self.games)
        # The cells of a game lie together: every ``count``-th one is the same combination.
        return tuple(_pooled(self.cells[index::count]) for index in range(count))

    @property
    def best(self) -> Cell | None:
        """The best combination over all games; None if that is not certain.

        Its score's 95 % interval lies above those of all others.
        """
        return best_of(self._overall)

    @functools.cached_property
    def idle(self) -> tuple[str, ...]:
        """The varied parameters that never changed an action; empty until all games are finished.

        Most likely the agent ignores them in combination with its other parameters.
        """
        if not self.run.complete:
            return ()
        first, last = self.cells[0].parameters, self.cells[-1].parameters
        varied = [name for name in first if first[name] != last[name]]
        return tuple(name for name in varied if not self._changed_a_game(name))

    def _changed_a_game(self, name: str) -> bool:
        """True if two cells that differ only in this parameter played a game differently."""
        played: dict[str, list[tuple[int, ...]]] = {}
        for cell in self.cells:
            # The same key for cells that differ in this parameter only.
            others = {key: value for key, value in cell.parameters.items() if key != name}
            actions = [record.actions for record in cell.match.records]
            if played.setdefault(f"{cell.match.game} {others}", actions) != actions:
                return True
        return False

    def line_of(self, table: int, record: GameRecord) -> str:
        """One line on a game of the table with this index, with the cell's name."""
        return record.line((self.run.pairings[table].name, self.opponent))

    @property
    def _title(self) -> str:
        where = self.games[0] if len(self.games) == 1 else f"in each of {len(self.games)} games"
        return f"{self.agent} against {self.opponent}, {where}"

    def summary(self) -> str:
        """The two agents, the games and the number of finished games."""
        return f"{self._title}, {self._played()}"

    def _played(self) -> str:
        games = played(self.run.finished, self.run.all_planned or 0, "game")
        return f"{games}, seed {self.run.seed}"

    def tables(self) -> list[Table]:
        """A row per combination, over all games and in each of several."""
        overall = self._table(self._overall, self._notes())
        if len(self.games) == 1:
            return [overall]
        each = [self._table(self.of(game), [], title=game) for game in self.games]
        return [dataclasses.replace(overall, title=ALL_GAMES), *each]

    def _table(self, cells: Sequence[Cell], notes: Sequence[str], title: str = "") -> Table:
        """A table of cells, with the best one marked if there is one."""
        best = best_of(cells)
        columns = [
            *_parameter_columns(cells),
            *table_columns(SCORE, [cell.match for cell in cells]),
            Column("", ["best" if cell is best else "" for cell in cells]),
        ]
        all_notes = [*overlap_notes(cells), *notes]
        return Table(columns, keys=len(cells[0].parameters), notes=all_notes, title=title)

    def _notes(self) -> list[str]:
        notes = [f"{name} changed no game" for name in self.idle]
        faults = sum(sum(cell.match.faults) for cell in self.cells)
        return notes + ([f"{counted(faults, 'game')} lost by faults, not by play"] * bool(faults))

    def columns(self) -> dict[str, list[Any]]:
        """A row per cell: its game, values and score."""
        games = [match.game for match in self.matches]
        return {"game": games, **self._exact_values(), **exact_columns(SCORE, self.matches)}

    def _exact_values(self) -> dict[str, list[Any]]:
        columns = {name: [values[name] for values in self.values] for name in self.values[0]}
        return {
            name: [value if isinstance(value, int | float) else str(value) for value in column]
            for name, column in columns.items()
        }

    def estimates(self) -> dict[str, Any]:
        """The scores with their intervals, over all games and in each of several."""
        several = {game: self.of(game) for game in self.games} if len(self.games) > 1 else {}
        named = [(str(cell), cell.match) for cell in self._overall] + [
            (f"{game}: {cell}", cell.match) for game, cells in several.items() for cell in cells
        ]
        estimates = [(name, match.score.score, match.interval) for name, match in named]
        label = "score, with 95 % intervals"
        return {"estimates": estimates, "label": label, "level": 0.5, "title": self._title}

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON.

        Infinite and unknown values are None, except parameters, which are written as in a spec,
        ``"inf"``.
        """
        return {
            "game": list(self.games),
            "agent": self.agent,
            "opponent": self.opponent,
            "seed": self.run.seed,
            "games": self.cells[0].match.planned,
            "rows": [{"game": cell.match.game, **_row(cell)} for cell in self.cells],
            "all_games": [_row(cell) for cell in self._overall],
            "best": None if self.best is None else plain_values(self.best.parameters),
        }


@dataclasses.dataclass(frozen=True, eq=False)
class Curve(Grid):
    """Strength over one parameter, the limit, against each of several opponents."""

    @property
    def unit(self) -> str:
        """``simulations`` or ``seconds`` per move."""
        return next(iter(self.values[0]))

    def line_of(self, table: int, record: GameRecord) -> str:
        """One line on a game of the table with this index."""
        return record.line(self.matches[table].agents)

    def summary(self) -> str:
        """The agent, its unit of effort, the game and the number of finished games."""
        return f"{self.agent} by {self.unit} a move, {self.games[0]}, {self._played()}"

    def tables(self) -> list[Table]:
        """A row per limit and opponent."""
        columns = [
            Column("against", [cell.opponent for cell in self.cells], text=True),
            Column(self.unit, [f"{values[self.unit]:g}" for values in self.values]),
        ]
        return [Table([*columns, *table_columns(SCORE, self.matches)], keys=2)]

    def columns(self) -> dict[str, list[Any]]:
        """A row per limit and opponent."""
        opponents = [cell.opponent for cell in self.cells]
        return {"opponent": opponents, **self._exact_values(), **exact_columns(SCORE, self.matches)}

    def curves(self) -> dict[str, tuple[list[float], list[float], list[float], list[float]]]:
        """Curves of each opponent: limits, Elo differences, low and high ends of their intervals.

        Infinite values, where all games were won or lost, become NaN.
        """
        curves: dict[str, tuple[list[float], list[float], list[float], list[float]]] = {}
        for cell in sorted(self.cells, key=lambda cell: cell.parameters[self.unit]):
            low, high = cell.match.elo_interval
            numbers = (cell.parameters[self.unit], cell.match.score.elo, low, high)
            for column, number in zip(
                curves.setdefault(cell.opponent, ([], [], [], [])), numbers, strict=True
            ):
                column.append(number if math.isfinite(number) else math.nan)
        return curves

    def plot(self) -> Any:
        """A picture of the curves, a ``matplotlib`` figure.

        Raises:
            ImportError: without matplotlib (the extra ``plot``).
        """
        from rave_agents.plots import curves, figures  # noqa: PLC0415  (slow: matplotlib)

        drawn = {f"against {name}": curves.Curve(*curve) for name, curve in self.curves().items()}
        picture = curves.plot_curves(drawn, label="Elo difference", level=0.0)
        axes = picture.axes[0]
        title = figures.literal(f"{self.agent}, {self.games[0]}")
        axes.set(xlabel=f"{self.unit} a move", title=title)
        return picture

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON; infinite and unknown ones are None."""
        return {
            "game": self.games[0],
            "agent": self.agent,
            "unit": self.unit,
            "seed": self.run.seed,
            "games": self.cells[0].match.planned,
            "rows": [
                {**cell.parameters, "opponent": cell.opponent, **cell.match.score_to_dict()}
                for cell in self.cells
            ],
        }


def best_of(cells: Sequence[Cell]) -> Cell | None:
    """The cell whose interval lies above those of all others; None if there is none."""
    leader = _leader(cells)
    return leader if leader is not None and not _level_with(leader, cells) else None


def overlap_notes(cells: Sequence[Cell]) -> list[str]:
    """A line on cells that are not significantly worse than the best one, if there are any."""
    leader = _leader(cells)
    others = [] if leader is None else _level_with(leader, cells)
    if not others:
        return []
    return [f"none is the best: the intervals of the {len(others) + 1} highest overlap"]


def _leader(cells: Sequence[Cell]) -> Cell | None:
    known = [cell for cell in cells if cell.match.records]
    return max(known, key=lambda cell: cell.match.score.score) if len(cells) > 1 and known else None


def _level_with(leader: Cell, cells: Sequence[Cell]) -> list[Cell]:
    """The other cells whose intervals overlap the leader's; without games they are [0, 1]."""
    low = leader.match.interval[0]
    return [cell for cell in cells if cell is not leader and cell.match.interval[1] >= low]


def _pooled(cells: Sequence[Cell]) -> Cell:
    first = cells[0].match
    stride = first.planned + first.planned % 2  # Even, so that pairs stay pairs.
    records = tuple(
        dataclasses.replace(record, number=record.number + index * stride)
        for index, cell in enumerate(cells)
        for record in cell.match.records
    )
    planned = first.planned * len(cells)
    match = dataclasses.replace(first, game=ALL_GAMES, records=records, planned=planned)
    return Cell(parameters=cells[0].parameters, match=match)


def _parameter_columns(cells: Sequence[Cell]) -> list[Column]:
    columns = []
    for name in cells[0].parameters:
        values = [cell.parameters[name] for cell in cells]
        text = not all(isinstance(value, int | float) for value in values)
        columns.append(Column(name, [*map(str, values)], text=text))
    return columns


def _row(cell: Cell) -> dict[str, Any]:
    return {"parameters": plain_values(cell.parameters), **cell.match.score_to_dict()}


def plain_values(value: Any) -> Any:
    """The value for strict JSON; values unknown to JSON become strings, as in a spec."""
    if isinstance(value, Mapping):
        return {key: plain_values(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str) and not is_part(value):
        return [plain_values(item) for item in value]
    if value is None or isinstance(value, bool | int):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(plain(value))
