"""Play many games, in this process or in several.

A game's result depends on its table and its fixture alone, so neither the number of processes nor
the order of the games changes it.
"""

import dataclasses
import functools
import os
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Collection, Generator, Sequence
from concurrent.futures import BrokenExecutor
from pickle import PicklingError
from typing import Any, NoReturn

from rave_agents.arena.play import (
    AgentFailedError,
    Fixture,
    GameRecord,
    Table,
    play_game,
    warm_up,
)
from rave_agents.config.shipped_parts import ShippedParts, shipped_parts
from rave_agents.errors import RaveAgentsError, UnsupportedGameError
from rave_agents.gtp.process import EngineFailedError

_PARENT_SECONDS = 1.0
"""How often a worker process looks whether the one that started it is still there."""


class FailedGameError(RaveAgentsError):
    """A game could not be finished; the message names the game, the seat and the agent."""


class WorkerFailedError(RaveAgentsError):
    """A process that played games ended, or could not load them."""


@dataclasses.dataclass(frozen=True)
class Failure:
    """A game that could not be finished."""

    message: str
    """The game, the seat, the agent and what went wrong."""
    traceback: str
    """Where it went wrong."""
    cause: Exception | None
    """None if it happened in another process."""

    def raise_as(self, error: FailedGameError) -> NoReturn:
        """Raise this error with the failure as its cause, or with its traceback as a note."""
        if self.cause is None:
            error.add_note(self.traceback)
        raise error from self.cause


Played = Generator[tuple[int, GameRecord | Failure], None, None]
"""Finished games, each with the index of its table."""


def play_games(
    tables: Sequence[Table],
    fixtures: Sequence[Fixture],
    *,
    jobs: int = 1,
    done: Collection[tuple[int, int]] = (),
) -> Played:
    """Play every fixture at every table: the first one at all tables, then the second one, ...

    So whatever slows the machine down for a while slows all tables alike. With several processes
    games are started in that order and come as they end. Close the generator to stop early.

    Args:
        tables: tables of one game.
        fixtures: the games to play at each of them.
        jobs: processes that play at the same time.
        done: games to leave out, as a table's index and a fixture's number.

    Raises:
        UnsupportedGameError: if the game cannot be sent to other processes.
        WorkerFailedError: if one of these ends.
    """
    pairings = [
        (index, table, fixture)
        for fixture in fixtures
        for index, table in enumerate(tables)
        if (index, fixture.number) not in done
    ]
    if not pairings:
        return
    for spec in {str(spec): spec for table in tables for spec in table.specs}.values():
        warm_up(spec, tables[0].game)  # for several processes too: compiled here, loaded there
    if jobs == 1:
        for index, table, fixture in pairings:
            yield index, _play_safely(table, fixture)
        return
    yield from _play_in_workers(pairings, jobs)


def _play_in_workers(pairings: Sequence[tuple[int, Table, Fixture]], jobs: int) -> Played:
    from joblib import Parallel, delayed  # noqa: PLC0415  (slow to import)

    play, shipped = delayed(_play_in_worker), shipped_parts()
    parallel = Parallel(
        n_jobs=min(jobs, len(pairings)), backend="loky", return_as="generator_unordered"
    )
    played = parallel(play(shipped, *pairing) for pairing in pairings)
    try:
        yield from played
    except PicklingError as error:
        raise UnsupportedGameError(
            f"{pairings[0][1].game.name} cannot be sent to other processes, which jobs={jobs} "
            f"needs ({_last_line(error)}). Play with jobs=1, or define it in a module of its own."
        ) from error
    except BrokenExecutor as error:  # out of memory, or what a worker cannot load
        raise WorkerFailedError(
            f"A process that played games ended: {error} {_last_line(error)}"
        ) from error
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that games are not finished: so asked
            played.close()


def _last_line(error: BaseException) -> str:
    """What the cause of an error says last; it may be the text of another process's traceback."""
    return str(error.__cause__ or "").strip(' \n"').rpartition("\n")[2]


def _leave_to_parent(number: int, frame: Any) -> None:
    pass


@functools.cache
def _end_with_parent() -> None:
    """End this process soon after the one that started it, however that ends."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


_warm: set[str] = set()
"""What this worker process has warmed up."""


def _play_in_worker(
    shipped: ShippedParts, index: int, table: Table, fixture: Fixture
) -> tuple[int, GameRecord | Failure]:
    prepare_worker(shipped)
    for spec in table.specs:
        if str(spec) not in _warm:
            warm_up(spec, table.game)
            _warm.add(str(spec))
    played = _play_safely(table, fixture)
    if isinstance(played, Failure):
        played = dataclasses.replace(played, cause=None)
    return index, played


def prepare_worker(shipped: ShippedParts) -> None:
    """Prepare this process to play for another one: with its parts, and ended by it alone."""
    shipped.register()
    # Ctrl-C and a request to end are for the parent, which ends the workers. No SIG_IGN: programs
    # that play would inherit it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave_to_parent)
    _end_with_parent()


def _play_safely(table: Table, fixture: Fixture) -> GameRecord | Failure:
    advice = ""
    try:
        return play_game(table, fixture)
    except AgentFailedError as failed:
        error = failed.__cause__
        assert isinstance(error, Exception)
        spec = table.specs[fixture.index_at(failed.seat)]
        where = f"Game {fixture.number + 1}, seat {failed.seat}, agent {spec}"
        if isinstance(error, EngineFailedError):
            advice = " (forfeit, or --forfeit, counts such games as lost)"
    except Exception as raised:
        error = raised
        where = f"Game {fixture.number + 1}"
    message = f"{where}: {type(error).__name__}: {error}{advice}"
    return Failure(message, "".join(traceback.format_exception(error)), error)
