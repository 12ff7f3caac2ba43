"""Live terminal view while games are played: progress, standings, the last games.

Nothing is shown where standard error is no terminal.
"""

import collections
import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
from rich.text import Text

from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.race_result import RaceResult
from rave_agents.arena.record import GameRecord
from rave_agents.arena.scaling import ScalingResult
from rave_agents.arena.sweep import SweepResult
from rave_agents.arena.tournament_result import TournamentResult
from rave_agents.cli.arena_tables import (
    match_table,
    race_table,
    scaling_table,
    standings_table,
    sweep_table,
)

LAST_GAMES = 4
"""Finished games that are shown."""

_PER_SECOND = 2
"""Redraws a second; few, since ratings of many games take some time."""

Result = MatchResult | RaceResult | SweepResult | ScalingResult | TournamentResult
R = TypeVar("R", bound=Result)
View = AbstractContextManager[Callable[[R], None] | None]


class LiveView(Generic[R]):
    """A view of games that are being played.

    Args:
        console: where it is drawn.
        standings: its table.
        last: a line about the game that ended last; empty for none.
    """

    def __init__(
        self,
        console: Console,
        standings: Callable[[R], RenderableType],
        last: Callable[[R], str],
    ) -> None:
        columns = (BarColumn(24), MofNCompleteColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=console)
        self._task = self._progress.add_task("", total=None)
        self._standings, self._last = standings, last
        self._latest: R | None = None
        self._drawn: tuple[R | None, RenderableType] = (None, "")
        self._lines: collections.deque[str] = collections.deque(maxlen=LAST_GAMES)
        self._live = Live(
            get_renderable=self._view,
            console=console,
            transient=True,
            refresh_per_second=_PER_SECOND,
        )

    def update(self, result: R) -> None:
        """Show this result from now on."""
        line = self._last(result)
        if line:
            self._lines.append(line)
        self._latest = result
        self._progress.update(self._task, completed=result.finished, total=result.all_planned)
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
def _shown(
    console: Console, standings: Callable[[R], RenderableType], last: Callable[[R], str]
) -> Iterator[Callable[[R], None] | None]:
    """Show games from the first call of the function that it gives; None without a terminal."""
    view = LiveView(console, standings, last)
    try:
        yield view.update if console.is_terminal else None
    finally:
        view.stop()


def match_progress(console: Console) -> View[MatchResult]:
    """Show a match, as all of these do: from the first call of the function that it gives."""

    def last(result: MatchResult) -> str:
        return "" if result.latest is None else game_line(result.latest, result.agents)

    return _shown(console, match_table, last)


def sweep_progress(console: Console) -> View[SweepResult]:
    """Show a sweep."""

    def last(result: SweepResult) -> str:
        if result.latest is None:
            return ""
        index, record = result.latest
        return game_line(record, (str(result.cells[index]), result.opponent))

    return _shown(console, sweep_table, last)


def scaling_progress(console: Console) -> View[ScalingResult]:
    """Show a curve."""

    def last(result: ScalingResult) -> str:
        if result.latest is None:
            return ""
        index, record = result.latest
        return game_line(record, result.points[index].match.agents)

    return _shown(console, scaling_table, last)


def tournament_progress(console: Console) -> View[TournamentResult]:
    """Show a tournament."""

    def last(result: TournamentResult) -> str:
        if result.latest is None:
            return ""
        index, record = result.latest
        match = result.matches[index]
        return f"{match.game}: {game_line(record, match.agents)}"

    return _shown(console, standings_table, last)


def race_progress(console: Console) -> View[RaceResult]:
    """Show a race."""

    def last(result: RaceResult) -> str:
        if result.latest is None:
            return ""
        index, record = result.latest
        return game_line(record, result.matches[index].agents)

    return _shown(console, race_table, last)


def game_line(record: GameRecord, agents: tuple[str, str]) -> str:
    """A game in one line."""
    one, two = agents
    word = "drew with"
    if record.margin != 0:
        one, two = (one, two) if record.margin > 0 else (two, one)
        word = "beat"
    why = f" ({record.ending})" if record.ending else ""
    return f"game {record.number + 1}: {one} {word} {two}, {len(record.actions)} moves{why}"
