"""The result of a run of several tables: its finished games, and the view that its kind has."""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.run import Pairing, Plan, Run, RunOptions
from rave_agents.records.record import GameRecord
from rave_agents.results.progress import Progress
from rave_agents.results.result import GrowingResult, Tabular
from rave_agents.results.tables import Table


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class RunResult(GrowingResult):
    """The finished games of a tournament, a sweep, a curve, a race, or another run.

    What the games say is a function of them: a view, such as ``Standings`` or ``Grid``. The
    attributes of the run's view are attributes of the result: ``result.ratings()``.
    """

    show: "Callable[[RunResult], View]"
    """Makes the view."""
    pairings: tuple[Pairing, ...]
    """The tables' agents."""
    records: tuple[tuple[Any, ...], ...]
    """The finished games of each table, by number."""
    seed: int
    """The seed of everything random."""
    games_planned: tuple[int, ...] | None
    """Planned games at each table; None if they are not known in advance."""
    latest: tuple[int, Any] | None = None
    """The latest finished game, with the index of its table."""
    interrupted: bool = False
    """True if Ctrl-C ended the run."""

    @functools.cached_property
    def view(self) -> "View":
        """What the games say, as the kind of run asks."""
        return self.show(self)

    def __getattr__(self, name: str) -> Any:
        """What the view offers, such as the ``ratings`` of a tournament."""
        # Pickling and copying ask for private names before there are fields; and an AttributeError
        # in the making of the view must not ask for the view again.
        if name.startswith("_") or name == "view":
            raise AttributeError(name)
        return getattr(self.view, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(n for n in dir(self.view) if not n.startswith("_"))})

    def __getitem__(self, name: str) -> Any:
        """A part of the view, by its name."""
        return self.view[name]  # type: ignore[index]

    @property
    def finished(self) -> int:
        """Number of finished games."""
        return sum(map(len, self.records))

    @property
    def all_planned(self) -> int | None:
        """Number of planned games over all tables; None if it is not known in advance."""
        return None if self.games_planned is None else sum(self.games_planned)

    @property
    def planned(self) -> int | None:
        """Number of planned games at each table; None if it is not known in advance."""
        return None if self.games_planned is None else max(self.games_planned)

    @property
    def complete(self) -> bool:
        """True if all planned games are finished."""
        return self.finished == self.all_planned

    def match(self, table: int) -> MatchResult:
        """The games of a table at which two agents play."""
        pairing, records = self.pairings[table], self.records[table]
        return MatchResult(
            game=pairing.game,
            agents=(pairing.agents[0], pairing.agents[1]),
            seed=self.seed,
            planned=len(records) if self.games_planned is None else self.games_planned[table],
            records=records,
        )

    @property
    def latest_line(self) -> str:
        """One line on the latest finished game; empty if there is none."""
        return self.view.latest_line

    def summary(self) -> str:
        """One line: the subject and the outcome."""
        return self.view.summary()

    @property
    def remarks(self) -> Sequence[str]:
        """Further lines between the summary and the tables."""
        return self.view.remarks

    def tables(self) -> Sequence[Table]:
        """The tables to print, with rounded numbers."""
        return self.view.tables()

    def columns(self) -> dict[str, list[Any]]:
        """The columns of ``to_csv`` and ``to_frame``."""
        return self.view.columns()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON; infinite and unknown ones are None."""
        return self.view.to_dict()

    def plot(self) -> Any:
        """A picture, a ``matplotlib`` figure.

        Raises:
            ImportError: without matplotlib (the extra ``plot``).
        """
        return self.view.plot() or super().plot()

    def _estimates(self) -> dict[str, Any]:
        return self.view.estimates()


class TablesRun(Run[RunResult]):
    """A run whose result has a view.

    Args:
        plan: the games.
        options: how they are played, and where they are recorded.
        progress: called before the first and after every game with the result so far.
        show: makes the view.
    """

    def __init__(
        self,
        plan: Plan,
        options: RunOptions,
        progress: Progress[RunResult],
        show: "Callable[[RunResult], View]",
    ) -> None:
        super().__init__(plan, options, progress)
        self.show: Callable[[RunResult], View] = show
        self._pairings, self._games_planned = tuple(plan.pairings), tuple(plan.games)

    def result(self) -> RunResult:
        """The result so far."""
        return RunResult(
            show=self.show,
            pairings=self._pairings,
            records=self.games(),
            seed=self.plan.settings["seed"],
            games_planned=self._games_planned,
            latest=self.latest,
            interrupted=self.interrupted,
        )


@dataclasses.dataclass(frozen=True, eq=False)
class View(Tabular):
    """What the games of a run say; it is made from a ``RunResult`` and shows itself as one."""

    run: RunResult
    """The result of the run."""

    def estimates(self) -> dict[str, Any]:
        """The arguments of ``plot_estimates``, which draws the picture."""
        return {}

    def plot(self) -> Any:
        """Another picture; None for that of the estimates."""
        return None

    @property
    def latest_line(self) -> str:
        """One line on the latest finished game; empty if there is none."""
        return "" if self.run.latest is None else self.line_of(*self.run.latest)

    def line_of(self, table: int, record: Any) -> str:
        """One line on a game of the table with this index."""
        return ""


@dataclasses.dataclass(frozen=True, eq=False)
class MatchesView(View):
    """A view of games between two agents: each table is a match."""

    @functools.cached_property
    def matches(self) -> tuple[MatchResult, ...]:
        """The finished games of each table."""
        return tuple(self.run.match(table) for table in range(len(self.run.pairings)))

    @functools.cached_property
    def games(self) -> tuple[str, ...]:
        """The games, as given."""
        return tuple(dict.fromkeys(pairing.game for pairing in self.run.pairings))

    def check_game(self, game: str | None) -> None:
        """Raise KeyError for a game that was not planned; None is all of them."""
        if game is not None and game not in self.games:
            raise KeyError(f"No games of {game!r} were planned: {', '.join(self.games)}.")

    def line_of(self, table: int, record: GameRecord) -> str:
        """One line on a game of the table with this index."""
        return record.line(self.matches[table].agents)


@dataclasses.dataclass(frozen=True, eq=False)
class AgentsView(MatchesView):
    """A view of games between agents that have names."""

    by_name: dict[str, str]
    """The agents' specs with limits by name; for custom agents their names."""

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents' names."""
        return tuple(self.by_name)

    @property
    def specs(self) -> tuple[str, ...]:
        """Their specs with limits; for custom agents their names."""
        return tuple(self.by_name.values())
