"""Carries out a plan: plays its games, writes each before reporting it, resumes from a file."""

import contextlib
import dataclasses
import json
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from typing import Any, Generic, Protocol, Self, TypeVar

from rave_agents.arena.journal import Journal
from rave_agents.arena.plan import Key, Plan, Record, Shard
from rave_agents.arena.runner import WorkerFailedError, play_games
from rave_agents.arena.worker import FailedGameError, Failure, UnfinishedError
from rave_agents.records import fields


class Collector(Protocol):
    """Collects a plan's games as they end."""

    def take(self, key: Key, record: Record) -> bool:
        """Add a finished game. Returns True if no more games are needed."""

    def report(self) -> None:
        """Tell of the result, from now on after every game."""

    def fail(self, key: Key | None, message: str) -> FailedGameError:
        """Make the error for a failed game, or for failed workers (None)."""


class _Result(Protocol):
    """Finished games by table."""

    def plus(self, index: int, *records: Any) -> Self:
        """The result with more finished games of the table with this index."""

    def name_of(self, index: int) -> str:
        """The name of the table with this index, for messages."""


_R = TypeVar("_R", bound=_Result)


class ResultCollector(Generic[_R]):
    """Collects the results of a plan so far.

    Args:
        empty: the result without games.
        progress: called before the first and after every game with the result so far.
        error: the class of the error for failed games.
    """

    def __init__(
        self,
        empty: _R,
        progress: Callable[[_R], object] | None,
        error: type[UnfinishedError[_R]],
    ) -> None:
        self.result: _R = empty
        self._progress = progress
        self._error = error
        self._began = False

    def take(self, key: Key, record: Record) -> bool:
        """Add a finished game."""
        self.result = self.result.plus(key.table, record)
        if self._began:
            self.report()
        return False

    def report(self) -> None:
        """Tell of the result, from now on after every game."""
        self._began = True
        if self._progress is not None:
            self._progress(self.result)

    def fail(self, key: Key | None, message: str) -> UnfinishedError[_R]:
        """Make the error for a failed game; it holds the finished games."""
        where = "" if key is None else f"{self.result.name_of(key.table)}: "
        return self._error(f"{where}{message}", self.result)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of a run: how games are played, and where they are recorded."""

    jobs: int = 1
    """Number of local worker processes."""
    executor: Executor | None = None
    """The executor that runs the games instead of local processes."""
    output: str | os.PathLike[str] | None = None
    """The file that records them, or None."""
    shard: Shard | None = None
    """The part of the games to play; None for all."""


def carry_out(
    plan: Plan,
    options: RunOptions,
    collector: Collector,
    rounds: Callable[[], Iterable[Iterable[Key]]] | None = None,
) -> bool:
    """Play the games of a plan that its file lacks, until all are played or no more are needed.

    Ctrl-C ends the run early; finished games have been collected.

    Args:
        plan: the games.
        options: how they are played, and where they are recorded.
        collector: receives each finished game, first those in the file.
        rounds: returns rounds of games, each chosen after the results of the previous one; None for
            one round with all games of the plan.

    Returns:
        Whether the run was completed.

    Raises:
        ValueError: if the file belongs to something else, or another process is writing it.
        OSError: if it cannot be read or written.
        FailedGameError: made by the collector, if a game fails.
    """
    with contextlib.ExitStack() as stack:
        journal = None
        done: set[Key] = set()
        warned: set[str] = set()
        ended = False
        if options.output is not None:
            journal = stack.enter_context(Journal.open(options.output, plan.header))
            for key, record in _resumed(plan, journal).items():
                done.add(key)
                ended = collector.take(key, record) or ended
        with contextlib.suppress(KeyboardInterrupt):
            collector.report()
            if not ended and rounds is None:
                keys = (key for key in plan.keys(options.shard) if key not in done)
                _play(plan, options, keys, journal, collector, warned)
            for batch in rounds() if rounds is not None and not ended else ():
                _play(plan, options, batch, journal, collector, warned)
            return True
    return False


def _play(
    plan: Plan,
    options: RunOptions,
    keys: Iterable[Key],
    journal: Journal | None,
    collector: Collector,
    warned: set[str],
) -> None:
    played = play_games(
        plan.tables, keys, jobs=options.jobs, executor=options.executor, warned=warned
    )
    try:
        for outcome in played:
            if isinstance(outcome.played, Failure):
                outcome.played.raise_as(collector.fail(outcome.key, outcome.played.message))
            if journal is not None:
                label = plan.labels[outcome.key.table]
                journal.append({**label, **outcome.played.to_dict()})
            if collector.take(outcome.key, outcome.played):
                break
    except WorkerFailedError as error:
        raise collector.fail(None, str(error)) from error
    finally:
        played.close()


def _resumed(plan: Plan, journal: Journal) -> dict[Key, Record]:
    """The games in the file; if a game occurs twice, the first one."""
    what = str(plan.header["format"]).rpartition(" ")[2]
    tables = {_frozen(label): index for index, label in enumerate(plan.labels)}
    names = list(plan.labels[0]) if plan.labels else []
    found: dict[Key, Record] = {}
    for number, line in enumerate(journal.lines, 2):
        try:
            label = _frozen({name: fields.field(line, name) for name in names})
            if label not in tables:
                raise ValueError(f"{', '.join(names)}: there is no {fields.brief(label)}.")
            record = plan.tables[tables[label]].read(line)
            fields.integer(record.number, "number", 0, plan.games - 1)
        except ValueError as error:
            raise ValueError(
                f"Line {number} of {journal.path} is not a game of this {what}: {error}"
            ) from error
        found.setdefault(Key(tables[label], record.number), record)
    return found


def _frozen(label: Mapping[str, Any]) -> str:
    return json.dumps(label, sort_keys=True)
