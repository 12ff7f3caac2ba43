"""Worker of a run: unpickles tables, warms up once, and plays games."""

import functools
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, Generic, NamedTuple, NoReturn, TypeVar

import cloudpickle

from rave_agents.arena.plan import AnyTable, Key, Record
from rave_agents.arena.versions import check_versions
from rave_agents.compiler.mistakes import place_in
from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.errors import RaveAgentsError
from rave_agents.gtp.process import EngineFailedError

_PARENT_SECONDS = 1.0
"""Interval at which a worker process checks whether its parent is alive."""

_TABLES_KEPT = 4096

R = TypeVar("R")


class FailedGameError(RaveAgentsError):
    """A game could not be finished; the message names the game, the seat and the agent."""


class UnfinishedError(FailedGameError, Generic[R]):
    """A failed game ended a run of many games.

    Args:
        message: a message that names the game, the seat and the agent.
        result: the games finished before.
    """

    def __init__(self, message: str, result: R) -> None:
        super().__init__(message)
        self.result: R = result
        """The result of the games finished before."""


class Failure(NamedTuple):
    """A game that could not be finished."""

    message: str
    """The game, the seat, the agent and what went wrong."""
    traceback: str
    """The traceback, if the failure was in another process; else empty."""
    cause: Exception | None
    """The error; None if it cannot be sent from one process to another."""

    def raise_as(self, error: FailedGameError) -> NoReturn:
        """Raise this error with the failure as its cause, and with its traceback as a note."""
        if self.traceback:
            error.add_note(self.traceback)
        raise error from self.cause


class Outcome(NamedTuple):
    """Outcome of a game."""

    key: Key
    """The game's key."""
    played: Record | Failure
    """Its record, or its failure."""
    seconds: float
    """Duration of the game."""


def play_safely(table: AnyTable, key: Key) -> Outcome:
    """Play a game; an exception becomes its outcome."""
    started = time.perf_counter()
    played: Record | Failure
    try:
        played = table.play(key.number)
    except Exception as raised:
        where, error = table.describe_failure(key.number, raised)
        if is_raised_by_handler(error):
            raise error from None
        advice = ""
        if isinstance(error, EngineFailedError):
            advice = " (forfeit, or --forfeit, counts such games as lost)"
        message = f"{where}: {type(error).__name__}: {error}{advice}{_place(error)}"
        played = Failure(message, "", error)
    return Outcome(key, played, time.perf_counter() - started)


def _place(error: Exception) -> str:
    """The line of the user's file at which an error occurred, for its message; else empty."""
    code, line = place_in(error) or (None, 0)
    if code is None or "site-packages" in code.co_filename:
        return ""
    return f" (line {line} of {code.co_filename})"


def play_chunk(
    client: Mapping[str, str], shipped: bytes, tables: Mapping[int, bytes], keys: Sequence[Key]
) -> list[Outcome]:
    """Play some games in a worker.

    Args:
        client: the client's versions.
        shipped: the pickled custom parts.
        tables: the tables of the games, pickled, by index.
        keys: the games.

    Raises:
        VersionsDifferError: if this process has other versions than the client.
    """
    check_versions(client)
    _register(shipped)
    outcomes = []
    for key in keys:
        table = _unpacked(tables[key.table])
        table.warm_up()
        outcome = play_safely(table, Key(*key))
        if isinstance(outcome.played, Failure):
            outcome = outcome._replace(played=_sent(outcome.played))
        outcomes.append(outcome)
    return outcomes


@functools.lru_cache(maxsize=64)
def _register(shipped: bytes) -> None:
    cloudpickle.loads(shipped).register()


def unpacked(pickled: bytes) -> Any:
    """Unpickle an object sent by the parent process, see ``travelling``."""
    return cloudpickle.loads(pickled)


_unpacked = functools.lru_cache(maxsize=_TABLES_KEPT)(unpacked)


def _sent(failure: Failure) -> Failure:
    """The failure in a form that can be pickled."""
    error = failure.cause
    assert error is not None
    told = "".join(traceback.format_exception(error))
    try:
        cloudpickle.loads(cloudpickle.dumps(error))
    except Exception:
        error = None
    return failure._replace(traceback=told, cause=error)


def begin_local_worker(module_path: Sequence[str] = ()) -> None:
    """Prepare a local worker process, which ends with its parent.

    It uses the parent's ``sys.path``.

    The parent handles Ctrl-C and termination requests, and ends its workers. SIG_IGN is not used,
    since programs started by agents would inherit it. The process ends soon after its parent,
    however that ends.
    """
    if module_path:
        sys.path[:] = module_path
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave_to_parent)
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _leave_to_parent(number: int, frame: Any) -> None:
    pass
