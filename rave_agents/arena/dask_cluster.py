"""A Dask cluster as executor of matches, sweeps, tournaments and curves."""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any

from rave_agents.arena.worker import check_versions, versions
from rave_agents.extras import missing

LOCAL = "local"
"""The address of a cluster of local processes."""

_THIS_MACHINE = "127.0.0.1"
_STOP_SECONDS = 1.0
_CONNECT_SECONDS = 20


@contextlib.contextmanager
def dask_executor(address: str, *, jobs: int = 1) -> Iterator[Executor]:
    """The executor of a Dask cluster, for ``play_match`` and similar functions.

    Args:
        address: the scheduler's address, such as ``"tcp://scheduler:8786"``; or ``"local"`` for a
            cluster of local processes, which ends with this process.
        jobs: processes of a local cluster.

    Raises:
        ValueError: if ``distributed`` is not installed (the extra ``dask``), or for an invalid
            address.
        OSError: if no scheduler answers there.
        VersionsDifferError: if a worker has other versions than this process, naming them.
    """
    try:
        import distributed  # noqa: PLC0415  (optional: Dask)
    except ImportError as error:
        raise ValueError(missing("A cluster needs", "dask", "distributed")) from error
    with contextlib.ExitStack() as stack:
        if address == LOCAL:
            cluster = _local_cluster(distributed, jobs)
            client = distributed.Client(cluster, set_as_default=False)
            stack.callback(_close, client)
            stack.callback(_end_local, cluster)  # Runs first.
        else:
            client = _connected(distributed, address)
            stack.callback(_close, client)
        for there in client.run(_versions).values():
            check_versions(versions(), there)
        yield client.get_executor()


def _local_cluster(distributed: Any, jobs: int) -> Any:
    """A cluster whose scheduler, workers and pages are reachable from this machine only."""
    return distributed.LocalCluster(
        n_workers=jobs,
        threads_per_worker=1,
        host=_THIS_MACHINE,
        dashboard_address=f"{_THIS_MACHINE}:0",
        worker_dashboard_address=f"{_THIS_MACHINE}:0",
        silence_logs="CRITICAL",
    )


def _connected(distributed: Any, address: str) -> Any:
    if "://" not in address:
        raise ValueError(f"A Dask scheduler's address is such as tcp://host:8786, got {address!r}.")
    try:
        return distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except ValueError as error:
        raise ValueError(f"{address!r} is no address of a Dask scheduler: {error}") from error


def _versions() -> dict[str, str]:  # A plain function and dictionary, which Dask can pickle.
    return dict(versions())


def _end_local(cluster: Any) -> None:
    """End the workers at once: they may be playing games whose results nobody needs."""
    for nanny in cluster.workers.values():
        nanny.auto_restart = False  # Else it replaces the worker that ends.
        if nanny.pid is not None:
            with contextlib.suppress(OSError):
                os.kill(nanny.pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
    _close(cluster)


def _close(what: Any) -> None:
    with contextlib.suppress(Exception):
        what.close(timeout=_STOP_SECONDS)
