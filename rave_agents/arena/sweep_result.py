"""Result of a sweep: the matches of all combinations of values, in each game."""

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

from rave_agents.arena.match_result import MatchResult, score_columns, score_values
from rave_agents.arena.matches_result import MatchesResult
from rave_agents.arena.worker import UnfinishedError
from rave_agents.config.part_specs import is_part, plain
from rave_agents.config.specs import format_parameters
from rave_agents.records.record import GameRecord
from rave_agents.results.numbers import counted, played
from rave_agents.results.tables import Column, Table

ALL_GAMES = "all games"
"""The name for all games together."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SweepCell:
    """One combination of values, and its match in one game or in all of them."""

    parameters: dict[str, Any]
    """The varied parameters with their values."""
    match: MatchResult
    """The finished games; the agent with these values is the first one."""

    def __str__(self) -> str:
        return format_parameters(plain_values(self.parameters))


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class SweepResult(MatchesResult):
    """The finished games of a sweep by cell, from the view of the varied agent."""

    games: tuple[str, ...]
    """The games, as given."""
    agent: str
    """The spec of the varied agent, without the varied parameters."""
    opponent: str
    """The opponent's spec, with its limits."""
    seed: int
    """The seed of everything random."""
    planned: int
    """Planned games for each cell."""
    cells: tuple[SweepCell, ...]
    """Game by game, in the order of the grid: the values of the last parameter vary fastest."""

    @property
    def all_matches(self) -> Sequence[MatchResult]:
        """The matches, in the order of their indices."""
        return tuple(cell.match for cell in self.cells)

    @property
    def all_planned(self) -> int:
        """Number of planned games over all cells."""
        return self.planned * len(self.cells)

    @property
    def complete(self) -> bool:
        """True if all planned games are finished."""
        return all(cell.match.complete for cell in self.cells)

    def of(self, game: str | None = None) -> tuple[SweepCell, ...]:
        """The combinations in one game, or in all games together (None).

        Raises:
            KeyError: for a game that was not planned.
        """
        if game is None:
            return self._overall
        if game not in self.games:
            raise KeyError(f"No games of {game!r} were planned: {', '.join(self.games)}.")
        return tuple(cell for cell in self.cells if cell.match.game == game)

    @functools.cached_property
    def _overall(self) -> tuple[SweepCell, ...]:
        if len(self.games) == 1:
            return self.cells
        count = len(self.cells) // len(self.games)
        return tuple(_pooled(self.cells[index::count]) for index in range(count))

    @property
    def best(self) -> SweepCell | None:
        """The best combination over all games; None if that is not certain.

        Its score's 95 % interval lies above those of all others.
        """
        return best_of(self._overall)

    @functools.cached_property
    def idle(self) -> tuple[str, ...]:
        """The varied parameters that never changed an action; empty until all games are finished.

        Most likely the agent ignores them in combination with its other parameters.
        """
        if not self.complete:
            return ()
        first, last = self.cells[0].parameters, self.cells[-1].parameters
        varied = [name for name in first if first[name] != last[name]]
        return tuple(name for name in varied if not self._changed_a_game(name))

    def _changed_a_game(self, name: str) -> bool:
        """True if two cells that differ only in this parameter played a game differently."""
        played: dict[str, list[tuple[int, ...]]] = {}
        for cell in self.cells:
            others = {key: value for key, value in cell.parameters.items() if key != name}
            actions = [record.actions for record in cell.match.records]
            if played.setdefault(f"{cell.match.game} {others}", actions) != actions:
                return True
        return False

    def name_of(self, index: int) -> str:
        """The name of the cell with this index, for messages."""
        cell = self.cells[index]
        return str(cell) if len(self.games) == 1 else f"{cell.match.game}, {cell}"

    def plus(self, index: int, *records: GameRecord) -> Self:
        """The result with more finished games of the cell with this index."""
        cell = self.cells[index]
        changed = dataclasses.replace(cell, match=cell.match.plus(*records))
        cells = (*self.cells[:index], changed, *self.cells[index + 1 :])
        latest = (index, records[-1]) if records else self.latest
        return dataclasses.replace(self, cells=cells, latest=latest)

    def line_of(self, index: int, record: GameRecord) -> str:
        """One line on a game of the cell with this index, with the cell's name."""
        return record.line((self.name_of(index), self.opponent))

    @property
    def _title(self) -> str:
        where = self.games[0] if len(self.games) == 1 else f"in each of {len(self.games)} games"
        return f"{self.agent} against {self.opponent}, {where}"

    def summary(self) -> str:
        """The two agents, the games and the number of finished games."""
        games = played(self.finished, self.all_planned, "game")
        return f"{self._title}, {games}, seed {self.seed}"

    def tables(self) -> list[Table]:
        """A row per combination, over all games and in each of several."""
        overall = self._table(self._overall, self._notes())
        if len(self.games) == 1:
            return [overall]
        each = [self._table(self.of(game), [], title=game) for game in self.games]
        return [dataclasses.replace(overall, title=ALL_GAMES), *each]

    def _table(self, cells: Sequence[SweepCell], notes: Sequence[str], title: str = "") -> Table:
        """A table of cells, with the best one marked if there is one."""
        best = best_of(cells)
        columns = [
            *self._parameter_columns(cells),
            *score_columns([cell.match for cell in cells]),
            Column("", ["best" if cell is best else "" for cell in cells]),
        ]
        all_notes = [*overlap_notes(cells), *notes]
        return Table(columns, keys=len(cells[0].parameters), notes=all_notes, title=title)

    def _parameter_columns(self, cells: Sequence[SweepCell]) -> list[Column]:
        columns = []
        for name in cells[0].parameters:
            values = [cell.parameters[name] for cell in cells]
            text = not all(isinstance(value, int | float) for value in values)
            columns.append(Column(name, [*map(str, values)], text=text))
        return columns

    def _notes(self) -> list[str]:
        notes = [f"{name} changed no game" for name in self.idle]
        faults = sum(sum(cell.match.faults) for cell in self.cells)
        return notes + ([f"{counted(faults, 'game')} lost by faults, not by play"] * bool(faults))

    def columns(self) -> dict[str, list[Any]]:
        """A row per cell: its game, values and score."""
        values = {
            name: [_exact(cell.parameters[name]) for cell in self.cells]
            for name in self.cells[0].parameters
        }
        matches = [cell.match for cell in self.cells]
        return {"game": [match.game for match in matches], **values, **score_values(matches)}

    def _estimates(self) -> dict[str, Any]:
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
            "seed": self.seed,
            "games": self.planned,
            "rows": [{"game": cell.match.game, **_row(cell)} for cell in self.cells],
            "all_games": [_row(cell) for cell in self._overall],
            "best": None if self.best is None else plain_values(self.best.parameters),
        }


class SweepError(UnfinishedError[SweepResult]):
    """A game of a sweep failed; the message names the cell, the game, the seat and the agent."""


def best_of(cells: Sequence[SweepCell]) -> SweepCell | None:
    """The cell whose interval lies above those of all others; None if there is none."""
    leader = _leader(cells)
    return leader if leader is not None and not _level_with(leader, cells) else None


def overlap_notes(cells: Sequence[SweepCell]) -> list[str]:
    """A line on cells that are not significantly worse than the best one, if there are any."""
    leader = _leader(cells)
    others = [] if leader is None else _level_with(leader, cells)
    if not others:
        return []
    return [f"none is the best: the intervals of the {len(others) + 1} highest overlap"]


def _leader(cells: Sequence[SweepCell]) -> SweepCell | None:
    """The cell with the highest score, if several have games."""
    known = [cell for cell in cells if cell.match.records]
    return max(known, key=lambda cell: cell.match.score.score) if len(cells) > 1 and known else None


def _level_with(leader: SweepCell, cells: Sequence[SweepCell]) -> list[SweepCell]:
    """The other cells whose intervals overlap the leader's; without games they are [0, 1]."""
    low = leader.match.interval[0]
    return [cell for cell in cells if cell is not leader and cell.match.interval[1] >= low]


def _pooled(cells: Sequence[SweepCell]) -> SweepCell:
    """Merge one combination's cells of all games into one, renumbering the games."""
    first = cells[0].match
    stride = first.planned + first.planned % 2  # Even, so that pairs stay pairs.
    records = tuple(
        dataclasses.replace(record, number=record.number + index * stride)
        for index, cell in enumerate(cells)
        for record in cell.match.records
    )
    planned = first.planned * len(cells)
    match = dataclasses.replace(
        first, game=ALL_GAMES, records=records, planned=planned, latest=None
    )
    return SweepCell(parameters=cells[0].parameters, match=match)


def _row(cell: SweepCell) -> dict[str, Any]:
    return {"parameters": plain_values(cell.parameters), **cell.match.score_to_dict()}


def plain_values(value: Any) -> Any:
    """The value for strict JSON; values unknown to JSON become strings, as in a spec."""
    if isinstance(value, Mapping):
        return {key: plain_values(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str) and not is_part(value):
        return [plain_values(item) for item in value]
    if value is None or isinstance(value, bool | int) or _is_finite_float(value):
        return value
    return str(plain(value))


def _exact(value: Any) -> Any:
    """A parameter's value for a table of exact numbers."""
    return value if isinstance(value, int | float) else str(value)


def _is_finite_float(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value)
