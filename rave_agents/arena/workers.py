"""Plays many games: in this process, in local processes, or in an executor.

The tables are pickled once and sent with the keys of their games, several short games at a time.
"""

import collections
import contextlib
import functools
import importlib.metadata
import logging
import os
import platform
import signal
import sys
import sysconfig
import threading
import time
import traceback
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import Any, Generic, NamedTuple, NoReturn, Protocol, TypeVar

import cloudpickle

from rave_agents import __version__
from rave_agents.compiler.mistakes import place_in
from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.config.shipped_parts import shipped_parts
from rave_agents.engines.client.process import EngineFailedError
from rave_agents.errors import RaveAgentsError, UnsupportedGameError
from rave_agents.frameworks.adapters import ENTRY_POINT_GROUP

_log = logging.getLogger("rave_agents")

MOST_ATTEMPTS = 5
"""After this many attempts in which the worker died, the game is considered the cause."""

CHUNK_SECONDS = 0.1
"""Games shorter than this are sent to workers several at a time."""

_MOST_IN_A_CHUNK = 200
_TABLES_KEPT = 4096
_IDLE_SECONDS = 300
_WAIT_SECONDS = 1.0
_PARENT_SECONDS = 1.0
"""Interval at which a local worker checks whether its parent is alive."""

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
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


class WorkerFailedError(RaveAgentsError):
    """A worker process ended unexpectedly, or could not load its games."""


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


Played = Generator[Outcome, None, None]
"""Outcomes of games as they end."""


def play_games(
    tables: Sequence[AnyTable],
    keys: Iterable[Key],
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    warned: set[str] | None = None,
) -> Played:
    """Play games at tables; close the generator to stop early.

    Several processes start games in the given order and yield them as they end. The games of a
    process that dies are played again. Agents that cannot be sent to another process play in this
    one, with a log message.

    Args:
        tables: the tables of the games.
        keys: the games.
        jobs: number of local worker processes, without an executor.
        executor: runs the games; None for local processes. It is not shut down.
        warned: the agents already named in the log, updated here; None for no agents.

    Raises:
        UnsupportedGameError: if custom parts cannot be sent to other processes.
        VersionsDifferError: if a worker of the executor has other versions than this process.
        WorkerFailedError: if workers die repeatedly, or the executor fails.
    """
    waiting = collections.deque(keys)
    if executor is None:
        for index in sorted({key.table for key in waiting}):
            tables[index].warm_up()  # Compile once, here; worker processes load the code.
    here: collections.deque[Key] = collections.deque()
    if executor is None and jobs == 1:
        here, waiting = waiting, here
    elif waiting:
        payloads = _Payloads(tables, by_value=executor is not None)
        here = payloads.pop_unpicklable(waiting, set() if warned is None else warned)
    if not waiting:
        yield from (play_safely(tables[key.table], key) for key in here)
        return
    workers = _Workers(executor, min(jobs, len(waiting)))
    yield from _play_in_workers(workers, payloads, waiting, here)


def play_safely(table: AnyTable, key: Key) -> Outcome:
    """Play a game; an exception becomes its outcome."""
    started = time.perf_counter()
    try:
        played: Any = table.play(key.number)
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


class _Payloads:
    """Objects sent with the games, pickled once."""

    def __init__(self, tables: Sequence[AnyTable], *, by_value: bool) -> None:
        self.tables = tables
        self._by_value = by_value
        self._pickled: dict[int, bytes] = {}
        try:
            self.shipped = travelling(shipped_parts(), by_value=by_value)
        except Exception as error:
            raise UnsupportedGameError(
                f"Custom parts cannot be sent to other processes ({error}). Play with jobs=1, "
                "or define them in a separate module."
            ) from error

    def pop_unpicklable(
        self, waiting: collections.deque[Key], warned: set[str]
    ) -> collections.deque[Key]:
        """Remove and return the games of unpicklable tables, warning once per agent."""
        for index in sorted({key.table for key in waiting}):
            try:
                self._pickled[index] = travelling(self.tables[index], by_value=self._by_value)
            except Exception as error:
                what = self._unpicklable(self.tables[index])
                if what not in warned:
                    warned.add(what)
                    _log.warning(
                        "rave_agents: %s cannot be sent to other processes, and plays in this one "
                        "(%s).",
                        what,
                        " ".join(str(error).split())[:200],
                    )
        here = collections.deque(key for key in waiting if key.table not in self._pickled)
        away = [key for key in waiting if key.table in self._pickled]
        waiting.clear()
        waiting.extend(away)
        return here

    def _unpicklable(self, table: AnyTable) -> str:
        """The agents of a table that cannot be pickled, or else its game."""
        names = []
        for agent in table.agents:
            try:
                travelling(agent, by_value=self._by_value)
            except Exception:
                names.append(str(agent))
        return ", ".join(dict.fromkeys(names)) or table.name

    def of(self, keys: Iterable[Key]) -> dict[int, bytes]:
        """The pickled tables of these games, by index."""
        return {key.table: self._pickled[key.table] for key in keys}


def travelling(thing: Any, *, by_value: bool) -> bytes:
    """Pickle an object for another process.

    Args:
        thing: the object.
        by_value: True to include the code of the user's modules, as needed on other machines.
    """
    if by_value:
        with contextlib.suppress(Exception), _own_modules_by_value():
            return bytes(cloudpickle.dumps(thing))
    return bytes(cloudpickle.dumps(thing))


def unpacked(pickled: bytes) -> Any:
    """Unpickle an object sent by the parent process, see ``travelling``."""
    return cloudpickle.loads(pickled)


@functools.cache
def _installed_modules() -> frozenset[str]:
    """The names of all installed modules, cached since reading them takes a second."""
    return frozenset([*importlib.metadata.packages_distributions(), *sys.stdlib_module_names])


@contextlib.contextmanager
def _own_modules_by_value() -> Iterator[None]:
    """Pickle the user's modules by value during a ``with`` statement, since workers lack them."""
    installed = _installed_modules()
    places = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))
    registered = []
    try:
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            known = name.partition(".")[0] in installed or name.startswith("rave_")
            if file and name != "__main__" and not known and not file.startswith(places):
                # ValueError: the module has another name, too, so nothing pickles as this one.
                with contextlib.suppress(ValueError):
                    cloudpickle.register_pickle_by_value(module)
                    registered.append(module)
        yield
    finally:
        for module in registered:
            cloudpickle.unregister_pickle_by_value(module)


def local_executor(jobs: int) -> Any:
    """Local worker processes, which end with this one and are reused by later calls."""
    from loky import get_reusable_executor  # noqa: PLC0415  (slow: multiprocessing)

    each = str(max(1, (os.cpu_count() or 1) // jobs))
    return get_reusable_executor(
        max_workers=jobs,
        timeout=_IDLE_SECONDS,
        initializer=_begin_local_worker,
        initargs=(tuple(sys.path),),  # A changed module path replaces the workers.
        env={name: os.environ.get(name, each) for name in _THREADS},
    )


class _Workers:
    """The workers of a run: an executor of the user's, or local processes."""

    def __init__(self, executor: Executor | None, jobs: int) -> None:
        self._jobs = jobs
        self._is_local = executor is None
        self._executor: Any = local_executor(jobs) if executor is None else executor

    @property
    def width(self) -> int:
        """The current number of workers."""
        if self._is_local:
            return self._jobs
        return executor_width(self._executor)

    def submit(self, *arguments: Any) -> "Future[list[Outcome]]":
        """Submit a chunk of games; local processes are started anew if one has died."""
        try:
            future: Future[list[Outcome]] = self._executor.submit(*arguments)
        except BrokenExecutor:
            if not self._is_local:
                raise
            self._executor = local_executor(self._jobs)
            future = self._executor.submit(*arguments)
        return future

    def can_retry(self, error: BaseException) -> bool:
        """True if a game that failed with this error can be played again by other workers."""
        if self._is_local:
            return isinstance(error, BrokenExecutor)
        return type(error).__name__ == "KilledWorker"  # of Dask

    def stop(self, futures: Iterable["Future[list[Outcome]]"]) -> None:
        """Abort these games."""
        if self._is_local:
            with _silence_thread("ExecutorManagerThread"):
                self._executor.shutdown(wait=True, kill_workers=True)
        else:
            for future in futures:
                future.cancel()


def executor_width(executor: Executor) -> int:
    """The current number of workers of an executor."""
    client = getattr(executor, "_client", None)  # of Dask, whose clusters grow
    if client is not None:
        return max(1, int(sum(client.nthreads().values())))
    return int(getattr(executor, "_max_workers", None) or os.cpu_count() or 1)


@contextlib.contextmanager
def _silence_thread(name: str) -> Iterator[None]:
    """Suppress error messages of threads with this name.

    The executor's management thread may fail on the pipes of workers it is killing.
    """
    hook = threading.excepthook

    def silenced(error: threading.ExceptHookArgs, /) -> None:
        if error.thread is None or error.thread.name != name:
            hook(error)

    threading.excepthook = silenced
    try:
        yield
    finally:
        threading.excepthook = hook


def _play_in_workers(
    workers: _Workers,
    payloads: _Payloads,
    waiting: collections.deque[Key],
    here: collections.deque[Key],
) -> Played:
    running: dict[Future[list[Outcome]], list[Key]] = {}
    attempts: collections.Counter[Key] = collections.Counter()
    seconds = CHUNK_SECONDS
    try:
        while waiting or running or here:
            width = workers.width
            # Two chunks for each worker: one to play, and one that is there when it has finished.
            while waiting and len(running) < 2 * width:
                size = _chunk_size(seconds, len(waiting), width)
                chunk = [waiting.popleft() for _ in range(size)]
                future = workers.submit(
                    play_chunk, dict(versions()), payloads.shipped, payloads.of(chunk), chunk
                )
                running[future] = chunk
            if here:
                key = here.popleft()
                yield play_safely(payloads.tables[key.table], key)
            seconds_to_wait = 0.0 if here else _WAIT_SECONDS
            done, _ = wait(running, timeout=seconds_to_wait, return_when=FIRST_COMPLETED)
            for future in done:
                chunk = running.pop(future)
                error = _error_of(future)
                if error is None:
                    for outcome in future.result():
                        seconds += 0.1 * (outcome.seconds - seconds)
                        yield outcome
                    continue
                attempts.update(chunk)
                if not workers.can_retry(error) or max(attempts[k] for k in chunk) >= MOST_ATTEMPTS:
                    raise _worker_error(error) from error
                waiting.extendleft(reversed(chunk))
    finally:
        if running:
            workers.stop(running)


def _chunk_size(seconds: float, waiting: int, width: int) -> int:
    """Number of games per chunk: worth sending, and leaving some for all workers."""
    worth = CHUNK_SECONDS / max(seconds, CHUNK_SECONDS / _MOST_IN_A_CHUNK)
    return max(1, min(int(worth), waiting // (4 * width)))


def _error_of(future: "Future[list[Outcome]]") -> BaseException | None:
    if future.cancelled():
        return WorkerFailedError("the executor was shut down")
    return future.exception()


def _worker_error(error: BaseException) -> RaveAgentsError:
    if isinstance(error, VersionsDifferError):
        return error
    cause = str(error.__cause__ or "").strip(' \n"').rpartition("\n")[2]
    message = " ".join(f"{error} {cause}".split())
    if isinstance(error, ImportError | AttributeError):
        return WorkerFailedError(
            f"A worker cannot load its games ({message}): it needs the same packages as here."
        )
    return WorkerFailedError(f"A worker process ended: {message}")


# In a worker process.


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


_unpacked_table = functools.lru_cache(maxsize=_TABLES_KEPT)(unpacked)


def _picklable(failure: Failure) -> Failure:
    """The failure in a form that can be pickled."""
    error = failure.cause
    assert error is not None
    text = "".join(traceback.format_exception(error))
    try:
        cloudpickle.loads(cloudpickle.dumps(error))
    except Exception:
        error = None
    return failure._replace(traceback=text, cause=error)


def _begin_local_worker(module_path: Sequence[str] = ()) -> None:
    """Prepare a local worker process, which has its parent's ``sys.path`` and ends with it.

    The parent handles Ctrl-C and termination requests, and ends its workers. SIG_IGN is not used,
    since programs started by agents would inherit it.
    """
    if module_path:
        sys.path[:] = module_path
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: None)
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_SECONDS)
        os._exit(1)

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
