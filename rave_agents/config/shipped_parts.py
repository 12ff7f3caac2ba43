"""The user's parts in other processes, with the definitions of a script or notebook.

Classes and functions of a module are imported by name; those of a script or notebook are pickled
with their code.
"""

import contextlib
from typing import Any, NamedTuple

import cloudpickle

from rave_agents.compiler.cache_key import digest_of_function
from rave_agents.compiler.dispatch import OpenFunction, implements
from rave_agents.compiler.runtime import RUNS_AS
from rave_agents.compiler.user_modules import receive_from, script
from rave_agents.config.part_specs import is_own
from rave_agents.game.object_names import files_run, run_files


class ShippedParts(NamedTuple):
    """All user parts that are registered in a process."""

    bodies: tuple[bytes, ...]
    """Pickled implementations: the open function, the class and the body."""
    records: tuple[bytes, ...]
    """Pickled runtime records: the class and that of the record."""
    files: tuple[str, ...] = ()
    """Files that were run as modules; other processes must run them to find their classes."""
    script: str | None = None
    """The program's file: its text is the cache key of its functions' machine code."""

    def register(self) -> None:
        """Register them in this process, except those of modules that it cannot import."""
        # Files first: unpickling imports classes by the names that running them creates.
        run_files(self.files)
        receive_from(self.script)
        for pickled in self.bodies:
            with contextlib.suppress(ImportError):
                opened, kind, body = cloudpickle.loads(pickled)
                # Registering the same body again would invalidate all that is compiled.
                known = opened.implementations.get(kind)
                if known is None or digest_of_function(known) != digest_of_function(body):
                    implements(opened, kind)(body)
        for pickled in self.records:
            with contextlib.suppress(ImportError):
                kind, record = cloudpickle.loads(pickled)
                RUNS_AS.setdefault(kind, record)


def shipped_parts() -> ShippedParts:
    """The user's parts of this process."""
    bodies: list[tuple[OpenFunction[Any, Any], type, Any]] = [
        (opened, kind, body)
        for opened in OpenFunction.everyone
        for kind, body in opened.implementations.items()
        if is_own(kind)
    ]
    records = [pair for pair in RUNS_AS.items() if is_own(pair[0])]
    return ShippedParts(
        tuple(map(cloudpickle.dumps, bodies)),
        tuple(map(cloudpickle.dumps, records)),
        files_run(),
        script(),
    )
