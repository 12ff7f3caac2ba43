"""A run: tables with numbered games, which workers play and a journal keeps.

A game is identified by its key: the index of its table and its number there. Its outcome depends
only on these, not on what plays it or on the order of the games.
"""

import abc
import contextlib
import dataclasses
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import Annotated, Any, Generic, NamedTuple, NoReturn, Self, TypeVar

from annotated_types import Ge, Le

from rave_agents.arena.worker import AnyTable, Failure, Key, Record, RunError
from rave_agents.arena.workers import WorkerFailedError, play_games
from rave_agents.records import fields
from rave_agents.records.journal import Journal, make_header
from rave_agents.results.progress import Progress, shown

MOST_GAMES = 1_000_000
"""Maximum number of games at a table, to catch typing errors and save memory for openings."""

GameCount = Annotated[int, Ge(1), Le(MOST_GAMES)]
"""A number of games at each table."""

Jobs = Annotated[int, Ge(1), Le(1000)]
"""A number of worker processes; the maximum catches typing errors."""


class Pairing(NamedTuple):
    """The agents of a table."""

    game: str
    """The game, as given."""
    agents: tuple[str, ...]
    """Their names in tables: the first and the second one, or those of a lineup."""
    name: str = ""
    """The table's name in messages; empty if the run has only this table."""
    more: Mapping[str, Any] | None = None
    """Further strict JSON values that identify the table, such as ``parameters``."""

    @property
    def listed(self) -> dict[str, Any]:
        """The table in a journal's header."""
        return {"game": self.game, "agents": list(self.agents), **(self.more or {})}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """All games to be played, and how a journal records them."""

    kind: str
    """The kind of run: ``match``, ``sweep``, ..."""
    settings: Mapping[str, Any]
    """Strict JSON values that determine all games."""
    tables: Sequence[AnyTable]
    """The tables at which games are played."""
    pairings: Sequence[Pairing]
    """Their agents."""
    by: Sequence[str]
    """The keys of ``Pairing.listed`` that identify a table's lines in the journal."""
    games: Sequence[int]
    """Number of games at each table."""
    group: int = 2
    """Number of consecutive games that share an opening."""

    @property
    def header(self) -> dict[str, Any]:
        """The first line of the journal."""
        listed = [pairing.listed for pairing in self.pairings]
        return make_header(self.kind, self.settings, listed, self.by)

    def label(self, table: int) -> dict[str, Any]:
        """The values that identify a table's lines in the journal."""
        listed = self.pairings[table].listed
        return {name: listed[name] for name in self.by}

    def keys(self, shard: "Shard | None" = None) -> Iterator[Key]:
        """Round-robin over tables: the first games of all tables, then the second ones, ...

        So load on the machine affects all tables alike. A shard has complete groups of games.
        """
        # The outer loop is over numbers: a run that ends early has played all tables alike.
        for number in range(max(self.games)):
            for table, games in enumerate(self.games):
                # Games of one opening stay in one shard: intervals are computed from whole pairs.
                unit = number // self.group * len(self.tables) + table
                if number < games and (shard is None or unit % shard.count == shard.index - 1):
                    yield Key(table, number)

    def recorded(self, journal: Journal) -> Iterator[tuple[Key, Record]]:
        """The games in the journal.

        Raises:
            ValueError: for a line that is not a game of this plan.
        """
        # JSON as keys: labels hold lists and mappings.
        tables = {
            json.dumps(self.label(table), sort_keys=True): table
            for table in range(len(self.tables))
        }
        for number, line in enumerate(journal.lines, 2):
            try:
                label = {name: fields.field(line, name) for name in self.by}
                table = tables.get(json.dumps(label, sort_keys=True))
                if table is None:
                    raise ValueError(f"{', '.join(label)}: there is no {fields.brief(label)}.")
                record = self.tables[table].read(line)
                fields.integer(record.number, "number", 0, self.games[table] - 1)
            except ValueError as error:
                what = self.kind.rpartition(" ")[2]
                raise ValueError(
                    f"Line {number} of {journal.path} is not a game of this {what}: {error}"
                ) from error
            yield Key(table, record.number), record


@dataclasses.dataclass(frozen=True)
class Shard:
    """One part of all games, for machines that run independently."""

    index: int
    """Number of the part, from 1."""
    count: int
    """Number of parts."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a part such as ``3/40``.

        Raises:
            ValueError: for another form, or a part that does not exist.
        """
        found = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise ValueError(f"A shard must be PART/PARTS, such as 3/40; got {text!r}.")
        return cls(int(found[1]), int(found[2]))


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of a run: how games are played, and where they are recorded."""

    jobs: int = 1
    """Number of local worker processes."""
    executor: Executor | None = None
    """The executor that runs the games instead of local processes."""
    output: str | os.PathLike[str] | None = None
    """The journal, or None."""
    shard: Shard | None = None
    """The part of the games to play; None for all."""

    @classmethod
    def of(
        cls,
        jobs: int,
        executor: Executor | None,
        output: str | os.PathLike[str] | None,
        shard: Shard | str | None = None,
    ) -> Self:
        """The options given to a function that plays a run.

        Raises:
            ValueError: for an invalid shard, or one without a journal.
        """
        if shard is not None and output is None:
            raise ValueError(
                "A shard needs output: a file to be merged with the other shards' files."
            )
        part = Shard.parse(shard) if isinstance(shard, str) else shard
        return cls(jobs=jobs, executor=executor, output=output, shard=part)


R = TypeVar("R")


class Run(abc.ABC, Generic[R]):
    """The finished games of a plan, while it is played and afterwards.

    Args:
        plan: the games.
        options: how they are played, and where they are recorded.
        progress: called before the first and after every game with the result so far.
    """

    def __init__(self, plan: Plan, options: RunOptions, progress: Progress[R]) -> None:
        self.plan: Plan = plan
        self.options: RunOptions = options
        self._progress = progress
        self._report: Callable[[R], object] | None = None
        self._warned: set[str] = set()
        self.records: list[dict[int, Any]] = [{} for _ in plan.tables]
        """The finished games of each table, by number."""
        self._sorted: list[tuple[Any, ...]] = [()] * len(plan.tables)
        self._changed: set[int] = set()
        self.latest: tuple[int, Any] | None = None
        """The latest finished game, with the index of its table."""
        self.begun: bool = False
        """True once the journal has been read and games are played."""
        self.interrupted: bool = False
        """True if Ctrl-C ended the run."""

    def play(self, rounds: Callable[[], Iterable[Iterable[Key]]] | None = None) -> R:
        """Play the games that the journal lacks, until all are played or no more are needed.

        Ctrl-C ends the run early.

        Args:
            rounds: returns rounds of games, each chosen after the results of the previous one; None
                for one round with all games of the plan.

        Raises:
            ValueError: if the journal belongs to something else, or another process is writing it.
            OSError: if it cannot be read or written.
            RunError: if a game fails; it has the result of the games finished before.
        """
        options = self.options
        with contextlib.ExitStack() as stack:
            journal, over = None, False
            if options.output is not None:
                journal = stack.enter_context(Journal.open(options.output, self.plan.header))
                for key, record in self.plan.recorded(journal):
                    if (
                        key.number not in self.records[key.table]
                    ):  # Of duplicates, the first counts.
                        over = self.take(key, record) or over
            self._report = stack.enter_context(shown(self._progress))
            try:
                self.begun = True
                self.begin()
                self.report()
                if not over:
                    for keys in [self.plan.keys(options.shard)] if rounds is None else rounds():
                        missing = (k for k in keys if k.number not in self.records[k.table])
                        self._play(missing, journal)
            except KeyboardInterrupt:  # All games taken so far are complete and recorded.
                self.interrupted = True
            return self.conclude()

    def _play(self, keys: Iterable[Key], journal: Journal | None) -> None:
        options = self.options
        played = play_games(
            self.plan.tables,
            keys,
            jobs=options.jobs,
            executor=options.executor,
            warned=self._warned,
        )
        try:
            for outcome in played:
                key, record = outcome.key, outcome.played
                if isinstance(record, Failure):
                    self.fail(key, record)
                if journal is not None:  # On disk before it is reported.
                    journal.append({**self.plan.label(key.table), **record.to_dict()})
                over = self.take(key, record)
                self.report()
                if over:
                    break
        except WorkerFailedError as error:
            raise RunError(str(error), self.result()) from error
        finally:
            played.close()  # Aborts games that workers are still playing.

    def begin(self) -> None:
        """Prepare for the first game to be played; the journal's games have been taken."""

    def take(self, key: Key, record: Any) -> bool:
        """Add a finished game. Returns True if no more games are needed."""
        self.records[key.table][key.number] = record
        self._changed.add(key.table)
        self.latest = key.table, record
        return False

    def games(self) -> tuple[tuple[Any, ...], ...]:
        """The finished games of each table, by number."""
        # A run may have thousands of tables, and reports after each game: sort only what changed.
        for table in self._changed:
            records = self.records[table]
            self._sorted[table] = tuple([records[number] for number in sorted(records)])
        self._changed.clear()
        return tuple(self._sorted)

    @abc.abstractmethod
    def result(self) -> R:
        """The result so far."""

    def report(self) -> None:
        """Report the result so far to ``progress``."""
        if self._report is not None:
            self._report(self.result())

    def conclude(self) -> R:
        """The result at the end."""
        return self.result()

    def fail(self, key: Key, failure: Failure) -> NoReturn:
        """Raise the error for a failed game; it has the result of the games finished before."""
        name = self.plan.pairings[key.table].name
        message = f"{name}: {failure.message}" if name else failure.message
        failure.raise_as(RunError(message, self.result()))
