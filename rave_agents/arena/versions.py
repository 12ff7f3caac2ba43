"""Versions of the software that determines games, here and in worker processes."""

import functools
import importlib.metadata
import platform
from collections.abc import Mapping

from rave_agents import __version__
from rave_agents.errors import RaveAgentsError
from rave_agents.frameworks.adapters import ENTRY_POINT_GROUP

_LIBRARIES = ("numpy", "numba", "cloudpickle", "open_spiel", "pettingzoo", "gymnasium")


class VersionsDifferError(RaveAgentsError):
    """A worker has other versions than the client; the message names them."""


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
