"""Result of a sweep: the matches of all combinations of values, in each game."""

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

from rave_agents.arena.match_result import MatchResult, score_columns, score_values
from rave_agents.arena.matches_result import MatchesResult
from rave_agents.arena.record import GameRecord
from rave_agents.arena.worker import UnfinishedError
from rave_agents.config.part_specs import is_part, plain
from rave_agents.config.specs import format_parameters
from rave_agents.results.numbers import counted, played
from rave_agents.results.tables import Column, Table

ALL_GAMES = "all games"
"""The name of all games together."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SweepCell:
    """One combination of values and its match in one game, or its games in all of them."""

    parameters: dict[str, Any]
    """The varied parameters with their values."""
    match: MatchResult
    """The finished games of the agent with these values, the first one of the match."""

    def __str__(self) -> str:
        return format_parameters(plain_values(self.parameters))


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class SweepResult(MatchesResult):
    """The finished games of a sweep by cell, from the view of the agent that is varied."""

    games: tuple[str, ...]
    """The games as they were asked for."""
    agent: str
    """The spec of the agent that is varied, without the varied parameters."""
    opponent: str
    """The opponent's spec, with its limits."""
    seed: int
    """The seed of everything random."""
    planned: int
    """Games planned for each cell."""
    cells: tuple[SweepCell, ...]
    """Game by game, in the order of the grid: the values of the last parameter vary fastest."""

    @property
    def all_matches(self) -> Sequence[MatchResult]:
        """The matches, in the order of their indices."""
        return tuple(cell.match for cell in self.cells)

    @property
    def all_planned(self) -> int:
        """Number of planned games, all cells together."""
        return self.planned * len(self.cells)

    @property
    def complete(self) -> bool:
        """True if all planned games are finished."""
        return all(cell.match.complete for cell in self.cells)

    def of(self, game: str | None = None) -> tuple[SweepCell, ...]:
        """The combinations in a game, or with their games in all of them (None).

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
        """The combination that is the best over all games; None where that is not certain.

        Its score's 95 % interval lies above those of all others.
        """
        return best_of(self._overall)

    @functools.cached_property
    def idle(self) -> tuple[str, ...]:
        """The varied parameters that changed not one action; empty until all games are finished.

        Most likely the agent does not use them beside its other parameters.
        """
        if not self.complete:
            return ()
        first, last = self.cells[0].parameters, self.cells[-1].parameters
        varied = [name for name in first if first[name] != last[name]]
        return tuple(name for name in varied if not self._changed_a_game(name))

    def _changed_a_game(self, name: str) -> bool:
        """True if two cells that differ in nothing else played a game differently."""
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
        """One line on a game of the cell with this index, by the cell's name."""
        return record.line((self.name_of(index), self.opponent))

    @property
    def _title(self) -> str:
        where = self.games[0] if len(self.games) == 1 else f"in each of {len(self.games)} games"
        return f"{self.agent} against {self.opponent}, {where}"

    def summary(self) -> str:
        """The two agents, the games and how many were played."""
        games = played(self.finished, self.all_planned, "game")
        return f"{self._title}, {games}, seed {self.seed}"

    def tables(self) -> list[Table]:
        """A row for each combination, over all games and in each of several."""
        overall = self._table(self._overall, self._notes())
        if len(self.games) == 1:
            return [overall]
        each = [self._table(self.of(game), [], title=game) for game in self.games]
        return [dataclasses.replace(overall, title=ALL_GAMES), *each]

    def _table(self, cells: Sequence[SweepCell], notes: Sequence[str], title: str = "") -> Table:
        """A table of cells, in which the best is marked if there is one."""
        best = best_of(cells)
        columns = [
            *self._parameter_columns(cells),
            *score_columns([cell.match for cell in cells]),
            Column("", ["best" if cell is best else "" for cell in cells]),
        ]
        told = [*overlap_notes(cells), *notes]
        return Table(columns, keys=len(cells[0].parameters), notes=told, title=title)

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
        """A row for each cell: its game, its values, and its score."""
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
        """Plain values, fit for strict JSON.

        What is infinite or unknown is None, but for parameters: these are as in a spec, ``"inf"``.
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
    """A line on cells that cannot be told from the one of the highest score, if there are any."""
    leader = _leader(cells)
    others = [] if leader is None else _level_with(leader, cells)
    if not others:
        return []
    return [f"none is the best: the intervals of the {len(others) + 1} highest overlap"]


def _leader(cells: Sequence[SweepCell]) -> SweepCell | None:
    """The cell with the highest score, of several that have games."""
    known = [cell for cell in cells if cell.match.records]
    return max(known, key=lambda cell: cell.match.score.score) if len(cells) > 1 and known else None


def _level_with(leader: SweepCell, cells: Sequence[SweepCell]) -> list[SweepCell]:
    """The other cells whose intervals reach that of the leader; without games they are [0, 1]."""
    low = leader.match.interval[0]
    return [cell for cell in cells if cell is not leader and cell.match.interval[1] >= low]


def _pooled(cells: Sequence[SweepCell]) -> SweepCell:
    """One combination's cells of all games as one; their games get numbers of their own."""
    first = cells[0].match
    stride = first.planned + first.planned % 2  # Pairs stay pairs.
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
    """The value as strict JSON has it; what JSON lacks is a string, as in a spec."""
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
