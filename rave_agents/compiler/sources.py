"""A name for all that goes into an entry's machine code, so that old code is never run."""

import functools
import hashlib
import importlib.metadata
import pathlib
import platform
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import OpenFunction
from rave_agents.compiler.fingerprint import COMPILED_ROOMS, Fingerprint, is_covered
from rave_agents.compiler.machine_code import processor
from rave_agents.compiler.settings import codegen_settings


def sources_of(classes: Iterable[type]) -> Fingerprint:
    """The kernel, what compiles it, and what others implement for these classes."""
    found = Fingerprint()
    found.note(own_sources(), codegen_settings())
    done: set[type] = set()
    waiting = list(classes)
    while waiting:
        for part in dict.fromkeys(waiting):
            done.add(part)
            _add_part(found, part)
        waiting = [part for part in found.parts if part not in done]
    return found


def sources_name(classes: Iterable[type]) -> str:
    """A name for them."""
    return sources_of(classes).digest()


def _add_part(found: Fingerprint, part: type) -> None:
    """Add what is implemented for a class, where that is not the kernel's own."""
    if not is_covered(part.__module__) and hasattr(part, "_fields"):
        found.add_fields(part)
    for opened in sorted(OpenFunction.everyone, key=_full_name):
        body = opened.implementations.get(part) if opened.compiled else None
        if body is not None and not is_covered(body.__module__):
            found.begin()
            found.note(_full_name(opened), f"{part.__module__}.{part.__qualname__}")
            found.add(body)


def _full_name(opened: OpenFunction[Any, Any]) -> str:
    return f"{opened.default.__module__}.{opened.default.__qualname__}"


@functools.cache
def own_sources() -> str:
    """The kernel's own, what compiles it and what it is compiled for."""
    versions = [importlib.metadata.version(name) for name in ("numba", "llvmlite")]
    told = [*versions, np.__version__, platform.python_version(), processor()]
    digest = hashlib.sha256(" ".join(told).encode())
    package = pathlib.Path(__file__).parent.parent
    for path in compiled_files(package):
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def compiled_files(package: pathlib.Path) -> Iterator[pathlib.Path]:
    """The files where code lies that is compiled, or that says how; in all subfolders, too."""
    for room in COMPILED_ROOMS:
        yield from sorted((package / room).rglob("*.py"))
