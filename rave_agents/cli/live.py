"""Live terminal view while games are played: progress, standings, the last games.

Nothing is shown where standard error is no terminal.
"""

import collections
import contextlib
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
from rich.text import Text

from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.record import GameRecord
from rave_agents.arena.scaling import ScalingResult
from rave_agents.arena.sweep import SweepResult
from rave_agents.arena.tournament_result import TournamentResult
from rave_agents.cli.arena_tables import match_table, scaling_table, standings_table, sweep_table

LAST_GAMES = 4
"""Finished games that are shown."""

_PER_SECOND = 2
"""Redraws a second; few, since ratings of many games take some time."""

_Result = TypeVar("_Result")


class LiveView(Generic[_Result]):
    """A view of games that are being played.

    Args:
        console: where it is drawn.
        counts: how many games of a result are finished, and how many are planned.
        standings: its table.
        last: a line about the game that ended last; empty for none.
    """

    def __init__(
        self,
        console: Console,
        counts: Callable[[_Result], tuple[int, int]],
        standings: Callable[[_Result], RenderableType],
        last: Callable[[_Result], str],
    ) -> None:
        columns = (BarColumn(24), MofNCompleteColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=console)
        self._task = self._progress.add_task("", total=None)
        self._counts, self._standings, self._last = counts, standings, last
        self._latest: _Result | None = None
        self._drawn: tuple[_Result | None, RenderableType] = (None, "")
        self._lines: collections.deque[str] = collections.deque(maxlen=LAST_GAMES)
        self._live = Live(
            get_renderable=self._view,
            console=console,
            transient=True,
            refresh_per_second=_PER_SECOND,
        )

    def update(self, result: _Result) -> None:
        """Show this result from now on."""
        line = self._last(result)
        if line:
            self._lines.append(line)
        self._latest = result
        finished, planned = self._counts(result)
        self._progress.update(self._task, completed=finished, total=planned)
        self._live.start()

    def stop(self) -> None:
        """Take the view away."""
        if self._live.is_started:
            self._live.stop()

    def _view(self) -> RenderableType:
        latest = self._latest
        if latest is not None and latest is not self._drawn[0]:
            self._drawn = latest, self._standings(latest)
        lines = (Text(line, style="dim") for line in self._lines)
        return Group(self._progress, *lines, self._drawn[1])  # A tall table is cut at its end.


@contextlib.contextmanager
def _shown(console: Console, view: LiveView[_Result]) -> Iterator[Callable[[_Result], None] | None]:
    try:
        yield view.update if console.is_terminal else None
    finally:
        view.stop()


def _match_counts(result: MatchResult) -> tuple[int, int]:
    return len(result.records), result.planned


@contextlib.contextmanager
def match_progress(console: Console) -> Iterator[Callable[[MatchResult], None] | None]:
    """Show a match from the first call of the function that it gives; None without a terminal."""

    def last(result: MatchResult) -> str:
        return "" if result.latest is None else game_line(result.latest, result.agents)

    view = LiveView(console, _match_counts, match_table, last)
    with _shown(console, view) as update:
        yield update


@contextlib.contextmanager
def sweep_progress(console: Console) -> Iterator[Callable[[SweepResult], None] | None]:
    """Show a sweep, likewise."""

    def last(result: SweepResult) -> str:
        if result.latest is None:
            return ""
        index, record = result.latest
        cell = result.cells[index]
        return game_line(record, (str(cell), result.opponent))

    def counts(result: SweepResult) -> tuple[int, int]:
        return result.finished, result.planned * len(result.cells)

    view = LiveView(console, counts, sweep_table, last)
    with _shown(console, view) as update:
        yield update


@contextlib.contextmanager
def scaling_progress(
    console: Console,
) -> Iterator[Callable[[ScalingResult], None] | None]:
    """Show a curve, likewise."""

    def last(result: ScalingResult) -> str:
        if result.latest is None:
            return ""
        index, record = result.latest
        return game_line(record, result.points[index].match.agents)

    def counts(result: ScalingResult) -> tuple[int, int]:
        return result.finished, result.planned * len(result.points)

    view = LiveView(console, counts, scaling_table, last)
    with _shown(console, view) as update:
        yield update


@contextlib.contextmanager
def tournament_progress(
    console: Console,
) -> Iterator[Callable[[TournamentResult], None] | None]:
    """Show a tournament, likewise."""

    def last(result: TournamentResult) -> str:
        if result.latest is None:
            return ""
        index, record = result.latest
        match = result.matches[index]
        return f"{match.game}: {game_line(record, match.agents)}"

    def counts(result: TournamentResult) -> tuple[int, int]:
        return result.finished, result.planned * len(result.matches)

    view = LiveView(console, counts, standings_table, last)
    with _shown(console, view) as update:
        yield update


def game_line(record: GameRecord, agents: tuple[str, str]) -> str:
    """A game in one line."""
    one, two = agents
    word = "drew with"
    if record.margin != 0:
        one, two = (one, two) if record.margin > 0 else (two, one)
        word = "beat"
    why = f" ({record.ending})" if record.ending else ""
    return f"game {record.number + 1}: {one} {word} {two}, {len(record.actions)} moves{why}"
