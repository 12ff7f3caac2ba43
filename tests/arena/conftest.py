import concurrent.futures

import pytest


@pytest.fixture(scope="module")
def dask_workers():
    """An executor of a Dask cluster of two processes, which are not idle for nothing."""
    pytest.importorskip("distributed", reason="Dask is not installed")
    from rave_agents.arena.dask_cluster import dask_executor

    with dask_executor("local", jobs=2) as executor:
        yield executor


@pytest.fixture
def threads():
    """An executor of two threads."""
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        yield executor
