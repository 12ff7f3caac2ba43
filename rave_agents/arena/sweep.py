"""Sweeps: an agent with every combination of some parameters' values, against one opponent.

Each combination is a cell of a grid and plays a match. All cells start from the same openings with
the same seeds, and the same game of every cell is played before the next one: what happens to the
machine meanwhile happens to all. A game's result depends on its cell, its number and the seed
alone (if the agents' limits are simulations), so a sweep may stop and go on at any game.
"""

import dataclasses
import functools
import itertools
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, Self

from rave_agents.agents.named_agents import (
    AgentSpec,
    AnyAgent,
    agent_type,
    as_agent,
    make_limit,
)
from rave_agents.arena.contestants import Contestant
from rave_agents.arena.journal import make_header
from rave_agents.arena.match import (
    checked_count,
    checked_match_seed,
    checked_run_options,
    checked_table,
    limited_agent,
    load_match_game,
)
from rave_agents.arena.match_result import MatchResult, score_columns, score_values
from rave_agents.arena.plan import MOST_GAMES, Plan, Shard
from rave_agents.arena.record import GameRecord
from rave_agents.arena.run import ResultCollector, carry_out
from rave_agents.arena.worker import UnfinishedError
from rave_agents.config.part_specs import is_part, plain
from rave_agents.config.specs import format_call, format_parameters, is_key, parse_values
from rave_agents.results.numbers import counted, played
from rave_agents.results.progress import Progress, shown
from rave_agents.results.result import GrowingResult
from rave_agents.results.tables import Column, Table


@dataclasses.dataclass(frozen=True, kw_only=True)
class SweepCell:
    """One combination of values and its match."""

    parameters: dict[str, Any]
    """The varied parameters with their values."""
    match: MatchResult
    """The finished games of the agent with these values, the first one of the match."""

    def __str__(self) -> str:
        return format_parameters(_plain(self.parameters))


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class SweepResult(GrowingResult):
    """The finished games of a sweep by cell, from the view of the agent that is varied."""

    game: str
    """The game as it was asked for."""
    agent: str
    """The spec of the agent that is varied, without the varied parameters."""
    opponent: str
    """The opponent's spec, with its limits."""
    seed: int
    """The seed of everything random."""
    planned: int
    """Games planned for each cell."""
    cells: tuple[SweepCell, ...]
    """Cells in the order of the grid: the values of the last parameter vary fastest."""
    latest: tuple[int, GameRecord] | None = None
    """The game that ended last, with the index of its cell."""
    interrupted: bool = False
    """True if it was ended before its time."""

    @property
    def finished(self) -> int:
        """Number of finished games, all cells together."""
        return sum(len(cell.match.records) for cell in self.cells)

    @property
    def all_planned(self) -> int:
        """Number of planned games, all cells together."""
        return self.planned * len(self.cells)

    @property
    def complete(self) -> bool:
        """True if all planned games are finished."""
        return all(cell.match.complete for cell in self.cells)

    @property
    def best(self) -> tuple[int, ...]:
        """The indices of the cells with the highest score; several if they are level."""
        scores = {
            index: cell.match.score.score
            for index, cell in enumerate(self.cells)
            if cell.match.records
        }
        highest = max(scores.values(), default=math.nan)
        return tuple(index for index, score in scores.items() if score == highest)

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
            if played.setdefault(str(others), actions) != actions:
                return True
        return False

    def name_of(self, index: int) -> str:
        """The name of the cell with this index, for messages."""
        return str(self.cells[index])

    def plus(self, index: int, *records: GameRecord) -> Self:
        """The result with more finished games of the cell with this index."""
        cell = self.cells[index]
        changed = dataclasses.replace(cell, match=cell.match.plus(*records))
        cells = (*self.cells[:index], changed, *self.cells[index + 1 :])
        latest = (index, records[-1]) if records else self.latest
        return dataclasses.replace(self, cells=cells, latest=latest)

    @property
    def latest_line(self) -> str:
        """One line on the game that ended last; empty if there is none."""
        if self.latest is None:
            return ""
        index, record = self.latest
        return record.line((str(self.cells[index]), self.opponent))

    def summary(self) -> str:
        """The two agents, the game and how many were played."""
        games = played(self.finished, self.all_planned, "game")
        return f"{self.agent} against {self.opponent}, {self.game}, {games}, seed {self.seed}"

    def tables(self) -> list[Table]:
        """A row for each cell, from the view of the agent that is varied; the best is marked."""
        marks = ["best" if index in self.best else "" for index in range(len(self.cells))]
        columns = [
            *self._parameter_columns(),
            *score_columns([cell.match for cell in self.cells]),
            Column("", marks),
        ]
        keys = len(self.cells[0].parameters)
        return [Table(columns, keys=keys, notes=self._notes())]

    def _parameter_columns(self) -> list[Column]:
        columns = []
        for name in self.cells[0].parameters:
            values = [cell.parameters[name] for cell in self.cells]
            text = not all(isinstance(value, int | float) for value in values)
            columns.append(Column(name, [*map(str, values)], text=text))
        return columns

    def _notes(self) -> list[str]:
        notes = [f"{name} changed no game" for name in self.idle]
        faults = sum(sum(cell.match.faults) for cell in self.cells)
        return notes + ([f"{counted(faults, 'game')} lost by faults, not by play"] * bool(faults))

    def columns(self) -> dict[str, list[Any]]:
        """A row for each cell: its values, and its score."""
        values = {
            name: [_exact(cell.parameters[name]) for cell in self.cells]
            for name in self.cells[0].parameters
        }
        return {**values, **score_values([cell.match for cell in self.cells])}

    def _estimates(self) -> dict[str, Any]:
        matches = [(str(cell), cell.match) for cell in self.cells]
        estimates = [(name, match.score.score, match.interval) for name, match in matches]
        label = "score, with 95 % intervals"
        title = f"{self.agent} against {self.opponent}, {self.game}"
        return {"estimates": estimates, "label": label, "level": 0.5, "title": title}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON.

        What is infinite or unknown is None, but for parameters: these are as in a spec, ``"inf"``.
        """
        return {
            "game": self.game,
            "agent": self.agent,
            "opponent": self.opponent,
            "seed": self.seed,
            "games": self.planned,
            "rows": [
                {"parameters": _plain(cell.parameters), **cell.match.score_to_dict()}
                for cell in self.cells
            ],
        }


class SweepError(UnfinishedError[SweepResult]):
    """A game of a sweep failed; the message names the cell, the game, the seat and the agent."""


def run_sweep(
    game: Any,
    agent: Any,
    opponent: Any,
    vary: Mapping[str, Sequence[Any]],
    *,
    games: int = 100,
    simulations: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    opening_plies: int | None = None,
    jobs: int = 1,
    output: str | os.PathLike[str] | None = None,
    forfeit: bool = False,
    progress: Progress[SweepResult] = None,
    executor: Executor | None = None,
    shard: Shard | str | None = None,
) -> SweepResult:
    """Play a match for every combination of values of an agent's parameters.

    Ctrl-C ends it early: the result then holds the games that were finished, and is not
    ``complete``.

    Args:
        game: a game for two players or its name, such as ``"hex(board_size=9)"``; see
            ``as_game``.
        agent: the agent to vary, which leaves the varied parameters open: a spec, or a class or a
            function of your own that takes them, see ``as_agent``.
        opponent: the agent that all cells play against, see ``as_agent``.
        vary: for each varied parameter its values.
        games: how many games a cell, at least 1. Of an odd number the last opening is played once.
        simulations: a move, for an agent whose spec has no limit; 1,000 if ``seconds`` is not given
            either.
        seconds: a move, for an agent whose spec has no limit.
        seed: an integer of at least 0 that decides everything random.
        opening_plies: random moves that each opening starts with, see ``run_match``.
        jobs: processes that play at the same time.
        output: a file that gets every game as it ends (see ``journal``). Games that it has already
            are not played again: a sweep may grow by games and by values.
        forfeit: whether a GTP program that does not play at all loses its games, see
            ``play_match``.
        progress: None for a display in a terminal or notebook, False for none, True for one
            anywhere; or a function, which is called before the first and after every game with the
            result so far.
        executor: who runs the games in place of ``jobs`` processes, see ``play_match``.
        shard: such as ``"3/40"``: play only this part of the games.

    Raises:
        UnknownNameError: for a game, an agent or a parameter that does not exist.
        UnsupportedGameError: if the game is not for two players or an agent cannot play it.
        TypeError, ValueError: for a value that is not allowed, if no opening can be found, or if
            ``output`` is of another sweep or is being written by another process.
        OSError: if ``output`` cannot be read or written.
        SweepError: if an agent fails or plays an illegal action; it keeps the finished games.
    """
    options = checked_run_options(jobs, executor, output, shard)
    checked_count("games", games, 1, MOST_GAMES)
    seed = checked_match_seed(seed)
    loaded = load_match_game(game)
    base, other = as_agent(agent), as_agent(opponent)
    grid = _grid(base, vary)
    specs = [limited_agent(base.with_parameters(values), simulations, seconds) for values in grid]
    limited = limited_agent(other, simulations, seconds)
    tables = [
        checked_table(loaded, spec, limited, opening_plies=opening_plies, seed=seed)
        for spec in specs
    ]
    name = game if isinstance(game, str) else loaded.name
    empty = _nothing_played(name, grid, specs, limited, seed=seed, games=games)
    limit = make_limit(simulations, seconds)
    settings = {
        "game": name,
        "agent": str(base),
        "opponent": str(other),
        "vary": _plain(vary),
        "games": games,
        "simulations": limit.simulations,
        "seconds": limit.seconds,
        "seed": seed,
        "opening_plies": tables[0].opening_plies,
    }
    plan = Plan(
        header=make_header("sweep", settings),
        tables=[dataclasses.replace(table, forfeit=forfeit) for table in tables],
        labels=[{"parameters": _plain(values)} for values in grid],
        games=games,
    )
    with shown(progress) as tell:
        collector = ResultCollector(empty, tell, SweepError)
        finished = carry_out(plan, options, collector)
    return dataclasses.replace(collector.result, interrupted=not finished)


def parse_vary(texts: Iterable[str]) -> dict[str, list[Any]]:
    """The grid that texts of the form ``key=value,value,...`` describe.

    Raises:
        ValueError: if one is not of that form, or a key is given twice.
    """
    vary: dict[str, list[Any]] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        key = key.strip()
        if not equals or not is_key(key) or not values.strip():
            raise ValueError(
                f"Not of the form KEY=VALUE,VALUE,...: {text!r}. For example k=100,300,1000."
            )
        if key in vary:
            raise ValueError(f"Varied twice: {key!r}. Give all its values at once.")
        vary[key] = parse_values(values)
    return vary


def _grid(base: AnyAgent, vary: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """All combinations of the values, those of the last key varying fastest."""
    if not vary:
        raise ValueError("A sweep varies at least one parameter.")
    first = {k: v[0] for k, v in vary.items() if v and not isinstance(v, str)}
    given = {**base.parameters, **dict.fromkeys(vary), **first}
    if isinstance(base, AgentSpec):
        agent_type(base.name).check_parameters(base.name, given)
    for key, values in vary.items():
        if key in base.parameters:
            raise ValueError(f"{base} sets {key!r} already, so it cannot vary.")
        if isinstance(values, str) or not values:
            raise ValueError(f"{key!r} needs a list of values, got {values!r}.")
        for index, value in enumerate(values):
            if value in values[:index]:
                raise ValueError(f"{key!r} has the value {value!r} twice.")
    return [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]


def _nothing_played(
    name: str,
    grid: Sequence[dict[str, Any]],
    specs: Sequence[Contestant],
    opponent: Contestant,
    *,
    seed: int,
    games: int,
) -> SweepResult:
    shared = {key: value for key, value in specs[0].parameters.items() if key not in grid[0]}
    matches = [
        MatchResult(
            game=name, agents=(str(spec), str(opponent)), seed=seed, planned=games, records=()
        )
        for spec in specs
    ]
    return SweepResult(
        game=name,
        agent=format_call(specs[0].name.partition("(")[0], shared),
        opponent=str(opponent),
        seed=seed,
        planned=games,
        cells=tuple(
            SweepCell(parameters=values, match=match)
            for values, match in zip(grid, matches, strict=True)
        ),
    )


def _plain(value: Any) -> Any:
    """The value as strict JSON has it; what JSON lacks is a string, as in a spec."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str) and not is_part(value):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int) or _is_finite_float(value):
        return value
    return str(plain(value))


def _exact(value: Any) -> Any:
    """A parameter's value for a table of exact numbers."""
    return value if isinstance(value, int | float) else str(value)


def _is_finite_float(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value)
