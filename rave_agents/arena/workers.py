"""Plays many games: in this process, in local processes, or in an executor.

The tables are pickled once and sent with the keys of their games, several short games at a time.
"""

import collections
import contextlib
import functools
import importlib.metadata
import logging
import os
import sys
import sysconfig
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import Any

import cloudpickle

from rave_agents.arena.worker import (
    AnyTable,
    Key,
    Outcome,
    VersionsDifferError,
    begin_local_worker,
    play_chunk,
    play_safely,
    versions,
)
from rave_agents.config.shipped_parts import shipped_parts
from rave_agents.errors import RaveAgentsError, UnsupportedGameError

_log = logging.getLogger("rave_agents")

MOST_ATTEMPTS = 5
"""After this many attempts in which the worker died, the game is considered the cause."""

CHUNK_SECONDS = 0.1
"""Games shorter than this are sent to workers several at a time."""

_MOST_IN_A_CHUNK = 200
_IDLE_SECONDS = 300
_WAIT_SECONDS = 1.0
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

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
        here, waiting = waiting, here  # All games are played in this process.
    elif waiting:
        payloads = _Payloads(tables, by_value=executor is not None)
        here = payloads.pop_unpicklable(waiting, set() if warned is None else warned)
    if not waiting:
        yield from (play_safely(tables[key.table], key) for key in here)
        return
    workers = _Workers(executor, min(jobs, len(waiting)))
    yield from _play_in_workers(workers, payloads, waiting, here)


class WorkerFailedError(RaveAgentsError):
    """A worker process ended unexpectedly, or could not load its games."""


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
        names = []
        for agent in table.agents:
            try:
                travelling(agent, by_value=self._by_value)
            except Exception:
                names.append(str(agent))
        return ", ".join(dict.fromkeys(names)) or table.name

    def of(self, keys: Iterable[Key]) -> dict[int, bytes]:
        return {key.table: self._pickled[key.table] for key in keys}


def travelling(thing: Any, *, by_value: bool) -> bytes:
    """Pickle an object for another process.

    Args:
        thing: the object.
        by_value: True to include the code of the user's modules, as needed on other machines.
    """
    if by_value:
        # A module that cannot be pickled by value may still be importable there.
        with contextlib.suppress(Exception), _own_modules_by_value():
            return bytes(cloudpickle.dumps(thing))
    return bytes(cloudpickle.dumps(thing))


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

    # Numerical libraries would start a thread per processor in each process.
    each = str(max(1, (os.cpu_count() or 1) // jobs))
    return get_reusable_executor(
        max_workers=jobs,
        timeout=_IDLE_SECONDS,
        initializer=begin_local_worker,
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
        if self._is_local:
            return self._jobs
        return executor_width(self._executor)

    def submit(self, *arguments: Any) -> "Future[list[Outcome]]":
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
            # Between games played here, only collect what the workers have finished.
            seconds_to_wait = 0.0 if here else _WAIT_SECONDS
            done, _ = wait(running, timeout=seconds_to_wait, return_when=FIRST_COMPLETED)
            for future in done:
                chunk = running.pop(future)
                error: BaseException | None
                if future.cancelled():
                    error = WorkerFailedError("the executor was shut down")
                else:
                    error = future.exception()
                if error is None:
                    for outcome in future.result():
                        seconds += 0.1 * (outcome.seconds - seconds)  # A moving average.
                        yield outcome
                    continue
                # Which of its games killed the worker is unknown: each has one more attempt.
                attempts.update(chunk)
                if not workers.can_retry(error) or max(attempts[k] for k in chunk) >= MOST_ATTEMPTS:
                    raise _worker_error(error) from error
                waiting.extendleft(reversed(chunk))  # In front, in their old order.
    finally:
        if running:
            workers.stop(running)


def _chunk_size(seconds: float, waiting: int, width: int) -> int:
    """Number of games per chunk: worth sending, and leaving some for all workers."""
    # Large chunks at first, small ones at the end, so that all workers end at the same time.
    worth = CHUNK_SECONDS / max(seconds, CHUNK_SECONDS / _MOST_IN_A_CHUNK)
    return max(1, min(int(worth), waiting // (4 * width)))


def _worker_error(error: BaseException) -> RaveAgentsError:
    if isinstance(error, VersionsDifferError):
        return error
    # Process pools put the worker's traceback into the cause: its last line is the error.
    cause = str(error.__cause__ or "").strip(' \n"').rpartition("\n")[2]
    message = " ".join(f"{error} {cause}".split())
    if isinstance(error, ImportError | AttributeError):
        return WorkerFailedError(
            f"A worker cannot load its games ({message}): it needs the same packages as here."
        )
    return WorkerFailedError(f"A worker process ended: {message}")
