"""The worker's side of a run: tables, which play numbered games, and the outcomes of games.

The process that starts a run may be its only worker.
"""

import functools
import importlib.metadata
import os
import platform
import signal
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, Generic, NamedTuple, NoReturn, Protocol, TypeVar

import cloudpickle

from rave_agents import __version__
from rave_agents.compiler.mistakes import place_in
from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.engines.client.process import EngineFailedError
from rave_agents.errors import RaveAgentsError
from rave_agents.frameworks.adapters import ENTRY_POINT_GROUP

_TABLES_KEPT = 4096
_PARENT_SECONDS = 1.0
"""Interval at which a local worker checks whether its parent is alive."""

_LIBRARIES = ("numpy", "numba", "cloudpickle", "open_spiel", "pettingzoo", "gymnasium")

R = TypeVar("R")


class Key(NamedTuple):
    """Identity of a game."""

    table: int
    """The index of its table."""
    number: int
    """The game's number at the table, from 0."""


class Record(Protocol):
    """The record of a finished game."""

    @property
    def number(self) -> int:
        """The game's number at its table, from 0."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON."""


class AnyTable(Protocol):
    """A table at which games are played; it is pickled for other processes."""

    @property
    def name(self) -> str:
        """The game's name."""

    @property
    def agents(self) -> Sequence[Any]:
        """The agents, to name those that cannot be pickled."""

    def play(self, number: int) -> Record:
        """Play the game of this number from beginning to end."""

    def warm_up(self) -> None:
        """Prepare for the first game in a process; errors are left to that game."""

    def describe_failure(self, number: int, error: Exception) -> tuple[str, Exception]:
        """A description of the failed game, and its error."""

    def read(self, line: Mapping[str, Any]) -> Record:
        """The record in a line of a journal.

        Raises:
            ValueError: if it has none, or the game cannot have this result.
        """


class FailedGameError(RaveAgentsError):
    """A game could not be finished; the message names the game, the seat and the agent."""


class RunError(FailedGameError, Generic[R]):
    """A failed game ended a run.

    Args:
        message: a message that names the table, the game, the seat and the agent.
        result: the result of the games finished before.
    """

    def __init__(self, message: str, result: R) -> None:
        super().__init__(message)
        self.result: R = result
        """The result of the games finished before."""


class VersionsDifferError(RaveAgentsError):
    """A worker has other versions than the client; the message names them."""


class Failure(NamedTuple):
    """A game that could not be finished."""

    message: str
    """The game, the seat, the agent and what went wrong."""
    traceback: str
    """The traceback, if the failure was in another process; else empty."""
    cause: Exception | None
    """The error; None if it cannot be sent from one process to another."""

    def raise_as(self, error: Exception) -> NoReturn:
        """Raise this error with the failure as its cause, and with its traceback as a note."""
        if self.traceback:
            error.add_note(self.traceback)
        if error is self.cause:
            raise error
        raise error from self.cause


class Outcome(NamedTuple):
    """Outcome of a game."""

    key: Key
    """The game's key."""
    played: Any
    """Its record, or its ``Failure``."""
    seconds: float
    """Duration of the game."""


def play_safely(table: AnyTable, key: Key) -> Outcome:
    """Play a game; an exception becomes its outcome."""
    started = time.perf_counter()
    try:
        played: Any = table.play(key.number)
    except Exception as raised:
        where, error = table.describe_failure(key.number, raised)
        # Raised by a signal handler in the middle of an agent: no fault of the game.
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


def unpacked(pickled: bytes) -> Any:
    """Unpickle an object sent by the parent process, see ``travelling``."""
    return cloudpickle.loads(pickled)


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
        table = _unpacked_table(tables[key.table])
        table.warm_up()
        outcome = play_safely(table, Key(*key))
        if isinstance(outcome.played, Failure):
            outcome = outcome._replace(played=_picklable(outcome.played))
        outcomes.append(outcome)
    return outcomes


@functools.lru_cache(maxsize=64)
def _register(shipped: bytes) -> None:
    cloudpickle.loads(shipped).register()


# A table comes with every chunk; unpickling it once keeps its caches and its warm-up.
_unpacked_table = functools.lru_cache(maxsize=_TABLES_KEPT)(unpacked)


def _picklable(failure: Failure) -> Failure:
    error = failure.cause
    assert error is not None
    text = "".join(traceback.format_exception(error))
    try:
        cloudpickle.loads(cloudpickle.dumps(error))  # Some pickle and then fail to unpickle.
    except Exception:
        error = None
    return failure._replace(traceback=text, cause=error)


def begin_local_worker(module_path: Sequence[str] = ()) -> None:
    """Prepare a local worker process, which has its parent's ``sys.path`` and ends with it.

    The parent handles Ctrl-C and termination requests, and ends its workers. SIG_IGN is not used,
    since programs started by agents would inherit it.
    """
    if module_path:
        sys.path[:] = module_path
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: None)
    parent = os.getppid()  # Changes when the parent ends: another process adopts this one.

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_SECONDS)
        os._exit(1)  # Without clean-up, which might wait for the parent.

    threading.Thread(target=watch, daemon=True).start()


@functools.cache
def versions() -> Mapping[str, str]:
    """The versions in this process by name; ``none`` for packages that are not installed."""
    found = {"Python": ".".join(platform.python_version_tuple()[:2]), "rave-agents": __version__}
    adapters = importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)
    names = [entry.dist.name for entry in adapters if entry.dist is not None]
    for name in dict.fromkeys([*_LIBRARIES, *names]):
        if name not in found:
            try:
                found[name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                found[name] = "none"
    return found


def check_versions(client: Mapping[str, str], worker: Mapping[str, str] | None = None) -> None:
    """Refuse a worker with other versions; the worker is this process by default.

    Raises:
        VersionsDifferError: with the differences.
    """
    found = versions() if worker is None else worker
    differences = [
        f"{name} is {client.get(name, 'none')} here and {found.get(name, 'none')} there"
        for name in {**client, **found}
        if client.get(name, "none") != found.get(name, "none")
    ]
    if differences:
        raise VersionsDifferError(
            f"A worker cannot play for this client: {'; '.join(differences)}."
        )
