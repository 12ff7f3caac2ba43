"""Carry out a plan: play its games, each on disk before it is reported; resume from a file."""

import contextlib
import dataclasses
import json
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from typing import Any, Generic, Protocol, Self, TypeVar

from rave_agents.arena import fields
from rave_agents.arena.journal import Journal
from rave_agents.arena.plan import Key, Plan, Record, Shard
from rave_agents.arena.runner import WorkerFailedError, play_games
from rave_agents.arena.worker import FailedGameError, Failure, UnfinishedError


class Collector(Protocol):
    """Collector of a plan's games as they end."""

    def take(self, key: Key, record: Record) -> bool:
        """Add a finished game. Returns whether no more are needed."""

    def tell(self) -> None:
        """Tell of the result, from now on after every game."""

    def fail(self, key: Key | None, message: str) -> FailedGameError:
        """Make the error for a game that failed, or for workers that did (None)."""


class _Result(Protocol):
    """Finished games by table."""

    def plus(self, index: int, *records: Any) -> Self:
        """The result with more finished games of the table with this index."""

    def name_of(self, index: int) -> str:
        """The name of the table with this index, for messages."""


_R = TypeVar("_R", bound=_Result)


class ResultCollector(Generic[_R]):
    """Collector of a plan's results so far.

    Args:
        empty: the result without games.
        progress: called before the first and after every game with the result so far.
        error: the class of the error where a game fails.
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
            self.tell()
        return False

    def tell(self) -> None:
        """Tell of the result, from now on after every game."""
        self._began = True
        if self._progress is not None:
            self._progress(self.result)

    def fail(self, key: Key | None, message: str) -> UnfinishedError[_R]:
        """Make the error for a game that failed; it keeps what is finished."""
        where = "" if key is None else f"{self.result.name_of(key.table)}: "
        return self._error(f"{where}{message}", self.result)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of a run: how games are played, and where they are kept."""

    jobs: int = 1
    """Processes of this machine."""
    executor: Executor | None = None
    """The executor that runs the games in place of local processes."""
    output: str | os.PathLike[str] | None = None
    """The file that keeps them; None for none."""
    shard: Shard | None = None
    """The part of the games that is played; None for all."""


def carry_out(
    plan: Plan,
    options: RunOptions,
    collector: Collector,
    rounds: Callable[[], Iterable[Iterable[Key]]] | None = None,
) -> bool:
    """Play what a plan has and its file lacks, until all is played or no more is needed.

    Ctrl-C ends it early: what is finished has been collected.

    Args:
        plan: the games.
        options: how they are played, and where they are kept.
        collector: gets each finished game, those of the file first.
        rounds: begins rounds of games that the file lacks, each of which is drawn up when the last
            is over, with what came of it; None for one round of all games of the plan.

    Returns:
        Whether it came to its end.

    Raises:
        ValueError: if the file is of something else, or another process writes it.
        OSError: if it cannot be read or written.
        FailedGameError: as the collector makes it, where a game fails.
    """
    with contextlib.ExitStack() as stack:
        journal = None
        done: set[Key] = set()
        told: set[str] = set()
        ended = False
        if options.output is not None:
            journal = stack.enter_context(Journal.open(options.output, plan.header))
            for key, record in _resumed(plan, journal).items():
                done.add(key)
                ended = collector.take(key, record) or ended
        with contextlib.suppress(KeyboardInterrupt):
            collector.tell()
            if not ended and rounds is None:
                keys = (key for key in plan.keys(options.shard) if key not in done)
                _play(plan, options, keys, journal, collector, told)
            for batch in rounds() if rounds is not None and not ended else ():
                _play(plan, options, batch, journal, collector, told)
            return True
    return False


def _play(
    plan: Plan,
    options: RunOptions,
    keys: Iterable[Key],
    journal: Journal | None,
    collector: Collector,
    told: set[str],
) -> None:
    played = play_games(plan.tables, keys, jobs=options.jobs, executor=options.executor, told=told)
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
    """The games that the file has; of a game that it has twice, the first."""
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
                f"Line {number} of {journal.path} is no game of this {what}: {error}"
            ) from error
        found.setdefault(Key(tables[label], record.number), record)
    return found


def _frozen(label: Mapping[str, Any]) -> str:
    return json.dumps(label, sort_keys=True)
